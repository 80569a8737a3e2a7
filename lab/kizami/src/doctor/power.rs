//! Checks of power saving: frequency changes, which vary the time of the same work, and idle states, which delay the
//! wake-up of a processor.

use kizami_recording::quantity::Quantity;
use kizami_settings::{Root, system};

use super::finding::{Finding, Verdict};

pub fn checks(root: &Root) -> Vec<Finding> {
    vec![governor(root), turbo(root), idle_states(root), wake_up_limit(root)]
}

fn governor(root: &Root) -> Finding {
    const CHECK: &str = "governor";
    let mut governors: Vec<String> = system::files(root, "governor").iter().filter_map(|file| root.get(file)).collect();
    governors.dedup();
    if governors.is_empty() {
        let means = "The kernel does not choose the frequency here. In a virtual machine the host does, unseen.";
        return Finding::new(CHECK, Verdict::NotApplicable, "no frequency scaling", means);
    }
    let range = frequencies(root).map_or_else(String::new, |(low, high)| format!(", {low} to {high} MHz"));
    let found = format!("{}{range}", governors.join(", "));
    if governors == ["performance"] {
        let means = "Every processor runs as fast as it is allowed to.";
        return Finding::new(CHECK, Verdict::Good, found, means);
    }
    let means = "The frequency follows the load, so work after a pause starts slow: the largest single effect on the \
                 spread of execution times in the Nerves study.";
    let command = "echo performance | sudo tee /sys/devices/system/cpu/cpufreq/policy*/scaling_governor";
    Finding::new(CHECK, Verdict::Bad, found, means).fix(command)
}

/// The lowest and the highest frequency of the first group of processors, in MHz.
fn frequencies(root: &Root) -> Option<(u64, u64)> {
    let policy = root.list(system::CPUFREQ).into_iter().find(|p| p.starts_with("policy"))?;
    let mhz = |file| {
        let khz = root.get(&format!("{}/{policy}/{file}", system::CPUFREQ))?.parse::<u64>().ok()?;
        Some(khz / 1_000)
    };
    Some((mhz("scaling_min_freq")?, mhz("scaling_max_freq")?))
}

fn turbo(root: &Root) -> Finding {
    const CHECK: &str = "turbo";
    let Some(file) = system::files(root, "turbo").into_iter().next() else {
        let means = "No driver here offers a switch for it.";
        return Finding::new(CHECK, Verdict::NotApplicable, "no switch", means);
    };
    let no_turbo = file == system::NO_TURBO;
    let on = root.get(&file).as_deref() == Some(if no_turbo { "0" } else { "1" });
    if !on {
        return Finding::new(
            CHECK,
            Verdict::Good,
            "off",
            "The highest frequency can be held for as long as is needed.",
        );
    }
    let means = "The highest frequencies last only while heat and power allow, so times change with what other \
                 processors do.";
    let value = if no_turbo { 1 } else { 0 };
    Finding::new(CHECK, Verdict::Fair, "on", means).fix(format!("echo {value} | sudo tee {}", root.shown(&file)))
}

/// One idle state of a processor.
struct IdleState {
    name: String,
    /// Microseconds to wake.
    latency: u64,
}

fn idle_states(root: &Root) -> Finding {
    const CHECK: &str = "idle states";
    const FOLDER: &str = "sys/devices/system/cpu/cpu0/cpuidle";
    let states = root.list(FOLDER).into_iter().filter(|s| s.starts_with("state")).filter_map(|state| {
        let read = |file| root.get(&format!("{FOLDER}/{state}/{file}"));
        let enabled = read("disable").as_deref() != Some("1");
        Some(IdleState { name: read("name")?, latency: read("latency")?.parse().ok()? }).filter(|_| enabled)
    });
    let Some(deepest) = states.max_by_key(|state| state.latency) else {
        let means = "The kernel has no idle driver. In a virtual machine an idle processor is given back to the host, and \
                     waking takes what the host takes.";
        return Finding::new(CHECK, Verdict::NotApplicable, "no idle states", means);
    };
    let found = format!("deepest is {}, {} us to wake", deepest.name, deepest.latency);
    let held = system::current_latency(root).ok().flatten().filter(|us| *us < deepest.latency);
    if held.is_none() && root.get("sys/devices/system/cpu/cpuidle/current_driver").as_deref() == Some("haltpoll") {
        // Its time is that of an instruction: what the machine below takes, the kernel does not know.
        let means = "An idle processor looks for work for a moment and is then given back to the machine below, which wakes it \
                     when it has time, whatever the priority of who waits. A limit of 0 keeps it here; wakeup, without it and \
                     with it, tells what that is worth.";
        let found = format!("{}, and then the machine below wakes the processor", deepest.name);
        return Finding::new(CHECK, Verdict::Fair, found, means).fix("kizami run wakeup --set cpu_dma_latency=0us");
    }
    if let Some(us) = held {
        let means = "Somebody holds a limit on waking, which keeps processors out of deeper states.";
        return Finding::new(CHECK, Verdict::Good, format!("{found}, limited to {us} us"), means);
    }
    let verdict = match deepest.latency {
        0..=10 => Verdict::Good,
        11..=50 => Verdict::Fair,
        _ => Verdict::Bad,
    };
    let means = match verdict {
        Verdict::Good => "Waking a processor costs little.".to_owned(),
        _ => format!("Work that starts on an idle processor may start {} us late.", deepest.latency),
    };
    let finding = Finding::new(CHECK, verdict, found, means);
    if verdict == Verdict::Good { finding } else { finding.fix("sudo cpupower idle-set -D 10") }
}

fn wake_up_limit(root: &Root) -> Finding {
    const CHECK: &str = "wake-up limit";
    let file = root.shown(system::LATENCY_FILE);
    if !root.exists(system::LATENCY_FILE) {
        let means = "Programs cannot ask for quick waking here.";
        return Finding::new(CHECK, Verdict::NotApplicable, format!("no {file}"), means);
    }
    match system::current_latency(root) {
        Ok(limit) => {
            let now = limit
                .map_or_else(|| "no limit held".to_owned(), |us| format!("{} held", Quantity::Time.write(us * 1_000)));
            let means = "A run can keep processors from sleeping deeply: kizami run --set cpu_dma_latency=0us.";
            Finding::new(CHECK, Verdict::Good, format!("{file} may be used, {now}"), means)
        }
        Err(e) => {
            let means = "Only its owner can keep processors from sleeping deeply.";
            let fix = format!("sudo setfacl -m u:$USER:rw {file}");
            Finding::new(CHECK, Verdict::Fair, format!("{file}: {e}"), means).fix(fix)
        }
    }
}
