//! `messages`: groups of senders and receivers, and the memory of the machine during their rounds.
//!
//! A round is that of the workload for Linux; its tasks are processes that share this one's memory. Where it grows nothing limits it but the
//! machine: it ends when a task cannot be started, or when the kernel kills this process, and with it all tasks, since they have one memory. So
//! what was measured is told after each step, and another process tells the end ([`killed`]).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use node::output::Output;
use node::sys::files::{self, pipe};
use node::sys::{Errno, Fd, Result, time};
use plain::report;

use crate::job::{Job, doing};
use crate::memory::{Memory, NOTE};
use crate::partner::Partner;
use crate::rings::read_all;

/// What is asked for.
struct Shape {
    senders: usize,
    receivers: usize,
    loops: u64,
    size: usize,
}

pub fn messages(job: &Job<'_>) -> core::result::Result<(), String> {
    let [groups, senders, receivers, loops, size, rounds, step, interval] =
        ["groups", "senders", "receivers", "loops", "size", "rounds", "step", "sample_interval"]
            .map(|name| job.number(name));
    let shape =
        Shape { senders: senders? as usize, receivers: receivers? as usize, loops: loops?, size: size? as usize };
    let (groups, rounds, step) = (groups?, rounds?, step? as usize);
    let grows = job.arguments.text("mode")? == "grow";
    let first = if grows { 1 } else { groups };
    let steps = (groups - first) / step as u64 + 1;
    let mut times = job.room(steps * rounds * 2)?;
    let memory = Memory::start(interval?, job.arguments.text("caches")?)?;
    job.ready();
    let mut out = Output::to(job.line());
    let mut reached = 0;
    let mut ended = None;
    'all: for groups in (first..=groups).step_by(step) {
        memory.note(groups);
        for _ in 0..rounds {
            memory.runs(groups);
            let round = round(&shape, groups as usize);
            memory.runs(0);
            match round {
                Ok(time) => times.extend([time, groups]),
                Err(why) if grows => {
                    ended = Some(format!("with {groups} groups: {why}"));
                    break 'all;
                }
                Err(why) => {
                    return Err(format!("the messages were not all sent and received with {groups} groups: {why}"));
                }
            }
        }
        reached = groups;
        if grows {
            // The next may be the end of this process, too.
            report::rows(&mut out, 0, times.chunks(2));
            times.clear();
            memory.say_news(&mut out);
            out.flush();
        }
    }
    report::rows(&mut out, 0, times.chunks(2));
    memory.end(&mut out);
    if grows {
        report::fact(&mut out, "groups_reached", reached);
        let said = ended.as_deref().unwrap_or("all groups were done");
        report::effective(&mut out, "end", said, true, "the memory of the machine is the limit");
    }
    job.end(&mut out);
    Ok(())
}

/// Tells how it ended, where the kernel has killed the process that measured. `job` is that process's.
pub fn killed(job: &Job<'_>, why: &str) -> core::result::Result<(), String> {
    let note = files::contents(NOTE).ok().and_then(|bytes| Some(u64::from_le_bytes(bytes.try_into().ok()?)));
    let Some(groups) = note else { return Err(why.into()) };
    let said = format!("with {groups} groups: {why}");
    if job.arguments.text("mode")? != "grow" {
        return Err(format!("the messages were not all sent and received {said}"));
    }
    let mut out = Output::to(job.line());
    report::fact(&mut out, "groups_reached", groups - 1);
    report::effective(&mut out, "end", &said, true, "the memory of the machine is the limit");
    job.end(&mut out);
    Ok(())
}

/// The ends of a channel, for tasks.
type Ends = (usize, usize);

/// From the byte that starts all tasks to the end of the last.
fn round(shape: &Shape, groups: usize) -> core::result::Result<u64, String> {
    let channels = |count: usize| -> Result<Vec<(Fd, Fd)>> { (0..count).map(|_| pipe()).collect() };
    let (ready, wake) = (pipe().map_err(doing("make a channel"))?, pipe().map_err(doing("make a channel"))?);
    let (to_ready, from_wake) = (ready.1.number(), wake.0.number());
    let tasks = groups * (shape.senders + shape.receivers);
    let mut started = Vec::with_capacity(tasks);
    let mut begin = |mut work: Task| {
        let number = started.len();
        let partner = Partner::start(move || work.run(to_ready, from_wake));
        started.push(partner.map_err(|why| format!("task {number} of {tasks}: {why}"))?);
        Ok::<(), String>(())
    };
    let mut open = Vec::new();
    for _ in 0..groups {
        let group = channels(shape.receivers).map_err(doing("make a channel"))?;
        let ends: Vec<Ends> = group.iter().map(|(read, write)| (read.number(), write.number())).collect();
        for end in &ends {
            begin(Task {
                channels: alloc::vec![*end],
                sends: false,
                messages: shape.loops * shape.senders as u64,
                message: alloc::vec![0x6b; shape.size],
            })?;
        }
        for _ in 0..shape.senders {
            begin(Task {
                channels: ends.clone(),
                sends: true,
                messages: shape.loops,
                message: alloc::vec![0x6b; shape.size],
            })?;
        }
        open.extend(group);
    }
    let started_all = || {
        let mut byte = [0];
        (0..tasks).try_for_each(|_| read_all(ready.0.number(), &mut byte))?;
        let begun = time::now();
        wake.1.write_all(&[1])?;
        Ok(begun)
    };
    let begun = started_all().map_err(doing("start the tasks together"))?;
    let failed = started.into_iter().filter_map(|task| task.ends()).next();
    let time = time::now() - begun;
    match failed {
        None => Ok(time),
        Some(how) => Err(format!("a task {how}")),
    }
}

/// A sender or receiver.
struct Task {
    channels: Vec<Ends>,
    sends: bool,
    messages: u64,
    message: Vec<u8>,
}

impl Task {
    fn run(&mut self, ready: usize, wake: usize) -> i32 {
        let mut work = || {
            files::write_all(ready, &[1])?;
            // The byte stays in the pipe for the others.
            time::readable(wake, None)?;
            for _ in 0..self.messages {
                for (read, write) in &self.channels {
                    if self.sends {
                        files::write_all(*write, &self.message)?
                    } else {
                        read_all(*read, &mut self.message)?
                    }
                }
            }
            Ok(())
        };
        work().map_or_else(|why: Errno| why.0 as i32, |()| 0)
    }
}
