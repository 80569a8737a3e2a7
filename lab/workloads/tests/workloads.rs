//! Every workload, run in this process with small parameters.
//!
//! Every workload promises: it runs with the least value of every parameter, fills the parts that it declared,
//! allocates nothing inside the window, ends soon when the stop flag is raised, notices when a partner dies, and leaves
//! no process behind. Windows and child processes are counted for the whole process, so all of it is one test: another
//! test that ran (or only reported) at the same time would be counted too.

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::sync::Barrier;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use kizami_recording::{Progress, Recorder};
use kizami_workloads::window::CountingAllocator;
use kizami_workloads::{ALL, Bench, Failure, Kind, Machine, Params, Part, Workload, find};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

/// What came of one run.
struct Outcome {
    result: Result<(), Failure>,
    /// The rows of each part, each row as long as its part has columns.
    parts: Vec<(Part, Vec<Vec<u64>>)>,
    facts: BTreeMap<String, f64>,
}

impl Outcome {
    fn fact(&self, name: &str) -> f64 {
        *self.facts.get(name).unwrap_or_else(|| panic!("fact {name} is missing of {:?}", self.facts))
    }

    fn samples(&self, part: usize) -> Vec<u64> {
        self.parts[part].1.iter().map(|row| row[0]).collect()
    }
}

/// The processors that this process may use, as the lab would count them.
fn machine() -> Machine {
    let status = std::fs::read_to_string("/proc/self/status").expect("the status of this process");
    let list = status.lines().find_map(|line| line.strip_prefix("Cpus_allowed_list:")).expect("its processors");
    let range = |text: &str| {
        let (first, last) = text.split_once('-').unwrap_or((text, text));
        let number = |text: &str| text.trim().parse::<usize>().expect("a number");
        number(first)..=number(last)
    };
    Machine::of(list.trim().split(',').flat_map(range).collect())
}

/// An empty folder that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        let path = std::env::temp_dir().join(format!("kizami-workloads-test-{}", std::process::id()));
        let _ = std::fs::remove_dir_all(&path);
        std::fs::create_dir(&path).expect("a scratch folder");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn params(workload: &'static Workload, given: &[(&str, &str)]) -> Params {
    let given = given.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Params::new(workload, &given).unwrap_or_else(|(_, why)| panic!("{why}"))
}

/// Tells, also when it panics, that what is under test has returned.
struct Returned<'a>(&'a AtomicBool);

impl Drop for Returned<'_> {
    fn drop(&mut self) {
        self.0.store(true, Ordering::SeqCst);
    }
}

/// Runs it to its end.
fn run(params: &Params, stop: &AtomicBool) -> Outcome {
    run_beside(params, stop, u64::MAX, |_| ()).0
}

/// Runs it, and `meanwhile` in another thread that starts before and ends after; also gives the time from when
/// `meanwhile` was done to when the run was. Parts longer than `room` get room for that many rows.
fn run_beside(
    params: &Params,
    stop: &AtomicBool,
    room: u64,
    meanwhile: impl FnOnce(&[Progress]) + Send,
) -> (Outcome, Duration) {
    let workload = params.workload();
    let scratch = Scratch::new();
    let parts = (workload.parts)(params, &machine());
    let mut cells: Vec<Vec<u64>> =
        parts.iter().map(|part| vec![u64::MAX; part.rows.min(room) as usize * part.columns.len()]).collect();
    let progress: Vec<Progress> = parts.iter().map(|_| Progress::default()).collect();
    let recorders = parts.iter().zip(&mut cells).zip(&progress);
    let recorders = recorders.map(|((part, cells), p)| Recorder::new(cells, part.columns.len(), p)).collect();
    let mut bench =
        Bench::new(recorders, parts.iter().map(kizami_workloads::Part::column_names).collect(), stop, &scratch.0);
    let body = workload.linux.expect("a workload of Linux processes");
    let (started, returned) = (Barrier::new(2), AtomicBool::new(false));
    let (result, took) = std::thread::scope(|scope| {
        let bystander = scope.spawn(|| {
            started.wait();
            meanwhile(&progress);
            let at = Instant::now();
            // The end of a thread allocates, which must not be taken for the workload's doing.
            while !returned.load(Ordering::SeqCst) {
                std::thread::sleep(Duration::from_millis(1));
            }
            at
        });
        started.wait();
        let guard = Returned(&returned);
        let result = body(params, &mut bench);
        let ended = Instant::now();
        drop(guard);
        let at = bystander.join().expect("the bystander");
        (result, ended.saturating_duration_since(at))
    });
    let facts = bench.facts().iter().cloned().collect();
    drop(bench);
    // SAFETY: asks whether there is a child, and for no status.
    let left = unsafe { libc::waitpid(-1, std::ptr::null_mut(), libc::WNOHANG) };
    assert_eq!(left, -1, "{} left a process behind", workload.name);
    let parts = parts.into_iter().zip(cells).zip(&progress).map(|((part, cells), progress)| {
        let rows = cells.chunks_exact(part.columns.len()).take(progress.rows() as usize);
        let rows = rows.map(<[u64]>::to_vec).collect();
        (part, rows)
    });
    (Outcome { result, parts: parts.collect(), facts }, took)
}

