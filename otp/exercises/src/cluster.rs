//! Clusters: what each node sees of the others when all is well, when a node is killed, and when a link is cut.
//!
//! The node that the tests run in is one node of the cluster; the others are started beside it. Tests use the cluster one at a
//! time, since nodes that are connected with one node are soon connected with all.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use otp::cluster::global::{self, Conflict, NameConflict};
use otp::cluster::{self, GroupChange, Membership, NodeEvent, NotConnected};
use otp::testing::{Node, evaluate};
use otp::{
    Bytes, CallError, Down, EventManager, Group, Init, Monitor, Name, Pool, Reason, Server, StartError, Tree, events,
    gen_server, one_for_one, pool, supervisor, time, worker,
};

/// Adds up.
pub struct Ledger {
    sum: i64,
}

#[gen_server]
impl Ledger {
    async fn init(sum: i64) -> Init<Self> {
        if sum < 0 {
            return Err("no debts".into());
        }
        Group::<Ledger>::named("all ledgers").join().await.map_err(|why| why.to_string())?;
        Ok(Ledger { sum })
    }

    #[call]
    fn add(&mut self, n: i64) -> i64 {
        self.sum += n;
        self.sum
    }

    /// Where it is.
    #[call]
    fn node(&mut self) -> Name {
        cluster::node()
    }

    /// As many bytes, there and back.
    #[call]
    fn echo(&mut self, bytes: Bytes) -> Bytes {
        bytes
    }

    /// Never answers.
    #[call]
    async fn ponder(&mut self) -> bool {
        time::sleep(Duration::from_secs(100_000)).await;
        true
    }

    #[cast]
    fn close(&mut self) -> otp::Next {
        otp::Next::stop()
    }

    #[cast]
    fn note(&mut self, n: i64) {
        assert!(n >= 0, "this cannot be noted");
        self.sum += n;
    }
}

/// Tells what it was told.
pub struct Observer {
    seen: Vec<String>,
    named: bool,
}

#[gen_server]
impl Observer {
    fn init() -> Init<Self> {
        cluster::monitor_nodes();
        Ok(Observer { seen: Vec::new(), named: false })
    }

    #[call]
    fn watch(&mut self, ledger: Server<Ledger>) {
        Monitor::of(&ledger);
    }

    #[call]
    async fn watch_group(&mut self) -> usize {
        Group::<Ledger>::named("all ledgers").monitor().await.expect("a watch").1.len()
    }

    #[call]
    async fn take_name(&mut self, name: String) -> bool {
        self.named = global::register(&name, Conflict::TellBoth).await.expect("an answer");
        self.named
    }

    #[call]
    fn is_named(&mut self) -> bool {
        self.named
    }

    #[call]
    fn seen(&mut self) -> Vec<String> {
        self.seen.clone()
    }

    #[info]
    fn down(&mut self, down: Down) {
        self.seen.push(format!("down: {}", down.reason));
    }

    #[info]
    fn node(&mut self, event: NodeEvent) {
        self.seen.push(match event {
            NodeEvent::Up(node) => format!("up: {node}"),
            NodeEvent::Down(node) => format!("gone: {node}"),
        });
    }

    #[info]
    fn group(&mut self, change: GroupChange<Ledger>) {
        let (what, members) = match change.change {
            Membership::Joined(members) => ("joined", members),
            Membership::Left(members) => ("left", members),
        };
        for member in members {
            let node = cluster::node_of(&member).expect("a process");
            self.seen.push(format!("{what} {} on {node}", change.group));
        }
    }

    #[info]
    fn conflict(&mut self, conflict: NameConflict) {
        self.named = false;
        self.seen.push(format!("lost: {:?}", conflict.name));
    }
}

// ------------------------------------------------------------------------------------------------ what the tests need

