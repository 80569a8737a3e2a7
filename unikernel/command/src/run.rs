//! Runs a unikernel.

use std::sync::Arc;
use std::time::Duration;

use anyhow::{Context as _, bail};
use serde_json::{Value, json};
use unikernel_monitor::{
    Disk, DiskOptions, Engine, Guest, Interface, Outcome, Program, Rings, Statistics, Times, Trace, hvt, spt,
};

use crate::build;
use crate::cli::{self, BuildOptions, Monitor, RunOptions};
use crate::qemu;

/// Runs it until it ends, and says with what code.
pub fn run(options: &RunOptions) -> anyhow::Result<u8> {
    // What is past a limit of the size of files (`ulimit -f`) is a request that fails, and not the end of the monitor or of the guest.
    // SAFETY: the call takes a signal, and what is done with it, which is nothing.
    unsafe { libc::signal(libc::SIGXFSZ, libc::SIG_IGN) };
    let path = match &options.program {
        Some(path) => path.clone(),
        None => build::build(&BuildOptions { path: ".".into(), bin: None, debug: false })?,
    };
    let program = Program::open(&path)?;
    let trace = trace(options)?;
    let disks = options.block.iter().map(|block| {
        let cli::Block { name, path, read_only, durability, direct, log } = block.clone();
        Disk::open(DiskOptions {
            name,
            path,
            read_only,
            durability,
            direct,
            log,
            timed: options.json,
            trace: trace.clone(),
        })
    });
    let disks = disks.collect::<Result<Vec<_>, _>>()?;
    let engine = match options.engine {
        cli::Engine::Auto => Engine::Auto,
        cli::Engine::Plain => Engine::Plain,
        cli::Engine::Uring => Engine::Uring,
    };
    let interface = match options.interface {
        cli::Interface::Blocks => Interface::Blocks,
        cli::Interface::Calls => Interface::Calls,
        cli::Interface::Rings => Interface::Rings(Rings { poll: poll(options), engine }),
    };
    let guest = Guest::new(program, options.mem, options.arguments.clone(), options.env.clone(), disks, interface)?;
    let (outcome, exits, statistics) = match options.monitor {
        Monitor::Qemu => (qemu::run(options, &guest)?, None, None),
        Monitor::Spt => {
            let ran = spt::run(&guest).context("under spt")?;
            (ran.outcome, None, Some(ran.statistics))
        }
        Monitor::Hvt => {
            let ran = hvt::run(&guest).context("under hvt")?;
            (ran.outcome, Some(ran.exits), Some(ran.statistics))
        }
    };
    if let (Some(trace), Some(path)) = (&trace, &options.trace) {
        trace.finish().with_context(|| format!("{}: not every request is in it", path.display()))?;
    }
    if options.json {
        eprintln!("{}", told(&guest, exits, statistics));
    }
    if let Some(said) = said(&guest, outcome) {
        eprintln!("unikernel: {}: {said}", path.display());
    }
    Ok(outcome.code())
}

/// How long each side of a ring looks before it sleeps: as long as KVM itself does for a processor that waits, which covers the flush of most
/// disks. On one processor a side that looks keeps the other from doing it.
fn poll(options: &RunOptions) -> Duration {
    let alone = || std::thread::available_parallelism().is_ok_and(|processors| processors.get() == 1);
    Duration::from_micros(options.poll.unwrap_or_else(|| if alone() { 0 } else { 200 }))
}

/// Where requests are told, if they are to be; what the monitor cannot see is refused.
fn trace(options: &RunOptions) -> anyhow::Result<Option<Arc<Trace>>> {
    let asks_the_kernel = options.monitor == Monitor::Spt && options.interface != cli::Interface::Rings;
    if let Some(disk) = options.block.iter().find(|block| asks_the_kernel && block.log.is_some()) {
        let name = &disk.name;
        bail!("of {name} no log can be kept: under spt the guest asks the kernel itself, but with --interface rings");
    }
    let Some(path) = &options.trace else { return Ok(None) };
    if asks_the_kernel || options.monitor == Monitor::Qemu {
        bail!("no request can be traced: the monitor sees none of them, but under hvt or with --interface rings");
    }
    let trace = Trace::new(path).with_context(|| format!("{}", path.display()))?;
    Ok(Some(Arc::new(trace)))
}

/// What is said of an end that is not the program's own.
fn said(guest: &Guest, outcome: Outcome) -> Option<String> {
    let place = |at: u64| match guest.program().function_at(at) {
        Some((function, behind)) => format!("in {function}+{behind:#x}"),
        None => format!("at {at:#x}"),
    };
    match outcome {
        Outcome::Fault(fault) => Some(format!("{fault}, {}", place(fault.at))),
        Outcome::Violation { call: None, at } => Some(format!("asked for what there is not, {}", place(at))),
        Outcome::Violation { call: Some(call), at } => {
            Some(format!("made the system call {call}, which it may not make so, {}", place(at)))
        }
        Outcome::Killed { signal } => Some(format!("was ended by signal {signal}")),
        _ => None,
    }
}

/// In nanoseconds; nothing where the guest asked the kernel itself.
fn times(of: Times) -> Value {
    let nanoseconds = |time: Duration| time.as_nanos() as u64;
    of.mean().map_or(Value::Null, |mean| json!({ "mean_ns": nanoseconds(mean), "longest_ns": nanoseconds(of.longest) }))
}

/// What was asked of the devices, as far as the monitor knows.
fn told(guest: &Guest, exits: Option<hvt::Exits>, statistics: Option<Vec<Statistics>>) -> Value {
    let device = |(disk, of): (&Disk, Statistics)| {
        json!({
            "name": disk.name(),
            "sync": disk.durability().name(),
            "direct": disk.is_direct(),
            "reads": of.reads,
            "writes": of.writes,
            "flushes": of.flushes,
            "bytes_read": of.bytes_read,
            "bytes_written": of.bytes_written,
            "refused": of.refused,
            "times": { "read": times(of.read_times), "write": times(of.write_times), "flush": times(of.flush_times) },
        })
    };
    let devices = statistics.map(|all| guest.disks().iter().zip(all).map(device).collect::<Vec<_>>());
    let exits = exits.map(|exits| json!({ "all": exits.all, "block": exits.block, "wait": exits.wait }));
    json!({ "devices": devices, "exits": exits })
}
