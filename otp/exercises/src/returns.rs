//! Returns of callbacks, and events that are not messages.
//!
//! - a timeout after a callback, unless a message comes first
//! - hibernation, and waking up
//! - stopping from a call, a cast and an info, with and without a reply; terminate sees the reason
//! - replies that are sent later
//! - an init that fails, or that says that no process is needed
//! - sys: state seen and replaced, tracing, suspension; a parent's exit

use std::time::Duration;

use otp::testing::evaluate;
use otp::{Any, CallError, Caller, Down, Init, Monitor, Next, NoStart, Pid, Reason, Reply, Server, gen_server, time};

/// Does what it is told next.
pub struct Next1 {
    timeouts: u32,
    waiting: Vec<Caller<u32>>,
    told: Option<Pid>,
}

#[gen_server(module = "next_one")]
impl Next1 {
    fn init(needed: bool) -> Init<Self> {
        if !needed {
            return Err(NoStart::Ignore);
        }
        Ok(Next1 { timeouts: 0, waiting: Vec::new(), told: None })
    }

    #[call]
    fn timeouts(&mut self) -> u32 {
        self.timeouts
    }

    #[call]
    fn wait(&mut self, for_ms: u64) -> Reply<u32> {
        Reply::new(self.timeouts, Next::WaitAtMost(Duration::from_millis(for_ms)))
    }

    #[call]
    fn sleep_well(&mut self) -> Reply<bool> {
        Reply::new(true, Next::Hibernate)
    }

    #[call]
    fn later(&mut self, caller: Caller<u32>) {
        self.waiting.push(caller);
    }

    #[cast]
    fn answer(&mut self, with: u32) {
        self.waiting.drain(..).for_each(|caller| caller.reply(with));
    }

    #[call]
    fn end(&mut self) -> Reply<String> {
        Reply::and_stop("last words".into(), Reason::Normal)
    }

    #[cast]
    fn fail(&mut self, why: String) -> Next {
        Next::Stop(why.into())
    }

    #[cast]
    fn tell(&mut self, whom: Pid) {
        self.told = Some(whom);
    }

    #[info]
    fn number(&mut self, number: u32) -> Next {
        self.timeouts = number;
        Next::stop()
    }

    #[timeout]
    fn nothing_came(&mut self) {
        self.timeouts += 1;
    }

    #[terminate]
    fn last(&mut self, reason: Reason) {
        if let Some(told) = &self.told {
            told.send(&(otp::Any::of(&reason), self.timeouts));
        }
    }
}

async fn started() -> Server<Next1> {
    Next1::start_link(true).await.expect("it starts")
}

#[otp::test]
async fn a_timeout_comes_unless_a_message_does() {
    let one = started().await;
    assert_eq!(one.wait(100).await, Ok(0));
    assert_eq!(one.wait(100).await, Ok(0), "a message came first");
    // A look at it is no message.
    let looked = otp::erlang::apply::<Any>("sys", "get_state", (one.clone(),)).await;
    assert!(looked.is_ok());
    time::sleep(Duration::from_millis(300)).await;
    assert_eq!(one.timeouts().await, Ok(1));
    time::sleep(Duration::from_millis(300)).await;
    assert_eq!(one.timeouts().await, Ok(1), "it is said anew each time");
}

#[otp::test]
async fn one_that_hibernates_wakes_up() {
    let one = Next1::start_link(true).named("sleeper").await.expect("it starts");
    assert_eq!(one.sleep_well().await, Ok(true));
    time::sleep(Duration::from_millis(20)).await;
    let function =
        evaluate("element(2, erlang:process_info(whereis(sleeper), current_function))").await.expect("a value");
    assert_eq!(format!("{function:?}"), "{erlang,hibernate,3}");
    assert_eq!(one.timeouts().await, Ok(0));
}

#[otp::test]
async fn it_ends_as_it_says_and_terminate_sees_why() {
    otp::erlang::apply::<bool>("erlang", "process_flag", (otp::Name::from(otp::atom!("trap_exit")), true))
        .await
        .expect("a flag");
    let one = started().await;
    assert_eq!(one.end().await, Ok("last words".to_owned()));
    assert_eq!(one.timeouts().await, Err(CallError::Down(Reason::NoProcess)));

    let mut mailbox = otp::Mailbox::<u32>::new().await.expect("a mailbox");
    let two = started().await;
    two.fail("it was told to".into());
    let end = two.timeouts().await;
    assert!(matches!(end, Err(CallError::Down(Reason::Other(_) | Reason::NoProcess))), "{end:?}");
    mailbox.address().send(&5);
    assert_eq!(mailbox.receive().await, Ok(5));
}