/// Runs it to its end, with what it was given, and expects that it works and allocates nothing meanwhile.
fn measured(name: &str, given: &[(&str, &str)]) -> Outcome {
    let workload = find(name).unwrap_or_else(|| panic!("no workload {name}"));
    let outcome = run(&params(workload, given), &AtomicBool::new(false));
    if let Err(why) = &outcome.result {
        panic!("{name} {given:?}: {why}");
    }
    assert_eq!(outcome.fact("allocations"), 0.0, "{name} {given:?} allocated while it measured");
    for fact in ["minor_faults", "major_faults", "voluntary_switches", "involuntary_switches", "cpu_seconds"] {
        assert!(outcome.fact(fact) >= 0.0, "{name}: {fact}");
    }
    outcome
}

fn expect_rows(outcome: &Outcome, rows: u64) {
    for (part, recorded) in &outcome.parts {
        assert_eq!(recorded.len() as u64, rows, "rows of part {:?}", part.name);
    }
}

#[test]
fn workloads_keep_their_promises() {
    the_counting_allocator_counts_inside_a_window_only();
    every_workload_says_what_it_is();
    wake_ups_are_recorded_for_each_thread();
    the_times_of_day_of_samples_are_told();
    sleeps_are_never_too_short();
    gaps_of_the_clock_are_as_long_as_the_threshold_and_in_order();
    messages_tokens_and_locks_take_time_and_come_back();
    system_calls_and_signals_take_time();
    the_studys_functions_have_one_row_more_than_iterations();
    languages_of_the_erlang_vm_are_refused_and_have_its_columns();
    a_raised_flag_ends_each_with_what_was_recorded();
    a_dead_partner_is_noticed();
    a_partner_that_hangs_does_not_outlast_the_flag();
    every_workload_runs_with_the_least_of_everything();
}

fn the_counting_allocator_counts_inside_a_window_only() {
    let stop = AtomicBool::new(false);
    let allocations = |work: fn(u8)| {
        let path = PathBuf::new();
        let mut bench = Bench::new(Vec::new(), Vec::new(), &stop, &path);
        bench.window(|_| work(7));
        let facts: BTreeMap<_, _> = bench.facts().iter().cloned().collect();
        facts["allocations"]
    };
    assert_eq!(allocations(|_| ()), 0.0);
    assert!(allocations(|byte| drop(std::hint::black_box(vec![byte; 100]))) >= 1.0);
    assert_eq!(allocations(|_| ()), 0.0);
}

fn every_workload_says_what_it_is() {
    for workload in ALL {
        let name = workload.name;
        assert!(!workload.about.is_empty() && !workload.title.is_empty(), "{name} says nothing of itself");
        assert!(workload.about.ends_with('.'), "{name}: about is not made of sentences");
        assert!(!workload.about.contains("  "), "{name}: about has a gap in its text");
        assert!(workload.reference.trim() == workload.reference, "{name}: {:?}", workload.reference);
        for param in workload.params {
            assert!(!param.about.is_empty(), "{name}: parameter {} says nothing of itself", param.name);
        }
        let seconds = (workload.seconds)(&params(workload, &[]));
        assert!(seconds.is_finite() && seconds > 0.0, "{name} estimates {seconds} s");
    }
}

