//! The section `[realtime]`: the policy, priority, memory and processors that `cargo otp run --realtime` asks of the machine.
//!
//! The settings are checked here and passed to the application in the environment. The library puts them in force and reports
//! which of them took effect. Only the busy waiting of schedulers is a flag of the VM itself.

use std::fmt;

use toml::de::DeValue;

use super::read::{Table, expected, number};

/// The variable that the application finds it in.
pub(crate) const VARIABLE: &str = "OTP_REALTIME";

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Realtime {
    pub(crate) policy: Policy,
    /// From 1 to 99; for `fifo` and `rr` only.
    pub(crate) priority: Option<u32>,
    /// Whether all memory of the VM is kept in RAM.
    pub(crate) lock_memory: bool,
    /// The processors that the VM may use; empty for all.
    pub(crate) cpus: Vec<u32>,
    pub(crate) busy_wait: Option<BusyWait>,
}

/// A policy of Linux's scheduler, see sched(7).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Policy {
    Other,
    Fifo,
    RoundRobin,
}

/// How long a scheduler of the VM looks for work before it sleeps: `+sbwt` of erl(1).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct BusyWait(&'static str);

const POLICIES: [(&str, Policy); 3] = [("other", Policy::Other), ("fifo", Policy::Fifo), ("rr", Policy::RoundRobin)];

const BUSY_WAITS: [(&str, BusyWait); 6] = [
    ("none", BusyWait("none")),
    ("very_short", BusyWait("very_short")),
    ("short", BusyWait("short")),
    ("medium", BusyWait("medium")),
    ("long", BusyWait("long")),
    ("very_long", BusyWait("very_long")),
];

impl Realtime {
    pub(super) fn read(table: &mut Table<'_, '_>) -> Self {
        let policy = table.word("policy", &POLICIES);
        // The order of the questions is that in which keys are suggested.
        let priority = table.value("priority", |value| match number(value) {
            Some(_) if policy == Some(Policy::Other) => Err("the policy \"other\" has no priority".to_owned()),
            Some(number @ 1..=99) => Ok(number),
            _ => Err(expected("a number from 1 to 99", value)),
        });
        Self {
            policy: policy.unwrap_or(if table.has("priority") { Policy::Fifo } else { Policy::Other }),
            priority,
            lock_memory: table.flag("lock_memory").unwrap_or_default(),
            cpus: table.value("cpus", cpus).unwrap_or_default(),
            busy_wait: table.word("busy_wait", &BUSY_WAITS),
        }
    }

    /// As the application gets it: `policy=fifo priority=80 …`, what was not set left out.
    pub(crate) fn passed_on(&self) -> String {
        let list = |numbers: &[u32]| numbers.iter().map(u32::to_string).collect::<Vec<_>>().join(",");
        let all = [
            Some(format!("policy={}", self.policy)),
            self.priority.map(|priority| format!("priority={priority}")),
            Some(format!("lock_memory={}", self.lock_memory)),
            (!self.cpus.is_empty()).then(|| format!("cpus={}", list(&self.cpus))),
            self.busy_wait.map(|BusyWait(wait)| format!("busy_wait={wait}")),
        ];
        all.into_iter().flatten().collect::<Vec<_>>().join(" ")
    }

    /// The flags of the VM among these settings.
    pub(crate) fn flags(&self) -> Vec<String> {
        let Some(BusyWait(wait)) = self.busy_wait else { return Vec::new() };
        ["+sbwt", "+sbwtdcpu", "+sbwtdio"].into_iter().flat_map(|flag| [flag.to_owned(), wait.to_owned()]).collect()
    }
}

impl fmt::Display for Policy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let found = POLICIES.iter().find(|(_, policy)| policy == self);
        f.write_str(found.map_or("other", |(name, _)| name))
    }
}

/// `[2, 3]`, or `"2-3"` as Linux writes it.
fn cpus(value: &DeValue<'_>) -> Result<Vec<u32>, String> {
    let wrong = || expected("processors, as [2, 3] or \"2-3\"", value);
    if let Some(list) = value.as_array() {
        return list.iter().map(|one| number(one.get_ref()).ok_or_else(wrong)).collect();
    }
    let mut all = Vec::new();
    for part in value.as_str().ok_or_else(wrong)?.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let number = |text: &str| text.trim().parse::<u32>().ok().filter(|number| *number < 4096).ok_or_else(wrong);
        all.extend(number(first)?..=number(last)?);
    }
    if all.is_empty() { Err(wrong()) } else { Ok(all) }
}
