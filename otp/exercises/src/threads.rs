//! Threads that are no processes: what they send and cast goes through.
//!
//! - whatever a message can be sent to: a process, a name on this node or on another, a name that all nodes know, a mailbox, a caller
//! - what one thread sends to one address arrives in its order, and nothing is lost
//! - a thread that outlives what it sends to goes on
//! - addresses go from thread to thread; what only a process can do says so
//!
//! Processes of other nodes stand in `cluster.rs`, a thread of a build that was replaced in the tests of `cargo otp`.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::thread;
use std::time::Duration;

use otp::testing::evaluate;
use otp::time::within;
use otp::{Any, Caller, Init, Mailbox, Name, Pid, Server, gen_server};

/// Notes the numbers that each thread sends.
pub struct Audience {
    heard: Vec<(u64, u64)>,
    wanted: usize,
    waits: Option<Caller<Vec<(u64, u64)>>>,
}

impl Audience {
    fn hear(&mut self, thread: u64, number: u64) {
        self.heard.push((thread, number));
        if self.heard.len() >= self.wanted
            && let Some(caller) = self.waits.take()
        {
            caller.reply(std::mem::take(&mut self.heard));
        }
    }
}

#[gen_server]
impl Audience {
    fn init(wanted: usize) -> Init<Self> {
        Ok(Audience { heard: Vec::new(), wanted, waits: None })
    }

    /// All that was heard, once it is as much as is wanted.
    #[call]
    fn all(&mut self, caller: Caller<Vec<(u64, u64)>>) {
        self.waits = Some(caller);
        if self.heard.len() >= self.wanted
            && let Some(caller) = self.waits.take()
        {
            caller.reply(std::mem::take(&mut self.heard));
        }
    }

    #[cast]
    fn told(&mut self, thread: u64, number: u64) {
        self.hear(thread, number);
    }

    #[info]
    fn sent(&mut self, message: (u64, u64)) {
        self.hear(message.0, message.1);
    }

    /// A thread answers it.
    #[call]
    fn double_on_a_thread(&mut self, n: u64, caller: Caller<u64>) {
        thread::spawn(move || caller.reply(2 * n));
    }

    #[cast]
    fn end(&mut self) -> otp::Next {
        otp::Next::stop()
    }
}

const THREADS: u64 = 8;
const MESSAGES: u64 = 1000;

/// Has each of several threads tell as many numbers, one after the other, and holds that all arrive in the order of their thread.
async fn each_in_order(audience: &Server<Audience>, tell: impl Fn(u64, u64) + Send + Clone + 'static) {
    let threads: Vec<_> = (0..THREADS)
        .map(|thread| {
            let tell = tell.clone();
            thread::spawn(move || (0..MESSAGES).for_each(|number| tell(thread, number)))
        })
        .collect();
    let heard = audience.all().within(Duration::from_secs(120)).await.expect("all of it");
    assert_eq!(heard.len() as u64, THREADS * MESSAGES);
    for thread in 0..THREADS {
        let of_one: Vec<u64> = heard.iter().filter(|told| told.0 == thread).map(|told| told.1).collect();
        assert!(of_one.iter().copied().eq(0..MESSAGES), "of thread {thread}: {of_one:?}");
    }
    for thread in threads {
        thread.join().expect("it panicked");
    }
}

async fn audience() -> Server<Audience> {
    Audience::start_link((THREADS * MESSAGES) as usize).await.expect("it starts")
}

fn pid(server: &Server<Audience>) -> Pid {
    Any::of(server).get().expect("a process")
}

#[otp::test]
async fn casts_and_messages_of_threads_arrive_in_the_order_of_each() {
    let audience = audience().await;
    let to = audience.clone();
    each_in_order(&audience, move |thread, number| to.told(thread, number)).await;
    let to = pid(&audience);
    each_in_order(&audience, move |thread, number| to.send(&(thread, number))).await;
    // By turns: both ways lead to one queue.
    let (to, also) = (audience.clone(), pid(&audience));
    let by_turns = move |thread, number| {
        if number % 2 == 0 { to.told(thread, number) } else { also.send(&(thread, number)) }
    };
    each_in_order(&audience, by_turns).await;
}

