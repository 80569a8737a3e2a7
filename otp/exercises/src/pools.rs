//! Pools: dynamic supervision.

use std::time::Duration;

use otp::testing::evaluate;
use otp::{Any, Init, Pool, Server, StartError, gen_server, time};

/// A session of a user.
pub struct Session {
    user: String,
}

#[gen_server]
impl Session {
    async fn init(user: String, slow: u64) -> Init<Self> {
        if slow > 0 {
            time::sleep(Duration::from_millis(slow)).await;
        }
        match user.as_str() {
            "refused" => Err("no such user".into()),
            "panics" => panic!("what a user"),
            "killed" => {
                otp::kill(&otp::Pid::own());
                time::sleep(Duration::from_secs(60)).await;
                Err("never".into())
            }
            _ => Ok(Session { user }),
        }
    }

    #[call]
    fn user(&mut self) -> String {
        self.user.clone()
    }

    #[cast]
    fn end(&mut self, how: String) -> otp::Next {
        match how.as_str() {
            "panic" => panic!("the session panics"),
            _ => otp::Next::stop(),
        }
    }
}

/// Starts sessions and ends them, and counts the messages that are no call of its own.
pub struct Starter {
    heard: u64,
}

#[gen_server]
impl Starter {
    fn init() -> Init<Self> {
        Ok(Starter { heard: 0 })
    }

    /// So many sessions, ended in each of these ways in turn.
    #[call]
    async fn start_and_end(&mut self, pool: Pool<Session>, sessions: u64, ways: Vec<String>) {
        for (n, way) in (0..sessions).zip(ways.iter().cycle()) {
            pool.start((n.to_string(), 0)).await.expect("it starts").end(way.clone());
        }
    }

    #[call]
    fn heard(&mut self) -> u64 {
        self.heard
    }

    #[info]
    fn hear(&mut self, _message: Any) {
        self.heard += 1;
    }
}

async fn has_children(pool: &Pool<Session>, count: usize) {
    while pool.count().await != Ok(count) {
        time::sleep(Duration::from_millis(5)).await;
    }
}

/// The children of a pool once there are this many and each answers: some of them may still be about to panic, as they
/// were told, and answer when they were started anew.
async fn all_answer(pool: &Pool<Session>, count: usize) -> Vec<Server<Session>> {
    loop {
        has_children(pool, count).await;
        let children = pool.children().await.expect("a list");
        let mut answers = 0;
        for child in &children {
            answers += usize::from(child.user().await.is_ok());
        }
        if answers == count && children.len() == count {
            return children;
        }
    }
}

#[otp::test]
async fn whoever_started_a_child_hears_nothing_of_its_end() {
    let pool = a_pool("pool_i", "").await;
    let starter = Starter::start_link().await.expect("it starts");
    starter.start_and_end(pool.clone(), 1000, vec!["normal".into()]).without_limit().await.expect("they start");
    has_children(&pool, 0).await;
    assert_eq!(starter.heard().await, Ok(0));
    // Those that are never started anew, and those that are: nor is it told of their next start.
    let pool = a_pool("pool_j", "restart => temporary").await;
    let ways = vec!["normal".into(), "panic".into()];
    starter.start_and_end(pool.clone(), 100, ways.clone()).without_limit().await.expect("they start");
    has_children(&pool, 0).await;
    let pool = a_pool("pool_k", "intensity => 1000").await;
    starter.start_and_end(pool.clone(), 100, ways).without_limit().await.expect("they start");
    for child in all_answer(&pool, 50).await {
        assert_eq!(pool.stop(&child).await, Ok(true));
    }
    assert_eq!(starter.heard().await, Ok(0));
}

