//! Reading the settings of a process back, and comparing them with the requested ones.

use std::io;

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use super::rights::Rights;
use crate::cpus;
use crate::policy::Policy;
use crate::root::{Root, field, words};
use crate::settings::Settings;
use crate::syscalls::{self, Tid};

/// What one thread has. Locked memory belongs to its process.
pub struct Observed {
    policy: io::Result<Policy>,
    nice: io::Result<i32>,
    affinity: io::Result<Vec<usize>>,
    /// Nanoseconds.
    slack: io::Result<u64>,
    /// Bytes.
    locked: io::Result<u64>,
}

/// The calling thread.
pub fn own() -> Observed {
    Observed {
        policy: syscalls::policy(0),
        nice: syscalls::nice(0),
        affinity: syscalls::affinity(0),
        slack: syscalls::timer_slack(),
        locked: locked("proc/self/status"),
    }
}

fn other(process: u32, tid: Tid) -> Observed {
    let slack = Root::machine().read(&format!("proc/{tid}/timerslack_ns")).map_err(|e| match e.kind() {
        io::ErrorKind::PermissionDenied => io::Error::other("that of another process takes CAP_SYS_NICE to see"),
        _ => e,
    });
    let number = |text: String| text.parse().map_err(|_| io::Error::from(io::ErrorKind::InvalidData));
    Observed {
        policy: syscalls::policy(tid),
        nice: syscalls::nice(tid),
        affinity: syscalls::affinity(tid),
        slack: slack.and_then(number),
        locked: locked(&format!("proc/{process}/status")),
    }
}

fn locked(status: &str) -> io::Result<u64> {
    let status = Root::machine().read(status)?;
    let kib = field(&status, "VmLck").and_then(|v| v.trim_end_matches("kB").trim().parse::<u64>().ok());
    kib.map(|kib| kib * 1024).ok_or_else(|| io::Error::other("the kernel does not tell VmLck"))
}

/// Reads back what all threads of process `pid` have, and compares it with what `settings` ask of a process.
///
/// What cannot be read (the process is gone; the timer slack, without CAP_SYS_NICE) has the value `unknown` and is not as requested.
pub fn read_of(pid: u32, settings: &Settings) -> Vec<(String, Effective)> {
    read_of_those(pid, settings, |_| true)
}

/// The same of all its threads but the first, which waits for the others and leaves the work to them.
pub fn read_of_workers(pid: u32, settings: &Settings) -> Vec<(String, Effective)> {
    read_of_those(pid, settings, |tid| tid != pid as Tid)
}

fn read_of_those(pid: u32, settings: &Settings, counts: impl Fn(Tid) -> bool) -> Vec<(String, Effective)> {
    let tids = Root::machine().list(&format!("proc/{pid}/task"));
    let tids = tids.iter().filter_map(|tid| tid.parse().ok()).filter(|tid| counts(*tid));
    let threads: Vec<_> = tids.map(|tid| other(pid, tid)).collect();
    let threads = if threads.is_empty() { vec![other(pid, pid as Tid)] } else { threads };
    report(settings, &threads, &[])
}

/// The five knobs of `threads`. `refused` is what was tried and failed.
pub fn report(settings: &Settings, threads: &[Observed], refused: &[(&str, io::Error)]) -> Vec<(String, Effective)> {
    let rights = Rights::own();
    let knob = |name: &str, values: Vec<Value>| {
        let asked = settings.get(name);
        let refusal = refused.iter().find(|(knob, _)| *knob == name).map(|(_, e)| rights.explain(name, e));
        (name.to_owned(), effective(asked, &values, refusal.or_else(|| rights.lacking(name))))
    };
    let each = |read: &dyn Fn(&Observed) -> Value| threads.iter().map(read).collect();
    vec![
        knob("policy", each(&|t| Value::of(&t.policy, Policy::to_string))),
        knob("nice", each(&|t| Value::of(&t.nice, i32::to_string))),
        knob("affinity", each(&|t| Value::of(&t.affinity, |cpus| cpus::write(cpus)))),
        knob("lock_memory", threads.first().map(memory).into_iter().collect()),
        knob("timer_slack", each(&slack)),
    ]
}

const UNKNOWN: &str = "unknown";

/// What one thread has of one knob.
struct Value {
    text: String,
    /// How it was read, or why it could not be.
    why: String,
    /// It has no effect on this thread, so any value is as good as the one that was asked for.
    moot: bool,
}

