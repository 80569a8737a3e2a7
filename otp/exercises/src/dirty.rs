//! Dirty schedulers: callbacks and jobs that block.

use std::sync::mpsc;
use std::time::Duration;

use otp::{Init, Reason, Task, gen_server, on_dirty_cpu, on_dirty_io, time};

/// Blocks, where it may.
pub struct Blocking;

#[gen_server]
impl Blocking {
    fn init() -> Init<Self> {
        Ok(Blocking)
    }

    #[call(dirty_cpu)]
    fn compute(&mut self, n: u64) -> u64 {
        (1..=n).fold(0, |sum, n| sum ^ n.wrapping_mul(n))
    }

    #[call(dirty_io)]
    fn block(&mut self, ms: u64) -> u64 {
        std::thread::sleep(Duration::from_millis(ms));
        ms
    }

    #[call]
    async fn both(&mut self, ms: u64) -> u64 {
        let one = on_dirty_io(move || std::thread::sleep(Duration::from_millis(ms)));
        let other = on_dirty_cpu(move || ms * 2);
        one.await;
        other.await
    }
}

#[otp::test]
async fn blocking_work_holds_up_nobody_else() {
    // More that block than there are schedulers; they go on when this test has had its turns.
    let tasks: Vec<_> = (0..4)
        .map(|_| {
            let (go, wait) = mpsc::channel::<()>();
            let task =
                Task::spawn(
                    async move { on_dirty_io(move || wait.recv_timeout(Duration::from_secs(20)).is_ok()).await },
                );
            (go, task)
        })
        .collect();
    for _ in 0..10 {
        time::sleep(Duration::from_millis(1)).await;
    }
    for (go, task) in tasks {
        go.send(()).expect("it waits");
        assert_eq!(task.await, Ok(true));
    }
    let server = Blocking::start_link().await.expect("it starts");
    assert_eq!((server.block(5).await, server.both(5).await), (Ok(5), Ok(10)));
}

#[otp::test]
async fn a_value_comes_back_from_where_it_was_made() {
    let server = Blocking::start_link().await.expect("it starts");
    assert_eq!(server.compute(3).await, Ok(1 ^ 4 ^ 9));
    let text = String::from("of the callback's own");
    assert_eq!(on_dirty_cpu(move || text.len()).await, 21);
}

#[otp::test]
async fn a_panic_there_ends_the_process_too() {
    let task = Task::spawn_unlinked(async { on_dirty_io(|| panic!("held up and gone")).await });
    assert!(matches!(task.await, Err(Reason::Panic { message, .. }) if message == "held up and gone"));
}
