//! Checks of processor isolation: isolated processors, interrupts, and the other hardware thread of a core.

use kizami_settings::{Root, cpus};

use super::finding::{Finding, Verdict};

const CPU: &str = "sys/devices/system/cpu";

pub fn checks(root: &Root) -> Vec<Finding> {
    vec![isolated_processors(root), interrupts(root), hyper_threads(root)]
}

fn list(root: &Root, file: &str) -> Vec<usize> {
    root.get(&format!("{CPU}/{file}")).and_then(|text| cpus::parse(&text).ok()).unwrap_or_default()
}

fn isolated_processors(root: &Root) -> Finding {
    const CHECK: &str = "isolated processors";
    let (online, mut isolated, quiet) = (list(root, "online"), list(root, "isolated"), list(root, "nohz_full"));
    if isolated.is_empty() {
        // What a partition of control groups isolates while the machine runs.
        let by_group = root.get("sys/fs/cgroup/cpuset.cpus.isolated");
        isolated = by_group.and_then(|text| cpus::parse(&text).ok()).unwrap_or_default();
    }
    if !isolated.is_empty() {
        let tick = if quiet.is_empty() { "with the tick" } else { "without the tick" };
        let found = format!("{} of {} ({tick})", cpus::write(&isolated), cpus::write(&online));
        let means = "The scheduler puts nothing there by itself; work gets there by its affinity.";
        return Finding::new(CHECK, Verdict::Good, found, means);
    }
    let Some((last, rest)) = online.split_last().filter(|(_, rest)| !rest.is_empty()) else {
        let means = "With one processor, everything shares it.";
        let found = if online.is_empty() { "unknown" } else { "one processor" };
        return Finding::new(CHECK, Verdict::NotApplicable, found, means);
    };
    let finding = Finding::new(
        CHECK,
        Verdict::Fair,
        format!("none of {}", cpus::write(&online)),
        "Every processor also runs whatever else the machine does.",
    );
    let control = "sys/fs/cgroup/cgroup.controllers";
    let by_group = root.get(control).is_some_and(|text| text.split_whitespace().any(|c| c == "cpuset"));
    if by_group {
        return finding.fix(format!(
            "sudo sh -c 'cd /sys/fs/cgroup && echo +cpuset > cgroup.subtree_control && mkdir -p rt && echo {last} > \
             rt/cpuset.cpus && echo isolated > rt/cpuset.cpus.partition'"
        ));
    }
    let parameters = format!("isolcpus=managed_irq,domain,{last} nohz_full={last} irqaffinity={}", cpus::write(rest));
    if root.exists("etc/default/grub") {
        return finding.fix(format!(
            "sudo sed -i 's/^GRUB_CMDLINE_LINUX=\"/&{parameters} /' /etc/default/grub && sudo update-grub && sudo reboot"
        ));
    }
    let means = format!("{} Isolating one takes these parameters of the kernel: {parameters}.", finding.means);
    Finding { means, ..finding }
}

fn interrupts(root: &Root) -> Finding {
    const CHECK: &str = "interrupts";
    let processes = root.list("proc").into_iter().filter(|name| name.starts_with(|c: char| c.is_ascii_digit()));
    let balanced =
        processes.into_iter().any(|pid| root.get(&format!("proc/{pid}/comm")).as_deref() == Some("irqbalance"));
    let isolated = list(root, "isolated");
    let reaching: Vec<String> = root
        .list("proc/irq")
        .into_iter()
        .filter(|irq| {
            // Where it really goes, or where it may go on kernels that do not tell.
            let folder = format!("proc/irq/{irq}");
            let affinity = root
                .get(&format!("{folder}/effective_affinity_list"))
                .or_else(|| root.get(&format!("{folder}/smp_affinity_list")));
            let to = affinity.and_then(|text| cpus::parse(&text).ok()).unwrap_or_default();
            to.iter().any(|cpu| isolated.contains(cpu)) && in_use(root, irq)
        })
        .collect();
    if !reaching.is_empty() {
        let online = list(root, "online");
        let rest: Vec<_> = online.into_iter().filter(|cpu| !isolated.contains(cpu)).collect();
        let found = format!("those of {} reach processors {}", devices(reaching.len()), cpus::write(&isolated));
        let means = "Devices interrupt the work on isolated processors.";
        let irqs = if reaching.len() == 1 { reaching[0].clone() } else { format!("{{{}}}", reaching.join(",")) };
        let stop = if balanced { "sudo systemctl stop irqbalance; " } else { "" };
        let command = format!("{stop}echo {} | sudo tee /proc/irq/{irqs}/smp_affinity_list", cpus::write(&rest));
        return Finding::new(CHECK, Verdict::Bad, found, means).fix(command);
    }
    if balanced {
        let means = "irqbalance moves interrupts between processors while work runs, so its times change with it.";
        let finding = Finding::new(CHECK, Verdict::Fair, "moved around by irqbalance", means);
        return finding.fix("sudo systemctl stop irqbalance");
    }
    if isolated.is_empty() {
        let means = "No processor is isolated, so there is none to keep interrupts from.";
        return Finding::new(CHECK, Verdict::NotApplicable, "on any processor", means);
    }
    let found = format!("kept from processors {}", cpus::write(&isolated));
    Finding::new(CHECK, Verdict::Good, found, "Devices do not interrupt the work on isolated processors.")
}

fn devices(n: usize) -> String {
    if n == 1 { "1 device".to_owned() } else { format!("{n} devices") }
}

/// Whether a device has it: unused numbers have an affinity too.
fn in_use(root: &Root, irq: &str) -> bool {
    let table = root.get("proc/interrupts").unwrap_or_default();
    table.lines().any(|line| line.trim_start().split(':').next() == Some(irq))
}

fn hyper_threads(root: &Root) -> Finding {
    const CHECK: &str = "hyper-threads";
    match root.get(&format!("{CPU}/smt/active")).as_deref() {
        Some("1") => {
            let means = "Two processors share a core: what one does slows the other, by an amount that nothing counts.";
            let command = "echo off | sudo tee /sys/devices/system/cpu/smt/control";
            Finding::new(CHECK, Verdict::Fair, "on", means).fix(command)
        }
        Some(_) if root.get(&format!("{CPU}/smt/control")).as_deref() != Some("notsupported") => {
            Finding::new(CHECK, Verdict::Good, "off", "A processor has its core to itself.")
        }
        _ => {
            let means = "This machine shows none; a virtual machine may be given halves of cores without being told.";
            Finding::new(CHECK, Verdict::NotApplicable, "none", means)
        }
    }
}