impl Value {
    fn of<T>(read: &io::Result<T>, write: impl Fn(&T) -> String) -> Self {
        match read {
            Ok(value) => Self { text: write(value), why: String::new(), moot: false },
            Err(e) => Self { text: UNKNOWN.into(), why: format!("it cannot be read: {}", words(e)), moot: false },
        }
    }
}

fn memory(thread: &Observed) -> Value {
    let mut value = Value::of(&thread.locked, |bytes| (*bytes > 0).to_string());
    if let Ok(bytes @ 1..) = thread.locked {
        value.why = format!("{} KiB are locked", bytes / 1024);
    }
    value
}

/// A thread of a real-time policy has no slack, whatever was asked for it (hrtimers, kernel/sys.c).
fn slack(thread: &Observed) -> Value {
    let mut value = Value::of(&thread.slack, |ns| Quantity::Time.write(*ns));
    if thread.policy.as_ref().is_ok_and(|p| p.is_real_time()) {
        value.moot = true;
        value.why = "a thread of a real-time policy wakes without slack".into();
    }
    value
}

fn effective(asked: Option<&str>, values: &[Value], refusal: Option<String>) -> Effective {
    let mut distinct: Vec<(&str, usize)> = Vec::new();
    for value in values {
        match distinct.iter_mut().find(|(text, _)| *text == value.text) {
            Some((_, count)) => *count += 1,
            None => distinct.push((&value.text, 1)),
        }
    }
    let value = match distinct[..] {
        [(text, _)] => text.to_owned(),
        _ => {
            let each = distinct
                .iter()
                .map(|(text, count)| format!("{text} ({count} thread{})", if *count == 1 { "" } else { "s" }));
            each.collect::<Vec<_>>().join(", ")
        }
    };
    let as_requested = asked.is_none_or(|asked| values.iter().all(|v| v.moot || v.text == asked));
    let why = match refusal {
        Some(refusal) if !as_requested && value != UNKNOWN => refusal,
        _ => values.iter().map(|v| &v.why).find(|why| !why.is_empty()).cloned().unwrap_or_default(),
    };
    let why = match asked {
        Some(asked) if !as_requested && why.is_empty() => format!("{asked} was asked for and did not take effect"),
        _ => why,
    };
    Effective { value, as_requested, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn thread(policy: Policy, slack: u64) -> Observed {
        Observed { policy: Ok(policy), nice: Ok(0), affinity: Ok(vec![0, 1]), slack: Ok(slack), locked: Ok(0) }
    }

    fn asked(name: &str, value: &str) -> Settings {
        Settings::new(&[(name.to_owned(), value.to_owned())].into()).expect("a valid setting")
    }

    fn of<'a>(report: &'a [(String, Effective)], name: &str) -> &'a Effective {
        &report.iter().find(|(knob, _)| knob == name).expect("every knob is reported").1
    }

    #[test]
    fn threads_that_differ_are_counted_and_are_not_what_was_asked() {
        let threads = [thread(Policy::Fifo(50), 0), thread(Policy::Other, 50_000), thread(Policy::Fifo(50), 0)];
        let report = report(&asked("policy", "fifo:50"), &threads, &[]);
        let policy = of(&report, "policy");
        assert_eq!(policy.value, "fifo:50 (2 threads), other (1 thread)");
        assert!(!policy.as_requested && policy.why.contains("did not take effect"));
        assert_eq!(of(&report, "affinity").value, "0-1");
    }

    #[test]
    fn slack_does_not_matter_to_a_real_time_thread() {
        let report = report(&asked("timer_slack", "1ns"), &[thread(Policy::Fifo(50), 0)], &[]);
        let slack = of(&report, "timer_slack");
        assert!(slack.as_requested && slack.why.contains("without slack"), "{slack:?}");
    }

    #[test]
    fn a_refusal_says_what_the_kernel_said() {
        let refused = [("policy", io::Error::from_raw_os_error(libc::EBUSY))];
        let report = report(&asked("policy", "deadline:1ms/2ms/2ms"), &[thread(Policy::Other, 50_000)], &refused);
        let policy = of(&report, "policy");
        assert_eq!(policy.value, "other");
        assert!(!policy.as_requested && policy.why.contains("cannot promise"), "{policy:?}");
    }

    #[test]
    fn a_process_that_is_gone_is_unknown_and_not_an_error() {
        // Above the largest number that the kernel gives to a process.
        let report = read_of(1 << 23, &asked("policy", "fifo:50"));
        assert!(report.iter().all(|(_, e)| e.value == "unknown"), "{report:?}");
        assert!(!of(&report, "policy").as_requested);
        assert!(of(&report, "nice").as_requested, "nothing was asked");
    }
}
