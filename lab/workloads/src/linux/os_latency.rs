//! OS latency, as the study of Linux on a small board defines it: how late a thread wakes up from a plain sleep.

use kizami_recording::quantity::Quantity;

use crate::os::sys;
use crate::os::watch::Watch;
use crate::bench::{Bench, Failure, clock_ns};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "os-latency",
    title: "wake-up from a relative sleep",
    about: "Reads the clock (t), sleeps for a period T that counts from the call, reads the clock again (t'), and records \
            t' - (t + T): the study's OS latency. The figure holds what a wake-up from a timer holds, the call into the \
            kernel before the sleep begins, the thread's timer slack (50 us for one without real-time policy, unless \
            lowered), and one clock reading. Nothing is planned ahead, so a late wake-up only moves the next sleep: the \
            figure is the latency of single sleeps and says nothing of missed periods; for those there is wakeup. Not \
            in the figure: work after the wake-up.",
    reference: "",
    params: &[
        Param {
            name: "period",
            about: "the time T to sleep for",
            kind: Kind::time(1_000, 60_000_000_000),
            default: "1s",
        },
        Param { name: "trials", about: "how many sleeps", kind: Kind::count(1, 100_000_000), default: "100" },
    ],
    parts: |params, _| vec![Part::times(params.number("trials")).cold(0)],
    seconds: |params| params.number("trials") as f64 * params.number("period") as f64 * 1e-9,
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let (period, trials) = (params.number("period"), params.number("trials"));
    let mut first = 0;
    let slept = Watch::during(bench.stop(), 0, |_| {
        bench.window(|bench| {
            first = clock_ns() + period;
            for _ in 0..trials {
                let begin = clock_ns();
                if !sys::sleep_for(sys::Via::Library, period, bench.stop())? {
                    break;
                }
                let end = clock_ns();
                recorder.push(end.saturating_sub(begin + period));
                if bench.stopped() {
                    break;
                }
            }
            Ok(())
        })
    })?;
    bench.began("", first);
    bench.fact("pause_ns", period as f64);
    slept.map_err(Failure::os(format!("sleep for {}", Quantity::Time.write(period))))
}
