//! Callbacks that await.
//!
//! - a call is answered by a callback that itself calls
//! - messages that come meanwhile are taken afterwards, in their order
//! - a call whose time is over is an error, and its answer is never seen
//! - a call to a process that does not exist, that ends during the call, or that is the caller itself is an error
//! - several calls are waited for at once; the first of two wins, and the other is forgotten
//! - a future that is not this library's is woken from another thread
//! - init and the work after it may wait

use std::future::Future;
use std::pin::{Pin, pin};
use std::sync::{Arc, Mutex};
use std::task::{Context, Poll, Waker};
use std::time::Duration;

use otp::testing::evaluate;
use otp::{CallError, Caller, Init, Reason, Server, gen_server, time};

/// Notes what comes, and asks others.
pub struct Asker {
    seen: Vec<String>,
    held: Option<Caller<u64>>,
}

#[gen_server]
impl Asker {
    async fn init(first: String) -> Init<Self> {
        time::sleep(Duration::from_millis(1)).await;
        if first == "nobody" {
            return Err("nobody is not asked".into());
        }
        Ok(Asker { seen: vec![first], held: None })
    }

    #[after_init]
    async fn begin(&mut self) {
        time::sleep(Duration::from_millis(1)).await;
        self.seen.push("begun".into());
    }

    /// Asks `peer` after a while.
    #[call]
    async fn ask(&mut self, peer: Server<Asker>, after: u64) -> Result<Vec<String>, CallError> {
        time::sleep(Duration::from_millis(after)).await;
        let seen = peer.seen().await?;
        self.seen.push("asked".into());
        Ok(seen)
    }

    #[call]
    fn seen(&mut self) -> Vec<String> {
        self.seen.clone()
    }

    #[call]
    async fn slow(&mut self, after: u64) -> u64 {
        time::sleep(Duration::from_millis(after)).await;
        after
    }

    #[call]
    fn hold(&mut self, caller: Caller<u64>) {
        self.held = Some(caller);
    }

    #[call]
    async fn release(&mut self, peer: Server<Asker>) {
        while peer.go_on().await != Ok(true) {
            otp::yield_now().await;
        }
    }

    /// Whether somebody was held.
    #[call]
    fn go_on(&mut self) -> bool {
        self.held.take().map(|caller| caller.reply(7)).is_some()
    }

    #[call]
    async fn ask_oneself(&mut self) -> Result<Vec<String>, CallError> {
        Server::<Asker>::own().seen().await
    }

    #[call]
    async fn panic_after(&mut self, after: u64) {
        time::sleep(Duration::from_millis(after)).await;
        panic!("it was to be");
    }

    /// Answers at once and goes on.
    #[call]
    async fn early(&mut self, caller: Caller<u64>) {
        caller.reply(1);
        otp::yield_now().await;
        self.seen.push("late".into());
    }

    #[cast]
    fn note(&mut self, text: String) {
        self.seen.push(text);
    }
}

async fn asker(name: &str) -> Server<Asker> {
    Asker::start_link(name.into()).await.expect("it starts")
}

#[otp::test]
async fn a_callback_that_calls_waits_and_then_answers() {
    let (one, other) = (asker("one").await, asker("other").await);
    assert_eq!(one.ask(other.clone(), 0).await.expect("an answer"), Ok(vec!["other".to_owned(), "begun".into()]));
    assert_eq!(one.seen().await.expect("an answer"), ["one", "begun", "asked"]);
}

#[otp::test]
async fn what_comes_while_a_callback_waits_is_taken_afterwards_in_order() {
    let (one, other) = (asker("one").await, asker("other").await);
    let asked = otp::Task::spawn({
        let (one, other) = (one.clone(), other.clone());
        async move { one.ask(other, 30).await }
    });
    time::sleep(Duration::from_millis(10)).await;
    (0..100).for_each(|n| one.note(n.to_string()));
    let seen = one.seen().await.expect("an answer");
    assert!(asked.await.expect("it ends").is_ok());
    let numbers: Vec<_> = (0..100).map(|n| n.to_string()).collect();
    assert_eq!(seen[..3], ["one", "begun", "asked"]);
    assert_eq!(seen[3..], numbers);
}

#[otp::test]
async fn a_call_whose_time_is_over_is_an_error_and_its_answer_is_never_seen() {
    let one = asker("one").await;
    let late = one.slow(30).within(Duration::from_millis(5)).await;
    assert_eq!(late, Err(CallError::Timeout(Duration::from_millis(5))));
    assert_eq!(one.slow(1).await, Ok(1));
    // Nothing was left in the queue of this process.
    let queue = otp::erlang::apply::<(String, u64)>(
        "erlang",
        "process_info",
        (otp::Pid::own(), otp::Name::from(otp::atom!("message_queue_len"))),
    );
    let _ = queue.await;
    assert_eq!(messages().await, 0);
}

/// How many messages lie in the queue of this process.
async fn messages() -> usize {
    let info = otp::erlang::apply::<(otp::Any, usize)>(
        "erlang",
        "process_info",
        (otp::Pid::own(), otp::Name::from(otp::atom!("message_queue_len"))),
    );
    info.await.expect("its length").1
}