#[otp::test]
async fn threads_find_whoever_bears_a_name() {
    let audience = audience().await;
    let global = (Name::from(otp::atom!("thread_g")), audience.clone());
    let yes: Any = otp::erlang::apply("global", "register_name", global).await.expect("an answer");
    assert_eq!(format!("{yes:?}"), "yes");
    let local = (Name::from(otp::atom!("thread_l")), audience.clone());
    assert_eq!(otp::erlang::apply("erlang", "register", local).await, Ok(true));
    each_in_order(&audience, |thread, number| Server::<Audience>::named("thread_l").told(thread, number)).await;
    each_in_order(&audience, |thread, number| {
        Pid::registered("thread_l").expect("it is registered").send(&(thread, number));
    })
    .await;
    each_in_order(&audience, |thread, number| Server::<Audience>::global("thread_g").told(thread, number)).await;
    let node = otp::cluster::node();
    each_in_order(&audience, move |thread, number| {
        Server::<Audience>::named_on("thread_l", node.as_str()).told(thread, number)
    })
    .await;
    // Nobody bears this one; whatever sends for threads outlives that, with all that others have given it.
    let courier = "whereis('$otp_courier_exercises')";
    let before = evaluate(courier).await.expect("a process");
    let nobody = thread::spawn(|| {
        Server::<Audience>::named("thread_nobody").told(1, 2);
        Server::<Audience>::global("thread_nobody").told(1, 2);
        Server::<Audience>::named_on("thread_nobody", "nowhere@127.0.0.1").told(1, 2);
        Pid::registered("thread_nobody").is_none()
    });
    assert!(nobody.join().expect("it goes on"));
    each_in_order(&audience, |thread, number| Server::<Audience>::global("thread_g").told(thread, number)).await;
    assert_eq!(evaluate(courier).await, Ok(before));
}

#[otp::test]
async fn threads_answer_calls_and_send_to_mailboxes() {
    let audience = audience().await;
    for n in 0..100 {
        assert_eq!(audience.double_on_a_thread(n).await, Ok(2 * n));
        assert_eq!(audience.double_on_a_thread(n).without_limit().await, Ok(2 * n));
    }
    let mut mailbox = Mailbox::<u64>::new().await.expect("a mailbox");
    let address = mailbox.address();
    let sends = thread::spawn(move || (0..MESSAGES).for_each(|n| address.send(&n)));
    for n in 0..MESSAGES {
        assert_eq!(within(Duration::from_secs(60), mailbox.receive()).await.expect("it comes"), Ok(n));
    }
    sends.join().expect("it panicked");
}

#[otp::test]
async fn a_thread_outlives_whom_it_sends_to() {
    let audience = audience().await;
    let (to, also) = (audience.clone(), pid(&audience));
    let (ended, is_over) = std::sync::mpsc::channel::<()>();
    let goes_on = thread::spawn(move || {
        let mut sent = 0_u64;
        while is_over.try_recv().is_err() {
            to.told(0, sent);
            also.send(&(0, sent));
            sent += 1;
        }
        // The process is gone now.
        for n in 0..MESSAGES {
            to.told(0, n);
            also.send(&(0, n));
        }
        sent
    });
    audience.end();
    while audience.all().await.is_ok() {}
    ended.send(()).expect("it waits for that");
    goes_on.join().expect("it goes on");
}

#[otp::test]
async fn what_only_a_process_can_do_says_so_on_a_thread() {
    let refused = thread::spawn(|| {
        let said = catch_unwind(AssertUnwindSafe(Pid::own)).expect_err("no process runs this");
        said.downcast_ref::<String>().cloned().or_else(|| said.downcast_ref::<&str>().map(|said| (*said).to_owned()))
    });
    let said = refused.join().expect("it is caught").expect("a text");
    assert!(said.contains("a thread of its own can send and cast"), "{said}");
}

#[test]
fn addresses_go_from_thread_to_thread() {
    /// What may not itself.
    type Bound = std::rc::Rc<()>;
    fn shared<T: Send + Sync + Clone + 'static>() {}
    shared::<Pid>();
    shared::<Server<Bound>>();
    shared::<otp::Pool<Bound>>();
    shared::<otp::EventManager<Bound>>();
    shared::<otp::Group<Bound>>();
    shared::<otp::Address<Bound>>();
    shared::<Caller<Bound>>();
}
