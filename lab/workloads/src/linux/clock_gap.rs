//! Gaps between clock readings: the time that the machine takes away from a thread that only reads the clock.
//!
//! The clock is CLOCK_MONOTONIC and not the processor's cycle counter. Through the vDSO, CLOCK_MONOTONIC is that
//! counter, scaled, on every machine where the counter can be trusted; elsewhere (an unstable counter, a guest whose
//! clock source has no vDSO) CLOCK_MONOTONIC stays right and only gets coarser. The fact `reading_ns` is the cost of a
//! reading; that cost is some ten times below the least useful threshold, and no calibration is needed.

use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Duration;

use kizami_recording::Recorder;
use kizami_recording::folder::Unit;

use super::crew;
use crate::os::cpus;
use crate::bench::{Bench, Failure, clock_ns};
use crate::spec::{Kind, Machine, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "clock-gap",
    title: "gaps in a busy clock",
    about: "A thread pinned to each processor does nothing but read the clock. Two readings in a row that are at least \
            the threshold apart are a gap: something else had the processor (an interrupt, another thread, firmware, or \
            the hypervisor of a virtual machine). Each gap is recorded with the time since the start at which it began; \
            shorter ones are only counted. The facts say for each processor how many readings there were, how much time \
            the gaps took together (lost_ns), the longest gap, and what a reading costs (reading_ns). A gap contains one \
            clock reading. Not in the figure: the way back from sleep, as the threads never sleep, and gaps of the \
            first 100 ms, in which the processors come up to speed. With a real-time policy nothing else runs on any \
            processor meanwhile, save what the kernel's throttling leaves; a request to stop waits for that too.",
    reference: "oslat",
    params: &[
        Param {
            name: "duration",
            about: "how long to read the clock",
            kind: Kind::time(1_000_000, 86_400_000_000_000),
            default: "10s",
        },
        Param {
            name: "threshold",
            about: "the shortest gap to record",
            kind: Kind::time(1, 1_000_000_000),
            default: "1us",
        },
        Param {
            name: "capacity",
            about: "room for so many gaps of each processor",
            kind: Kind::count(1, 100_000_000),
            default: "1000000",
        },
    ],
    parts,
    seconds: |params| params.number("duration") as f64 * 1e-9 + LEAD.as_secs_f64(),
    linux: Some(run),
    beam: None,
};

/// Time to leave the idle states and come up to the full clock rate.
const LEAD: Duration = Duration::from_millis(100);

fn parts(params: &Params, machine: &Machine) -> Vec<Part> {
    let part = Part::times(params.number("capacity")).cold(0).and("since_start", Unit::Nanoseconds);
    machine.cpus.iter().map(|cpu| part.clone().named(format!("cpu{cpu}"))).collect()
}

/// What was counted beside the gaps.
struct Counted {
    begin: u64,
    readings: u64,
    lost: u64,
    longest: u64,
    elapsed: u64,
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (duration, threshold) = (params.number("duration"), params.number("threshold"));
    let jobs = cpus::recorders(bench)?;
    let cpus: Vec<_> = jobs.iter().filter_map(|(cpu, _)| *cpu).collect();
    let counted = crew::run(bench, jobs, LEAD, |_, recorder, start, stop| {
        while clock_ns() < start && !stop.load(Ordering::Relaxed) {}
        read(recorder, duration, threshold, stop)
    })?;
    for (cpu, counted) in cpus.iter().zip(counted) {
        let reading = counted.elapsed.saturating_sub(counted.lost) as f64 / counted.readings.max(1) as f64;
        bench.began(&format!("_cpu{cpu}"), counted.begin);
        bench.fact(&format!("readings_cpu{cpu}"), counted.readings as f64);
        bench.fact(&format!("lost_ns_cpu{cpu}"), counted.lost as f64);
        bench.fact(&format!("longest_ns_cpu{cpu}"), counted.longest as f64);
        bench.fact(&format!("elapsed_ns_cpu{cpu}"), counted.elapsed as f64);
        bench.fact(&format!("reading_ns_cpu{cpu}"), reading);
    }
    Ok(())
}

fn read(mut recorder: Recorder<'_>, duration: u64, threshold: u64, stop: &AtomicBool) -> Counted {
    let (mut readings, mut lost, mut longest) = (0, 0, 0);
    let begin = clock_ns();
    let mut last = begin;
    loop {
        let now = clock_ns();
        let gap = now - last;
        readings += 1;
        longest = gap.max(longest);
        if gap >= threshold {
            recorder.push_row(&[gap, last - begin]);
            lost += gap;
        }
        last = now;
        if now - begin >= duration || stop.load(Ordering::Relaxed) {
            return Counted { begin, readings, lost, longest, elapsed: now - begin };
        }
    }
}
