//! The neighbours, listened to for a second: on every processor a thread reads the clock without a pause, and a gap
//! between two readings is time that somebody else had. The algorithm is that of oslat and osnoise.
//!
//! What the kernel counted in the same second (interrupts, softirqs, switches, stolen time) says whose fault it likely
//! is; a gap that nothing counted comes from below the kernel.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use kizami_settings::process::InChild;
use kizami_settings::{Root, Settings, cpus};
use kizami_workloads::clock_ns;

use super::{Finding, Verdict};

const LISTEN: Duration = Duration::from_secs(1);
/// What counts as a gap, in nanoseconds: osnoise's own threshold.
const GAP: u64 = 5_000;

pub fn checks(root: &Root) -> Vec<Finding> {
    if !root.is_machine() {
        return ["gaps", "stolen time", "other processes", "load"].map(Finding::not_measured).into();
    }
    let load = load(root);
    let before = Counted::now(root);
    let heard = listen();
    let counted = Counted::now(root).since(&before);
    vec![gaps(&heard, &counted), stolen(&counted), others(&counted), load]
}

/// What one processor's thread heard.
#[derive(Debug, Clone, Copy, Default)]
struct Heard {
    cpu: usize,
    /// Nanoseconds.
    longest: u64,
    /// Nanoseconds in all gaps.
    lost: u64,
    gaps: u64,
    /// How often the kernel ran something else on its processor instead.
    switches: u64,
}

fn listen() -> Vec<Heard> {
    let begin = clock_ns() + 10_000_000;
    let end = begin + LISTEN.as_nanos() as u64;
    let threads: Vec<_> = cpus::allowed()
        .into_iter()
        .map(|cpu| thread::Builder::new().spawn(move || listen_on(cpu, begin, end)))
        .collect();
    threads.into_iter().flatten().filter_map(|thread| thread.join().ok()).collect()
}

fn listen_on(cpu: usize, begin: u64, end: u64) -> Heard {
    if let Ok(pinned) = Settings::new(&BTreeMap::from([("affinity".to_owned(), cpu.to_string())])) {
        InChild::new(&pinned).apply();
    }
    let mut heard = Heard { cpu, ..Heard::default() };
    while clock_ns() < begin {}
    let before = switches();
    let mut last = clock_ns();
    while last < end {
        let now = clock_ns();
        let gap = now - last;
        if gap > GAP {
            heard.gaps += 1;
            heard.lost += gap;
            heard.longest = heard.longest.max(gap);
        }
        last = now;
    }
    heard.switches = switches() - before;
    heard
}

/// How often the calling thread had to give up its processor.
fn switches() -> u64 {
    // SAFETY: an all-zero rusage is a valid one, and the call fills it; RUSAGE_THREAD cannot fail.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    usage.ru_nivcsw as u64
}

/// What the kernel counts, or its growth between two looks.
#[derive(Debug, Default)]
struct Counted {
    /// By processor and name.
    interrupts: BTreeMap<(usize, String), u64>,
    softirqs: BTreeMap<(usize, String), u64>,
    /// Ticks of `USER_HZ`.
    stolen: u64,
    ticks: u64,
    /// Ticks of processor time.
    processes: BTreeMap<Process, u64>,
}

/// Ordered by its number alone: a worker of the kernel changes its name with its work.
#[derive(Debug, Clone)]
struct Process {
    pid: u32,
    name: String,
    /// A thread of the kernel, which no user can hold back.
    of_kernel: bool,
}

impl PartialEq for Process {
    fn eq(&self, other: &Self) -> bool {
        self.pid == other.pid
    }
}

impl Eq for Process {}

impl PartialOrd for Process {
    fn partial_cmp(&self, other: &Self) -> Option<std::cmp::Ordering> {
        Some(self.cmp(other))
    }
}

impl Ord for Process {
    fn cmp(&self, other: &Self) -> std::cmp::Ordering {
        self.pid.cmp(&other.pid)
    }
}

