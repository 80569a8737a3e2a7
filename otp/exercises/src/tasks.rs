//! Tasks, and long computations that yield to other processes.

use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use otp::{Reason, Slice, Task, time, yield_now};

#[otp::test]
async fn a_task_is_awaited_for_its_value() {
    let tasks: Vec<_> = (0..100_u64).map(|n| Task::spawn(async move { n * n })).collect();
    let mut sum = 0;
    for task in tasks {
        sum += task.await.expect("a value");
    }
    assert_eq!(sum, (0..100).map(|n| n * n).sum());
}

#[otp::test]
async fn a_task_that_panics_tells_why() {
    let task = Task::spawn_unlinked(async {
        yield_now().await;
        assert_eq!(1, 2, "numbers differ");
    });
    let Err(Reason::Panic { message, .. }) = task.await else { panic!("it does not panic") };
    assert!(message.contains("numbers differ"), "{message}");
}

#[otp::test]
async fn long_work_gives_others_their_turns() {
    // More that compute than there are schedulers; they end when this test has had its turns.
    let over = Arc::new(AtomicBool::new(false));
    let workers: Vec<_> = (0..4)
        .map(|_| {
            let over = over.clone();
            Task::spawn(async move {
                let (began, mut slice) = (Instant::now(), Slice::new());
                while !over.load(Ordering::Relaxed) && began.elapsed() < Duration::from_secs(20) {
                    slice.check().await;
                }
                over.load(Ordering::Relaxed)
            })
        })
        .collect();
    for _ in 0..20 {
        time::sleep(Duration::from_millis(1)).await;
    }
    over.store(true, Ordering::Relaxed);
    for worker in workers {
        assert_eq!(worker.await, Ok(true));
    }
}

#[otp::test]
#[should_panic(expected = "as it should")]
async fn a_test_may_be_one_that_panics() {
    panic!("this panics as it should");
}

#[otp::test]
#[ignore]
fn a_test_may_be_left_out() {
    panic!("this is not run");
}
