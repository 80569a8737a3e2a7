//! `os-latency`: how late a plain sleep ends.

use alloc::string::String;

use node::sys::time;

use crate::job::{Job, doing};
use crate::samples::Samples;

pub fn latency(job: &Job<'_>) -> Result<(), String> {
    let (period, trials) = (job.number("period")?, job.number("trials")?);
    let mut room = Samples::new(trials)?;
    job.ready();
    for _ in 0..trials {
        let begin = time::now();
        time::sleep(period).map_err(doing("sleep"))?;
        let end = time::now();
        room.push(end.saturating_sub(begin + period));
    }
    job.fact("pause_ns", period);
    job.done(&room)
}
