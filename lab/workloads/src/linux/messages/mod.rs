//! Groups of senders and receivers, and the memory of the machine during their rounds.
//!
//! Four kinds of processes take part. The coordinator (the measuring process) starts a round and waits; another reads the
//! memory of the machine meanwhile, which is no thread, so that the tasks are processes that have never had one. The
//! round's process makes the tasks, starts them together and takes the time. The tasks send and receive. So the coordinator and its readings are outside of the measurement, and
//! outside of the control group that limits memory in mode `grow`: the coordinator sees every end of a round and cleans
//! up after it.

mod cgroup;
mod crew;
mod memory;
mod tasks;

use std::os::fd::RawFd;
use std::sync::atomic::Ordering;

use kizami_recording::Recorder;
use kizami_recording::folder::{Column, Unit};

use crate::os::child::Child;
use crate::os::memory::{Shared, touch_stack};
use crate::bench::{Bench, Failure};
use crate::linux::via::{VIA, via};
use crate::spec::{Kind, Machine, Param, Params, Part, Workload};
use cgroup::Cgroup;
use crew::{Crew, Subreaper};
use memory::{Control, Sampler};
use tasks::{Outcome, Room, Shape, Told};

pub static WORKLOAD: Workload = Workload {
    name: "messages",
    title: "message groups",
    about: "In each group, every sender writes `loops` messages of `size` bytes to every receiver of the group over a \
            channel that the receiver reads. All tasks of all groups wait for one start byte; a sample is the time from it \
            until the last task has ended and was reaped. Beside it, /proc/meminfo (part meminfo) and /proc/slabinfo \
            (part slabinfo, where it may be read) are read every `sample_interval`, also once while idle before; `groups` \
            says how many groups ran. Columns in bytes: kernel is KernelStack, PageTables, SecPageTables and Percpu; \
            other is what is left of MemTotal; cgroup is what the control group uses. In mode grow the number of groups \
            grows by `step` in a control group with `limit` of memory until that runs out, or to `groups`.",
    reference: "hackbench, perf bench sched messaging",
    params: &[
        Param {
            name: "mode",
            about: "fixed: all groups at once; grow: more and more of them, until memory runs out",
            kind: Kind::Choice(&["fixed", "grow"]),
            default: "fixed",
        },
        Param {
            name: "groups",
            about: "how many groups; in mode grow, at most",
            kind: Kind::count(1, 1_000),
            default: "1",
        },
        Param { name: "senders", about: "in each group", kind: Kind::count(1, 1_000), default: "20" },
        Param { name: "receivers", about: "in each group", kind: Kind::count(1, 1_000), default: "20" },
        Param {
            name: "loops",
            about: "messages from each sender to each receiver",
            kind: Kind::count(1, 10_000_000),
            default: "100",
        },
        Param { name: "size", about: "of a message", kind: Kind::size(1, 1 << 20), default: "100B" },
        VIA,
        Param {
            name: "channel",
            about: "what messages go through",
            kind: Kind::Choice(&["socketpair", "pipe"]),
            default: "socketpair",
        },
        Param {
            name: "tasks",
            about: "what senders and receivers are",
            kind: Kind::Choice(&["processes", "threads"]),
            default: "processes",
        },
        Param {
            name: "rounds",
            about: "samples; in mode grow, for each number of groups",
            kind: Kind::count(1, 100_000),
            default: "5",
        },
        Param {
            name: "sample_interval",
            about: "time between two readings of the memory",
            kind: Kind::time(1_000_000, 10_000_000_000),
            default: "20ms",
        },
        Param {
            name: "step",
            about: "mode grow: how many groups more each time",
            kind: Kind::count(1, 1_000),
            default: "1",
        },
        Param {
            name: "limit",
            about: "mode grow: the memory of the control group",
            kind: Kind::size(1 << 20, 1 << 44),
            default: "64MiB",
        },
    ],
    parts,
    seconds,
    linux: Some(run),
    beam: None,
};

/// The numbers of groups of a trial, in order.
fn steps(params: &Params) -> impl Iterator<Item = u64> + use<> {
    let groups = params.number("groups");
    let (first, step) = match params.choice("mode") {
        "grow" => (1, params.number("step")),
        _ => (groups, 1),
    };
    (first..=groups).step_by(step as usize)
}

