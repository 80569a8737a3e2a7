//! Checks of the clock and the hypervisor: clock source, cost of a reading, virtualisation.

use kizami_settings::{Root, host};
use kizami_workloads::clock_ns;

use super::finding::{Finding, Verdict};

pub fn checks(root: &Root) -> Vec<Finding> {
    vec![source(root), cost(root), hypervisor(root)]
}

const FOLDER: &str = "sys/devices/system/clocksource/clocksource0";

fn source(root: &Root) -> Finding {
    const CHECK: &str = "clock source";
    let Some(now) = root.get(&format!("{FOLDER}/current_clocksource")) else {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "This system does not tell its clock source.");
    };
    let available = root.get(&format!("{FOLDER}/available_clocksource")).unwrap_or_default();
    let slow = ["hpet", "acpi_pm", "pit", "jiffies", "refined-jiffies"];
    if !slow.contains(&now.as_str()) {
        let means = "The processor itself counts, so reading the clock is quick and fine-grained.";
        return Finding::new(CHECK, Verdict::Good, now, means);
    }
    let means = "Reading the clock asks a device: about a microsecond, by system call, one processor at a time.";
    let finding = Finding::new(CHECK, Verdict::Bad, format!("{now} (available: {available})"), means);
    let better = available.split_whitespace().find(|source| !slow.contains(source));
    match better {
        Some(better) => finding.fix(format!("echo {better} | sudo tee /{FOLDER}/current_clocksource")),
        None => finding,
    }
}

/// The median of `rounds` times what two readings of a clock in a row differ by, in nanoseconds.
fn median_pair(rounds: usize, read: impl Fn() -> u64) -> u64 {
    let mut pairs: Vec<u64> = (0..rounds).map(|_| read()).map(|first| read().saturating_sub(first)).collect();
    pairs.sort_unstable();
    pairs.get(rounds / 2).copied().unwrap_or_default()
}

/// The same clock by a real system call.
fn clock_by_system_call() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux.
    unsafe { libc::syscall(libc::SYS_clock_gettime, libc::CLOCK_MONOTONIC, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

fn cost(root: &Root) -> Finding {
    const CHECK: &str = "clock reading";
    if !root.is_machine() {
        return Finding::not_measured(CHECK);
    }
    let (direct, called) = (median_pair(10_001, clock_ns), median_pair(1_001, clock_by_system_call));
    let found = format!("{direct} ns a pair ({called} ns by system call)");
    // Without the kernel's page in user space both go the same way.
    if direct * 4 > called * 3 {
        let means = "Every reading of the clock is a system call, which is part of each sample that is taken.";
        return Finding::new(CHECK, Verdict::Bad, found, means);
    }
    let (verdict, means) = if direct <= 200 {
        (Verdict::Good, "The clock is read without a system call, so samples hold little of the measuring itself.")
    } else {
        (Verdict::Fair, "The clock is read without a system call, and yet slowly: short work drowns in it.")
    };
    Finding::new(CHECK, verdict, found, means)
}

fn hypervisor(root: &Root) -> Finding {
    const CHECK: &str = "hypervisor";
    if root.get("proc/cpuinfo").is_none() {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "This system does not tell its processors.");
    }
    match host::virtualization(root) {
        None => Finding::new(CHECK, Verdict::Good, "none", "Nothing below the kernel shares the processors."),
        Some(name) => {
            let name = if name == "unknown" { "one that does not tell its name".to_owned() } else { name };
            let means = "The machine below may stop this one at any time, for as long as it wants, and no setting in here \
                         changes that: give the virtual machine processors of its own on the host.";
            Finding::new(CHECK, Verdict::Fair, name, means)
        }
    }
}