/// Limits are inclusive, so the lowest values must be ones that work; and they are the quickest.
fn every_workload_runs_with_the_least_of_everything() {
    // A lab makes the row of what an environment takes.
    for workload in ALL.iter().filter(|w| w.linux.is_some() && w.name != "footprint") {
        let least = workload.params.iter().filter_map(|param| match param.kind {
            Kind::Number { quantity, least, .. } => Some((param.name, quantity.write(least))),
            Kind::Choice(_) => None,
        });
        let least: Vec<_> = least.collect();
        let least: Vec<_> = least.iter().map(|(name, value)| (*name, value.as_str())).collect();
        measured(workload.name, &least);
    }
}

fn wake_ups_are_recorded_for_each_thread() {
    for mode in ["every", "skip"] {
        let one = measured("wakeup", &[("interval", "200us"), ("cycles", "50"), ("mode", mode)]);
        expect_rows(&one, 50);
        assert_eq!(one.parts.len(), 1);
        assert!(one.fact("skipped") >= 0.0);
    }
    let per_cpu = [("interval", "200us"), ("cycles", "50"), ("threads", "per-cpu"), ("distance", "0")];
    let per_cpu = measured("wakeup", &per_cpu);
    expect_rows(&per_cpu, 50);
    let cpus = machine().cpus;
    assert_eq!(per_cpu.parts.len(), cpus.len());
    for (cpu, (part, _)) in cpus.iter().zip(&per_cpu.parts) {
        assert_eq!(part.name, format!("cpu{cpu}"));
        assert!(per_cpu.fact(&format!("skipped_cpu{cpu}")) == 0.0);
    }
    expect_rows(&measured("os-latency", &[("period", "1ms"), ("trials", "20")]), 20);
}

/// What a report needs to say when a sample was taken.
fn the_times_of_day_of_samples_are_told() {
    let now = || SystemTime::now().duration_since(UNIX_EPOCH).expect("a time after 1970").as_secs_f64();
    let before = now();
    let planned =
        measured("wakeup", &[("interval", "200us"), ("cycles", "50"), ("threads", "per-cpu"), ("distance", "50us")]);
    let slept = measured("os-latency", &[("period", "1ms"), ("trials", "20")]);
    let gaps = measured("clock-gap", &[("duration", "2ms"), ("threshold", "1ns"), ("capacity", "50")]);
    let after = now();
    for (index, cpu) in machine().cpus.iter().enumerate() {
        let interval = planned.fact(&format!("interval_ns_cpu{cpu}"));
        assert_eq!(interval, 200e3 + 50e3 * index as f64);
        let began = planned.fact(&format!("began_unix_seconds_cpu{cpu}"));
        // The last plan had passed when the window closed.
        assert!(before < began && began + 50.0 * interval * 1e-9 < planned.fact("ended_unix_seconds"));
        assert!(before < gaps.fact(&format!("began_unix_seconds_cpu{cpu}")));
    }
    assert!(planned.fact("ended_unix_seconds") < after);
    assert_eq!(slept.fact("pause_ns"), 1e6);
    let took = slept.samples(0).iter().sum::<u64>() as f64 * 1e-9 + 19.0 * 1e-3;
    assert!(
        slept.fact("began_unix_seconds") + took <= slept.fact("ended_unix_seconds"),
        "rows and pauses fit the window"
    );
}

fn sleeps_are_never_too_short() {
    let slept = measured("sleep", &[("n", "5"), ("iterations", "5"), ("pause", "1ms")]);
    expect_rows(&slept, 6);
    assert!(slept.samples(0).iter().all(|sample| *sample >= 5_000_000), "{:?}", slept.samples(0));
    assert!(slept.fact("voluntary_switches") >= 6.0, "sleeping gives the processor away");
}

