//! Measured events: an event reaches every handler, in Rust and in Erlang, and costs nothing where nobody handles it.

use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use otp::telemetry::{Event, Happened, PANICKED, Span, Took};
use otp::testing::evaluate;
use otp::time::{sleep, within};
use otp::{Data, Init, Pid, Server, gen_server, on_dirty_cpu};

#[derive(Clone, Data, Debug, PartialEq)]
pub struct Reading {
    pub value: f64,
}

#[derive(Clone, Data, Debug, PartialEq)]
pub struct Of {
    pub device: String,
}

static NOBODYS: Event<Reading, Of> = Event::new(&["exercises", "nobodys"]);
static FOR_RUST: Event<Reading, Of> = Event::new(&["exercises", "for_rust"]);
static FOR_PROCESSES: Event<Reading, Of> = Event::new(&["exercises", "for_processes"]);
static FOR_ERLANG: Event<Reading, Of> = Event::new(&["exercises", "for_erlang"]);
static FOR_TELEMETRY: Event<u64> = Event::new(&["exercises", "for_telemetry"]);
static WORK: Span<Of> = Span::new(&["exercises", "work"]);

fn boiler() -> Of {
    Of { device: "boiler".into() }
}

/// Remembers what it is told.
pub struct Listener {
    heard: Vec<String>,
}

#[gen_server]
impl Listener {
    fn init() -> Init<Self> {
        Ok(Listener { heard: Vec::new() })
    }

    #[call]
    fn heard(&mut self) -> Vec<String> {
        self.heard.clone()
    }

    #[call]
    fn measure(&mut self, value: f64) {
        FOR_ERLANG.execute(|| (Reading { value }, boiler()));
    }

    #[cast]
    fn fail(&mut self) {
        panic!("an event of its own");
    }

    #[info]
    fn happened(&mut self, event: Happened<Reading, Of>) {
        let name: Vec<&str> = event.name.iter().map(|part| part.as_str()).collect();
        self.heard.push(format!("{} {} {}", name.join("."), event.measured.value, event.about.device));
    }
}

fn pid(server: &Server<Listener>) -> Pid {
    otp::Any::of(server).get().expect("a process")
}

/// Waits until it is so.
macro_rules! until {
    ($is:expr) => {
        let done = within(Duration::from_secs(20), async {
            while !$is {
                sleep(Duration::from_millis(5)).await;
            }
        });
        done.await.expect(stringify!($is));
    };
}

#[otp::test]
async fn functions_in_rust_handle_events_where_they_happen() {
    static SUM: AtomicU64 = AtomicU64::new(0);
    assert!(!FOR_RUST.is_observed());
    FOR_RUST.execute(|| unreachable!("nobody handles it"));
    let attached = FOR_RUST.attach(|measured, about| {
        assert_eq!(about.device, "boiler");
        SUM.fetch_add(measured.value as u64, Ordering::Relaxed);
    });
    FOR_RUST.execute(|| (Reading { value: 1.0 }, boiler()));
    std::thread::spawn(|| FOR_RUST.execute(|| (Reading { value: 10.0 }, boiler()))).join().expect("it ends");
    on_dirty_cpu(|| FOR_RUST.execute(|| (Reading { value: 100.0 }, boiler()))).await;
    assert_eq!(SUM.load(Ordering::Relaxed), 111);
    // One that panics is detached, and nobody else notices.
    FOR_RUST.attach(|_, _| panic!("a handler"));
    FOR_RUST.execute(|| (Reading { value: 1.0 }, boiler()));
    FOR_RUST.execute(|| (Reading { value: 1.0 }, boiler()));
    assert_eq!(SUM.load(Ordering::Relaxed), 113);
    FOR_RUST.detach(attached);
    assert!(!FOR_RUST.is_observed());
}