/// Waits until it is so, as long as a loaded machine may need.
macro_rules! until {
    ($what:expr, $is:expr) => {{
        let began = Instant::now();
        while !$is {
            assert!(began.elapsed() < Duration::from_secs(100), "it never came to this: {}", $what);
            time::sleep(Duration::from_millis(20)).await;
        }
    }};
}

static TAKEN: AtomicBool = AtomicBool::new(false);

/// The cluster is this test's.
struct Mine;

impl Mine {
    async fn take() -> Self {
        while TAKEN.swap(true, Ordering::AcqRel) {
            time::sleep(Duration::from_millis(20)).await;
        }
        let mine = Self;
        // Nodes of the test before end with it, and that takes a moment.
        until!("the nodes of the test before are gone", cluster::nodes().await.is_empty());
        let group = Group::<Ledger>::named("all ledgers");
        until!("so are its processes", group.local_members().await.expect("members").is_empty());
        mine
    }
}

impl Drop for Mine {
    fn drop(&mut self) {
        TAKEN.store(false, Ordering::Release);
    }
}

/// Nodes with the application, each connected with all.
async fn connected<const N: usize>(names: [&str; N]) -> (Mine, [Node; N]) {
    let mine = Mine::take().await;
    let mut nodes = Vec::new();
    for name in names {
        let node = Node::start(name).await.expect("it starts");
        node.evaluate("{ok, _} = application:ensure_all_started(exercises)").await.expect("it starts");
        cluster::connect(node.name()).await.expect("it lets us in");
        nodes.push(node);
    }
    for node in &nodes {
        until!("all are connected with all", count(node, "length(nodes())").await == N as i64);
    }
    global::sync().await.expect("they agree");
    (mine, nodes.try_into().expect("as many"))
}

async fn count(node: &Node, expression: &str) -> i64 {
    node.evaluate(expression).await.expect("a value").get().expect("an integer")
}

fn ledger(node: &Node) -> Server<Ledger> {
    Server::named_on("ledger", node.name())
}

async fn has_seen(observer: &Server<Observer>, what: &str) -> bool {
    observer.seen().await.expect("an answer").iter().any(|one| one.contains(what))
}

// ------------------------------------------------------------------------------------------------ the tests

#[otp::test]
async fn calls_and_casts_go_to_other_nodes_as_to_this_one() {
    let (_mine, [b, c]) = connected(["b1", "c1"]).await;
    assert_eq!(ledger(&b).add(2).await, Ok(2));
    ledger(&b).note(3);
    assert_eq!(ledger(&b).add(0).await, Ok(5), "messages arrive in their order");
    assert_eq!(ledger(&c).add(0).await, Ok(0));
    // A thread, which is no process of any node.
    let to = ledger(&b);
    std::thread::spawn(move || (0..1000).for_each(|_| to.note(1))).join().expect("it casts");
    while ledger(&b).add(0).await != Ok(1005) {
        time::sleep(Duration::from_millis(5)).await;
    }
    assert_eq!(ledger(&c).node().await.as_ref(), Ok(c.name()));
    let many = Bytes(vec![7; 3_000_000]);
    assert_eq!(ledger(&c).echo(many.clone()).await, Ok(many));
    // A process that was sent there and back is the same, and is known where it is.
    let far: Server<Ledger> = evaluate(&format!("rpc:call({:?}, erlang, whereis, [ledger])", b.name()))
        .await
        .expect("a value")
        .get()
        .expect("a process");
    assert_eq!(cluster::node_of(&far).as_ref(), Some(b.name()));
    assert_eq!(far.add(1).await, Ok(1006));
    assert_eq!(cluster::node_of(&otp::Pid::own()), Some(cluster::node()));
    assert_eq!(cluster::node_of(&Server::<Ledger>::global("x")), None);
    // What is not there is told as it is here.
    let nobody = Server::<Ledger>::named_on("nobody", b.name());
    assert_eq!(nobody.add(1).await, Err(CallError::Down(Reason::NoProcess)));
    let wrong = Server::<Observer>::named_on("ledger", b.name());
    assert!(matches!(wrong.seen().await, Err(CallError::Refused(_))));
    let long = ledger(&b).ponder().within(Duration::from_millis(50)).await;
    assert!(matches!(long, Err(CallError::Timeout(_))), "{long:?}");
}