fn seconds(params: &Params) -> f64 {
    let (senders, receivers) = (params.number("senders") as f64, params.number("receivers") as f64);
    let messages = senders * receivers * params.number("loops") as f64;
    let group = messages * (2e-6 + params.number("size") as f64 * 0.5e-9) + (senders + receivers) * 150e-6;
    // A task takes about this much: in mode grow, memory usually ends before the groups do.
    let fit = match params.choice("mode") {
        "grow" => 1.0 + params.number("limit") as f64 / ((senders + receivers) * 200e3),
        _ => f64::INFINITY,
    };
    let steps = steps(params).map(|groups| groups as f64).take_while(|groups| *groups <= fit);
    steps.map(|groups| groups * group).sum::<f64>() * params.number("rounds") as f64
}

fn parts(params: &Params, machine: &Machine) -> Vec<Part> {
    let rounds = steps(params).count() as u64 * params.number("rounds");
    let times = Part::times(rounds).cold(0).and("groups", Unit::Count);
    // A machine may be much slower than expected; what finds no room is counted.
    let readings = 20.0 * (0.1 + seconds(params)) * 1e9 / params.number("sample_interval") as f64;
    let readings = (readings as u64).clamp(1_000, 200_000);
    let sampled = |name: &str, columns: Vec<Column>| {
        let rows = readings.min((16 << 20) / (8 * columns.len() as u64)).max(100);
        Part { name: name.into(), columns, rows, operations: 1, cold_rows: 0 }
    };
    let when = || vec![Column::new("when", Unit::Nanoseconds)];
    let mut meminfo = when();
    let names = ["free", "buffers", "cached", "slab", "kernel", "other"];
    meminfo.extend(names.map(|name| Column::new(name, Unit::Bytes)));
    meminfo.extend([Column::new("groups", Unit::Count), Column::new("cgroup", Unit::Bytes)]);
    let mut parts = vec![times, sampled("meminfo", meminfo)];
    let own = || memory::slab_caches();
    let given = |names: &[&str]| names.iter().map(|name| (*name).to_owned()).collect();
    let caches: Vec<String> = machine.caches.map_or_else(own, given);
    if !caches.is_empty() {
        let mut slabinfo = when();
        slabinfo.extend(caches.into_iter().map(|name| Column::new(name, Unit::Bytes)));
        parts.push(sampled("slabinfo", slabinfo));
    }
    parts
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let (meminfo, slabinfo) = (bench.recorder(1)?, bench.recorder(2).ok());
    let shape = Shape {
        groups: params.number("groups") as usize,
        senders: params.number("senders") as usize,
        receivers: params.number("receivers") as usize,
        loops: params.number("loops") as usize,
        size: params.number("size") as usize,
        pipes: params.choice("channel") == "pipe",
        threads: params.choice("tasks") == "threads",
        via: via(params),
    };
    let grows = params.choice("mode") == "grow";
    let group = if grows { Some(limited(params.number("limit"), bench)?) } else { None };
    let slabs = bench.columns(2).to_vec();
    let slabinfo = slabinfo.map(|recorder| (recorder, slabs.as_slice()));
    let mut sampler =
        Sampler::new(meminfo, slabinfo, group.as_ref().map(Cgroup::usage), params.number("sample_interval"))?;
    let mut rounds = Rounds {
        shape,
        room: Room::new(&shape),
        outcome: Shared::new()?,
        door: group.as_ref().map(Cgroup::door),
        rounds: params.number("rounds"),
        reached: 0,
    };
    let _reaper = Subreaper::become_one()?;
    let control = Shared::<Control>::new()?;
    // SAFETY: this process has one thread.
    let reader = unsafe { Child::fork_with_all(|| sampler.run(&control))? };
    // The first reading is of an idle machine.
    while control.samples.load(Ordering::Relaxed) == 0 && reader.runs() {
        std::thread::yield_now();
    }
    touch_stack();
    let end = bench.window(|bench| {
        let end = rounds.all(steps(params), &control, bench, &mut recorder);
        control.groups.store(0, Ordering::Relaxed);
        control.over.store(true, Ordering::Relaxed);
        end
    });
    if let Some(how) = reader.failed() {
        return Err(Failure::Impossible(format!("the process that reads the memory of the machine {how}")));
    }
    bench.fact("memory_readings", control.samples.load(Ordering::Relaxed) as f64);
    bench.fact("memory_reading_cpu_seconds", control.cpu_seconds());
    let Some(group) = group else {
        return end.map_or(Ok(()), |end| Err(end.failure()));
    };
    let killed = group.oom_kills().map_err(Failure::os("count the processes that ran out of memory"))?;
    bench.fact("groups_reached", rounds.reached as f64);
    bench.fact("oom_kills", killed as f64);
    match end {
        None if bench.stopped() => Ok(()),
        None => {
            bench.effective("end", "all groups were done", true, "memory did not run out: more groups would fit");
            Ok(())
        }
        Some(end) if end.for_want_of_memory(killed) => {
            let why = format!("the kernel killed {killed} processes for want of memory");
            bench.effective("end", end.sentence(), true, &why);
            Ok(())
        }
        Some(end) => Err(end.failure()),
    }
}

