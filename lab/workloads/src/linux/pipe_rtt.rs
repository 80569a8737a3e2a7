//! The round trip of a message between two processes (or threads) over two pipes, and the loop that FIFOs use too.

use std::io;
use std::os::fd::{AsRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, Ordering};

use kizami_recording::Recorder;

use crate::os::cpus;
use crate::os::memory::touch_stack;
use crate::os::child::{self, Child};
use crate::os::sys::{self, NEVER, Pipe, Via};
use crate::os::watch::Watch;
use crate::bench::{Bench, Failure, clock_ns};
use crate::linux::via::{VIA, via};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub(super) const TRIPS: Param =
    Param { name: "trips", about: "how many round trips", kind: Kind::count(1, 100_000_000), default: "100000" };

pub(super) const SIZE: Param =
    Param { name: "size", about: "bytes of the message", kind: Kind::size(1, 65_536), default: "1B" };

pub(super) const PLACEMENT: Param = Param {
    name: "placement",
    about: "where the two run: both on the first allowed processor, on the first two, or where the scheduler puts them",
    kind: Kind::Choice(&["free", "same-cpu", "other-cpu"]),
    default: "free",
};

pub static WORKLOAD: Workload = Workload {
    name: "pipe-rtt",
    title: "round trip over two pipes",
    about: "Two processes (or two threads of one process) share two pipes. One writes a message and reads the answer; the \
            other reads it and writes it back. The figure is the time from before the write to after the read: four \
            system calls, two wake-ups and two switches, with both directions in it; half of it is not the time of one \
            direction. On one processor the switches are between the two; on two, each processor may leave and enter \
            its idle state. With size=4B and placement=free it is what perf bench sched pipe does, of which the figure \
            is the mean; lmbench's lat_pipe sends one byte. Not in the figure: starting the partner, and one round trip \
            that is made before.",
    reference: "perf bench sched pipe, lmbench lat_pipe",
    params: &[
        TRIPS,
        SIZE,
        PLACEMENT,
        VIA,
        Param {
            name: "partner",
            about: "a process of its own, or a thread",
            kind: Kind::Choice(&["process", "thread"]),
            default: "process",
        },
    ],
    parts,
    seconds,
    linux: Some(run),
    beam: None,
};

pub(super) fn parts(params: &Params, _: &crate::Machine) -> Vec<Part> {
    vec![Part::times(params.number("trips"))]
}

pub(super) fn seconds(params: &Params) -> f64 {
    params.number("trips") as f64 * 8e-6
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let (there, back) = (sys::pipe()?, sys::pipe()?);
    match params.choice("partner") {
        "process" => with_process(params, bench, there, back),
        _ => with_thread(params, bench, there, back),
    }
}

/// The processor of this side and of the partner, if they are to be pinned.
fn placement(params: &Params) -> Result<Option<(usize, usize)>, Failure> {
    let cpus = cpus::allowed().map_err(Failure::os("ask which processors this process may use"))?;
    match (params.choice("placement"), cpus.as_slice()) {
        ("free", _) => Ok(None),
        ("same-cpu", [first, ..]) => Ok(Some((*first, *first))),
        ("other-cpu", [first, second, ..]) => Ok(Some((*first, *second))),
        (other, _) => Err(Failure::Impossible(format!(
            "placement={other} needs two processors, but this process may use {} only: allow it more, or use same-cpu",
            cpus.len()
        ))),
    }
}

/// Sends what comes back, until there is no more.
fn echo(via: Via, read: RawFd, write: RawFd, message: &mut [u8]) -> io::Result<()> {
    while sys::read_all(via, read, message, &NEVER)? && sys::write_all(via, write, message, &NEVER)? {}
    Ok(())
}

/// Measures with a partner process over the two pipes or FIFOs.
pub(super) fn with_process(params: &Params, bench: &mut Bench<'_>, there: Pipe, back: Pipe) -> Result<(), Failure> {
    let (write, read) = (there.write, back.read);
    // Only the partner has its ends then, so its death is seen as the end of the input.
    with_echo(params, bench, vec![there.read, back.write], (write.as_raw_fd(), read.as_raw_fd()))
}

