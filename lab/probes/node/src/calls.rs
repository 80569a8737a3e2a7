//! `empty`, `syscall` and `signal`: the clock, and calls with next to no work, in batches.

use alloc::string::String;
use core::hint::black_box;

use node::sys::files::{self, O_CREAT, O_RDONLY, O_WRONLY};
use node::sys::{Fd, Result, process, signals, time};

use crate::job::{Job, doing};
use crate::samples::Samples;

pub fn empty(job: &Job<'_>) -> core::result::Result<(), String> {
    let samples = job.number("samples")?;
    let mut room = Samples::new(samples)?;
    job.window(samples, || {
        for _ in 0..samples {
            let before = time::now();
            let after = time::now();
            room.push(after - before);
        }
    });
    const LONE: u64 = 1000;
    let begin = time::now();
    for _ in 0..LONE {
        black_box(time::now());
    }
    job.fact("clock_ns", (time::now() - begin) / LONE);
    job.done(&room)
}

/// Times batches of a call.
fn batches(job: &Job<'_>, mut call: impl FnMut() -> Result<()>) -> core::result::Result<(), String> {
    let (samples, batch) = (job.number("samples")?, job.number("batch")?);
    let mut room = Samples::new(samples)?;
    job.window(samples * batch, || {
        for _ in 0..samples {
            let before = time::now();
            for _ in 0..batch {
                call()?;
            }
            room.push(time::now() - before);
        }
        Ok(())
    })
    .map_err(doing("make the call"))?;
    job.done(&room)
}

/// The file whose path is resolved. Where the machine's folders are in memory, so is it.
const FILE: &str = "/tmp/file";

pub fn system_call(job: &Job<'_>) -> core::result::Result<(), String> {
    drop(Fd::open(FILE, O_CREAT | O_WRONLY).map_err(doing("make a file"))?);
    let mut byte = [0];
    match job.arguments.text("op")? {
        "getppid" => batches(job, || {
            black_box(process::parent());
            Ok(())
        }),
        "read" => {
            let zero = Fd::open("/dev/zero", O_RDONLY).map_err(doing("open /dev/zero"))?;
            batches(job, || zero.read(&mut byte).map(drop))
        }
        "write" => {
            let null = Fd::open("/dev/null", O_WRONLY).map_err(doing("open /dev/null"))?;
            batches(job, || files::write(null.number(), &byte).map(drop))
        }
        "stat" => {
            let path = files::path(FILE).map_err(doing("name a file"))?;
            batches(job, || path.about().map(drop))
        }
        "open-close" => {
            let path = files::path(FILE).map_err(doing("name a file"))?;
            batches(job, || path.open(O_RDONLY).map(drop))
        }
        other => Err(alloc::format!("this probe does not know the call {other:?}")),
    }
}

/// Installing a handler.
pub fn signal(job: &Job<'_>) -> core::result::Result<(), String> {
    match job.arguments.text("op")? {
        "install" => batches(job, || signals::handle(signals::SIGUSR1)),
        other => Err(alloc::format!("this probe does not know the operation {other:?}")),
    }
}