#[otp::test]
async fn a_node_that_is_not_there_is_an_error() {
    let _mine = Mine::take().await;
    let host = cluster::node().split_once('@').expect("a host").1.to_owned();
    let nobody = format!("nobody@{host}");
    let error = cluster::connect(&nobody).await.expect_err("it is not there");
    assert_eq!(error, NotConnected::Unreachable(nobody.clone()));
    assert!(error.to_string().contains(&nobody), "{error}");
    assert!(!cluster::disconnect(&nobody).await);
    let ledger = Server::<Ledger>::named_on("ledger", &nobody);
    assert_eq!(ledger.add(1).await, Err(CallError::Down(Reason::NoConnection)));
    ledger.note(1);
    let name = Name::new(nobody.clone()).expect("a name");
    let called = cluster::apply_on::<Name>(&name, Duration::from_secs(60), "erlang", "node", ()).await;
    assert!(called.expect_err("it is not there").to_string().contains("noconnection"));
    assert!(matches!(
        Pool::<Ledger>::named_on("ledgers", &nobody).start(1).await,
        Err(StartError::Failed(Reason::NoConnection))
    ));
}

#[otp::test]
async fn a_process_is_started_on_another_node_and_supervised_there() {
    let (_mine, [b, _c]) = connected(["b2", "c2"]).await;
    let pool = Pool::<Ledger>::named_on("ledgers", b.name());
    let one = pool.start(40).await.expect("it starts");
    assert_eq!(one.node().await.as_ref(), Ok(b.name()));
    assert_eq!(one.add(2).await, Ok(42));
    let more = pool.start_all([1, 2, -1]).await.expect("the pool is there");
    assert_eq!(more.iter().filter(|one| one.is_ok()).count(), 2, "{more:?}");
    assert!(matches!(&more[2], Err(StartError::Failed(why)) if why.to_string().contains("no debts")), "{more:?}");
    // It panics and is started anew, over there.
    let observer = Observer::start_link().await.expect("it starts");
    observer.watch(one.clone()).await.expect("an answer");
    one.note(-1);
    until!("its end is told here", has_seen(&observer, "this cannot be noted").await);
    until!("it is started anew", pool.count().await == Ok(3));
    assert_eq!(one.add(1).await, Err(CallError::Down(Reason::NoProcess)));
    let children = pool.children().await.expect("a list");
    assert!(children.iter().all(|child| cluster::node_of(child).as_ref() == Some(b.name())), "{children:?}");
    assert_eq!(pool.stop(&children[0]).await, Ok(true));
    let answer: Name =
        cluster::apply_on(b.name(), Duration::from_secs(60), "erlang", "node", ()).await.expect("a value");
    assert_eq!(answer, *b.name());
}

