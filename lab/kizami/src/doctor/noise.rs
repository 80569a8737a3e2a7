//! Noise of the machine, measured for a second: a thread on every processor reads the clock without a pause, and a gap
//! between two readings is time that something else used. The algorithm is that of oslat and osnoise.
//!
//! The kernel's counters over the same second (interrupts, softirqs, switches, stolen time) give the likely cause of a
//! gap; a gap without a counted cause comes from below the kernel.

use kizami_settings::{Root, cpus};

use super::counters::{Counted, Process, ticks_per_second};
use super::finding::{Finding, Verdict};
use super::listening::{GAP, Heard, listen};

pub fn checks(root: &Root) -> Vec<Finding> {
    if !root.is_machine() {
        return ["gaps", "stolen time", "other processes", "load"].map(Finding::not_measured).into();
    }
    let load = load(root);
    let before = Counted::now(root);
    let heard = listen();
    let counted = Counted::now(root).since(&before);
    vec![gaps(&heard, &counted), stolen(&counted), others(root, &counted), load]
}

/// Nanoseconds as people say them: three digits at most.
fn said(ns: u64) -> String {
    match ns {
        0..1_000 => format!("{ns} ns"),
        1_000..1_000_000 => format!("{} us", ns / 1_000),
        _ => format!("{:.1} ms", ns as f64 / 1e6),
    }
}

fn gaps(heard: &[Heard], counted: &Counted) -> Finding {
    const CHECK: &str = "gaps";
    let Some(worst) = heard.iter().max_by_key(|h| h.longest) else {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "No thread to listen with could be started.");
    };
    if worst.longest == 0 {
        let found = format!("none over {}", said(GAP));
        return Finding::new(CHECK, Verdict::Good, found, "Nothing took a processor away from a busy thread.");
    }
    let (lost, elapsed) = heard.iter().fold((0, 0), |(lost, elapsed), h| (lost + h.lost, elapsed + h.elapsed));
    let share = lost as f64 * 100.0 / elapsed.max(1) as f64;
    let found =
        format!("longest {} on processor {}, {share:.2} % of the time of all lost", said(worst.longest), worst.cpu);
    let verdict = match worst.longest {
        0..=50_000 => Verdict::Good,
        50_001..=1_000_000 => Verdict::Fair,
        _ => Verdict::Bad,
    };
    let (irqs, most) = counted.interrupts_on(worst.cpu);
    let most = most.map_or_else(String::new, |name| format!(", most often {name}"));
    let means = format!(
        "Processor {} had {} gaps over {}, beside {irqs} interrupts{most}, {} softirqs and {} switches to other threads. \
         Most likely: {}.",
        worst.cpu,
        worst.gaps,
        said(GAP),
        counted.softirqs_on(worst.cpu),
        worst.switches,
        likely(worst, irqs, counted)
    );
    let finding = Finding::new(CHECK, verdict, found, means);
    if verdict != Verdict::Good && worst.switches > 0 {
        return finding.fix("kizami run wakeup --set policy=other,fifo:80  # what a real-time policy changes");
    }
    finding
}

/// Whose fault the longest gap is, in words.
fn likely(worst: &Heard, irqs: u64, counted: &Counted) -> String {
    let stolen_ns = counted.stolen as f64 / ticks_per_second() * 1e9;
    if stolen_ns > worst.lost as f64 / 2.0 {
        "the hypervisor, which ran something else (stolen time)".into()
    } else if worst.switches > 0 && worst.longest > 100_000 {
        match counted.busiest().first() {
            Some((Process { pid, name, .. }, share)) if *share >= 1.0 => {
                format!("other processes that the scheduler let run, {name} (process {pid}) above all")
            }
            _ => "short-lived processes that the scheduler let run".into(),
        }
    } else if worst.gaps <= irqs * 2 {
        "interrupts and what follows them".into()
    } else {
        "something below the kernel: firmware (system management interrupts) or a hypervisor".into()
    }
}

fn stolen(counted: &Counted) -> Finding {
    const CHECK: &str = "stolen time";
    let share = counted.stolen as f64 * 100.0 / counted.ticks.max(1) as f64;
    let found = format!("{share:.1} % in this second");
    if counted.stolen == 0 {
        let means = "The hypervisor, if there is one, says that it ran nothing else when this machine wanted to.";
        return Finding::new(CHECK, Verdict::Good, found, means);
    }
    let verdict = if share < 1.0 { Verdict::Fair } else { Verdict::Bad };
    let means = "The hypervisor ran something else while this machine wanted to run; only the host can change that.";
    Finding::new(CHECK, verdict, found, means)
}

fn others(root: &Root, counted: &Counted) -> Finding {
    const CHECK: &str = "other processes";
    let busiest = counted.busiest();
    let shown: Vec<_> = busiest.iter().filter(|(_, share)| *share >= 2.0).take(3).collect();
    let Some((_, share)) = shown.first() else {
        let means = "Nothing else used more than 2 % of a processor in this second.";
        return Finding::new(CHECK, Verdict::Good, "quiet", means);
    };
    let verdict = if *share < 20.0 { Verdict::Fair } else { Verdict::Bad };
    let found: Vec<_> =
        shown.iter().map(|(Process { pid, name, .. }, share)| format!("{name} ({pid}) {share:.0} %")).collect();
    let means = "They run beside what is measured, and are part of every figure (100 % is one processor).";
    let finding = Finding::new(CHECK, verdict, found.join(", "), means);
    let of_users: Vec<_> =
        shown.iter().filter(|(process, _)| !process.of_kernel).map(|(process, _)| process.pid.to_string()).collect();
    if of_users.is_empty() { finding } else { finding.fix(hold_back(root, &of_users)) }
}