#[otp::test]
async fn processes_handle_events_for_as_long_as_they_live() {
    let listener = Listener::start_link().await.expect("it starts");
    let pid = pid(&listener);
    otp::unlink(&pid);
    FOR_PROCESSES.attach_process(&pid);
    FOR_PROCESSES.execute(|| (Reading { value: 1.5 }, boiler()));
    assert_eq!(listener.heard().await.expect("an answer"), ["exercises.for_processes 1.5 boiler"]);
    std::thread::spawn(|| FOR_PROCESSES.execute(|| (Reading { value: 2.5 }, boiler()))).join().expect("it ends");
    until!(listener.heard().await.expect("an answer").len() == 2);
    otp::kill(&pid);
    until!({
        FOR_PROCESSES.execute(|| (Reading { value: 2.5 }, boiler()));
        !FOR_PROCESSES.is_observed()
    });
}

#[otp::test]
async fn erlang_attaches_as_to_telemetry() {
    let listener = Listener::start_link().await.expect("it starts");
    evaluate("ets:new(measured, [public, named_table, ordered_set, {heir, whereis(init), kept}])")
        .await
        .expect("a table");
    let attach = "exercises_telemetry:attach(test, [exercises, for_erlang], \
                  fun(N, M, A, C) -> ets:insert(measured, {erlang:unique_integer([monotonic]), self(), {N, M, A, C}}) end, config)";
    assert_eq!(format!("{:?}", evaluate(attach).await.expect("a term")), "ok");
    assert_eq!(format!("{:?}", evaluate(attach).await.expect("a term")), "{error,already_exists}");
    // It is in force at once, and runs in the process that the event happened in, before that answers.
    listener.measure(21.5).await.expect("it does");
    let all = "[{pid_to_list(P), E} || {_, P, E} <- ets:tab2list(measured)]";
    let event = "{[exercises,for_erlang],#{value => 21.5},#{device => <<\"boiler\">>},config}";
    let expected = format!("[{{\"{:?}\",{event}}}]", pid(&listener));
    let shown =
        evaluate(&format!("unicode:characters_to_binary(io_lib:format(\"~0tp\", [{all}]))")).await.expect("a text");
    assert_eq!(shown.get::<String>().expect("a text"), expected);
    // From where no process is.
    std::thread::spawn(|| FOR_ERLANG.execute(|| (Reading { value: 1.0 }, boiler()))).join().expect("it ends");
    until!(evaluate("ets:info(measured, size)").await.expect("a size").get() == Ok(2));
    let wrong = "exercises_telemetry:attach(wrong, [<<\"no atom\">>], fun(_, _, _, _) -> ok end, none)";
    let wrong = format!("try {wrong} catch error:Why -> Why end");
    assert_eq!(format!("{:?}", evaluate(&wrong).await.expect("a term")), "badarg");
    let listed = "length(exercises_telemetry:list_handlers([exercises])) >= 1";
    assert_eq!(evaluate(listed).await.expect("a term").get(), Ok(true));
    assert_eq!(format!("{:?}", evaluate("exercises_telemetry:detach(test)").await.expect("a term")), "ok");
    assert!(!FOR_ERLANG.is_observed());
    // One that fails is detached; the process that runs it goes on.
    evaluate("exercises_telemetry:attach(bad, [exercises, for_erlang], fun(_, _, _, _) -> error(bad) end, [])")
        .await
        .expect("it attaches");
    listener.measure(1.0).await.expect("it does");
    until!(!FOR_ERLANG.is_observed());
}

/// A module that has the functions of the library.
const TELEMETRY: &str = r#"
    begin
    Forms = [begin {ok, T, _} = erl_scan:string(S), {ok, F} = erl_parse:parse_form(T), F end
             || S <- ["-module(telemetry).", "-export([execute/3, list_handlers/1]).",
                      "list_handlers([]) -> [#{id => test, event_name => [exercises, for_telemetry]}].",
                      "execute([exercises, for_telemetry] = N, M, A) -> persistent_term:put(telemetry, {N, M, A}); execute(_, _, _) -> ok."]],
    {ok, _, Code} = compile:forms(Forms),
    {module, _} = code:load_binary(telemetry, "telemetry", Code),
    ok
    end"#;

#[otp::test]
async fn events_go_to_the_library_telemetry_where_it_is_loaded() {
    assert!(!FOR_TELEMETRY.is_observed());
    evaluate(TELEMETRY).await.expect("a module");
    until!(FOR_TELEMETRY.is_observed());
    FOR_TELEMETRY.execute(|| (5, ()));
    otp::yield_now().await;
    let got = evaluate("persistent_term:get(telemetry)").await.expect("a term");
    assert_eq!(format!("{got:?}"), "{[exercises,for_telemetry],#{value => 5},#{}}");
}