impl Counted {
    fn now(root: &Root) -> Self {
        let stat = root.get("proc/stat").unwrap_or_default();
        let total: Vec<u64> =
            stat.lines().next().unwrap_or_default().split_whitespace().skip(1).filter_map(|t| t.parse().ok()).collect();
        Self {
            interrupts: table(&root.get("proc/interrupts").unwrap_or_default()),
            softirqs: table(&root.get("proc/softirqs").unwrap_or_default()),
            stolen: total.get(7).copied().unwrap_or(0),
            // The last two columns, guests, are in the first two already.
            ticks: total.iter().take(8).sum(),
            processes: processes(root),
        }
    }

    fn since(self, before: &Self) -> Self {
        fn grown<K: Ord>(now: BTreeMap<K, u64>, before: &BTreeMap<K, u64>) -> BTreeMap<K, u64> {
            let growth = now.into_iter().map(|(key, n)| {
                let growth = n.saturating_sub(before.get(&key).copied().unwrap_or(0));
                (key, growth)
            });
            growth.filter(|(_, n)| *n > 0).collect()
        }
        Self {
            interrupts: grown(self.interrupts, &before.interrupts),
            softirqs: grown(self.softirqs, &before.softirqs),
            stolen: self.stolen.saturating_sub(before.stolen),
            ticks: self.ticks.saturating_sub(before.ticks),
            processes: grown(self.processes, &before.processes),
        }
    }

    /// Interrupts on `cpu` and the name of the most frequent.
    fn interrupts_on(&self, cpu: usize) -> (u64, Option<&str>) {
        let here = || self.interrupts.iter().filter(move |((on, _), _)| *on == cpu);
        (here().map(|(_, n)| n).sum(), here().max_by_key(|(_, n)| **n).map(|((_, name), _)| name.as_str()))
    }

    fn softirqs_on(&self, cpu: usize) -> u64 {
        self.softirqs.iter().filter(|((on, _), _)| *on == cpu).map(|(_, n)| n).sum()
    }

    /// Other processes and the share of one processor that each used, in per cent; the busiest first.
    fn busiest(&self) -> Vec<(&Process, f64)> {
        let listened = ticks_per_second() * LISTEN.as_secs_f64();
        let own = std::process::id();
        let others = self.processes.iter().filter(|(process, _)| process.pid != own);
        let mut others: Vec<_> = others.map(|(process, ticks)| (process, *ticks as f64 * 100.0 / listened)).collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        others
    }
}

fn ticks_per_second() -> f64 {
    // SAFETY: the call takes a number.
    (unsafe { libc::sysconf(libc::_SC_CLK_TCK) }).max(1) as f64
}

/// `/proc/interrupts` and `/proc/softirqs`: a head that names processors, then a name and a count for each of them.
fn table(text: &str) -> BTreeMap<(usize, String), u64> {
    let mut lines = text.lines();
    let head: Vec<usize> = lines
        .next()
        .unwrap_or_default()
        .split_whitespace()
        .filter_map(|c| c.strip_prefix("CPU")?.parse().ok())
        .collect();
    let mut counts = BTreeMap::new();
    for line in lines {
        let Some((name, rest)) = line.split_once(':') else { continue };
        let words: Vec<_> = rest.split_whitespace().collect();
        let numbers: Vec<u64> = words.iter().take(head.len()).map_while(|w| w.parse().ok()).collect();
        if numbers.len() != head.len() {
            continue;
        }
        // The last word of a device's line is its driver; the kernel's own have a description.
        let of_device = name.trim().parse::<u32>().is_ok();
        let described = words[numbers.len()..].join(" ");
        let shown = match words.last().filter(|_| words.len() > numbers.len()) {
            Some(driver) if of_device => (*driver).to_owned(),
            Some(_) => described.to_lowercase(),
            None => name.trim().to_owned(),
        };
        for (cpu, n) in head.iter().zip(numbers) {
            *counts.entry((*cpu, shown.clone())).or_insert(0) += n;
        }
    }
    counts
}

