//! `messages`: groups of senders and receivers, and the memory of the machine during their rounds.
//!
//! A round is that of the workload for Linux; its tasks are processes that share this one's memory. Where it grows nothing limits it but the
//! machine: it ends when a task cannot be started, or when the kernel kills this process, and with it all tasks, since they have one memory. So
//! what was measured is told after each step, and another process tells the end ([`killed`]).

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use kizami_workloads::portable::memory::Split;
use node::output::Output;
use node::sys::files::{self, O_CREAT, O_RDONLY, O_WRONLY, Path, pipe};
use node::sys::{Errno, Fd, Result, time};
use plain::report;

use crate::job::{Job, doing};
use crate::partner::Partner;
use crate::rings::read_all;

const MEMINFO: &str = "/proc/meminfo";
/// Larger than what the kernel says there.
const TEXT: usize = 2048;
/// when, free, buffers, cached, slab, kernel, other, groups, the control group's.
const COLUMNS: usize = 9;

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
    let memory = Memory::start(interval?)?;
    job.ready();
    let mut out = Output::to(job.line());
    let mut reached = 0;
    let mut ended = None;
    'all: for groups in (first..=groups).step_by(step) {
        memory.note(groups);
        for _ in 0..rounds {
            memory.groups.store(groups as u32, Ordering::Relaxed);
            let round = round(&shape, groups as usize);
            memory.groups.store(0, Ordering::Relaxed);
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
            report::rows(&mut out, 1, memory.news().chunks(COLUMNS));
            out.flush();
        }
    }
    report::rows(&mut out, 0, times.chunks(2));
    report::rows(&mut out, 1, memory.end().chunks(COLUMNS));
    if grows {
        report::fact(&mut out, "groups_reached", reached);
        let said = ended.as_deref().unwrap_or("all groups were done");
        report::effective(&mut out, "end", said, true, "the memory of the machine is the limit");
    }
    report::done(&mut out);
    Ok(())
}

/// Where it is noted how many groups are to run next, for whoever comes after a process that the kernel has killed.
const NOTE: &str = "/tmp/groups";

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
    report::done(&mut out);
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

/// The memory of the machine, read by a process beside.
struct Memory {
    groups: &'static AtomicU32,
    shared: &'static Readings,
    reader: Partner,
    /// How much of the readings was told.
    told: Cell<usize>,
    note: Option<Fd>,
}

struct Readings {
    over: AtomicBool,
    groups: AtomicU32,
    rows: UnsafeCell<Vec<u64>>,
    count: AtomicU32,
}

// SAFETY: the reader alone writes rows until it has ended; who reads them afterwards waits for that.
unsafe impl Sync for Readings {}

/// More find no room: a round that takes much longer than expected would take all memory by being watched.
const ROWS: usize = 400;

impl Memory {
    /// One reading is made before this comes back: of an idle machine.
    fn start(interval: u64) -> core::result::Result<Self, String> {
        static SHARED: Readings = Readings {
            over: AtomicBool::new(false),
            groups: AtomicU32::new(0),
            rows: UnsafeCell::new(Vec::new()),
            count: AtomicU32::new(0),
        };
        // SAFETY: nobody else is there yet.
        unsafe { &mut *SHARED.rows.get() }.reserve_exact(ROWS * COLUMNS);
        let (mut text, file) = (alloc::vec![0u8; TEXT], files::path(MEMINFO).map_err(doing("name a file"))?);
        let reader =
            Partner::start(move || SHARED.read(interval, &file, &mut text).map_or_else(|why| why.0 as i32, |()| 0))?;
        while SHARED.count.load(Ordering::Relaxed) == 0 && !reader.is_gone() {
            let _ = time::sleep(1_000_000);
        }
        // Where there is no such folder nobody comes after.
        let note = Fd::open(NOTE, O_CREAT | O_WRONLY).ok();
        Ok(Self { groups: &SHARED.groups, shared: &SHARED, reader, told: Cell::new(0), note })
    }

    /// Notes how many groups run next. The file stays open, and has room.
    fn note(&self, groups: u64) {
        let _ = self.note.as_ref().map(|note| note.write_at(&groups.to_le_bytes(), 0));
    }

    /// The readings that were not told yet.
    fn news(&self) -> &'static [u64] {
        let count = self.shared.count.load(Ordering::Acquire) as usize * COLUMNS;
        // SAFETY: what is counted is written, and is not written again; the memory was reserved, and stays where it is.
        let rows = unsafe {
            let rows = &*self.shared.rows.get();
            core::slice::from_raw_parts(rows.as_ptr(), count.min(rows.capacity()))
        };
        &rows[self.told.replace(rows.len())..]
    }

    fn end(self) -> &'static [u64] {
        self.shared.over.store(true, Ordering::Relaxed);
        let news = self.told.get();
        let _ = self.reader.ends();
        // SAFETY: the reader has ended.
        let rows = unsafe { &*self.shared.rows.get() };
        &rows[news..]
    }
}

impl Readings {
    /// Allocates nothing: the heap is that of all.
    fn read(&self, interval: u64, file: &Path, text: &mut [u8]) -> Result<()> {
        let start = time::now();
        let mut next = start;
        while !self.over.load(Ordering::Relaxed) {
            let now = time::now();
            if now < next {
                // In pieces, so that the end is seen.
                let _ = time::sleep_until(next.min(now + 50_000_000));
                continue;
            }
            let length = file.open(O_RDONLY)?.read(text)?;
            let [free, buffers, cached, slab, kernel, other] = Split::of(&text[..length]).columns();
            let row = [
                now - start,
                free,
                buffers,
                cached,
                slab,
                kernel,
                other,
                self.groups.load(Ordering::Relaxed).into(),
                0,
            ];
            // SAFETY: only this process writes them.
            let rows = unsafe { &mut *self.rows.get() };
            if rows.len() + COLUMNS <= rows.capacity() {
                rows.extend(row);
                self.count.fetch_add(1, Ordering::Release);
            }
            next += ((time::now() - next) / interval + 1) * interval;
        }
        Ok(())
    }
}