fn gaps_of_the_clock_are_as_long_as_the_threshold_and_in_order() {
    // A threshold below what a reading costs makes each reading a gap, on the quietest machine too.
    let all = measured("clock-gap", &[("duration", "2ms"), ("threshold", "1ns"), ("capacity", "50")]);
    let few = measured("clock-gap", &[("duration", "50ms"), ("threshold", "500ns")]);
    for outcome in [&all, &few] {
        for (cpu, (part, rows)) in machine().cpus.iter().zip(&outcome.parts) {
            assert_eq!(part.name, format!("cpu{cpu}"));
            let (lost, longest) =
                (outcome.fact(&format!("lost_ns_cpu{cpu}")), outcome.fact(&format!("longest_ns_cpu{cpu}")));
            let least = if std::ptr::eq(outcome, &all) { 1 } else { 500 };
            assert!(rows.iter().all(|row| row[0] >= least && row[0] as f64 <= longest));
            assert!(rows.windows(2).all(|two| two[1][1] >= two[0][1] + two[0][0]), "gaps overlap");
            let recorded: u64 = rows.iter().map(|row| row[0]).sum();
            assert!(recorded as f64 <= lost, "{recorded} of {lost}");
            assert!(outcome.fact(&format!("readings_cpu{cpu}")) >= rows.len() as f64);
            assert!(outcome.fact(&format!("elapsed_ns_cpu{cpu}")) >= 2e6);
            assert!(outcome.fact(&format!("reading_ns_cpu{cpu}")) >= 0.0);
        }
    }
    expect_rows(&all, 50);
}

fn messages_tokens_and_locks_take_time_and_come_back() {
    let small: &[(&str, &[(&str, &str)])] = &[
        ("pipe-rtt", &[("trips", "200")]),
        ("pipe-rtt", &[("trips", "200"), ("size", "4B"), ("partner", "thread")]),
        ("pipe-rtt", &[("trips", "200"), ("placement", "same-cpu"), ("partner", "thread")]),
        ("pipe-rtt", &[("trips", "50"), ("placement", "same-cpu"), ("size", "64KiB")]),
        ("fifo-rtt", &[("trips", "200")]),
        ("fifo-rtt", &[("trips", "50"), ("placement", "same-cpu"), ("size", "10000B")]),
        ("fcntl-lock", &[("exchanges", "200")]),
        ("fcntl-lock", &[("exchanges", "200"), ("order", "lmbench")]),
        ("ctx-ring", &[("samples", "100")]),
        ("ctx-ring", &[("samples", "20"), ("laps", "3"), ("processes", "5"), ("working_set", "64KiB")]),
    ];
    for (name, given) in small {
        let outcome = measured(name, given);
        let rows = given[0].1.parse().expect("a number of rows");
        expect_rows(&outcome, rows);
        assert!(outcome.samples(0).iter().all(|sample| *sample > 0), "{name} {given:?}");
        match *name {
            "ctx-ring" => assert!(outcome.fact("overhead_ns") > 0.0),
            "fcntl-lock" if given.len() == 1 => assert!((outcome.fact("partner_rounds") - 1.0).abs() <= 0.02),
            _ => {}
        }
    }
    assert_eq!(measured("ctx-ring", &[("laps", "2"), ("samples", "1")]).parts[0].0.operations, 40);
    if machine().cpus.len() > 1 {
        expect_rows(&measured("pipe-rtt", &[("trips", "100"), ("placement", "other-cpu")]), 100);
    }
}

fn system_calls_and_signals_take_time() {
    for op in ["getppid", "read", "write", "stat", "fstat", "open-close"] {
        for via in ["libc", "direct"] {
            let outcome = measured("syscall", &[("op", op), ("batch", "100"), ("samples", "30"), ("via", via)]);
            expect_rows(&outcome, 30);
            assert_eq!(outcome.parts[0].0.operations, 100);
            assert!(outcome.samples(0).iter().all(|sample| *sample > 0), "{op} {via}");
        }
    }
    expect_rows(&measured("pipe-rtt", &[("trips", "100"), ("via", "direct")]), 100);
    expect_rows(&measured("wakeup", &[("cycles", "5"), ("interval", "1ms"), ("via", "direct")]), 5);
    for op in ["install", "deliver"] {
        let outcome = measured("signal", &[("op", op), ("batch", "100"), ("samples", "30")]);
        expect_rows(&outcome, 30);
        assert!(outcome.samples(0).iter().all(|sample| *sample > 0), "{op}");
        assert!(op == "install" || outcome.fact("send_ns") > 0.0);
    }
}