#[otp::test]
async fn a_task_that_started_twenty_thousand_children_holds_no_message_after() {
    let pool = a_pool("pool_l", "").await;
    for n in 0..20_000 {
        pool.start((n.to_string(), 0)).await.expect("it starts").end("normal".into());
    }
    has_children(&pool, 0).await;
    // As callers in Erlang do, with each kind of request that there is.
    evaluate(
        "[begin {ok, C} = Start(), exercises_session:'end'(C, <<\"normal\">>) end
          || Start <- [fun() -> supervisor:start_child(pool_l, [{<<\"e\">>, 0}]) end,
                       fun() -> gen_server:call(pool_l, {start_child, [{<<\"e\">>, 0}]}, 60000) end,
                       fun() -> {reply, R} = gen_server:wait_response(gen_server:send_request(pool_l, {start_child,
                           [{<<\"e\">>, 0}]}), infinity), R end],
             _ <- lists:seq(1, 10)]",
    )
    .await
    .expect("they start");
    has_children(&pool, 0).await;
    assert_eq!(
        evaluate("process_info(self(), messages)").await.map(|all| format!("{all:?}")),
        Ok("{messages,[]}".into())
    );
}

/// A tree with one pool of this name, linked to who starts it.
async fn a_pool(name: &str, extra: &str) -> Pool<Session> {
    let config = format!(
        "maps:merge(#{{restart => transient, intensity => 2, period => 5000, shutdown => 1000, most => infinity}}, #{{{extra}}})"
    );
    evaluate(&format!("{{ok, P}} = exercises_session:start_pool({{local, {name}}}, {config}), P"))
        .await
        .expect("a pool");
    Pool::named(name)
}

#[otp::test]
async fn who_starts_one_waits_no_longer_than_it_says() {
    let pool = a_pool("pool_of_slow_ones", "").await;
    let late = pool.start(("slow".into(), 60_000)).within(Duration::from_millis(20)).await;
    assert_eq!(late, Err(StartError::Timeout));
    let session = pool.start(("quick".into(), 0)).within(Duration::from_secs(60)).await.expect("it starts");
    assert_eq!(session.user().await, Ok("quick".into()));
}

#[otp::test]
async fn children_are_started_counted_listed_and_ended() {
    let pool = a_pool("pool_a", "").await;
    let mut sessions = Vec::new();
    for n in 0..20 {
        sessions.push(pool.start((n.to_string(), 0)).await.expect("it starts"));
    }
    assert_eq!(pool.count().await, Ok(20));
    assert_eq!(pool.children().await.expect("a list").len(), 20);
    assert_eq!(sessions[7].user().await, Ok("7".to_owned()));
    assert_eq!(pool.stop(&sessions[7]).await, Ok(true));
    assert_eq!(pool.stop(&sessions[7]).await, Ok(false));
    sessions[8].end("normal".into());
    while pool.count().await != Ok(18) {
        time::sleep(Duration::from_millis(5)).await;
    }
    // As Erlang's own functions have it.
    let erlang = evaluate("{ok, C} = supervisor:start_child(pool_a, [{<<\"e\">>, 0}]), exercises_session:user(C)")
        .await
        .expect("a value");
    assert_eq!(erlang.get(), Ok("e".to_owned()));
    let counted = evaluate("supervisor:count_children(pool_a)").await.expect("a value");
    assert_eq!(format!("{counted:?}"), "[{specs,1},{active,19},{supervisors,0},{workers,19}]");
}

#[otp::test]
async fn a_start_that_fails_is_told_to_who_asked_and_leaves_nothing() {
    let pool = a_pool("pool_b", "").await;
    let why = |error: Result<_, StartError>| error.map(|_: otp::Server<Session>| ()).expect_err("it fails").to_string();
    assert!(why(pool.start(("refused".into(), 0)).await).contains("no such user"));
    assert!(why(pool.start(("panics".into(), 0)).await).contains("what a user"));
    assert_eq!(pool.count().await, Ok(0));
    // One that is killed before it could answer: it is started anew until the pool gives up, unless it never is.
    let pool = a_pool("pool_f", "restart => temporary").await;
    assert!(why(pool.start(("killed".into(), 0)).await).contains("killed"));
    assert_eq!(pool.count().await, Ok(0));
    assert!(why(Pool::named("no_pool").start(("one".into(), 0)).await).contains("no such process"));
}

#[otp::test]
async fn a_slow_start_holds_up_nobody_else() {
    let pool = a_pool("pool_c", "").await;
    let slow = otp::Task::spawn({
        let pool = pool.clone();
        async move { pool.start(("slow".into(), 60_000)).await.is_ok() }
    });
    while pool.count().await != Ok(1) {
        otp::yield_now().await;
    }
    // With OTP's supervisor this would take a minute, and its time be over.
    assert!(time::within(Duration::from_secs(20), pool.start(("fast".into(), 0))).await.is_ok());
    drop(slow);
}

#[otp::test]
async fn a_child_that_panics_is_started_anew_until_it_is_too_often() {
    otp::erlang::apply::<otp::Any>("erlang", "process_flag", (otp::Name::from(otp::atom!("trap_exit")), true))
        .await
        .expect("a flag");
    let pool = a_pool("pool_d", "").await;
    pool.start(("one".into(), 0)).await.expect("it starts");
    for _ in 0..2 {
        let child = pool.children().await.expect("a list").remove(0);
        child.end("panic".into());
        let anew = loop {
            time::sleep(Duration::from_millis(5)).await;
            let children = pool.children().await.expect("a list");
            if let Some(anew) = children.into_iter().find(|anew| *anew != child) {
                break anew;
            }
        };
        assert_eq!(anew.user().await, Ok("one".to_owned()), "with the same argument");
    }
    pool.children().await.expect("a list").remove(0).end("panic".into());
    while pool.count().await.is_ok() {
        time::sleep(Duration::from_millis(5)).await;
    }
}

#[otp::test]
async fn a_full_pool_says_so() {
    let pool = a_pool("pool_e", "most => 2").await;
    for _ in 0..2 {
        pool.start(("one".into(), 0)).await.expect("it starts");
    }
    assert!(pool.start(("one".into(), 0)).await.expect_err("it is full").to_string().contains("max_children"));
}

#[otp::test]
async fn many_are_started_side_by_side_with_an_answer_or_without() {
    let pool = a_pool("pool_g", "").await;
    let users = (0..1500).map(|n| (if n == 77 { "refused".to_owned() } else { n.to_string() }, 0));
    let all = pool.start_all(users.clone()).await.expect("it is there");
    assert_eq!(all.iter().filter(|one| one.is_ok()).count(), 1499);
    assert!(all[77].as_ref().expect_err("it is refused").to_string().contains("no such user"));
    let last = all[1499].as_ref().expect("it starts");
    assert_eq!(last.user().await, Ok("1499".to_owned()), "in the order of the arguments");
    pool.spawn_all(users);
    pool.spawn(("one more".into(), 0));
    while pool.count().await != Ok(2999) {
        time::sleep(Duration::from_millis(5)).await;
    }
    assert!(pool.start_all(Vec::<(String, u64)>::new()).await.expect("none").is_empty());
    assert!(Pool::<Session>::named("no_pool").start_all([("one".to_owned(), 0)]).await.is_err());
}

#[otp::test]
async fn of_many_that_start_each_is_told_how_its_own_start_went() {
    let pool = a_pool("pool_h", "restart => temporary").await;
    // Those that fail are there long before those that do not.
    let users = ["refused", "panics", "refused", "slow", "killed", "slow"];
    let slow = |user: &str| if user == "slow" { 100 } else { 0 };
    let started = pool.start_all(users.map(|user| (user.to_owned(), slow(user)))).await.expect("the pool is there");
    let started: Vec<_> = started.into_iter().map(|one| one.map(|_| ()).map_err(|why| why.to_string())).collect();
    assert!(started[3].is_ok() && started[5].is_ok(), "{started:?}");
    for (index, why) in [(0, "no such user"), (1, "what a user"), (2, "no such user"), (4, "killed")] {
        assert!(started[index].as_ref().is_err_and(|told| told.contains(why)), "{started:?}");
    }
}
