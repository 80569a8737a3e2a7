//! The kernel: how soon it lets a thread that was woken run, and whether it stops real-time threads.

use kizami_recording::quantity::Quantity;
use kizami_settings::{Root, host, system};

use super::{Finding, Verdict};

pub fn checks(root: &Root) -> Vec<Finding> {
    vec![preemption(root), throttling(root)]
}

const DEBUG_FILE: &str = "sys/kernel/debug/sched/preempt";

fn preemption(root: &Root) -> Finding {
    const CHECK: &str = "preemption";
    let release = root.get("proc/sys/kernel/osrelease").unwrap_or_default();
    let version = root.get("proc/sys/kernel/version").unwrap_or_default();
    let dynamic = version.contains("PREEMPT_DYNAMIC");
    let model = host::preemption(root);
    if release.is_empty() {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "This system does not tell its kernel's version.");
    }
    let found = match model {
        "rt" => format!("PREEMPT_RT, Linux {release}"),
        model if dynamic => format!("{model} (can be switched), Linux {release}"),
        model => format!("{model}, Linux {release}"),
    };
    match model {
        "rt" => Finding::new(CHECK, Verdict::Good, found, "Almost all of the kernel gives way to a real-time thread."),
        "full" | "lazy" => {
            let means = "A thread that is woken waits for interrupts and spinlocks of the kernel to be done: usually tens \
                         of microseconds, at times milliseconds. A kernel with PREEMPT_RT bounds that.";
            with(Finding::new(CHECK, Verdict::Fair, found, means), real_time_kernel(root))
        }
        "voluntary" | "dynamic" if dynamic => {
            let means = "The kernel gives way at chosen points only. It can be switched to full while it runs; a kernel \
                         with PREEMPT_RT goes further.";
            with(Finding::new(CHECK, Verdict::Fair, found, means), to_full(root))
        }
        _ if dynamic => {
            let means = "A thread that is woken waits until the system call that runs is done. The kernel can be switched \
                         to full while it runs; a kernel with PREEMPT_RT goes further.";
            with(Finding::new(CHECK, Verdict::Bad, found, means), to_full(root))
        }
        _ => {
            let means =
                "A thread that is woken waits until the system call that runs is done: milliseconds under load.";
            with(Finding::new(CHECK, Verdict::Bad, found, means), real_time_kernel(root))
        }
    }
}

/// The command that switches preemption while the kernel runs.
fn to_full(root: &Root) -> Option<String> {
    let switch = format!("echo full > {}", root.shown(DEBUG_FILE));
    if root.exists(DEBUG_FILE) {
        Some(format!("sudo sh -c '{switch}'"))
    } else if root.exists("sys/kernel/debug") && root.list("sys/kernel/debug").is_empty() {
        Some(format!("sudo sh -c 'mount -t debugfs none /sys/kernel/debug && {switch}'"))
    } else {
        None
    }
}

fn with(finding: Finding, fix: Option<String>) -> Finding {
    Finding { fix, ..finding }
}

/// The command that installs a kernel with PREEMPT_RT, where the distribution has one.
fn real_time_kernel(root: &Root) -> Option<String> {
    if host::container(root).is_some() {
        return None;
    }
    let distribution = root.get("etc/os-release").unwrap_or_default();
    let is = |name: &str| distribution.contains(name);
    if is("Raspberry Pi OS") || root.exists("etc/rpi-issue") {
        Some("sudo apt install linux-image-rpi-v8-rt && sudo reboot".into())
    } else if is("Ubuntu") {
        Some("sudo pro enable realtime-kernel && sudo reboot".into())
    } else if is("Debian") {
        Some("sudo apt install linux-image-rt-$(dpkg --print-architecture) && sudo reboot".into())
    } else if is("Fedora") || is("Red Hat") || is("CentOS") {
        Some("sudo dnf install kernel-rt && sudo reboot".into())
    } else if is("Arch Linux") {
        Some("sudo pacman -S linux-rt && sudo reboot".into())
    } else {
        None
    }
}

fn throttling(root: &Root) -> Finding {
    const CHECK: &str = "throttling";
    let number = |file| root.get(file).and_then(|text| text.parse::<i64>().ok());
    let (Some(runtime), Some(period)) = (number(system::RT_RUNTIME), number("proc/sys/kernel/sched_rt_period_us"))
    else {
        return Finding::new(
            CHECK,
            Verdict::Unknown,
            "unknown",
            "The kernel does not tell its limit for real-time threads.",
        );
    };
    let time = |us: i64| Quantity::Time.write(us.unsigned_abs() * 1_000);
    if runtime < 0 || runtime >= period {
        let means = "A real-time thread may run as long as it wants; one that never sleeps locks up its processor.";
        return Finding::new(CHECK, Verdict::Good, "off", means);
    }
    let found = format!("real-time threads get {} of every {}", time(runtime), time(period));
    let means = format!(
        "One that uses its processor without a pause is stopped for up to {}; work that sleeps in between does not notice.",
        time(period - runtime)
    );
    Finding::new(CHECK, Verdict::Fair, found, means).fix("sudo sysctl -w kernel.sched_rt_runtime_us=-1")
}
