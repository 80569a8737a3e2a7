//! Every program with small parameters in every actor system: a real start of each, also of the Erlang VM.
//!
//! A program with a wrong result fails its trial, so the result of every complete trial has been checked by the
//! program. The tests check the rest: every part has its samples, an impossible request is refused with a sentence, and
//! a system that does not work is reported as such.

use std::collections::BTreeMap;
use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::sync::Mutex;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};

use kizami_environments::{Environment, Job, Sink, TrialEnd, find, run_trial};
use kizami_recording::folder::Effective;
use kizami_workloads::Machine;

/// In the order of the study.
const SYSTEMS: [&str; 11] = [
    "otp",
    "erlang",
    "gen-server",
    "gen-server-off-heap",
    "gen-server-supervised",
    "actix",
    "actix-spread",
    "ractor",
    "kameo",
    "tokio",
    "threads",
];

type Case = (&'static str, &'static [(&'static str, &'static str)], &'static [usize]);

/// Programs with parameters that are small and not round, and how many samples each part must have.
const PROGRAMS: [Case; 9] = [
    ("pingpong", &[("n", "1001")], &[1]),
    ("thread-ring", &[("p", "2"), ("n", "1")], &[1]),
    ("thread-ring", &[("p", "7"), ("n", "1001")], &[1]),
    ("fork-join", &[("p", "7"), ("n", "150")], &[1]),
    ("fork-join-create", &[("p", "150")], &[1, 1]),
    ("big", &[("p", "2")], &[1]),
    ("big", &[("p", "70")], &[1]),
    ("ask", &[("asks", "50"), ("others", "3")], &[50]),
    ("recover", &[("crashes", "5")], &[5]),
];

/// What a trial gave.
#[derive(Default)]
struct Collected {
    parts: BTreeMap<usize, Vec<u64>>,
    effective: BTreeMap<String, Effective>,
}

impl Sink for Collected {
    fn profile(&mut self, _: &str) -> Result<(), String> {
        Ok(())
    }

    fn rows(&mut self, part: usize, cells: &[u64]) -> Result<(), String> {
        self.parts.entry(part).or_default().extend(cells);
        Ok(())
    }

    fn lost(&mut self, part: usize, rows: u64) {
        assert_eq!(rows, 0, "part {part} had no room");
    }

    fn effective(&mut self, setting: &str, effective: Effective) {
        self.effective.insert(setting.to_owned(), effective);
    }

    fn fact(&mut self, _: &str, _: f64) {}

    fn progress(&mut self, _: f64) {}
}

/// An empty folder that is removed in the end.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NEXT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("actors-{}-{}", std::process::id(), NEXT.fetch_add(1, Ordering::Relaxed));
        let path = Path::new(env!("CARGO_TARGET_TMPDIR")).join(name);
        fs::create_dir(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn job(system: &str, program: &str, params: &[(&str, &str)]) -> Result<Job, String> {
    let workload = kizami_workloads::find(program).expect("a program");
    let params = params.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect();
    Job::new(environment(system), workload, &params, &BTreeMap::new()).map_err(|(_, why)| why)
}

fn environment(system: &str) -> &'static dyn Environment {
    find(system).unwrap_or_else(|| panic!("there is no environment {system}"))
}

fn run(job: &Job) -> (TrialEnd, Collected) {
    let (scratch, mut collected) = (Scratch::new(), Collected::default());
    let parts = (job.workload().parts)(&job.params, &Machine::of(vec![0]));
    let end = run_trial(job, 0, &parts, (&scratch.0, &[]), &AtomicBool::new(false), &mut collected);
    (end.unwrap_or_else(|why| panic!("{}: {why}", job.environment.name())), collected)
}

/// Names what could not be tested, for whoever runs the tests.
fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut file| writeln!(file, "{what}")).expect("the list of what was skipped");
    }
}

#[test]
fn every_program_comes_to_its_result_in_every_system() {
    let mut jobs = Vec::new();
    for system in SYSTEMS {
        match environment(system).available() {
            Ok(()) => jobs.extend(PROGRAMS.map(|(program, params, rows)| (system, program, params, rows))),
            Err(why) => skipped(&format!("kizami-actors: the programs in {system}: {why}")),
        }
    }
    let next = Mutex::new(jobs.into_iter());
    let take = || next.lock().expect("nobody panics with it").next();
    let work = || {
        while let Some((system, program, params, rows)) = take() {
            let what = format!("{program} {params:?} in {system}");
            let job = job(system, program, params).unwrap_or_else(|why| panic!("{what}: {why}"));
            let (end, collected) = run(&job);
            assert_eq!(end, TrialEnd::Complete, "{what}");
            assert!(collected.effective.contains_key("placement"), "{what}: {:?}", collected.effective.keys());
            for (part, rows) in rows.iter().enumerate() {
                let values = collected.parts.get(&part).map_or(&[][..], Vec::as_slice);
                assert_eq!(values.len(), *rows, "{what}: part {part}");
                // Memory of few actors may be none that was not there before.
                assert!(part > 0 || values.iter().all(|value| *value > 0), "{what}: {values:?}");
            }
        }
    };
    std::thread::scope(|scope| {
        (0..2).map(|_| scope.spawn(work)).collect::<Vec<_>>().into_iter().for_each(|worker| {
            if let Err(panic) = worker.join() {
                std::panic::resume_unwind(panic);
            }
        });
    });
}

#[test]
fn what_a_system_cannot_do_is_refused_with_a_sentence() {
    let why = job("threads", "fork-join-create", &[("p", "100000")]).err().expect("too many threads");
    assert!(why.contains("100000") && why.contains("10000"), "{why}");
    let why = job("actix", "wakeup", &[]).err().expect("no program of actors");
    assert!(why.contains("pingpong"), "{why}");
}

#[test]
fn the_systems_here_are_those_of_the_lab() {
    let pingpong = kizami_workloads::find("pingpong").expect("a program");
    let all = kizami_environments::ALL.iter().filter(|environment| environment.does(pingpong));
    let all: Vec<_> = all.map(|environment| environment.name()).collect();
    assert_eq!(all, SYSTEMS);
}

#[test]
fn the_probe_answers_a_wrong_start_with_what_to_do() {
    let output = std::process::Command::new(env!("CARGO_BIN_EXE_kizami-actors")).output().expect("the probe");
    assert_eq!(output.status.code(), Some(2));
    assert!(String::from_utf8_lossy(&output.stderr).contains("kizami bench actors"));
}
