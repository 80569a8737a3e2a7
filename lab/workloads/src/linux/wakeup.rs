//! Wake-up latency: how late a thread wakes up from a planned timer.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kizami_recording::Recorder;
use kizami_recording::quantity::Quantity;

use super::crew;
use crate::os::cpus;
use crate::os::sys::{self, Via};
use crate::bench::{Bench, Failure, clock_ns};
use crate::linux::via::{VIA, via};
use crate::spec::{Kind, Machine, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "wakeup",
    title: "wake-up from an absolute periodic timer",
    about: "A thread sleeps with clock_nanosleep until a planned time on CLOCK_MONOTONIC, reads the clock, and records \
            how far after the plan that is; then it plans one interval further and sleeps again. The figure holds the \
            timer's interrupt, the way out of the processor's idle state, the scheduler's decision and one clock \
            reading. With mode=every the plan advances by exactly one interval, so a wake-up that comes after the \
            next plan makes that one late too and each of them is recorded (as jitterdebugger does); with mode=skip \
            periods that have passed are left out, as cyclictest does, and counted as the fact skipped. Not in the \
            figure: work after the wake-up, and the time slack of the thread unless its setting is lowered (Linux adds \
            50 us by default to a thread without real-time policy; that shows as a shift of the whole distribution).",
    reference: "cyclictest, jitterdebugger",
    params: &[
        Param {
            name: "interval",
            about: "from one planned wake-up to the next",
            kind: Kind::time(1_000, 60_000_000_000),
            default: "1ms",
        },
        Param { name: "cycles", about: "wake-ups of each thread", kind: Kind::count(1, 100_000_000), default: "10000" },
        Param {
            name: "threads",
            about: "one in all, or one pinned to each processor",
            kind: Kind::Choice(&["one", "per-cpu"]),
            default: "one",
        },
        Param {
            name: "mode",
            about: "record every period, or skip those that have passed",
            kind: Kind::Choice(&["every", "skip"]),
            default: "every",
        },
        Param {
            name: "distance",
            about: "how much longer the interval of each further thread is",
            kind: Kind::time(0, 60_000_000_000),
            default: "500us",
        },
        Param {
            name: "beside",
            about: "how often another thread of the process wakes meanwhile, an ordinary one; cyclictest's does every 10ms, and \
                    a processor that was awake a moment ago wakes sooner. 0ns for none",
            kind: Kind::time(0, 1_000_000_000),
            default: "0ns",
        },
        VIA,
    ],
    parts,
    seconds,
    linux: Some(run),
    beam: None,
};

/// From the moment when all threads are ready to the start of the first interval.
const LEAD: Duration = Duration::from_millis(10);

fn parts(params: &Params, machine: &Machine) -> Vec<Part> {
    let part = Part::times(params.number("cycles")).cold(0);
    match params.choice("threads") {
        "one" => vec![part],
        _ => machine.cpus.iter().map(|cpu| part.clone().named(format!("cpu{cpu}"))).collect(),
    }
}

/// The slowest thread's time, if there are as many processors where it runs as here.
fn seconds(params: &Params) -> f64 {
    let further = match params.choice("threads") {
        "one" => 0,
        _ => std::thread::available_parallelism().map_or(0, |n| n.get() as u64 - 1),
    };
    let interval = params.number("interval") + further * params.number("distance");
    params.number("cycles") as f64 * interval as f64 * 1e-9
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let number = |name| params.number(name);
    let (interval, cycles, distance) = (number("interval"), number("cycles"), number("distance"));
    let (skip, via) = (params.choice("mode") == "skip", via(params));
    let jobs = match params.choice("threads") {
        "one" => vec![(None, bench.recorder(0)?)],
        _ => cpus::recorders(bench)?,
    };
    let parts: Vec<_> = jobs.iter().map(|(cpu, _)| cpu.map_or(String::new(), |cpu| format!("_cpu{cpu}"))).collect();
    let woken = beside(number("beside"), || {
        crew::run(bench, jobs, LEAD, |index, recorder, start, stop| {
            let interval = interval + index as u64 * distance;
            (start, interval, wake(via, recorder, start, interval, cycles, skip, stop))
        })
    })?;
    for (part, (start, interval, skipped)) in parts.iter().zip(woken) {
        let skipped = skipped.map_err(Failure::os(format!("sleep for {}", Quantity::Time.write(interval))))?;
        bench.fact(&format!("skipped{part}"), skipped as f64);
        bench.began(part, start);
        // Where periods were left out, a row does not say which of them it is.
        if skipped == 0 {
            bench.fact(&format!("interval_ns{part}"), interval as f64);
        }
    }
    Ok(())
}