/// Measures with a partner process that reads from the first descriptor of `others` and writes to the last, while this one writes and
/// reads those of `own`.
pub(super) fn with_echo(
    params: &Params,
    bench: &mut Bench<'_>,
    others: Vec<OwnedFd>,
    own: (RawFd, RawFd),
) -> Result<(), Failure> {
    let (placed, via) = (placement(params)?, via(params));
    let mut message = vec![0x5a; params.number("size") as usize];
    let keep: Vec<RawFd> = others.iter().map(AsRawFd::as_raw_fd).collect();
    let last = keep.len() as RawFd - 1;
    // SAFETY: the body makes system calls only, into memory that was reserved before; pinning keeps its set on the stack.
    let partner = unsafe {
        Child::fork(&keep, || {
            if let Some((_, cpu)) = placed {
                cpus::pin(cpu)?;
            }
            echo(via, 0, last, &mut message)
        })?
    };
    drop(others);
    let done = measure(params, bench, placed, own, &mut message);
    let partners = [partner];
    done?.map_err(|error| child::partner_failed("talk to the partner process", error, &partners))
}

fn with_thread(params: &Params, bench: &mut Bench<'_>, there: Pipe, back: Pipe) -> Result<(), Failure> {
    let (placed, via) = (placement(params)?, via(params));
    let mut message = vec![0x5a; params.number("size") as usize];
    let mut answer = message.clone();
    std::thread::scope(|scope| {
        let partner = std::thread::Builder::new().name("partner".into()).spawn_scoped(scope, || {
            // It owns its ends, so whichever way it ends, the other side reads the end of its input.
            let (read, write) = (there.read, back.write);
            if let Some((_, cpu)) = placed {
                cpus::pin(cpu)?;
            }
            echo(via, read.as_raw_fd(), write.as_raw_fd(), &mut answer)
        });
        let partner = partner.map_err(Failure::os("start the partner thread"))?;
        let (write, read) = (there.write, back.read);
        let done = measure(params, bench, placed, (write.as_raw_fd(), read.as_raw_fd()), &mut message);
        // Its input ends here, and with it the thread.
        drop((write, read));
        let ended = partner.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic));
        match (done?, ended) {
            (Ok(()), _) => Ok(()),
            // It says why it left; this side only found it gone.
            (Err(_), Err(why)) => Err(Failure::os("run the partner thread")(why)),
            (Err(why), Ok(())) => Err(Failure::os("talk to the partner thread")(why)),
        }
    })
}

/// This side: pins itself, makes one round trip (which also says that the partner is there, and pinned), and measures.
pub(super) fn measure(
    params: &Params,
    bench: &mut Bench<'_>,
    placed: Option<(usize, usize)>,
    (write, read): (RawFd, RawFd),
    message: &mut [u8],
) -> Result<io::Result<()>, Failure> {
    let mut recorder = bench.recorder(0)?;
    let _restored = cpus::restored().map_err(Failure::os("ask which processors this process may use"))?;
    if let Some((cpu, _)) = placed {
        cpus::pin(cpu).map_err(Failure::os(format!("pin this process to processor {cpu}")))?;
    }
    let (stop, via) = (bench.stop(), via(params));
    let done = Watch::during(stop, 0, |_| {
        if !(sys::write_all(via, write, message, stop)? && sys::read_all(via, read, message, stop)?) {
            return Ok(());
        }
        touch_stack();
        bench.window(|bench| rounds(params.number("trips"), &mut recorder, bench.stop(), via, (write, read), message))
    })?;
    if done.is_ok() {
        let value = placed.map_or("free".to_owned(), |(here, there)| format!("processors {here} and {there}"));
        bench.effective("placement", value, true, "read back from both sides");
    }
    Ok(done)
}

fn rounds(
    trips: u64,
    recorder: &mut Recorder<'_>,
    stop: &AtomicBool,
    via: Via,
    (write, read): (RawFd, RawFd),
    message: &mut [u8],
) -> io::Result<()> {
    for _ in 0..trips {
        let before = clock_ns();
        if !(sys::write_all(via, write, message, stop)? && sys::read_all(via, read, message, stop)?) {
            break;
        }
        recorder.push(clock_ns() - before);
        if stop.load(Ordering::Relaxed) {
            break;
        }
    }
    Ok(())
}