fn the_studys_functions_have_one_row_more_than_iterations() {
    for name in ["nothing", "sum", "fib", "sleep"] {
        let outcome = measured(name, &[("iterations", "3"), ("pause", "1ms")]);
        expect_rows(&outcome, 4);
        let part = &outcome.parts[0].0;
        assert_eq!((part.cold_rows, part.columns.len()), (1, 1));
    }
    let sums = |n| measured("sum", &[("iterations", "9"), ("n", n), ("pause", "0")]).samples(0);
    assert!(sums("1000000").iter().min() > sums("10").iter().min(), "a sum of 100,000 times as many takes longer");
}

fn languages_of_the_erlang_vm_are_refused_and_have_its_columns() {
    for lang in ["elixir", "erlang"] {
        let workload = find("sum").expect("the sum");
        let outcome = run(&params(workload, &[("lang", lang)]), &AtomicBool::new(false));
        assert!(matches!(&outcome.result, Err(Failure::Impossible(why)) if why.contains("Erlang VM")));
        let columns: Vec<_> = outcome.parts[0].0.columns.iter().map(|c| c.name.as_str()).collect();
        assert_eq!(columns, ["time", "heap_size", "minor_gcs"]);
    }
}

/// Parameters with which a run would take minutes; most of it blocked, in some.
const LONG: &[(&str, &[(&str, &str)])] = &[
    ("empty", &[("samples", "100_000_000")]),
    ("wakeup", &[("cycles", "100_000_000")]),
    ("wakeup", &[("interval", "60s"), ("threads", "per-cpu")]),
    ("os-latency", &[("period", "60s")]),
    ("clock-gap", &[("duration", "600s"), ("threshold", "1ns"), ("capacity", "1000")]),
    ("ctx-ring", &[("samples", "100_000_000")]),
    ("ctx-ring", &[("laps", "1_000_000"), ("processes", "100")]),
    ("pipe-rtt", &[("trips", "100_000_000")]),
    ("pipe-rtt", &[("trips", "100_000_000"), ("partner", "thread")]),
    ("fifo-rtt", &[("trips", "100_000_000")]),
    ("net-rtt", &[("trips", "100_000_000")]),
    ("net-rtt", &[("trips", "100_000_000"), ("protocol", "udp")]),
    ("fcntl-lock", &[("exchanges", "100_000_000")]),
    ("syscall", &[("samples", "100_000_000"), ("batch", "10_000"), ("op", "open-close")]),
    ("signal", &[("samples", "100_000_000"), ("batch", "10_000"), ("op", "deliver")]),
    ("nothing", &[("iterations", "100_000_000")]),
    ("sum", &[("n", "100_000"), ("iterations", "100_000_000"), ("pause", "0")]),
    ("fib", &[("iterations", "100_000_000"), ("pause", "60s")]),
    ("sleep", &[("n", "60_000")]),
];

/// Values with which the first row is a minute away.
const WAITS: &[&str] = &["60s", "60_000", "1_000_000"];

/// Far longer than any of them may take to end, so that only one that hangs fails.
const HANGS: Duration = Duration::from_secs(20);

/// Runs it, and does `then` once it is under way: has recorded, or sleeps already.
fn disturbed(name: &str, given: &[(&str, &str)], stop: &AtomicBool, then: impl FnOnce() + Send) -> (Outcome, Duration) {
    let params = params(find(name).unwrap_or_else(|| panic!("no workload {name}")), given);
    let waits = WAITS.iter().any(|wait| given.iter().any(|(_, value)| value == wait));
    run_beside(&params, stop, 1_000_000, |progress| {
        let begin = Instant::now();
        while begin.elapsed() < HANGS && !waits && progress.iter().any(|part| part.rows() == 0) {
            std::thread::sleep(Duration::from_millis(1));
        }
        std::thread::sleep(Duration::from_millis(100));
        then();
    })
}