/// The command that lets these processes run behind all others. Where each session is a group of its own (autogroup, see sched(7)), a nice
/// value counts within the session only, and the group has another.
fn hold_back(root: &Root, pids: &[String]) -> String {
    let grouped = root.get("proc/sys/kernel/sched_autogroup_enabled").is_some_and(|enabled| enabled.trim() == "1");
    // `/autogroup-17 nice 0`
    let group = |pid: &str| {
        let told = root.get(&format!("proc/{pid}/autogroup")).filter(|_| grouped)?;
        told.split_whitespace().next().map(str::to_owned)
    };
    let own = group("self");
    let (others, here): (Vec<_>, Vec<_>) =
        pids.iter().map(String::as_str).partition(|pid| group(pid).is_some_and(|theirs| Some(theirs) != own));
    let mut commands: Vec<_> = others.iter().map(|pid| format!("echo 19 > /proc/{pid}/autogroup")).collect();
    if !here.is_empty() {
        commands.push(format!("renice -n 19 -p {}", here.join(" ")));
    }
    match commands.as_slice() {
        [one] if others.is_empty() => format!("sudo {one}"),
        all => format!("sudo sh -c '{}'", all.join("; ")),
    }
}

fn load(root: &Root) -> Finding {
    const CHECK: &str = "load";
    let text = root.get("proc/loadavg").unwrap_or_default();
    let Some(load) = text.split(' ').next().and_then(|l| l.parse::<f64>().ok()) else {
        return Finding::new(CHECK, Verdict::Unknown, "unknown", "This system does not tell its load.");
    };
    let processors = cpus::allowed().len().max(1);
    let found = format!("{load:.2} on {processors} processors, over the last minute");
    let (verdict, means) = match load / processors as f64 {
        ..0.1 => (Verdict::Good, "The machine was idle before this."),
        ..0.7 => (Verdict::Fair, "Other work ran on this machine in the last minute."),
        _ => (Verdict::Bad, "This machine was busy with other work: wait for it to end before measuring."),
    };
    Finding::new(CHECK, verdict, found, means)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_gap_is_blamed_on_what_was_counted_beside_it() {
        let heard =
            Heard { cpu: 0, longest: 3_000_000, lost: 4_000_000, elapsed: 1_000_000_000, gaps: 10, switches: 2 };
        let mut counted = Counted::default();
        counted.processes.insert(Process { pid: 7, name: "backup (old)".into(), of_kernel: false }, 50);
        assert!(likely(&heard, 5, &counted).contains("backup (old) (process 7)"));
        assert!(likely(&Heard { switches: 0, ..heard }, 5, &counted).contains("interrupts"));
        assert!(likely(&Heard { switches: 0, ..heard }, 0, &counted).contains("below the kernel"));
        counted.stolen = ticks_per_second() as u64;
        assert!(likely(&heard, 5, &counted).contains("hypervisor"));
    }

    #[test]
    fn a_share_is_of_the_time_that_passed_and_never_more_than_all() {
        let heard = Heard { longest: 1_900_000_000, lost: 1_900_000_000, elapsed: 2_000_000_000, ..Heard::default() };
        let finding = gaps(&[heard, heard], &Counted::default());
        assert!(finding.found.contains("95.00 % of the time of all lost"), "{finding:?}");
    }

    #[test]
    fn a_process_of_another_session_is_held_back_by_its_group() {
        let folder = tempfile::tempdir().expect("a folder");
        let write = |file: &str, text: &str| {
            let path = folder.path().join(file);
            std::fs::create_dir_all(path.parent().expect("a folder")).expect("a folder");
            std::fs::write(path, text).expect("a file");
        };
        for (pid, group) in [("self", 3), ("7", 3), ("8", 4)] {
            write(&format!("proc/{pid}/autogroup"), &format!("/autogroup-{group} nice 0\n"));
        }
        let root = Root::tree(folder.path());
        let of = |pids: &[&str]| hold_back(&root, &pids.iter().map(|pid| (*pid).to_owned()).collect::<Vec<_>>());
        write("proc/sys/kernel/sched_autogroup_enabled", "0\n");
        assert_eq!(of(&["7", "8"]), "sudo renice -n 19 -p 7 8");
        write("proc/sys/kernel/sched_autogroup_enabled", "1\n");
        assert_eq!(of(&["7"]), "sudo renice -n 19 -p 7");
        assert_eq!(of(&["8"]), "sudo sh -c 'echo 19 > /proc/8/autogroup'");
        assert_eq!(of(&["7", "8"]), "sudo sh -c 'echo 19 > /proc/8/autogroup; renice -n 19 -p 7'");
    }

    #[test]
    fn times_are_said_in_their_own_unit() {
        assert_eq!([said(900), said(5_000), said(2_540_000)], ["900 ns", "5 us", "2.5 ms"]);
    }
}