#[otp::test]
async fn a_node_that_is_killed_is_told_to_who_watches_and_who_waits() {
    let (_mine, [b, c]) = connected(["b3", "c3"]).await;
    let observer = Observer::start_link().await.expect("it starts");
    observer.watch(ledger(&b)).await.expect("an answer");
    let started = Pool::<Ledger>::named_on("ledgers", b.name()).start(1).await.expect("it starts");
    let waiting = otp::Task::spawn(ledger(&b).ponder().without_limit());
    let other = otp::Task::spawn(started.ponder().without_limit());
    b.kill().await.expect("it is killed");
    assert_eq!(waiting.await, Ok(Err(CallError::Down(Reason::NoConnection))));
    assert_eq!(other.await, Ok(Err(CallError::Down(Reason::NoConnection))));
    until!("the watch tells", has_seen(&observer, &format!("down: {}", Reason::NoConnection)).await);
    until!("the node is gone", has_seen(&observer, &format!("gone: {}", b.name())).await);
    // So it is for the third one, which goes on.
    let there = Server::<Observer>::named_on("observer", c.name());
    until!("the other sees it", has_seen(&there, &format!("gone: {}", b.name())).await);
    assert_eq!(ledger(&c).add(1).await, Ok(1));
    assert_eq!(ledger(&b).add(1).await, Err(CallError::Down(Reason::NoConnection)));
    // Another one of its name is another node: who was on the first is not there.
    let again = Node::start("b3").await.expect("it starts");
    again.evaluate("{ok, _} = application:ensure_all_started(exercises)").await.expect("it starts");
    assert_eq!(ledger(&again).add(1).await, Ok(1));
    assert_eq!(started.add(1).await, Err(CallError::Down(Reason::NoProcess)));
}

#[otp::test]
async fn a_node_that_hangs_is_held_for_dead_after_its_time() {
    let _mine = Mine::take().await;
    let ticks = ["-kernel", "net_ticktime", "4"];
    let (b, c) = (Node::start_with("b4", &ticks).await, Node::start_with("c4", &ticks).await);
    let (b, c) = (b.expect("it starts"), c.expect("it starts"));
    b.evaluate("{ok, _} = application:ensure_all_started(exercises)").await.expect("it starts");
    b.evaluate(&format!("true = net_kernel:connect_node({:?})", c.name())).await.expect("it connects");
    let sees = async |what: &str| {
        let seen: Vec<String> =
            b.evaluate("exercises_observer:seen(observer)").await.expect("a value").get().expect("texts");
        seen.iter().any(|one| one == &format!("{what}: {}", c.name()))
    };
    until!("it is there", sees("up").await);
    c.freeze().await.expect("it is held");
    until!("it is held for dead", sees("gone").await);
    c.thaw().await.expect("it goes on");
    let connect = format!("true = net_kernel:connect_node({:?}), length(nodes())", c.name());
    until!("it is let in again", b.evaluate(&connect).await.is_ok_and(|nodes| nodes.get() == Ok(1)));
}

#[otp::test]
async fn a_global_name_is_borne_once_and_found_from_everywhere() {
    let (_mine, [b, c]) = connected(["b5", "c5"]).await;
    let one = Ledger::start_link(1).global_name("the one").await.expect("it starts");
    let found = Server::<Ledger>::global("the one");
    assert_eq!(found.add(1).await, Ok(2));
    assert_eq!(count(&b, "exercises_ledger:add({global, 'the one'}, 1)").await, 3);
    found.note(1);
    assert_eq!(one.add(0).await, Ok(4));
    let taken = Ledger::start_link(1).global_name("the one").await;
    assert!(matches!(&taken, Err(StartError::AlreadyStarted(_))), "{taken:?}");
    let there = b.evaluate("exercises_ledger:start_link_as({global, 'the one'}, 1)").await.expect("a value");
    assert!(format!("{there:?}").starts_with("{error,{already_started,"), "{there:?}");
    assert_eq!(Server::<Ledger>::global("nobody").add(1).await, Err(CallError::Down(Reason::NoProcess)));
    // A process takes one later, and loses it with its node.
    let observer = Server::<Observer>::named_on("observer", b.name());
    assert_eq!(observer.take_name("the other".into()).await, Ok(true));
    let here = Observer::start_link().await.expect("it starts");
    assert_eq!(here.take_name("the other".into()).await, Ok(false));
    let bearer = global::whereis("the other").await.expect("an answer").expect("it is borne");
    assert_eq!(cluster::node_of(&bearer).as_ref(), Some(b.name()));
    b.kill().await.expect("it is killed");
    until!("the name is free", global::whereis("the other").await == Ok(None));
    assert_eq!(here.take_name("the other".into()).await, Ok(true));
    assert!(count(&c, "length(exercises_observer:seen({global, 'the other'}))").await > 0);
    global::unregister("the other").await.expect("it is free");
    assert_eq!(global::whereis("the other").await, Ok(None));
    one.close();
}

