//! `fcntl-lock`: two processes take locks on single bytes of one file from each other.

use alloc::string::String;
use alloc::sync::Arc;
use core::sync::atomic::{AtomicU32, Ordering};

use node::sys::files::{self, O_CREAT, O_RDWR, pipe};
use node::sys::{Fd, Result, time};

use crate::job::{Job, doing};
use crate::partner::Partner;
use crate::rings::read_all;
use crate::samples::Samples;

const FILE: &str = "/tmp/locks";

/// One of the two, and what it holds.
struct Side {
    file: usize,
    /// With locks in a ring of three, the one that it holds.
    ring: Option<u64>,
    is_first: bool,
}

impl Side {
    fn take(&self, at: u64) -> Result<()> {
        files::lock(self.file, at, true)
    }

    fn release(&self, at: u64) -> Result<()> {
        files::lock(self.file, at, false)
    }

    fn round(&mut self) -> Result<()> {
        if let Some(held) = self.ring {
            let next = (held + 1) % 3;
            self.ring = Some(next);
            self.take(next)?;
            return self.release(held);
        }
        // The calls of lat_fcntl.
        if self.is_first {
            self.take(0)?;
            self.release(1)?;
            self.take(1)?;
            self.release(0)
        } else {
            self.release(0)?;
            self.take(1)?;
            self.release(1)?;
            self.take(0)
        }
    }
}

pub fn exchanges(job: &Job<'_>) -> core::result::Result<(), String> {
    let exchanges = job.number("exchanges")?;
    let ring = job.arguments.text("order")? == "ring";
    let mut room = Samples::new(exchanges)?;
    let file = Fd::open(FILE, O_CREAT | O_RDWR).map_err(doing("make a file"))?;
    let mut here = Side { file: file.number(), ring: ring.then_some(0), is_first: true };
    let first = here.take(0).and_then(|()| if ring { Ok(()) } else { here.take(1) });
    first.map_err(doing("lock a file"))?;
    let ready = pipe().map_err(doing("make a pipe"))?;
    let rounds = Arc::new(AtomicU32::new(0));
    let (number, to_ready, counted) = (file.number(), ready.1.number(), Arc::clone(&rounds));
    let partner = Partner::start(move || {
        let mut there = Side { file: number, ring: ring.then_some(1), is_first: false };
        let begun = if ring { there.take(1) } else { Ok(()) };
        let mut work = || -> Result<()> {
            begun?;
            files::write_all(to_ready, &[1])?;
            loop {
                there.round()?;
                counted.fetch_add(1, Ordering::Relaxed);
            }
        };
        work().map_or_else(|why| why.0 as i32, |()| 0)
    })?;
    let mut measure = || {
        read_all(ready.0.number(), &mut [0])?;
        here.round()?;
        job.window(exchanges, || {
            let begin = rounds.load(Ordering::Relaxed);
            for _ in 0..exchanges {
                let before = time::now();
                here.round()?;
                room.push(time::now() - before);
            }
            Ok(rounds.load(Ordering::Relaxed) - begin)
        })
    };
    let partners: u32 = measure().map_err(doing("exchange locks"))?;
    if partner.is_gone() {
        return Err("the partner process ended".into());
    }
    job.fact("partner_rounds_made", partners.into());
    job.done(&room)
}
