//! Ends of a process that must not be the end of the VM, and one that is.
//!
//! - a panic whose value panics in its drop, in a callback, in a handler of events, in the drop of a state
//! - the drop of a state takes long, or waits: no scheduler is held up by it, nor the drop of another state
//! - `std::process::exit` ends the VM, which nothing can prevent: it is told who called it and where (`tests/in_the_vm.rs`)

use std::panic::panic_any;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{Condvar, Mutex};
use std::time::Duration;

use otp::telemetry::Event;
use otp::testing::evaluate;
use otp::{Any, Data, Init, Pid, Server, gen_server};

/// Panics when it is dropped, with another one that does.
struct Bomb(u32);

impl Drop for Bomb {
    fn drop(&mut self) {
        panic_any(Bomb(self.0 + 1));
    }
}

/// Ends as it is told.
pub struct Quitter {
    bomb: Option<Bomb>,
}

#[derive(Data)]
struct Nothing {}

static ENDING: Event<Nothing> = Event::new(&["exercises", "ending"]);

#[gen_server]
impl Quitter {
    fn init() -> Init<Self> {
        Ok(Quitter { bomb: None })
    }

    #[call]
    fn panic_with_bomb(&mut self) {
        panic_any(Bomb(0));
    }

    #[call]
    async fn panic_with_bomb_later(&mut self) {
        otp::on_dirty_cpu(|| panic_any(Bomb(0))).await
    }

    #[call]
    fn keep_bomb(&mut self) {
        self.bomb = Some(Bomb(0));
    }

    #[call]
    fn measure_with_bomb(&mut self) {
        ENDING.attach(|_, _| panic_any(Bomb(0)));
        ENDING.execute(|| (Nothing {}, ()));
    }

    #[cast]
    fn exit(&mut self) {
        std::process::exit(3);
    }

    #[cast]
    fn exit_on_a_thread(&mut self) {
        let thread = std::thread::Builder::new().name("quits".into());
        thread.spawn(|| std::process::exit(4)).expect("a thread");
    }
}

/// Opened while states wait for it in their drop.
static GATE: (Mutex<bool>, Condvar) = (Mutex::new(false), Condvar::new());
static DROPPING: AtomicU32 = AtomicU32::new(0);
static DROPPED: AtomicU32 = AtomicU32::new(0);
/// States that have not seen the gate opened in a minute.
static HELD: AtomicU32 = AtomicU32::new(0);
static SHORT: AtomicU32 = AtomicU32::new(0);

/// Its state waits for the gate when it is dropped, or it does not.
pub struct Leaver {
    waits: bool,
}

impl Drop for Leaver {
    fn drop(&mut self) {
        if !self.waits {
            SHORT.fetch_add(1, Ordering::SeqCst);
            return;
        }
        DROPPING.fetch_add(1, Ordering::SeqCst);
        let open = GATE.0.lock().expect("it is not poisoned");
        let waited = GATE.1.wait_timeout_while(open, Duration::from_secs(60), |open| !*open).expect("the same");
        HELD.fetch_add(u32::from(waited.1.timed_out()), Ordering::SeqCst);
        DROPPED.fetch_add(1, Ordering::SeqCst);
    }
}

#[gen_server]
impl Leaver {
    fn init(waits: bool) -> Init<Self> {
        Ok(Leaver { waits })
    }

    #[call]
    fn waits(&mut self) -> bool {
        self.waits
    }
}

/// In a VM with one scheduler, on which everything stands still while it is held up.
#[otp::test]
async fn a_state_that_takes_long_to_drop_holds_up_nobody() {
    let ended = async |waits: bool| {
        let leaver = Leaver::start_link(waits).await.expect("it starts");
        let pid = Any::of(&leaver).get::<Pid>().expect("a process");
        otp::unlink(&pid);
        assert_eq!(leaver.waits().await, Ok(waits));
        otp::kill(&pid);
        while leaver.waits().await.is_ok() {}
    };
    let until = async |number: &AtomicU32, so_many: u32| {
        while number.load(Ordering::SeqCst) < so_many {
            evaluate("[erlang:garbage_collect(P) || P <- processes()]").await.expect("a collection");
            otp::time::sleep(Duration::from_millis(1)).await;
        }
    };
    for n in 1..=3 {
        ended(true).await;
        until(&DROPPING, n).await;
    }
    for n in 1..=100 {
        ended(false).await;
        until(&SHORT, n).await;
    }
    assert_eq!(DROPPED.load(Ordering::SeqCst), 0);
    *GATE.0.lock().expect("it is not poisoned") = true;
    GATE.1.notify_all();
    until(&DROPPED, 3).await;
    assert_eq!(HELD.load(Ordering::SeqCst), 0, "a drop has held up its scheduler");
}

/// One that is not linked to the test.
async fn quitter() -> Server<Quitter> {
    let quitter = Quitter::start_link().await.expect("it starts");
    otp::unlink(&Any::of(&quitter).get::<Pid>().expect("a process"));
    quitter
}

async fn is_alive(quitter: &Server<Quitter>) -> bool {
    let alive: Any = otp::erlang::apply("erlang", "is_process_alive", (quitter.clone(),)).await.expect("a value");
    alive.get() == Ok(true)
}

#[otp::test]
async fn a_panic_whose_value_panics_ends_its_process_and_nothing_else() {
    for _ in 0..10 {
        let one = quitter().await;
        assert!(one.panic_with_bomb().await.expect_err("it panics").to_string().contains("no text"));
        assert!(!is_alive(&one).await);
        let one = quitter().await;
        assert!(one.panic_with_bomb_later().await.is_err());
        assert!(!is_alive(&one).await);
        let one = quitter().await;
        assert_eq!(one.measure_with_bomb().await, Ok(()));
        assert!(is_alive(&one).await);
        // Its state is dropped when nothing refers to it any more.
        assert_eq!(one.keep_bomb().await, Ok(()));
        otp::kill(&Any::of(&one).get::<Pid>().expect("a process"));
        evaluate("[erlang:garbage_collect(P) || P <- processes()]").await.expect("a collection");
    }
}
