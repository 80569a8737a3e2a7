//! The guard on this machine: a setting of the kernel is really changed, and is restored however the run ends.
//!
//! The journal is in a folder of the test's own, so that a run of the lab elsewhere on the machine is not disturbed;
//! the setting is the real one. Tests that need root say so where they cannot run.

mod common;

use std::fs;
use std::os::unix::fs::symlink;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::{Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use common::{Folder, hold, skipped};
use kizami_settings::guard;

const KNOB: &str = "/proc/sys/kernel/sched_rt_runtime_us";
/// Above the usual 950000: a lower one is refused where control groups were promised that much.
const CHANGED: &str = "990000";

/// One test at a time has the machine; its value is put back even if the test fails.
struct Machine {
    root: Folder,
    original: String,
    _alone: MutexGuard<'static, ()>,
}

impl Machine {
    fn new(test: &str) -> Option<Self> {
        static ALONE: Mutex<()> = Mutex::new(());
        let alone = ALONE.lock().unwrap_or_else(PoisonError::into_inner);
        // A shell that starts the tests in the background has them, and all that they start, pass over Ctrl-C.
        // SAFETY: sets what the kernel does by itself, and no function of ours is called.
        unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
        let original = fs::read_to_string(KNOB).unwrap_or_default().trim().to_owned();
        // Writing the value that is there changes nothing and shows whether it may be written.
        if original.is_empty() || fs::write(KNOB, &original).is_err() {
            skipped(&format!("{test}: needs root to write {KNOB}"));
            return None;
        }
        assert_ne!(original, CHANGED, "the test needs another value to change to");
        let root = Folder::new();
        symlink("/proc", root.0.join("proc")).expect("a link");
        symlink("/sys", root.0.join("sys")).expect("a link");
        symlink("/dev", root.0.join("dev")).expect("a link");
        fs::create_dir(root.0.join("run")).expect("a folder for state");
        Some(Self { root, original, _alone: alone })
    }

    fn hold(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(hold());
        command.args(arguments).env("KIZAMI_ROOT", &self.root.0).stdin(Stdio::null());
        command.stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
        command
    }

    fn output(&self, arguments: &[&str]) -> (Output, String) {
        let output = self.hold(arguments).output().expect("hold runs");
        let text = format!("{}{}", String::from_utf8_lossy(&output.stdout), String::from_utf8_lossy(&output.stderr));
        (output, text)
    }

    /// A run that has changed the knob and holds it until it is ended.
    fn holding(&self) -> Lab {
        let lab = Lab(self.hold(&["rt_runtime=990ms", "--", "sleep", "1000"]).spawn().expect("hold runs"));
        until("the knob is changed", || value() == CHANGED);
        lab
    }

    fn journal(&self) -> bool {
        self.root.0.join("run/kizami/changes.journal").exists()
    }
}

/// The stand-in for the lab. Nothing of it is left at the end, neither it nor the command that it ran.
struct Lab(Child);

impl Lab {
    fn pid(&self) -> i32 {
        self.0.id() as i32
    }

    /// The guard: its child that was started with the guard's argument.
    fn guard(&self) -> i32 {
        let children = fs::read_to_string(format!("/proc/{0}/task/{0}/children", self.pid())).expect("its children");
        let is_guard =
            |pid: &&str| fs::read_to_string(format!("/proc/{pid}/cmdline")).is_ok_and(|c| c.contains(guard::ARGUMENT));
        let guard = children.split_whitespace().find(is_guard).expect("a guard");
        guard.parse().expect("a process number")
    }
}

impl Drop for Lab {
    fn drop(&mut self) {
        // Not reaped yet, so the number is still that of its group.
        // SAFETY: the call takes numbers; the group was made for this child.
        unsafe { libc::kill(-self.pid(), libc::SIGKILL) };
        let _ = self.0.wait();
        // A command that it had just forked shares its open journal, and the lock, until it has ended too.
        until("its group has ended", || !group_runs(self.pid()));
    }
}

impl Drop for Machine {
    fn drop(&mut self) {
        let _ = fs::write(KNOB, &self.original);
    }
}

fn value() -> String {
    fs::read_to_string(KNOB).expect("the knob").trim().to_owned()
}

/// Waits, because another process does it. The limit is only there so that a failure ends.
fn until(what: &str, is: impl Fn() -> bool) {
    let begun = Instant::now();
    while !is() {
        assert!(begun.elapsed() < Duration::from_secs(30), "waited in vain until {what}");
        thread::sleep(Duration::from_millis(5));
    }
}

/// Whether a process of that group has not ended yet.
fn group_runs(group: i32) -> bool {
    let stats = fs::read_dir("/proc").expect("the processes").flatten();
    let mut stats = stats.filter_map(|process| fs::read_to_string(process.path().join("stat")).ok());
    stats.any(|stat| {
        // State, parent, group; see proc(5).
        let fields: Vec<_> = stat.rsplit_once(") ").map_or("", |(_, rest)| rest).split(' ').take(3).collect();
        matches!(fields[..], [state, _, its] if state != "Z" && its == group.to_string())
    })
}

/// Whether it has ended, and its parent has not asked how.
fn is_zombie(pid: i32) -> bool {
    let stat = fs::read_to_string(format!("/proc/{pid}/stat")).expect("a process that nobody has waited for");
    stat.rsplit_once(") ").is_some_and(|(_, rest)| rest.starts_with('Z'))
}

fn signal(pid: i32, signal: i32) {
    // SAFETY: the call takes numbers; the process is a child of this test or its group, not reaped yet, or its guard.
    assert_eq!(unsafe { libc::kill(pid, signal) }, 0, "signal {signal} to {pid}");
}

#[test]
fn a_run_that_ends_normally_has_the_knob_and_gives_it_back() {
    let Some(machine) = Machine::new("guard: normal end") else { return };
    let (output, text) = machine.output(&["rt_runtime=990ms", "--", "cat", KNOB]);
    assert!(output.status.success() && text.contains(CHANGED) && text.contains("rt_runtime = 990ms"), "{text}");
    assert_eq!(value(), machine.original);
    assert!(!machine.journal());
}

#[test]
fn a_run_that_is_killed_gives_the_knob_back() {
    let Some(machine) = Machine::new("guard: lab killed") else { return };
    let lab = machine.holding();
    signal(lab.pid(), libc::SIGKILL);
    until("the guard has restored", || value() == machine.original && !machine.journal());
    drop(lab);
}

#[test]
fn ctrl_c_and_a_killed_process_group_leave_the_guard_at_work() {
    let Some(machine) = Machine::new("guard: Ctrl-C") else { return };
    for number in [libc::SIGINT, libc::SIGKILL] {
        let lab = machine.holding();
        signal(-(lab.pid()), number);
        until("the guard has restored", || value() == machine.original && !machine.journal());
        drop(lab);
    }
}

#[test]
fn a_guard_cannot_be_stopped_by_the_signals_that_ask_for_an_end() {
    let Some(machine) = Machine::new("guard: signals") else { return };
    let lab = machine.holding();
    let guard = lab.guard();
    for number in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP] {
        signal(guard, number);
    }
    signal(lab.pid(), libc::SIGKILL);
    until("the guard has restored", || value() == machine.original);
    drop(lab);
}

