//! Calls one after the other.
//!
//! - each call gets its own answer, whichever process is called and by whatever name
//! - a process that is called again is monitored once, and no longer when the callback has ended
//! - the end of a process between two calls is reported, and the process that bears the name then is called
//! - a late answer is never seen, and the next calls get theirs
//! - messages that arrive meanwhile stay in the queue in their order, and a long queue makes no difference
//! - a call that has its answer must not be awaited again, and says so

use std::future::{Future, poll_fn};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::pin::pin;
use std::task::Poll;
use std::time::Duration;

use otp::testing::evaluate;
use otp::{Any, CallError, Init, Pid, Reason, Server, Task, gen_server, time};

/// Answers.
pub struct Answerer {
    factor: u64,
}

#[gen_server]
impl Answerer {
    fn init(factor: u64) -> Init<Self> {
        Ok(Answerer { factor })
    }

    #[call]
    fn times(&mut self, n: u64) -> u64 {
        n * self.factor
    }

    #[call]
    async fn slow(&mut self, milliseconds: u64) -> u64 {
        time::sleep(Duration::from_millis(milliseconds)).await;
        milliseconds
    }

    /// How many processes watch this one.
    #[call]
    async fn watchers(&mut self) -> u64 {
        let count = evaluate("length(element(2, process_info(self(), monitored_by)))").await.expect("a list");
        count.get().expect("its length")
    }

    #[cast]
    fn end(&mut self, why: String) -> otp::Next {
        otp::Next::Stop(why.into())
    }
}

/// Asks, and notes what it is told.
pub struct Client {
    noted: Vec<u64>,
}

#[gen_server]
impl Client {
    fn init() -> Init<Self> {
        Ok(Client { noted: Vec::new() })
    }

    /// Asks as often, and how many watched then.
    #[call]
    async fn ask(&mut self, peer: Server<Answerer>, times: u64) -> u64 {
        for n in 0..times {
            assert_eq!(peer.times(n).without_limit().await, Ok(n * 2));
        }
        peer.watchers().await.expect("a number")
    }

    /// Asks, tells itself something, and asks again, as often.
    #[call]
    async fn ask_and_note(&mut self, peer: Server<Answerer>, times: u64) {
        for n in 0..times {
            Server::<Client>::own().note(n);
            assert_eq!(peer.times(n).await, Ok(n * 2));
            assert_eq!(peer.times(n + 1).without_limit().await, Ok(n * 2 + 2));
        }
    }

    #[cast]
    fn note(&mut self, number: u64) {
        self.noted.push(number);
    }

    #[call]
    fn noted(&mut self) -> Vec<u64> {
        self.noted.clone()
    }
}

async fn answerer(factor: u64) -> Server<Answerer> {
    Answerer::start_link(factor).await.expect("it starts")
}

/// One with a name, whose end is not the end of the test.
async fn unlinked(factor: u64, name: &str) -> Server<Answerer> {
    let server = Answerer::start_link(factor).named(name).await.expect("it starts");
    otp::unlink(&Pid::registered(name).expect("it has the name"));
    server
}

/// What lies in the queue of this process.
async fn messages() -> Any {
    evaluate("element(2, process_info(self(), messages))").await.expect("a list")
}

#[otp::test]
async fn each_has_its_own_answer() {
    let (two, three) = (answerer(2).await, answerer(3).await);
    let named = unlinked(5, "answerer_of_calls").await;
    for n in 0..100 {
        assert_eq!(two.times(n).await, Ok(n * 2));
        assert_eq!(two.times(n).without_limit().await, Ok(n * 2));
        assert_eq!(three.times(n).await, Ok(n * 3));
        let name = Server::<Answerer>::named("answerer_of_calls");
        assert_eq!((name.times(n).await, name.times(n + 1).await), (Ok(n * 5), Ok(n * 5 + 5)));
        assert_eq!((named.times(n).await, name.times(n).without_limit().await), (Ok(n * 5), Ok(n * 5)));
    }
    named.end("it is over".into());
}

