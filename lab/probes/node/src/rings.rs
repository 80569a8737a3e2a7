//! `pipe-rtt`, `fifo-rtt` and `ctx-ring`: messages between processes, by pipes.

use alloc::string::String;
use alloc::vec::Vec;

use node::sys::files::{self, O_RDWR, pipe};
use node::sys::{Errno, Fd, Result, time};

use crate::job::{Job, doing};
use crate::partner::Partner;
use crate::samples::Samples;

pub fn read_all(fd: usize, bytes: &mut [u8]) -> Result<()> {
    let mut done = 0;
    while done < bytes.len() {
        match files::read(fd, &mut bytes[done..])? {
            0 => return Err(Errno::EPIPE),
            read => done += read,
        }
    }
    Ok(())
}

/// Answers each message with itself, until the other side is gone.
fn echo(read: usize, write: usize, mut message: Vec<u8>) -> i32 {
    while read_all(read, &mut message).and_then(|()| files::write_all(write, &message)).is_ok() {}
    0
}

/// Round trips to a partner that echoes.
fn round_trips(job: &Job<'_>, (there, here): ((Fd, Fd), (Fd, Fd))) -> core::result::Result<(), String> {
    let trips = job.number("trips")?;
    let mut room = Samples::new(trips)?;
    let size = job.number("size")? as usize;
    let (read, write) = (there.0.number(), here.1.number());
    let for_partner = alloc::vec![0u8; size];
    let mut for_partner = Some(for_partner);
    let partner = Partner::start(move || echo(read, write, for_partner.take().unwrap_or_default()))?;
    let mut message = alloc::vec![0x5au8; size];
    let mut once = || {
        files::write_all(there.1.number(), &message)?;
        read_all(here.0.number(), &mut message)
    };
    let told = doing("talk to the partner process");
    let mut measure = || {
        once()?;
        job.window(trips, || {
            for _ in 0..trips {
                let before = time::now();
                once()?;
                room.push(time::now() - before);
            }
            Ok(())
        })
    };
    measure().map_err(told)?;
    if partner.is_gone() {
        return Err("the partner process ended".into());
    }
    job.done(&room)
}

pub fn pipes(job: &Job<'_>) -> core::result::Result<(), String> {
    let made = || Ok((pipe()?, pipe()?));
    round_trips(job, made().map_err(doing("make a pipe"))?)
}

pub fn fifos(job: &Job<'_>) -> core::result::Result<(), String> {
    // Both ends of both, so that opening waits for nobody.
    let fifo = |name: &str| {
        files::fifo(name)?;
        Ok((Fd::open(name, O_RDWR)?, Fd::open(name, O_RDWR)?))
    };
    let made = || Ok((fifo("/tmp/there")?, fifo("/tmp/back")?));
    round_trips(job, made().map_err(doing("make a FIFO"))?)
}

const TOKEN: [u8; 4] = *b"turn";

fn turn(read: usize, write: usize) -> Result<()> {
    let mut token = [0; TOKEN.len()];
    read_all(read, &mut token)?;
    files::write_all(write, &token)
}

/// How many laps the overhead is measured by.
const OVERHEAD_LAPS: u64 = 200;

pub fn ring(job: &Job<'_>) -> core::result::Result<(), String> {
    let [processes, laps, samples] = ["processes", "laps", "samples"].map(|name| job.number(name));
    let (processes, laps, samples) = (processes?, laps?, samples?);
    if job.number("working_set")? != 0 {
        return Err("on this machine all memory is of all processes: working_set is 0".into());
    }
    let mut room = Samples::new(samples)?;
    let pipes: Vec<(Fd, Fd)> = (0..processes).map(|_| pipe()).collect::<Result<_>>().map_err(doing("make a pipe"))?;
    // What a turn costs without a switch: one process sends the token through every pipe.
    let alone = || {
        for pipe in &pipes {
            files::write_all(pipe.1.number(), &TOKEN)?;
            read_all(pipe.0.number(), &mut [0; TOKEN.len()])?;
        }
        Ok(())
    };
    let overhead = || {
        alone()?;
        let begin = time::now();
        for _ in 0..OVERHEAD_LAPS {
            alone()?;
        }
        Ok((time::now() - begin) / (OVERHEAD_LAPS * processes))
    };
    let overhead = overhead().map_err(doing("send the token through the pipes of the ring"))?;
    job.fact("overhead_ns", overhead);
    let mut partners = Vec::new();
    for pair in pipes.windows(2) {
        let (read, write) = (pair[0].0.number(), pair[1].1.number());
        partners.push(Partner::start(move || {
            while turn(read, write).is_ok() {}
            0
        })?);
    }
    let (first, last) = (pipes[0].1.number(), pipes[pipes.len() - 1].0.number());
    let lap = || {
        files::write_all(first, &TOKEN)?;
        read_all(last, &mut [0; TOKEN.len()])
    };
    let mut measure = || {
        lap()?;
        // An operation is a switch.
        job.window(samples * laps * processes, || {
            for _ in 0..samples {
                let before = time::now();
                for _ in 0..laps {
                    lap()?;
                }
                room.push(time::now() - before);
            }
            Ok(())
        })
    };
    measure().map_err(doing("send the token round the ring"))?;
    job.done(&room)
}