/// What there is once.
#[supervisor]
pub fn everywhere() -> Tree {
    one_for_one()
        .child(worker::<Ledger>(7_i64).global_name("ledger everywhere"))
        .child(pool::<Ledger>().global_name("ledgers everywhere"))
        .child(events::<i64>("events").global_name("events everywhere"))
}

#[otp::test]
async fn a_tree_gives_names_among_all_nodes_and_a_second_one_does_not_start() {
    let (_mine, [b, c]) = connected(["b9", "c9"]).await;
    let start = "Own = self(), \
                 {_, Ref} = spawn_monitor(fun() -> Own ! {started, exercises_everywhere:start_link()}, receive stop -> ok end end), \
                 receive {started, {ok, _}} -> ok; {started, Why} -> error(Why); {'DOWN', Ref, _, _, Why} -> error(Why) end";
    b.evaluate(start).await.expect("it starts");
    assert_eq!(Server::<Ledger>::global("ledger everywhere").add(1).await, Ok(8));
    let one = Pool::<Ledger>::global("ledgers everywhere").start(1).await.expect("it starts");
    assert_eq!(cluster::node_of(&one).as_ref(), Some(b.name()));
    assert_eq!(EventManager::<i64>::global("events everywhere").sync_notify(1).await, Ok(()));
    let again = c.evaluate("process_flag(trap_exit, true), exercises_everywhere:start_link()").await.expect("a value");
    assert!(format!("{again:?}").contains("failed_to_start_child,'ledger everywhere',{already_started,"), "{again:?}");
    let events = EventManager::<i64>::start_link().global_name("events everywhere").await;
    assert!(matches!(events, Err(StartError::AlreadyStarted(_))), "{events:?}");
    // Its node ends, and the other one can have them.
    b.kill().await.expect("it is killed");
    until!("it starts there", c.evaluate(start).await.is_ok());
    assert_eq!(Server::<Ledger>::global("ledger everywhere").node().await.as_ref(), Ok(c.name()));
}

#[otp::test]
async fn a_group_has_its_members_on_all_nodes() {
    let (_mine, [b, c]) = connected(["b6", "c6"]).await;
    let group = Group::<Ledger>::named("all ledgers");
    let observer = Observer::start_link().await.expect("it starts");
    observer.watch_group().await.expect("an answer");
    until!("those of the other nodes are known", group.members().await.expect("members").len() == 2);
    assert_eq!(group.local_members().await.expect("members"), []);
    let own = Ledger::start_link(100).await.expect("it starts");
    assert_eq!(group.local_members().await.as_deref(), Ok(std::slice::from_ref(&own)));
    for node in [&b, &c] {
        let known = "length(pg:get_members('all ledgers'))";
        until!("all know all", count(node, known).await == 3);
    }
    assert_eq!(group.broadcast(|ledger| ledger.note(5)).await, Ok(3));
    let mut sums: Vec<_> = group.ask(|ledger| ledger.add(0)).await.expect("answers");
    sums.sort_by_key(|(_, sum)| sum.clone().unwrap_or_default());
    let sums: Vec<_> = sums.into_iter().map(|(_, sum)| sum).collect();
    assert_eq!(sums, [Ok(5), Ok(5), Ok(105)]);
    let joined = format!("joined all ledgers on {}", cluster::node());
    until!("a change is told", has_seen(&observer, &joined).await);
    // A test may be a member too; it does not ask itself.
    group.join().await.expect("it joins");
    assert_eq!(group.ask(|ledger| ledger.add(0)).await.expect("answers").len(), 3);
    assert_eq!(group.leave().await, Ok(true));
    assert_eq!(group.leave().await, Ok(false));
    b.kill().await.expect("it is killed");
    let left = format!("left all ledgers on {}", b.name());
    until!("its members are gone", has_seen(&observer, &left).await);
    assert_eq!(group.members().await.expect("members").len(), 2);
    own.close();
}