fn a_raised_flag_ends_each_with_what_was_recorded() {
    for (name, given) in LONG {
        let stop = AtomicBool::new(false);
        let (outcome, took) = disturbed(name, given, &stop, || stop.store(true, Ordering::Relaxed));
        println!("{name} {given:?} ended {took:?} after the flag was raised");
        assert!(outcome.result.is_ok(), "{name} {given:?}: {:?}", outcome.result);
        assert!(took < HANGS, "{name} {given:?} took {took:?} to end");
        // One that was stopped while it still set itself up opened no window.
        let allocations = outcome.facts.get("allocations").copied().unwrap_or_default();
        assert_eq!(allocations, 0.0, "{name} {given:?} allocated while it measured");
        let recorded: usize = outcome.parts.iter().map(|(_, rows)| rows.len()).sum();
        let waits = WAITS.iter().any(|wait| given.iter().any(|(_, value)| value == wait));
        assert!(waits || recorded > 0, "{name} {given:?} kept nothing");
    }
    for name in ["pipe-rtt", "ctx-ring", "wakeup", "sleep", "fcntl-lock"] {
        let raised = AtomicBool::new(true);
        let outcome = run(&params(find(name).expect("a workload"), &[]), &raised);
        assert!(outcome.result.is_ok(), "{name}: {:?}", outcome.result);
        assert!(outcome.samples(0).len() <= 1, "{name} went on though the flag was up before it began");
    }
}

/// The processes that this one has started, by any of its threads.
/// The partner processes.
fn children() -> Vec<libc::pid_t> {
    let own = std::process::id().to_string();
    let is_partner = |pid: &libc::pid_t| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
        // The name in brackets may hold anything, so the fields are counted from its end: state, parent, ...
        stat.rsplit(')').next().and_then(|rest| rest.split_whitespace().nth(1)) == Some(own.as_str())
            && !stat.contains("(watch)")
    };
    let processes = std::fs::read_dir("/proc").expect("the list of processes").flatten();
    processes.filter_map(|entry| entry.file_name().to_str()?.parse().ok()).filter(is_partner).collect()
}

fn signal_a_child(signal: libc::c_int) {
    let children = children();
    let child = children.get(children.len() / 2).expect("a partner process");
    // SAFETY: a signal to a process that this one started and has not reaped.
    assert_eq!(unsafe { libc::kill(*child, signal) }, 0);
}

const PARTNERS: &[(&str, &[(&str, &str)])] = &[
    ("pipe-rtt", &[("trips", "100_000_000")]),
    ("fifo-rtt", &[("trips", "100_000_000")]),
    ("net-rtt", &[("trips", "100_000_000")]),
    ("net-rtt", &[("trips", "100_000_000"), ("protocol", "udp")]),
    ("fcntl-lock", &[("exchanges", "100_000_000")]),
    ("fcntl-lock", &[("exchanges", "100_000_000"), ("order", "lmbench")]),
    ("ctx-ring", &[("samples", "100_000_000")]),
];

fn a_dead_partner_is_noticed() {
    for (name, given) in PARTNERS {
        let stop = AtomicBool::new(false);
        let (outcome, took) = disturbed(name, given, &stop, || signal_a_child(libc::SIGKILL));
        let why = outcome.result.as_ref().expect_err("a failure").to_string();
        assert!(why.contains("killed by signal 9"), "{name} {given:?}: {why}");
        assert!(took < HANGS, "{name} {given:?} took {took:?} to end");
        assert!(!outcome.samples(0).is_empty(), "{name} {given:?} lost what it had");
    }
}

fn a_partner_that_hangs_does_not_outlast_the_flag() {
    for (name, given) in PARTNERS.iter().filter(|(_, given)| given.len() == 1) {
        let stop = AtomicBool::new(false);
        let (outcome, took) = disturbed(name, given, &stop, || {
            signal_a_child(libc::SIGSTOP);
            std::thread::sleep(Duration::from_millis(100));
            stop.store(true, Ordering::Relaxed);
        });
        assert!(outcome.result.is_ok(), "{name}: {:?}", outcome.result);
        assert!(took < HANGS, "{name} took {took:?} to end");
        assert!(!outcome.samples(0).is_empty(), "{name} lost what it had");
    }
}
