//! Log events: events of `tracing` and `log` reach a handler of logger, from every kind of thread that code runs on.

use std::time::Duration;

use otp::testing::evaluate;
use otp::time::{sleep, within};
use otp::{Init, NoStart, Pid, Server, Task, gen_server, on_dirty_cpu, on_dirty_io};
use tracing::instrument::Instrument;
use tracing::{debug, error, info, info_span, trace, warn};

/// Tells what it does.
pub struct Teller;

#[gen_server]
impl Teller {
    fn init(name: String) -> Init<Self> {
        info!(name, "it starts");
        if name == "bad" { Err(NoStart::Because("the name is bad".into())) } else { Ok(Teller) }
    }

    #[call]
    fn tell(&mut self, what: String) -> u64 {
        warn!(number = 7, half = 0.5, fine = true, debug = ?Some(1), "{what}");
        7
    }

    #[call(dirty_cpu)]
    fn tell_from_afar(&mut self, what: String) {
        warn!("{what}");
    }

    /// A message, an event, a message: whoever gets the second of them finds the event told.
    #[cast]
    fn tell_between(&mut self, to: Pid, what: String) {
        to.send(&1_u64);
        error!("{what}");
        to.send(&2_u64);
    }

    #[cast]
    fn panic_after(&mut self, what: String) {
        info!("{what}");
        panic!("now");
    }

    #[call]
    fn flood(&mut self, what: String, times: u32) {
        (0..times).for_each(|n| info!(n, "{what}"));
    }
}

/// Says something when it starts.
pub struct LogSayer;

#[gen_server]
impl LogSayer {
    fn init() -> Init<Self> {
        info!(by = "log_sayer", "it begins");
        warn!("look out");
        error!(target: "exercises::logging::quiet", "nobody hears this");
        Ok(LogSayer)
    }
}

impl Drop for Teller {
    fn drop(&mut self) {
        info!(target: "exercises::dropped", "a state is dropped");
    }
}

fn pid(server: &Server<Teller>) -> Pid {
    otp::Any::of(server).get().expect("a process")
}

fn shown(process: &Pid) -> String {
    format!("{process:?}")
}