#[otp::test]
async fn spans_tell_of_the_start_and_of_the_end_or_why_there_was_none() {
    assert_eq!(WORK.run(|| unreachable!("nobody handles it"), || 1), 1);
    let attach = "exercises_telemetry:attach_many(spans, [[exercises, work, P] || P <- [start, stop, exception]], \
                  fun(N, M, A, _) -> persistent_term:put({spans, lists:last(N)}, {maps:keys(M), A}) end, [])";
    evaluate(attach).await.expect("it attaches");
    let last = async |which: &str, is: &str| {
        let told = evaluate(&format!("persistent_term:get({{spans, {which}}}, none)")).await.expect("a term");
        assert!(told == evaluate(is).await.expect("a term"), "{which} is {told:?}, not {is}");
    };
    assert_eq!(WORK.run(boiler, || 2), 2);
    otp::yield_now().await;
    last("start", "{[system_time], #{device => <<\"boiler\">>}}").await;
    last("stop", "{[duration], #{device => <<\"boiler\">>}}").await;
    last("exception", "none").await;
    static LONGEST: AtomicU64 = AtomicU64::new(0);
    WORK.stop.attach(|took: &Took, _| {
        LONGEST.fetch_max(took.duration, Ordering::Relaxed);
    });
    WORK.follow(boiler, sleep(Duration::from_millis(20))).await;
    assert!(LONGEST.load(Ordering::Relaxed) >= 20_000_000);
    within(Duration::from_millis(5), WORK.follow(boiler, sleep(Duration::from_secs(60))))
        .await
        .expect_err("it is too long");
    otp::yield_now().await;
    last("exception", "{[duration], #{device => <<\"boiler\">>, kind => error, reason => cancelled}}").await;
    std::panic::catch_unwind(|| WORK.run(boiler, || panic!("the work"))).expect_err("it panics");
    otp::yield_now().await;
    last("exception", "{[duration], #{device => <<\"boiler\">>, kind => error, reason => panic}}").await;
}

#[otp::test]
async fn a_panic_of_a_process_is_an_event() {
    static SEEN: std::sync::Mutex<Vec<String>> = std::sync::Mutex::new(Vec::new());
    let attached = PANICKED.attach(|_, about| {
        SEEN.lock().expect("nobody panics").push(format!("{:?} {}", about.process, about.at.message));
    });
    let listener = Listener::start_link().await.expect("it starts");
    otp::unlink(&pid(&listener));
    listener.fail();
    let expected = format!("{:?} an event of its own", pid(&listener));
    until!(SEEN.lock().expect("nobody panics").contains(&expected));
    PANICKED.detach(attached);
}

/// Prints what an event costs that nobody handles, and one that somebody does.
#[otp::test]
#[ignore = "it measures"]
async fn what_events_cost() {
    const TIMES: u32 = 100_000_000;
    let cost = |what: &str, times: u32| {
        let began = std::time::Instant::now();
        for n in 0..times {
            NOBODYS.execute(|| (Reading { value: f64::from(n) }, boiler()));
        }
        println!("{what}: {:.2} ns", began.elapsed().as_nanos() as f64 / f64::from(times));
    };
    cost("an event that nobody handles", TIMES);
    let attached = NOBODYS.attach(|measured, _| {
        std::hint::black_box(measured.value);
    });
    cost("one that a function in Rust handles", TIMES / 100);
    NOBODYS.detach(attached);
    let attach = "exercises_telemetry:attach(cost, [exercises, nobodys], fun(_, _, _, _) -> ok end, [])";
    evaluate(attach).await.expect("it attaches");
    let began = std::time::Instant::now();
    for _ in 0..1000 {
        for _ in 0..100 {
            NOBODYS.execute(|| (Reading { value: 1.0 }, boiler()));
        }
        otp::yield_now().await;
    }
    println!("one that a function in Erlang handles: {:.0} ns", began.elapsed().as_nanos() as f64 / 100_000.0);
    evaluate("exercises_telemetry:detach(cost)").await.expect("it detaches");
}