#[test]
fn when_the_guard_is_killed_too_the_next_start_restores() {
    let Some(machine) = Machine::new("guard: both killed") else { return };
    let lab = machine.holding();
    let guard = lab.guard();
    signal(guard, libc::SIGKILL);
    // Until it has really ended, which takes its time on a busy machine, it holds the journal.
    until("the guard has ended", || is_zombie(guard));
    let (_, text) = machine.output(&[]);
    assert!(!text.contains("earlier run"), "the lab is still at work: {text}");
    signal(lab.pid(), libc::SIGKILL);
    drop(lab);
    assert_eq!(value(), CHANGED, "nobody is there to restore it");
    let (output, text) = machine.output(&[]);
    assert!(output.status.success() && text.contains(&format!("rt_runtime is {} again", machine.original)), "{text}");
    assert_eq!(value(), machine.original);
    assert!(!machine.journal());
}

#[test]
fn when_only_the_guard_is_killed_the_run_restores_at_its_end() {
    let Some(machine) = Machine::new("guard: guard killed") else { return };
    let mut lab = Lab(machine.hold(&["rt_runtime=990ms", "--", "sleep", "0.5"]).spawn().expect("hold runs"));
    until("the knob is changed", || value() == CHANGED);
    signal(lab.guard(), libc::SIGKILL);
    assert!(lab.0.wait().expect("our child").success());
    assert_eq!(value(), machine.original);
    assert!(!machine.journal());
}