#[otp::test]
async fn who_does_not_answer_is_an_error() {
    assert_eq!(Server::<Asker>::named("nobody_at_all").seen().await, Err(CallError::Down(Reason::NoProcess)));
    assert_eq!(
        Server::<Asker>::named_on("asker", "nowhere@nowhere").seen().await,
        Err(CallError::Down(Reason::NoConnection))
    );
    let one = otp::Task::spawn_unlinked(async {
        let one = asker("one").await;
        one.panic_after(1).await
    });
    let Err(Reason::Panic { message, file, line }) = one.await else { panic!("it was linked and ended with it") };
    assert!(message == "it was to be" && file.ends_with("waiting.rs") && line > 50, "{message} {file}:{line}");
    let one = asker("one").await;
    let Ok(Err(CallError::Down(Reason::Other(own)))) = one.ask_oneself().await else { panic!("it asks itself") };
    assert_eq!(format!("{own:?}"), "calling_self");
}

#[otp::test]
async fn the_start_is_an_error_of_who_starts() {
    otp::erlang::apply::<bool>("erlang", "process_flag", (otp::Name::from(otp::atom!("trap_exit")), true))
        .await
        .expect("a flag");
    let error = Asker::start_link("nobody".into()).await.expect_err("it does not start");
    assert!(error.to_string().contains("nobody is not asked"), "{error}");
    let one = Asker::start_link("one".into()).named("the_asker").await.expect("it starts");
    let again = Asker::start_link("one".into()).named("the_asker").await;
    assert!(matches!(again, Err(otp::StartError::AlreadyStarted(_))), "{again:?}");
    assert_eq!(Server::<Asker>::named("the_asker").seen().await, one.seen().await);
}

/// Both, at once.
async fn both<A: Future + Unpin, B: Future + Unpin>(mut a: A, mut b: B) -> (A::Output, B::Output) {
    let (mut one, mut other) = (None, None);
    std::future::poll_fn(move |context| {
        if one.is_none()
            && let Poll::Ready(value) = Pin::new(&mut a).poll(context)
        {
            one = Some(value);
        }
        if other.is_none()
            && let Poll::Ready(value) = Pin::new(&mut b).poll(context)
        {
            other = Some(value);
        }
        match (one.take(), other.take()) {
            (Some(one), Some(other)) => Poll::Ready((one, other)),
            (first, second) => {
                (one, other) = (first, second);
                Poll::Pending
            }
        }
    })
    .await
}

#[otp::test]
async fn several_are_waited_for_at_once() {
    let (one, other) = (asker("one").await, asker("other").await);
    // The first is answered only because the second is asked meanwhile.
    let (first, second) = both(one.hold(), other.release(one.clone())).await;
    assert_eq!((first, second), (Ok(7), Ok(())));
    // The one that loses is forgotten.
    let both = time::within(Duration::from_millis(5), both(one.slow(30), other.slow(40))).await;
    assert_eq!(both, Err(time::Elapsed(Duration::from_millis(5))));
    assert_eq!((one.slow(1).await, other.slow(2).await), (Ok(1), Ok(2)));
    assert_eq!(messages().await, 0);
}

/// A future that another thread completes.
#[derive(Default)]
struct Elsewhere(Arc<Mutex<(bool, Option<Waker>)>>);

impl Future for Elsewhere {
    type Output = ();

    fn poll(self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<()> {
        let mut inside = self.0.lock().expect("nobody panics with it");
        if inside.0 {
            return Poll::Ready(());
        }
        inside.1 = Some(context.waker().clone());
        Poll::Pending
    }
}

#[otp::test]
async fn a_future_of_somebody_else_is_woken_from_another_thread() {
    for after in [0, 1, 10, 100, 1000, 5000_u64] {
        let elsewhere = Elsewhere::default();
        let inside = elsewhere.0.clone();
        let thread = std::thread::spawn(move || {
            std::thread::sleep(Duration::from_micros(after));
            let waker = {
                let mut inside = inside.lock().expect("nobody panics with it");
                inside.0 = true;
                inside.1.take()
            };
            if let Some(waker) = waker {
                waker.wake();
            }
        });
        elsewhere.await;
        thread.join().expect("it ends");
    }
    // Waited for beside a call, by a combinator that passes the waker on.
    let (one, elsewhere) = (asker("one").await, Elsewhere::default());
    let inside = elsewhere.0.clone();
    std::thread::spawn(move || {
        std::thread::sleep(Duration::from_millis(20));
        let mut inside = inside.lock().expect("nobody panics with it");
        inside.0 = true;
        if let Some(waker) = inside.1.take() {
            waker.wake();
        }
    });
    assert_eq!(both(one.slow(5), pin!(elsewhere)).await, (Ok(5), ()));
}

#[otp::test]
async fn a_call_may_be_answered_before_its_callback_has_ended() {
    let one = asker("one").await;
    assert_eq!(one.early().await, Ok(1));
    assert_eq!(one.seen().await.expect("an answer"), ["one", "begun", "late"]);
}

#[otp::test]
async fn erlang_sees_an_ordinary_server() {
    let one = Asker::start_link("one".into()).named("seen_by_erlang").await.expect("it starts");
    one.note("two".into());
    let seen = evaluate("exercises_asker:seen(seen_by_erlang)").await.expect("a value");
    assert_eq!(seen.get(), Ok(vec!["one".to_owned(), "begun".into(), "two".into()]));
    let kind = evaluate("proc_lib:translate_initial_call(whereis(seen_by_erlang))").await.expect("a value");
    assert_eq!(format!("{kind:?}"), "{exercises_asker,init,1}");
}
