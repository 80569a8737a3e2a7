//! Checks of the user's rights: operations that are really tried, in a thread that ends afterwards.

use std::thread;

use kizami_recording::folder::Effective;
use kizami_settings::process::{self, Rights};
use kizami_settings::{Root, Settings, host};

use super::finding::{Finding, Verdict};

pub fn checks(root: &Root) -> Vec<Finding> {
    if !root.is_machine() {
        return ["real-time policy", "locked memory", "timer slack"].map(Finding::not_measured).into();
    }
    vec![real_time_policy(root), locked_memory(root), timer_slack()]
}

/// What allows a user both kinds of thing from the next login on.
const LIMITS: &str = "printf '%s - rtprio 99\\n%s - memlock unlimited\\n' $USER $USER | sudo tee \
                      /etc/security/limits.d/99-kizami.conf  # then log in again";
const CONTAINER: &str = "docker run --cap-add SYS_NICE --cap-add IPC_LOCK --ulimit rtprio=99 --ulimit memlock=-1 IMAGE";

fn more_rights(root: &Root) -> &'static str {
    if host::container(root).is_some() { CONTAINER } else { LIMITS }
}

/// Applies `settings` in a thread of its own and reads `name` back.
fn tried(settings: &[(&str, &str)], name: &str) -> Option<Effective> {
    let given = settings.iter().map(|(n, v)| ((*n).to_owned(), (*v).to_owned())).collect();
    let settings = Settings::new(&given).ok()?;
    let report = thread::spawn(move || process::apply(&settings)).join().ok()?;
    report.into_iter().find(|(knob, _)| knob == name).map(|(_, effective)| effective)
}

fn real_time_policy(root: &Root) -> Finding {
    const CHECK: &str = "real-time policy";
    let rights = Rights::own();
    let by = match (rights.sys_nice, rights.rtprio) {
        (true, _) => "CAP_SYS_NICE".to_owned(),
        (false, most) => format!("RLIMIT_RTPRIO {most}"),
    };
    match tried(&[("policy", "fifo:1")], "policy") {
        Some(effective) if effective.as_requested => {
            let means = "SCHED_FIFO was taken and given back: work can run before everything of an ordinary policy.";
            Finding::new(CHECK, Verdict::Good, format!("allowed by {by}"), means)
        }
        Some(effective) => {
            let means = "Work cannot run before other work of this machine; every busy process delays it.";
            Finding::new(CHECK, Verdict::Bad, effective.why, means).fix(more_rights(root))
        }
        None => Finding::new(CHECK, Verdict::Unknown, "unknown", "A thread to try it in could not be started."),
    }
}

/// Looked up and not tried: locking the memory of this program would take long and leave it locked.
fn locked_memory(root: &Root) -> Finding {
    const CHECK: &str = "locked memory";
    let rights = Rights::own();
    let found = match (rights.ipc_lock, rights.memlock) {
        (true, _) => "allowed by CAP_IPC_LOCK".to_owned(),
        (false, u64::MAX) => "allowed, RLIMIT_MEMLOCK is without limit".to_owned(),
        (false, bytes) => format!("at most {} KiB (RLIMIT_MEMLOCK)", bytes / 1024),
    };
    if rights.ipc_lock || rights.memlock == u64::MAX {
        let means = "Work can keep all of its memory in RAM, so no page fault delays it.";
        return Finding::new(CHECK, Verdict::Good, found, means);
    }
    let means =
        "Work cannot keep its memory in RAM: a page fault may delay it by microseconds, with swap by milliseconds.";
    Finding::new(CHECK, Verdict::Bad, found, means).fix(more_rights(root))
}

fn timer_slack() -> Finding {
    const CHECK: &str = "timer slack";
    let Some(now) = tried(&[("policy", "other")], "timer_slack") else {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "A thread to look at could not be started.");
    };
    if now.value == "1ns" {
        let means = "Timers of ordinary threads end as exactly as the hardware can.";
        return Finding::new(CHECK, Verdict::Good, now.value, means);
    }
    let means = format!(
        "A thread of an ordinary policy may be woken up to {} late, so that wake-ups can be joined; real-time threads are \
         not.",
        now.value
    );
    Finding::new(CHECK, Verdict::Fair, now.value, means).fix("kizami run wakeup --set timer_slack=1ns")
}
