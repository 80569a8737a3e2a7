//! Checks of the kernel: how soon a woken thread runs, and whether real-time threads are throttled.

use kizami_recording::quantity::Quantity;
use kizami_settings::{Root, host};

use super::finding::{Finding, Verdict};
use super::throttling::{self, Server, Stops};

/// `met` is what a busy real-time thread met, or why that is not known.
pub fn checks(root: &Root, met: &Result<Stops, String>) -> Vec<Finding> {
    vec![preemption(root), throttling(root, met)]
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

/// What the files say and what was measured stand side by side: either alone has misled.
fn throttling(root: &Root, measured: &Result<Stops, String>) -> Finding {
    const CHECK: &str = "throttling";
    let time = |ns: u64| Quantity::Time.write(ns);
    let allowed = throttling::allowed(root);
    let said = match allowed {
        None => "the files do not tell the limit".to_owned(),
        Some((runtime, period)) if runtime == period => "off by its file".to_owned(),
        Some((runtime, period)) => {
            format!("real-time threads get {} of every {} by its file", time(runtime), time(period))
        }
    };
    let limited = allowed.is_some_and(|(runtime, period)| runtime < period);
    let cpu = measured.as_ref().map_or(0, |stops| stops.cpu);
    let server = Server::of(root, cpu);
    let free = "A real-time thread may run as long as it wants; one that never sleeps locks up its processor.";
    let stopped = |for_how_long: &str| {
        let by = server.words(cpu).map_or_else(String::new, |by| format!(" The likely cause is {by}."));
        format!(
            "A real-time thread that uses its processor without a pause is stopped {for_how_long}; work that sleeps in \
             between does not notice.{by}"
        )
    };
    let remedy = || match server {
        Server::None => "sudo sysctl -w kernel.sched_rt_runtime_us=-1".to_owned(),
        Server::Untold | Server::Told { .. } => Server::switched_off(root),
    };
    match (measured, allowed) {
        (Ok(stops), _) if stops.times > 0 => {
            let found = format!("{said}; measured: {}", stops.words());
            Finding::new(CHECK, Verdict::Fair, found, stopped("for a part of each period")).fix(remedy())
        }
        (Ok(stops), _) => Finding::new(CHECK, Verdict::Good, format!("{said}; measured: {}", stops.words()), free),
        (Err(why), None) if server == Server::None => {
            let means = "The kernel does not tell its limit for real-time threads.";
            Finding::new(CHECK, Verdict::Unknown, format!("unknown; not measured: {why}"), means)
        }
        (Err(why), _) => {
            let found = format!("{said}; not measured: {why}");
            match (limited, server) {
                (true, Server::None) => {
                    Finding::new(CHECK, Verdict::Fair, found, stopped("for the rest of each period")).fix(remedy())
                }
                (false, Server::None) => Finding::new(CHECK, Verdict::Good, found, free),
                (_, Server::Untold | Server::Told { .. }) => {
                    let finding = Finding::new(CHECK, Verdict::Fair, found, stopped("for a part of each period"));
                    finding.fix(remedy())
                }
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use kizami_recording::folder::Effective;

    use super::super::tests::recorded;
    use super::*;

    /// A machine whose files say this.
    fn machine(release: &str, runtime: &str, server: Option<&str>) -> (tempfile::TempDir, Root) {
        let folder = tempfile::tempdir().unwrap();
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        };
        write("proc/sys/kernel/osrelease", release);
        write("proc/sys/kernel/sched_rt_runtime_us", runtime);
        write("proc/sys/kernel/sched_rt_period_us", "1000000\n");
        if let Some(runtime) = server {
            write("sys/kernel/debug/sched/fair_server/cpu1/runtime", runtime);
            write("sys/kernel/debug/sched/fair_server/cpu1/period", "1000000000\n");
        }
        let root = Root::tree(folder.path());
        (folder, root)
    }

    fn met(stopped_ms: u64, times: u64) -> Result<Stops, String> {
        let (period, stopped) = (1_000_000_000, stopped_ms * 1_000_000);
        let longest = stopped / times.max(1);
        Ok(Stops { cpu: 1, priority: 80, period, watched: 2 * period, stopped, longest, times })
    }

    #[test]
    fn a_file_that_says_off_is_not_believed_against_a_thread_that_was_stopped() {
        let (_folder, root) = machine("6.18.1", "-1", Some("50000000"));
        let finding = throttling(&root, &met(100, 2));
        assert_eq!(finding.verdict, Verdict::Fair);
        assert_eq!(
            finding.found,
            "off by its file; measured: a busy fifo:80 thread on processor 1 was stopped 2 times in 2.0 s, for 100 ms \
             together and 50 ms at most"
        );
        assert!(finding.means.contains("gives them 50ms of every 1s"), "{}", finding.means);
        assert!(finding.fix.is_some_and(|fix| fix.contains("fair_server/cpu*/runtime")));
    }

    #[test]
    fn a_limit_that_stops_nobody_is_told_as_such() {
        let (_folder, root) = machine("6.18.1", "950000", Some("0"));
        let finding = throttling(&root, &met(0, 0));
        assert_eq!((finding.verdict, finding.fix), (Verdict::Good, None));
        assert!(finding.found.contains("950ms of every 1s by its file; measured: "), "{}", finding.found);
        assert!(finding.found.ends_with("was never stopped in 2.0 s"), "{}", finding.found);
    }

    #[test]
    fn what_was_not_measured_is_said_and_a_new_kernel_is_not_taken_for_an_old_one() {
        let why = Err("no rights".to_owned());
        for (release, runtime, server, verdict, remedy) in [
            ("6.1.0-18", "-1", None, Verdict::Good, None),
            ("6.1.0-18", "950000", None, Verdict::Fair, Some("sysctl")),
            ("6.12.0", "-1", None, Verdict::Fair, Some("fair_server")),
            ("7.0.0", "-1", None, Verdict::Fair, Some("fair_server")),
            ("6.12.0-rt", "950000", None, Verdict::Fair, Some("fair_server")),
        ] {
            let (_folder, root) = machine(release, runtime, server);
            let finding = throttling(&root, &why);
            assert_eq!(finding.verdict, verdict, "{release} {runtime}");
            assert!(finding.found.ends_with("; not measured: no rights"), "{}", finding.found);
            match remedy {
                Some(remedy) => assert!(finding.fix.is_some_and(|fix| fix.contains(remedy)), "{release} {runtime}"),
                None => assert_eq!(finding.fix, None),
            }
        }
        assert_eq!(throttling(&recorded("no-such-machine"), &why).verdict, Verdict::Unknown);
    }

    #[test]
    fn the_setting_of_a_run_is_what_a_busy_thread_had() {
        let (_folder, root) = machine("6.18.1", "-1", Some("50000000"));
        let read = |value: &str| Effective { value: value.into(), as_requested: true, why: String::new() };
        let asked = |value: &str, met| throttling::in_force(read(value), true, &met, &root);
        let stopped = asked("off", met(100, 2));
        assert_eq!((&stopped.value[..], stopped.as_requested), ("950ms", false));
        assert!(stopped.why.starts_with("the file reads back as off, and yet a busy fifo:80"), "{}", stopped.why);
        assert!(stopped.why.contains("deadline server"), "{}", stopped.why);
        assert_eq!(asked("950ms", met(101, 2)), read("950ms"));
        assert_eq!(asked("off", met(0, 0)), read("off"));
        let free = asked("900ms", met(0, 0));
        assert_eq!((&free.value[..], free.as_requested), ("off", false));
        let unasked = throttling::in_force(read("off"), false, &met(100, 2), &root);
        assert_eq!((&unasked.value[..], unasked.as_requested), ("950ms", true));
        assert!(asked("off", Err("no rights".into())).why.contains("not measured: no rights"));
    }
}
