//! Signals: the cost of installing a handler, and of delivery to it.

use std::io;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::os::sys;
use crate::bench::{Bench, Failure};
use crate::spec::{Kind, Param, Params, Part, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "signal",
    title: "signal handler: install, deliver",
    about: "op=install names the handler of SIGUSR1 with sigaction, over and over; op=deliver sends SIGUSR1 to the own \
            process, whose handler has run when the call returns: the figure is the call, the way into the handler, one \
            increment there, and the way back. lmbench subtracts from the latter what sending costs; here that is the \
            fact send_ns (the same call with signal 0, which is checked and not delivered), and it is never subtracted. \
            A sample is the time of a batch. The probe measures in its first thread and sends with kill, as lmbench \
            does; in any other thread it sends with tgkill, as only that is sure to reach the thread itself. Not in the \
            figure: another process's wake-up; the signal never leaves the thread.",
    reference: "lmbench lat_sig",
    params: &[
        Param {
            name: "op",
            about: "install a handler, or deliver a signal to it",
            kind: Kind::Choice(&["install", "deliver"]),
            default: "install",
        },
        Param { name: "batch", about: "calls that one sample times", kind: Kind::count(1, 10_000), default: "1000" },
        Param { name: "samples", about: "how many batches", kind: Kind::count(1, 100_000_000), default: "2000" },
    ],
    parts: |params, _| vec![Part::times(params.number("samples")).operations(params.number("batch"))],
    seconds: |params| {
        let each = if params.choice("op") == "install" { 0.25e-6 } else { 2e-6 };
        (params.number("samples") * params.number("batch")) as f64 * each
    },
    linux: Some(run),
    beam: None,
};

/// How often the handler ran.
static HANDLED: AtomicU64 = AtomicU64::new(0);

extern "C" fn handle(_: libc::c_int) {
    HANDLED.fetch_add(1, Ordering::Relaxed);
}

fn action() -> libc::sigaction {
    // SAFETY: an all-zero sigaction is a valid one: the default action, no flags, an empty mask.
    let mut action: libc::sigaction = unsafe { std::mem::zeroed() };
    action.sa_sigaction = handle as extern "C" fn(libc::c_int) as libc::sighandler_t;
    action
}

fn install(action: &libc::sigaction) -> io::Result<()> {
    // SAFETY: the action is a whole one, and its handler touches one atomic number only.
    sys::checked(unsafe { libc::sigaction(libc::SIGUSR1, action, std::ptr::null_mut()) })
}

/// Puts the handler back that was there before.
struct Previous(libc::sigaction);

impl Drop for Previous {
    fn drop(&mut self) {
        // It was in force before, so the kernel takes it.
        let _ = install(&self.0);
    }
}

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let refused = Failure::os("install a handler for SIGUSR1");
    let mut previous = Previous(action());
    // SAFETY: asks for the action that is in force, and the memory has room for it.
    let asked = sys::checked(unsafe { libc::sigaction(libc::SIGUSR1, std::ptr::null(), &raw mut previous.0) });
    let action = action();
    asked.and_then(|()| install(&action)).map_err(refused)?;
    if params.choice("op") == "install" {
        return batches(params, bench, || Ok(()), || install(&action));
    }
    // SAFETY: both ask for a number.
    let (process, thread) = unsafe { (libc::getpid(), libc::gettid()) };
    let send = |signal| {
        // SAFETY: the signal has a handler, or is none.
        unsafe {
            if thread == process {
                sys::checked(libc::kill(process, signal))
            } else {
                sys::checked(libc::syscall(libc::SYS_tgkill, process, thread, signal) as libc::c_int)
            }
        }
    };
    let sending = sys::time_batch(10_000, || send(0)).map_err(Failure::os("send signal 0 to itself"))?;
    bench.fact("send_ns", sending as f64 / 10_000.0);
    let batch = params.number("batch");
    let mut expected = HANDLED.load(Ordering::Relaxed);
    let all_came = || {
        expected += batch;
        if HANDLED.load(Ordering::Relaxed) == expected { Ok(()) } else { Err(io::ErrorKind::InvalidData.into()) }
    };
    batches(params, bench, all_came, || send(libc::SIGUSR1))
}

/// The measurement for one `call`; `check` looks after each batch whether what it was to do was done.
fn batches(
    params: &Params,
    bench: &mut Bench<'_>,
    mut check: impl FnMut() -> io::Result<()>,
    mut call: impl FnMut() -> io::Result<()>,
) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let (samples, batch) = (params.number("samples"), params.number("batch"));
    let done: io::Result<()> = bench.window(|bench| {
        for _ in 0..samples {
            let time = sys::time_batch(batch, &mut call)?;
            check()?;
            recorder.push(time);
            if bench.stopped() {
                break;
            }
        }
        Ok(())
    });
    done.map_err(|error| match error.kind() {
        io::ErrorKind::InvalidData => {
            Failure::Impossible("a signal that this thread sent itself was not handled when the call returned".into())
        }
        _ => Failure::os(format!("{} a signal", params.choice("op")))(error),
    })
}