/// A handler of logger that keeps what it gets in a table, and levels under which all of ours is told.
async fn listen() {
    otp::log::set_levels("trace".parse().expect("levels"));
    let module = r#"
        case erlang:module_loaded(kept_log) of true -> ok; false ->
            Forms = [begin {ok, T, _} = erl_scan:string(S), {ok, F} = erl_parse:parse_form(T), F end
                     || S <- ["-module(kept_log).", "-export([log/2]).",
                              "log(E, _) -> ets:insert(kept_log, {erlang:unique_integer([monotonic]), self(), E})."]],
            {ok, _, Code} = compile:forms(Forms),
            {Owner, Ref} = spawn_monitor(fun() ->
                register(kept_log, self()),
                ets:new(kept_log, [public, named_table, ordered_set]),
                {module, _} = code:load_binary(kept_log, "kept_log", Code),
                ok = logger:add_handler(kept_log, kept_log, #{}),
                ok = logger:set_handler_config(default, level, critical),
                receive {'$gen_call', From, _} -> gen_server:reply(From, ok) end,
                receive never -> ok end
            end),
            receive {'DOWN', Ref, _, _, _} -> ok after 0 -> ok end,
            Owner
        end"#;
    evaluate(module).await.expect("a module");
    until("whereis(kept_log) =/= undefined andalso lists:member(kept_log, logger:get_handler_ids())").await;
}

async fn until(expression: &str) {
    let there = async {
        while evaluate(expression).await.expect("an expression").get() != Ok(true) {
            sleep(Duration::from_millis(10)).await;
        }
    };
    within(Duration::from_secs(20), there).await.unwrap_or_else(|_| panic!("it is never so: {expression}"));
}

/// What was told with this in its text, each as `make` makes it of the event `E` and of `P`, the process that told it.
async fn told(what: &str, make: &str) -> Vec<String> {
    let expression = format!(
        "[unicode:characters_to_binary(io_lib:format(\"~ts\", [{make}])) || {{_, P, E}} <- ets:tab2list(kept_log), \
         M <- [lists:flatten(logger_formatter:format(E, #{{single_line => true, template => [level, \" \", msg]}}))], \
         string:find(M, \"{what}\") =/= nomatch, P =/= none]"
    );
    evaluate(&expression).await.expect("a list").get().expect("texts")
}

/// The same once there are as many.
async fn told_so_many(count: usize, what: &str, make: &str) -> Vec<String> {
    let all = within(Duration::from_secs(20), async {
        loop {
            let all = told(what, make).await;
            if all.len() >= count {
                break all;
            }
            sleep(Duration::from_millis(5)).await;
        }
    });
    all.await.unwrap_or_else(|_| panic!("no {count} are told of {what}"))
}

#[otp::test]
async fn an_event_is_a_report_with_what_erlang_says_of_its_own() {
    listen().await;
    let teller = Teller::start_link("good".into()).await.expect("it starts");
    assert_eq!(teller.tell("the report".into()).await, Ok(7));
    // It was told before the answer came.
    let shown = told("the report", "M").await;
    assert_eq!(shown, ["warning the report debug=Some(1) fine=true half=0.5 number=7"]);
    let report = "#{message => <<\"the report\">>, debug => <<\"Some(1)\">>, number => 7, half => 0.5, fine => true}";
    assert_eq!(told("the report", &format!("{{report, {report}}} =:= maps:get(msg, E)")).await, ["true"]);
    let expected = "is_list(maps:get(file, Meta)) andalso is_integer(maps:get(line, Meta)) andalso P =:= maps:get(pid, Meta) \
                    andalso abs(maps:get(time, Meta) - os:system_time(microsecond)) < 60000000 andalso is_pid(maps:get(gl, Meta)) \
                    andalso <<\"exercises::logging\">> =:= maps:get(target, Meta)";
    assert_eq!(told("the report", &format!("begin Meta = maps:get(meta, E), {expected} end")).await, ["true"]);
    let file = told("the report", "filename:basename(maps:get(file, maps:get(meta, E)))").await;
    assert_eq!(file, ["logging.rs"]);
}

#[otp::test]
async fn an_event_with_much_in_it_is_told_in_short() {
    listen().await;
    let much = vec![7; 1_000_000];
    info!(?much, "in short, with a field");
    log::info!("in short, in a record of {much:?}");
    info_span!("span", ?much).in_scope(|| info!("in short, in a span"));
    otp::yield_now().await;
    let beginnings = told("in short", "string:slice(M, 0, 41)").await;
    assert_eq!(beginnings[0], "info in short, with a field much=\"[7, 7, ");
    let sizes = told("in short", "integer_to_list(length(M))").await;
    assert_eq!(sizes.len(), 3);
    let sizes = sizes.iter().map(|size| size.parse::<usize>().expect("a number"));
    assert!(sizes.clone().all(|size| size < 10_000), "{sizes:?}");
}

#[otp::test]
async fn it_is_told_by_the_process_itself_between_the_messages_that_it_sends() {
    listen().await;
    let teller = Teller::start_link("good".into()).await.expect("it starts");
    for n in 0..20 {
        teller.tell_between(Pid::own(), format!("between {n}."));
        let got = evaluate("receive 2 -> receive 1 -> after_both after 0 -> only_one end after 5000 -> none end").await;
        assert_eq!(format!("{:?}", got.expect("a term")), "after_both");
        let who = told(&format!("between {n}."), "pid_to_list(P)").await;
        assert_eq!(who, [shown(&pid(&teller))]);
    }
}

#[otp::test]
async fn levels_are_those_of_logger() {
    listen().await;
    error!("level by level");
    warn!("level by level");
    info!("level by level");
    debug!("level by level");
    trace!("level by level");
    log::info!("level by level");
    otp::yield_now().await;
    let levels = told("level by level", "maps:get(level, E)").await;
    assert_eq!(levels, ["error", "warning", "info", "debug", "debug", "info"]);
}

#[otp::test]
async fn spans_say_what_an_event_is_about_wherever_it_is_told() {
    listen().await;
    let work = async {
        info!("within two");
        otp::yield_now().await;
        let told_there = info_span!("there", n = 1).in_scope(tracing::Span::current);
        let inner = async { debug!("within three") };
        inner.instrument(told_there).await;
    };
    let outer = info_span!("connection", peer = "a b", port = tracing::field::Empty);
    outer.record("port", 7070);
    work.instrument(info_span!(parent: &outer, "read")).await;
    info!("within none");
    otp::yield_now().await;
    assert_eq!(told("within two", "M").await, ["info connection{peer=\"a b\" port=7070}:read: within two"]);
    assert_eq!(
        told("within three", "M").await,
        ["debug connection{peer=\"a b\" port=7070}:read:there{n=1}: within three"]
    );
    assert_eq!(told("within none", "M").await, ["info within none"]);
    let spans = "[#{name => <<\"connection\">>, peer => <<\"a b\">>, port => 7070}, #{name => <<\"read\">>}]";
    assert_eq!(told("within two", &format!("{spans} =:= maps:get(spans, maps:get(meta, E))")).await, ["true"]);
}

#[otp::test]
async fn threads_dirty_schedulers_tasks_and_drops_tell_too() {
    listen().await;
    let told_by = std::thread::Builder::new().name("the thread".into());
    let thread = told_by.spawn(|| warn!("told by a thread")).expect("a thread");
    thread.join().expect("it ends");
    let name = "maps:get(thread, maps:get(meta, E))";
    assert_eq!(told_so_many(1, "told by a thread", name).await, ["the thread"]);

    let teller = Teller::start_link("good".into()).await.expect("it starts");
    let server = shown(&pid(&teller));
    teller.tell_from_afar("told from afar".into()).await.expect("it does");
    on_dirty_io(|| info!("told by a job")).await;
    on_dirty_cpu(|| info!("told by a job")).await;
    let own = "pid_to_list(maps:get(pid, maps:get(meta, E)))";
    assert_eq!(told_so_many(1, "told from afar", own).await, [server]);
    let me = shown(&Pid::own());
    assert_eq!(told_so_many(2, "told by a job", own).await, [me.clone(), me]);

    Task::spawn(async { info!("told by a task") }).await.expect("it ends");
    assert_eq!(told_so_many(1, "told by a task", "M").await, ["info told by a task"]);

    let before = told("a state is dropped", "M").await.len();
    otp::unlink(&pid(&teller));
    otp::kill(&pid(&teller));
    told_so_many(before + 1, "a state is dropped", "M").await;
}

#[otp::test]
async fn what_was_told_before_a_panic_or_a_start_that_fails_is_not_lost() {
    listen().await;
    let teller = Teller::start_link("good".into()).await.expect("it starts");
    otp::unlink(&pid(&teller));
    teller.panic_after("these were its last words".into());
    told_so_many(1, "these were its last words", "M").await;
    evaluate("process_flag(trap_exit, true)").await.expect("a flag");
    Teller::start_link("bad".into()).await.expect_err("it does not start");
    assert_eq!(told_so_many(1, "it starts name=bad", "M").await, ["info it starts name=bad"]);
}

#[otp::test]
async fn a_process_that_tells_much_is_slowed_down_and_loses_nothing() {
    listen().await;
    let teller = Teller::start_link("good".into()).await.expect("it starts");
    teller.flood("a stream".into(), 900).await.expect("it does");
    assert_eq!(told("a stream", "M").await.len(), 900);
}

#[otp::test]
#[ignore = "what others tell may be lost meanwhile, so it runs in a VM of its own"]
async fn of_what_threads_tell_too_much_it_is_told_how_much_was_lost() {
    listen().await;
    let threads: Vec<_> =
        (0..4).map(|_| std::thread::spawn(|| (0..20_000).for_each(|n| info!(n, "a flood")))).collect();
    threads.into_iter().for_each(|thread| thread.join().expect("it ends"));
    let lost =
        "[N || {_, _, #{msg := {report, #{label := {otp, lost_events}, count := N}}}} <- ets:tab2list(kept_log)]";
    let arrived = "length([n || {_, _, #{msg := {report, #{message := <<\"a flood\">>}}}} <- ets:tab2list(kept_log)])";
    // Each is either told or counted.
    until(&format!("lists:sum({lost}) + {arrived} =:= 80000 andalso {lost} =/= []")).await;
    until(&format!("{arrived} >= 1000")).await;
}

#[otp::test]
#[ignore = "it changes the level of the node, so it runs in a VM of its own"]
async fn levels_follow_logger_while_the_program_runs() {
    otp::log::set_levels(otp::log::Levels::default());
    let is = async |on: bool| {
        let done = within(Duration::from_secs(10), async {
            while tracing::enabled!(tracing::Level::DEBUG) != on || log::log_enabled!(log::Level::Debug) != on {
                sleep(Duration::from_millis(50)).await;
            }
        });
        done.await.unwrap_or_else(|_| panic!("debug never is {on}"));
    };
    is(false).await;
    evaluate("logger:set_primary_config(level, debug)").await.expect("a level");
    is(true).await;
    assert!(!tracing::enabled!(tracing::Level::TRACE));
    evaluate("logger:set_primary_config(level, error)").await.expect("a level");
    is(false).await;
    // That of the application goes before that of the node.
    evaluate("application:load(exercises), logger:set_application_level(exercises, all)").await.expect("a level");
    is(true).await;
    assert!(tracing::enabled!(tracing::Level::TRACE));
    // What is asked for here goes before both.
    otp::log::set_levels("off,exercises::logging=info".parse().expect("levels"));
    assert!(tracing::enabled!(tracing::Level::INFO) && !tracing::enabled!(tracing::Level::DEBUG));
    assert!(!tracing::enabled!(target: "other", tracing::Level::ERROR));
}

/// Prints what an event costs that nobody wants, and one that is told.
#[otp::test]
#[ignore = "it measures"]
async fn what_events_cost() {
    otp::log::set_levels("warn".parse().expect("levels"));
    const TIMES: u32 = 100_000_000;
    let began = std::time::Instant::now();
    for n in 0..TIMES {
        info!(n, "nobody wants it");
    }
    println!("an event whose level is off: {:.2} ns", began.elapsed().as_nanos() as f64 / f64::from(TIMES));
    let began = std::time::Instant::now();
    for n in 0..TIMES {
        log::info!("nobody wants it {n}");
    }
    println!("one of the crate log: {:.2} ns", began.elapsed().as_nanos() as f64 / f64::from(TIMES));
    // With a handler that does nothing, so that it is not what is measured.
    let module = r#"
        Forms = [begin {ok, T, _} = erl_scan:string(S), {ok, F} = erl_parse:parse_form(T), F end
                 || S <- ["-module(deaf).", "-export([log/2, tell/1]).", "log(_, _) -> ok.", "tell(0) -> ok;"
                          "tell(N) -> logger:macro_log(#{file => \"deaf.erl\", line => 1}, info, #{message => <<\"one of many\">>, n => N}, #{}), tell(N - 1)."]],
        {ok, _, Code} = compile:forms(Forms),
        {module, _} = code:load_binary(deaf, "deaf", Code),
        logger:remove_handler(default),
        ok = logger:add_handler(deaf, deaf, #{}),
        {Took, ok} = timer:tc(deaf, tell, [100000]),
        Took * 1000 div 100"#;
    let erlang: u64 = evaluate(module).await.expect("a module").get().expect("a number");
    println!("one that Erlang code tells: {} ns", erlang / 1000);
    let teller = Teller::start_link("good".into()).await.expect("it starts");
    for wanted in ["info", "warn"] {
        otp::log::set_levels(wanted.parse().expect("levels"));
        let began = std::time::Instant::now();
        for _ in 0..1000 {
            teller.flood("one of many".into(), 100).await.expect("it does");
        }
        println!("one in a callback, at {wanted}: {:.0} ns", began.elapsed().as_nanos() as f64 / 100_000.0);
    }
    otp::log::set_levels("info".parse().expect("levels"));
    let told = std::thread::spawn(|| {
        let began = std::time::Instant::now();
        (0..500).for_each(|n| info!(n, "one of many"));
        began.elapsed().as_nanos() as f64 / 500.0
    });
    println!("one on a thread: {:.0} ns", told.join().expect("it ends"));
}
