//! The kernel's counters over the second of listening: interrupts, softirqs, stolen time, processor time of every process.

use std::collections::BTreeMap;

use kizami_settings::Root;
use kizami_workloads::clock_ns;

/// What the kernel counts, or its growth between two looks.
#[derive(Debug, Default)]
pub(super) struct Counted {
    /// When it was looked at, in nanoseconds; of a growth, over how long.
    pub(super) clock: u64,
    /// By processor and name.
    pub(super) interrupts: BTreeMap<(usize, String), u64>,
    pub(super) softirqs: BTreeMap<(usize, String), u64>,
    /// Ticks of `USER_HZ`.
    pub(super) stolen: u64,
    pub(super) ticks: u64,
    /// Ticks of processor time.
    pub(super) processes: BTreeMap<Process, u64>,
}

/// Ordered by its number alone: a worker of the kernel changes its name with its work.
#[derive(Debug, Clone)]
pub(super) struct Process {
    pub(super) pid: u32,
    pub(super) name: String,
    /// A thread of the kernel, which no user can hold back.
    pub(super) of_kernel: bool,
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
    pub(super) fn now(root: &Root) -> Self {
        let stat = root.get("proc/stat").unwrap_or_default();
        let total: Vec<u64> =
            stat.lines().next().unwrap_or_default().split_whitespace().skip(1).filter_map(|t| t.parse().ok()).collect();
        Self {
            clock: clock_ns(),
            interrupts: table(&root.get("proc/interrupts").unwrap_or_default()),
            softirqs: table(&root.get("proc/softirqs").unwrap_or_default()),
            stolen: total.get(7).copied().unwrap_or(0),
            // The last two columns, guests, are in the first two already.
            ticks: total.iter().take(8).sum(),
            processes: processes(root),
        }
    }

    pub(super) fn since(self, before: &Self) -> Self {
        fn grown<K: Ord>(now: BTreeMap<K, u64>, before: &BTreeMap<K, u64>) -> BTreeMap<K, u64> {
            let growth = now.into_iter().map(|(key, n)| {
                let growth = n.saturating_sub(before.get(&key).copied().unwrap_or(0));
                (key, growth)
            });
            growth.filter(|(_, n)| *n > 0).collect()
        }
        Self {
            clock: self.clock.saturating_sub(before.clock),
            interrupts: grown(self.interrupts, &before.interrupts),
            softirqs: grown(self.softirqs, &before.softirqs),
            stolen: self.stolen.saturating_sub(before.stolen),
            ticks: self.ticks.saturating_sub(before.ticks),
            processes: grown(self.processes, &before.processes),
        }
    }

    /// Interrupts on `cpu` and the name of the most frequent.
    pub(super) fn interrupts_on(&self, cpu: usize) -> (u64, Option<&str>) {
        let here = || self.interrupts.iter().filter(move |((on, _), _)| *on == cpu);
        (here().map(|(_, n)| n).sum(), here().max_by_key(|(_, n)| **n).map(|((_, name), _)| name.as_str()))
    }

    pub(super) fn softirqs_on(&self, cpu: usize) -> u64 {
        self.softirqs.iter().filter(|((on, _), _)| *on == cpu).map(|(_, n)| n).sum()
    }

    /// Other processes and the share of one processor that each used, in per cent; the busiest first.
    pub(super) fn busiest(&self) -> Vec<(&Process, f64)> {
        let listened = ticks_per_second() * (self.clock.max(1) as f64 / 1e9);
        let own = std::process::id();
        let others = self.processes.iter().filter(|(process, _)| process.pid != own);
        let mut others: Vec<_> = others.map(|(process, ticks)| (process, *ticks as f64 * 100.0 / listened)).collect();
        others.sort_by(|a, b| b.1.total_cmp(&a.1));
        others
    }
}

pub(super) fn ticks_per_second() -> f64 {
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
    fn growth_leaves_out_what_did_not_change() {
        let of = |n| BTreeMap::from([((1, "a".to_owned()), n), ((2, "b".to_owned()), 5)]);
        let before = Counted { softirqs: of(1), ..Counted::default() };
        let grown = Counted { softirqs: of(4), ..Counted::default() }.since(&before);
        assert_eq!(grown.softirqs, BTreeMap::from([((1, "a".to_owned()), 3)]));
    }
}