/// Processor time of every process, from `/proc/PID/stat`; see proc(5).
fn processes(root: &Root) -> BTreeMap<Process, u64> {
    /// Among the flags of a process, from the kernel's sched.h.
    const PF_KTHREAD: u64 = 0x0020_0000;
    let pids = root.list("proc").into_iter().filter_map(|name| name.parse::<u32>().ok());
    let of = |pid: u32| {
        let stat = root.get(&format!("proc/{pid}/stat"))?;
        // The name may hold spaces and parentheses; it ends at the last one.
        let (before, after) = stat.rsplit_once(')')?;
        let name = before.split_once('(')?.1.to_owned();
        let fields: Vec<_> = after.split_whitespace().collect();
        let number = |index: usize| fields.get(index)?.parse::<u64>().ok();
        let of_kernel = number(6)? & PF_KTHREAD != 0;
        Some((Process { pid, name, of_kernel }, number(11)? + number(12)?))
    };
    pids.filter_map(of).collect()
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
    let lost: u64 = heard.iter().map(|h| h.lost).sum();
    let share = lost as f64 * 100.0 / (LISTEN.as_nanos() as f64 * heard.len() as f64);
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

fn others(counted: &Counted) -> Finding {
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
    if of_users.is_empty() { finding } else { finding.fix(format!("sudo renice -n 19 -p {}", of_users.join(" "))) }
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
    fn tables_of_interrupts_are_read_by_processor_and_the_kernels_own_lines_too() {
        let text = "            CPU0       CPU2\n  24:   5   6   PCI-MSI 1-edge   nvme0q1\n  25:   1   0   PCI-MSI 2-edge   \
                    nvme0q1\n LOC:  100   200   Local timer interrupts\n ERR:   0\n";
        let counts = table(text);
        assert_eq!(counts[&(0, "nvme0q1".to_owned())], 6);
        assert_eq!(counts[&(2, "local timer interrupts".to_owned())], 200);
        assert_eq!(counts.len(), 4, "a line without a count for each processor is left out");
        let softirqs = table("      CPU0 CPU1\n  TIMER:  7  8\n");
        assert_eq!(softirqs[&(1, "TIMER".to_owned())], 8);
    }

    #[test]
    fn a_worker_of_the_kernel_that_changes_its_name_is_charged_for_the_second_only() {
        let worker = |name: &str| Process { pid: 9, name: name.into(), of_kernel: true };
        let (mut before, mut now) = (Counted::default(), Counted::default());
        before.processes.insert(worker("kworker/0:1-events"), 160);
        now.processes.insert(worker("kworker/0:1-writeback"), 168);
        let grown = now.since(&before);
        assert_eq!(grown.processes.into_values().collect::<Vec<_>>(), [8]);
    }

    #[test]
    fn a_gap_is_blamed_on_what_was_counted_beside_it() {
        let heard = Heard { cpu: 0, longest: 3_000_000, lost: 4_000_000, gaps: 10, switches: 2 };
        let mut counted = Counted::default();
        counted.processes.insert(Process { pid: 7, name: "backup (old)".into(), of_kernel: false }, 50);
        assert!(likely(&heard, 5, &counted).contains("backup (old) (process 7)"));
        assert!(likely(&Heard { switches: 0, ..heard }, 5, &counted).contains("interrupts"));
        assert!(likely(&Heard { switches: 0, ..heard }, 0, &counted).contains("below the kernel"));
        counted.stolen = ticks_per_second() as u64;
        assert!(likely(&heard, 5, &counted).contains("hypervisor"));
    }

    #[test]
    fn growth_leaves_out_what_did_not_change() {
        let of = |n| BTreeMap::from([((1, "a".to_owned()), n), ((2, "b".to_owned()), 5)]);
        let before = Counted { softirqs: of(1), ..Counted::default() };
        let grown = Counted { softirqs: of(4), ..Counted::default() }.since(&before);
        assert_eq!(grown.softirqs, BTreeMap::from([((1, "a".to_owned()), 3)]));
    }

    #[test]
    fn a_thread_that_listens_hears_no_more_than_the_time_that_passed() {
        let cpu = cpus::allowed()[0];
        let begin = clock_ns();
        let heard = listen_on(cpu, begin, begin + 20_000_000);
        assert!(heard.longest <= heard.lost && heard.lost <= clock_ns() - begin);
        assert_eq!(heard.gaps == 0, heard.longest == 0);
    }

    #[test]
    fn times_are_said_in_their_own_unit() {
        assert_eq!([said(900), said(5_000), said(2_540_000)], ["900 ns", "5 us", "2.5 ms"]);
    }
}