/// Watches one end of [`Next1`] and notes what it was told.
pub struct Watcher {
    watched: Option<Pid>,
    down: Option<Down>,
    words: Option<(Any, u32)>,
}

#[gen_server]
impl Watcher {
    async fn init() -> Init<Self> {
        Ok(Watcher { watched: None, down: None, words: None })
    }

    #[call]
    async fn watch(&mut self, how: u32) -> Result<(), otp::StartError> {
        let one = otp::Task::spawn(async { Next1::start_link(true).await }).await;
        // The task has ended, and what it started with it.
        assert!(one.is_ok());
        let one = Next1::start_link(true).await?;
        let Ok(pid) = otp::erlang::apply::<Pid>("erlang", "hd", (vec![one.clone()],)).await else { return Ok(()) };
        otp::unlink(&pid);
        Monitor::of(&one);
        self.watched = Some(pid.clone());
        one.tell(Pid::own());
        match how {
            0 => pid.send(&7_u32),
            1 => one.fail("a reason".into()),
            2 => otp::exit(&pid, &Reason::Shutdown),
            _ => otp::kill(&pid),
        }
        Ok(())
    }

    #[call]
    fn result(&mut self) -> (Option<String>, Option<String>) {
        let down = self.down.as_ref().map(|down| format!("{:?}", down.reason));
        (down, self.words.as_ref().map(|words| format!("{words:?}")))
    }

    #[info]
    fn down(&mut self, down: Down) {
        assert_eq!(Some(&down.process), self.watched.as_ref());
        self.down = Some(down);
    }

    #[info]
    fn words(&mut self, words: (Any, u32)) {
        self.words = Some(words);
    }
}

#[otp::test]
async fn the_end_of_a_watched_process_is_told_with_its_reason() {
    let cases = [
        (0, "Normal", Some("(normal, 7)")),
        (1, "Other(<<\"a reason\">>)", Some("(<<\"a reason\">>, 0)")),
        (2, "Shutdown", Some("(shutdown, 0)")),
        (3, "Killed", None),
    ];
    for (how, reason, words) in cases {
        let watcher = Watcher::start_link().await.expect("it starts");
        watcher.watch(how).await.expect("an answer").expect("it starts");
        let (mut down, mut told) = (None, None);
        while down.is_none() || told.is_none() != words.is_none() {
            time::sleep(Duration::from_millis(5)).await;
            (down, told) = watcher.result().await.expect("an answer");
        }
        assert_eq!(down.as_deref(), Some(reason));
        assert_eq!(told.as_deref(), words);
    }
}

#[otp::test]
async fn a_reply_may_come_later() {
    let one = started().await;
    let waiting: Vec<_> = (0..3)
        .map(|_| {
            let one = one.clone();
            otp::Task::spawn(async move { one.later().await })
        })
        .collect();
    time::sleep(Duration::from_millis(20)).await;
    one.answer(9);
    for task in waiting {
        assert_eq!(task.await, Ok(Ok(9)));
    }
}

#[otp::test]
async fn one_that_is_not_needed_is_not_started() {
    assert_eq!(Next1::start_link(false).await, Err(otp::StartError::Ignored));
}

/// Shown as its term, and restored from one.
#[derive(otp::Data)]
pub struct Shown(u32);

#[gen_server]
impl Shown {
    fn init() -> Init<Self> {
        Ok(Shown(1))
    }

    #[call]
    fn value(&mut self) -> u32 {
        self.0
    }
}

#[otp::test]
async fn tools_of_erlang_see_and_change_a_state_that_has_a_form() {
    let one = Shown::start_link().named("shown_one").await.expect("it starts");
    let value = |expression: &'static str| async move {
        let value = evaluate(expression).await.expect("a value");
        format!("{value:?}")
    };
    assert_eq!(value("sys:get_state(shown_one)").await, "1");
    assert_eq!(value("sys:replace_state(shown_one, fun(N) -> N + 4 end)").await, "5");
    assert_eq!(one.value().await, Ok(5));
    assert_eq!(value("sys:statistics(shown_one, true), sys:log(shown_one, true)").await, "ok");
    assert_eq!(one.value().await, Ok(5));
    assert_eq!(value("{ok, S} = sys:statistics(shown_one, get), proplists:get_value(messages_in, S)").await, "1");
    assert_eq!(value("{ok, L} = sys:log(shown_one, get), length(L)").await, "2");
    assert!(value("{status, _, _, [_, _, _, _, Misc]} = sys:get_status(shown_one), Misc").await.contains("State"));
    assert_eq!(value("sys:suspend(shown_one)").await, "ok");
    assert!(matches!(one.value().within(Duration::from_millis(20)).await, Err(CallError::Timeout(_))));
    assert_eq!(value("sys:resume(shown_one)").await, "ok");
    assert_eq!(one.value().await, Ok(5));
}