#[otp::test]
async fn each_side_of_a_cut_goes_on_alone_and_they_find_each_other_again() {
    let (_mine, [b, c]) = connected(["b7", "c7"]).await;
    let group = Group::<Ledger>::named("all ledgers");
    let observer = Observer::start_link().await.expect("it starts");
    observer.watch_group().await.expect("an answer");
    until!("those of the other nodes are known", group.members().await.expect("members").len() == 2);
    let members = group.members().await.expect("members");
    let there = members.into_iter().find(|member| cluster::node_of(member).as_ref() == Some(c.name()));
    let there = there.expect("that of c");
    let waiting = otp::Task::spawn(there.ponder().without_limit());
    let (own, seen) = (cluster::node(), |what: &str, node: &Node| format!("{what}: {}", node.name()));
    // c on one side, this node and b on the other.
    c.cut(&[&own, b.name()]).await.expect("it is cut");
    assert_eq!(waiting.await, Ok(Err(CallError::Down(Reason::NoConnection))), "though it lives");
    until!("this side sees it", has_seen(&observer, &seen("gone", &c)).await);
    until!("the other side sees it", count(&c, "length(nodes())").await == 0);
    // To leave no node that sees both sides, `global` may cut this one off from b too: somebody has to connect again.
    until!("its members are gone, and those of b are there", {
        cluster::connect(b.name()).await.is_ok() && group.members().await.expect("members").len() == 1
    });
    assert_eq!(count(&c, "length(pg:get_members('all ledgers'))").await, 1);
    assert!(cluster::connect(c.name()).await.is_err(), "it lets nobody in");
    assert_eq!(ledger(&c).add(1).await, Err(CallError::Down(Reason::NoConnection)));
    until!("b answers", ledger(&b).add(0).await == Ok(0));
    // Both sides give the same name.
    let other = "exercises_observer:take_name(observer, <<\"leader\">>)";
    until!("c has the name", c.evaluate(other).await.expect("a value").get() == Ok(true));
    assert_eq!(observer.take_name("leader".into()).await, Ok(true));
    c.heal(&[&own, b.name()]).await.expect("it is healed");
    cluster::connect(c.name()).await.expect("it lets us in again");
    until!("this side sees it", has_seen(&observer, &seen("up", &c)).await);
    until!("its members are back", {
        cluster::connect(b.name()).await.is_ok() && group.members().await.expect("members").len() == 2
    });
    until!("all are connected with all", count(&c, "length(nodes())").await == 2);
    assert!(group.members().await.expect("members").contains(&there), "it is the one that it was");
    // Of a name that both had, both are told.
    until!("this one lost the name", observer.is_named().await == Ok(false));
    let observer = Server::<Observer>::named_on("observer", c.name());
    until!("so did the other", observer.is_named().await == Ok(false));
    assert_eq!(global::whereis("leader").await, Ok(None));
}

#[otp::test]
async fn what_does_not_talk_by_tls_is_not_let_in_where_all_others_do() {
    let _mine = Mine::take().await;
    let tls = evaluate("init:get_argument(proto_dist)").await.expect("a value");
    if format!("{tls:?}") == "error" {
        // Here nobody does.
        return;
    }
    assert!(format!("{tls:?}").contains("inet_tls"), "{tls:?}");
    let plain = Node::start_with("b8", &["-proto_dist", "inet_tcp"]).await.expect("it starts");
    assert!(cluster::connect(plain.name()).await.is_err(), "its cookie is right, and that is not enough");
    let there = format!("net_kernel:connect_node({:?})", cluster::node());
    assert_eq!(plain.evaluate(&there).await.expect("a value").get(), Ok(false));
}
