//! The plan of faults: which part fails when, and how. The same seed gives the same plan.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

/// A part of the pump, in the order in which what is measured passes through.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Part {
    Sensor,
    Controller,
    Actuator,
    Watchdog,
}

impl Part {
    pub const ALL: [Self; 4] = [Self::Sensor, Self::Controller, Self::Actuator, Self::Watchdog];
}

/// How it fails.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Kind {
    /// Its handler panics.
    Panic,
    /// Its handler does not come back for [`HANG`]: a driver that blocks, a loop that takes too long.
    Hang,
    /// Its handler awaits what never comes.
    Wait,
    /// It sends a value that is none; the watchdog takes a healthy part for one that hangs.
    Wrong,
    /// What it sends is lost.
    Lost,
}

impl Kind {
    pub const ALL: [Self; 5] = [Self::Panic, Self::Hang, Self::Wait, Self::Wrong, Self::Lost];
}

/// How long a hang is. Longer than the watchdog looks on, and not for ever, because the thread could not be had back.
pub const HANG: Duration = Duration::from_millis(250);

/// The first fault, and how far they are from each other, in periods.
pub const FIRST: u64 = 50;
pub const APART: u64 = 40;

/// A fault, and whether it has come about.
#[derive(Debug)]
pub struct Fault {
    pub period: u64,
    pub part: Part,
    pub kind: Kind,
    done: AtomicBool,
}

/// All faults of a run.
#[derive(Debug)]
pub struct Plan(Vec<Fault>);

impl Plan {
    /// `count` faults. Twenty are every kind in every part, in an order that the seed says; more begin again in another order.
    pub fn new(seed: u64, count: usize) -> Self {
        // splitmix64, which has no bad seeds.
        let mut state = seed;
        let mut random = move |below: u64| {
            state = state.wrapping_add(0x9E37_79B9_7F4A_7C15);
            let mut mixed = state;
            mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xBF58_476D_1CE4_E5B9);
            mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94D0_49BB_1331_11EB);
            (mixed ^ (mixed >> 31)) % below
        };
        let mut faults = Vec::new();
        while faults.len() < count {
            let mut all: Vec<(Part, Kind)> =
                Part::ALL.into_iter().flat_map(|part| Kind::ALL.map(|kind| (part, kind))).collect();
            while !all.is_empty() && faults.len() < count {
                let (part, kind) = all.swap_remove(random(all.len() as u64) as usize);
                let period = FIRST + faults.len() as u64 * APART + random(5);
                faults.push(Fault { period, part, kind, done: AtomicBool::new(false) });
            }
        }
        Self(faults)
    }

    pub fn faults(&self) -> &[Fault] {
        &self.0
    }

    /// The fault that is due for this part, once.
    pub fn take(&self, part: Part, now: u64) -> Option<Kind> {
        let due = self.0.iter().filter(|fault| fault.part == part && fault.period <= now);
        due.into_iter().find(|fault| !fault.done.swap(true, Ordering::AcqRel)).map(|fault| fault.kind)
    }

    /// How many have come about.
    pub fn came(&self) -> usize {
        self.0.iter().filter(|fault| fault.done.load(Ordering::Acquire)).count()
    }

    /// How many periods a run with these has.
    pub fn periods(&self) -> u64 {
        FIRST + self.0.len() as u64 * APART + APART
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_seed_says_it_all_and_every_kind_comes_in_every_part() {
        let plan = |seed| Plan::new(seed, 20).0.iter().map(|f| (f.period, f.part, f.kind)).collect::<Vec<_>>();
        assert_eq!(plan(7), plan(7));
        assert_ne!(plan(7), plan(8));
        for part in Part::ALL {
            for kind in Kind::ALL {
                assert_eq!(plan(7).iter().filter(|f| (f.1, f.2) == (part, kind)).count(), 1, "{part:?} {kind:?}");
            }
        }
    }

    #[test]
    fn a_fault_comes_about_once_and_not_before_its_time() {
        let plan = Plan::new(3, 1);
        let Fault { period, part, kind, .. } = plan.0[0];
        assert_eq!(plan.take(part, period - 1), None);
        assert_eq!(plan.take(part, period + 3), Some(kind));
        assert_eq!(plan.take(part, period + 3), None);
    }
}