#[test]
fn a_limit_of_memory_ends_what_goes_beyond_and_leaves_no_group() {
    let Some(machine) = Machine::new("guard: memory limit") else { return };
    // tail keeps all of a text without line ends.
    let eater = "cat /proc/self/cgroup; head -c 200M /dev/zero | tail | wc -c";
    let (_, text) = machine.output(&["memory_limit=64MiB", "--", "sh", "-c", eater]);
    if !text.contains("memory_limit = 64MiB") {
        skipped(&format!("guard: memory limit: no memory control group can be made here: {text}"));
        return;
    }
    assert!(text.contains("kizami-"), "{text}");
    assert!(!text.contains("209715200"), "it should have been ended: {text}");
    let group = group_in(&text);
    assert!(!Path::new(&group).exists(), "{group}");
}

#[test]
fn what_still_runs_in_the_group_of_a_killed_run_is_ended() {
    let Some(machine) = Machine::new("guard: memory limit, lab killed") else { return };
    let folder = Folder::new();
    let log = folder.0.join("log");
    let mut command = machine.hold(&["memory_limit=64MiB", "--", "sleep", "1000"]);
    let lab = Lab(command.stdout(fs::File::create(&log).expect("a file")).spawn().expect("hold runs"));
    let said = || fs::read_to_string(&log).unwrap_or_default();
    until("the limit is reported", || said().contains("memory_limit = "));
    if !said().contains("memory_limit = 64MiB") {
        skipped("guard: memory limit, lab killed: no memory control group can be made here");
        return;
    }
    let group = group_in(&said());
    let members = || fs::read_to_string(format!("{group}/cgroup.procs")).unwrap_or_default();
    until("the command is in the group", || !members().is_empty());
    signal(lab.pid(), libc::SIGKILL);
    until("the group is gone", || !Path::new(&group).exists());
    drop(lab);
}

/// The folder of the group in what `hold` says about `memory_limit`.
fn group_in(text: &str) -> String {
    let from = text.find("control group ").expect("it names the group") + "control group ".len();
    text[from..].split(' ').next().unwrap_or_default().to_owned()
}

#[test]
fn a_limit_on_waking_is_in_force_while_it_is_held() {
    let Some(machine) = Machine::new("guard: cpu_dma_latency") else { return };
    if fs::File::open("/dev/cpu_dma_latency").is_err() {
        skipped("guard: cpu_dma_latency: there is no /dev/cpu_dma_latency that may be opened");
        return;
    }
    let (_, text) = machine.output(&["cpu_dma_latency=7us", "--", "od", "-An", "-N4", "-td4", "/dev/cpu_dma_latency"]);
    assert!(text.contains("cpu_dma_latency = 7us"), "{text}");
    let seen = text.lines().find_map(|line| line.trim().parse::<i64>().ok()).expect("what od read");
    assert!(seen <= 7, "{text}");
}