/// The control group, with its limit read back.
fn limited(limit: u64, bench: &mut Bench<'_>) -> Result<Cgroup, Failure> {
    let group = Cgroup::create(limit)?;
    let why = group.folder().display().to_string();
    match group.limit() {
        Ok(found) => bench.effective("memory_limit", format!("{found} B"), found.abs_diff(limit) < 1 << 16, &why),
        Err(e) => bench.effective("memory_limit", "unknown", false, &format!("{why}: {e}")),
    }
    Ok(group)
}

struct Rounds {
    shape: Shape,
    room: Room,
    outcome: Shared<Outcome>,
    door: Option<RawFd>,
    rounds: u64,
    /// The largest number of groups that came to its end.
    reached: u64,
}

impl Rounds {
    /// Runs all rounds, until one does not come to its end; that end, if so.
    fn all(
        &mut self,
        steps: impl Iterator<Item = u64>,
        control: &Control,
        bench: &Bench<'_>,
        recorder: &mut Recorder<'_>,
    ) -> Option<End> {
        for groups in steps {
            for _ in 0..self.rounds {
                if bench.stopped() {
                    return None;
                }
                let shape = Shape { groups: groups as usize, ..self.shape };
                control.groups.store(groups, Ordering::Relaxed);
                let crew = match Crew::start(&shape, &mut self.room, &self.outcome, self.door) {
                    Ok(crew) => crew,
                    Err(e) => return Some(End { groups, told: Told::NoTask(e.raw_os_error().unwrap_or(0)) }),
                };
                let ended = crew.wait(bench.stop());
                drop(crew);
                control.groups.store(0, Ordering::Relaxed);
                match self.outcome.told() {
                    _ if !ended => return None,
                    Told::Done(time) => recorder.push_row(&[time, groups]),
                    told => return Some(End { groups, told }),
                }
            }
            self.reached = groups;
        }
        None
    }
}

/// How a round ended that did not come to its end.
struct End {
    groups: u64,
    told: Told,
}

impl End {
    /// Whether memory is the reason, where the kernel killed `killed` processes for want of it.
    fn for_want_of_memory(&self, killed: u64) -> bool {
        match self.told {
            Told::Done(_) | Told::NotConfined(_) => false,
            Told::NoTask(_) => true,
            Told::NoChannel(error) | Told::NotStarted(error) | Told::TaskFailed(error) => {
                killed > 0 || [libc::ENOMEM, libc::ENOBUFS].contains(&error)
            }
            Told::TaskKilled(_) | Told::Nothing => killed > 0,
        }
    }

    fn sentence(&self) -> String {
        let os = std::io::Error::from_raw_os_error;
        let what = match self.told {
            Told::Done(_) => "it was done".into(),
            Told::NotConfined(error) => format!("its process could not join the control group: {}", os(error)),
            Told::NoChannel(error) => format!("a channel could not be made: {}", os(error)),
            Told::NoTask(error) => format!("a task could not be started: {}", os(error)),
            Told::NotStarted(error) => format!("the tasks could not be started together: {}", os(error)),
            Told::TaskFailed(error) => format!("a task failed: {}", os(error)),
            Told::TaskKilled(signal) => format!("a task was killed by signal {signal}"),
            Told::Nothing => "its process was killed".into(),
        };
        format!("with {} groups: {what}", self.groups)
    }

    fn failure(&self) -> Failure {
        Failure::Impossible(format!(
            "the messages were not all sent and received {}; fewer or smaller groups need fewer processes, open files and \
             memory",
            self.sentence()
        ))
    }
}