#[otp::test]
async fn who_is_asked_again_is_watched_once_and_by_nobody_afterwards() {
    let (peer, client) = (answerer(2).await, Client::start_link().await.expect("it starts"));
    for times in [0, 1, 2, 3, 31, 32, 33, 34, 100] {
        assert_eq!(client.ask(peer.clone(), times).await, Ok(1), "{times}");
        // The one that watches now is this test.
        assert_eq!(peer.watchers().await, Ok(1), "{times}");
    }
}

#[otp::test]
async fn who_ends_in_between_is_told_of_and_its_successor_is_asked() {
    let name = Server::<Answerer>::named("answerer_that_ends");
    for limited in [true, false] {
        let first = unlinked(2, "answerer_that_ends").await;
        let ask = async |n| {
            let call = name.times(n);
            if limited { call.await } else { call.without_limit().await }
        };
        for n in 0..5 {
            assert_eq!(ask(n).await, Ok(n * 2));
        }
        first.end("its time has come".into());
        // It may have ended before the call reaches it; then the name is nobody's.
        let Err(CallError::Down(why)) = ask(5).await else { panic!("it has ended") };
        assert!(why == Reason::NoProcess || why == "its time has come".into(), "{why}");
        assert!(matches!(ask(6).await, Err(CallError::Down(_))));
        assert!(matches!(first.times(7).await, Err(CallError::Down(_))));
        let second = unlinked(7, "answerer_that_ends").await;
        assert_eq!((ask(1).await, ask(2).await, ask(3).await), (Ok(7), Ok(14), Ok(21)));
        second.end("it is over".into());
        while Pid::registered("answerer_that_ends").is_some() {
            otp::yield_now().await;
        }
    }
    assert_eq!(format!("{:?}", messages().await), "[]");
}

#[otp::test]
async fn an_answer_that_is_late_is_never_seen() {
    let peer = answerer(2).await;
    for _ in 0..3 {
        for n in 0..3 {
            assert_eq!(peer.times(n).await, Ok(n * 2));
        }
        let limit = Duration::from_millis(5);
        assert_eq!(peer.slow(20).within(limit).await, Err(CallError::Timeout(limit)));
        for n in 0..3 {
            assert_eq!(peer.times(n).await, Ok(n * 2));
        }
    }
    // One that comes at about the time when its limit is over is the answer, or is not.
    for _ in 0..50 {
        for n in 0..3 {
            assert_eq!(peer.times(n).await, Ok(n * 2));
        }
        let answer = peer.slow(2).within(Duration::from_millis(3)).await;
        assert!(matches!(answer, Ok(2) | Err(CallError::Timeout(_))), "{answer:?}");
        assert_eq!((peer.times(1).await, peer.times(2).await), (Ok(2), Ok(4)));
    }
    time::sleep(Duration::from_millis(30)).await;
    assert_eq!(format!("{:?}", messages().await), "[]");
}

#[otp::test]
async fn what_comes_meanwhile_stays_in_its_order() {
    let (peer, client) = (answerer(2).await, Client::start_link().await.expect("it starts"));
    let others: Vec<_> = (0..4)
        .map(|_| {
            let peer = peer.clone();
            Task::spawn(async move {
                for n in 0..1000 {
                    assert_eq!(peer.times(n).without_limit().await, Ok(n * 2));
                }
            })
        })
        .collect();
    client.ask_and_note(peer, 1000).without_limit().await.expect("it does");
    for other in others {
        other.await.expect("it ends in order");
    }
    assert_eq!(client.noted().await, Ok((0..1000).collect()));
}

#[otp::test]
async fn what_has_ended_says_so_when_it_is_awaited_again() {
    let mut call = pin!(answerer(2).await.times(3));
    assert_eq!(call.as_mut().await, Ok(6));
    let again = poll_fn(|context| Poll::Ready(catch_unwind(AssertUnwindSafe(|| call.as_mut().poll(context))))).await;
    let panic = again.expect_err("it panics");
    assert_eq!(panic.downcast_ref(), Some(&"this future was polled after it had come to its end"));
}