/// Does `work`, and has another thread wake every `interval` meanwhile, unless that is 0. That one is ordinary whatever the policy of
/// this one is: it changes how deep the processor sleeps, and not who runs.
fn beside<T>(interval: u64, work: impl FnOnce() -> Result<T, Failure>) -> Result<T, Failure> {
    struct Over<'a>(&'a AtomicBool);
    impl Drop for Over<'_> {
        fn drop(&mut self) {
            self.0.store(true, Ordering::Relaxed);
        }
    }
    if interval == 0 {
        return work();
    }
    let is_over = AtomicBool::new(false);
    thread::scope(|scope| {
        let other = thread::Builder::new().name("beside".into()).spawn_scoped(scope, || {
            sys::become_ordinary()?;
            while !is_over.load(Ordering::Relaxed) {
                thread::sleep(Duration::from_nanos(interval));
            }
            Ok(())
        });
        let other = other.map_err(Failure::os("start the thread that wakes beside"))?;
        let over = Over(&is_over);
        let done = work();
        drop(over);
        match other.join() {
            Ok(woke) => woke.map_err(Failure::os("make the thread that wakes beside an ordinary one")).and(done),
            Err(panic) => std::panic::resume_unwind(panic),
        }
    })
}

/// The loop itself; gives back how many periods were skipped.
fn wake(
    via: Via,
    mut recorder: Recorder<'_>,
    start: u64,
    interval: u64,
    cycles: u64,
    skip: bool,
    stop: &AtomicBool,
) -> io::Result<u64> {
    let mut skipped = 0;
    // Nothing is recorded of this one: it takes the thread to the start that all share.
    if !sys::sleep_until(via, start, stop)? {
        return Ok(0);
    }
    let mut planned = start + interval;
    for _ in 0..cycles {
        if !sys::sleep_until(via, planned, stop)? {
            break;
        }
        let now = clock_ns();
        recorder.push(now.saturating_sub(planned));
        planned += interval;
        while skip && now > planned {
            planned += interval;
            skipped += 1;
        }
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(skipped)
}

#[cfg(test)]
mod tests {
    use super::*;
    use kizami_recording::Progress;

    /// A start ten milliseconds ago stands for a thread that was held up that long.
    fn after_a_stall(skip: bool) -> (Vec<u64>, u64) {
        let (mut cells, progress) = ([0; 12], Progress::default());
        let recorder = Recorder::new(&mut cells, 1, &progress);
        let start = clock_ns() - 10_000_000;
        let skipped = wake(Via::Library, recorder, start, 1_000_000, 12, skip, &AtomicBool::new(false)).unwrap();
        assert_eq!(progress.rows(), 12);
        (cells.to_vec(), skipped)
    }

    #[test]
    fn every_period_of_a_stall_is_recorded_as_late() {
        let (samples, skipped) = after_a_stall(false);
        // The first nine were planned 9, 8, ... 1 ms before the loop began.
        for (late, sample) in (1..=9).rev().zip(&samples) {
            assert!(*sample >= late * 1_000_000, "{samples:?}");
        }
        assert_eq!(skipped, 0);
    }

    #[test]
    fn skipping_takes_a_stall_for_one_late_wake_up() {
        let (samples, skipped) = after_a_stall(true);
        assert!(samples[0] >= 9_000_000);
        assert!(skipped >= 8, "{skipped}");
    }
}
