//! spt: the guest is a process that may do next to nothing.
//!
//! A child of the monitor gives up everything before it enters the program: its files but the disks and the console, its rights, its memory
//! but the guest's. What is left to it is a filter's: to read and write its disks within their bounds, to flush them, to
//! write to the console, to ask the time, to end. So the program runs as fast as any process, and asks the kernel without a
//! detour; what it could do to the host is what these calls can. With rings it has no disks either: a thread of the monitor does what it
//! asks there.

mod child;
mod enter;
mod filter;
mod vdso;

use std::io;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::{AtomicBool, Ordering};

use unikernel_abi::boot::Clock;
use unikernel_abi::{Device, Kind, START};

use crate::backend::Statistics;
use crate::boot;
use crate::bpf::Instruction;
use crate::confine::{self, Work};
use crate::disk::Disk;
use crate::event::Event;
use crate::guest::{Asked, Guest, Interface, Rings};
use crate::memory::Memory;
use crate::outcome::Outcome;
use crate::processors::Places;
use crate::ring::{self, Broken, Server};
use child::Report;

/// What came of a guest.
#[derive(Clone, Debug)]
pub struct Ran {
    pub outcome: Outcome,
    /// What was asked of each device; with calls, where the guest asks the kernel itself, as it says.
    pub statistics: Vec<Statistics>,
}

/// Why a guest could not be started.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum SptError {
    #[error(transparent)]
    TooMuchTold(#[from] boot::TooMuch),
    #[error("{0}: {1}")]
    System(&'static str, io::Error),
    #[error("the devices could not be served: {0}")]
    Rings(io::Error),
    #[error("the guest's process: {0}: {1}")]
    Child(String, io::Error),
}

/// Runs a guest until it ends.
///
/// # Errors
/// If it could not be started.
pub fn run(guest: &Guest) -> Result<Ran, SptError> {
    match guest.interface() {
        Interface::Rings(rings) => with_rings(guest, rings),
        Interface::Blocks | Interface::Calls => {
            let asked = |_, disk: &Disk| Asked {
                handle: disk.file().as_raw_fd() as u32,
                durable_handle: disk.durable().as_raw_fd() as u32,
                ..Asked::default()
            };
            let devices = guest.devices(asked);
            let files = devices.iter().flat_map(|device| [device.handle, device.durable_handle]).collect();
            let started =
                Start { devices: &devices, filter: filter::of(&devices, None), files, memory: None, places: None }
                    .start(guest)?;
            let outcome = started.wait()?;
            Ok(Ran { outcome, statistics: started.report.statistics(guest.disks().len()) })
        }
    }
}

/// The guest has no files: a thread of the monitor does what it asks.
fn with_rings(guest: &Guest, rings: Rings) -> Result<Ran, SptError> {
    let events = || -> io::Result<_> { Ok((Event::new()?, Event::new()?)) };
    let (doorbell, wake) = events().map_err(|why| SptError::System("no event could be had", why))?;
    let memory = Memory::shared(START, guest.end() - START, guest.writable())
        .map_err(|why| SptError::System("the guest's memory could not be had", why))?;
    let (bell, woken) = (doorbell.descriptor() as u32, wake.descriptor() as u32);
    let poll_ns = rings.poll.as_nanos() as u64;
    let asked = |device, _: &Disk| Asked { handle: bell, durable_handle: woken, rings: ring::base(device), poll_ns };
    let devices = guest.devices(asked);
    let filter = filter::of(&[], Some((bell, woken)));
    let places = Places::of(guest.disks(), rings);
    // Before the guest, which may ask at once.
    let mut server = Server::new(&memory, guest.disks(), &doorbell, &wake, rings).map_err(SptError::Rings)?;
    let start = Start { devices: &devices, filter, files: vec![bell, woken], memory: Some(&memory), places };
    let started = start.start(guest)?;
    let child = started.child;
    let ended = AtomicBool::new(false);
    let (disks, logs) = (guest.disks(), server.logs());
    let filter = Work { disks, logs, events: &[&doorbell, &wake], child: Some(child), ..Work::default() }.filter();
    let (outcome, served) = std::thread::scope(|scope| {
        let serving = scope.spawn(|| {
            places.inspect(Places::keep_server);
            if let Err(why) = confine::confine(&filter) {
                kill(child);
                return Err(SptError::System("a thread could not be confined", why));
            }
            let served = server.run(&ended);
            if served.is_err() {
                kill(child);
            }
            Ok(served)
        });
        let outcome = started.wait();
        ended.store(true, Ordering::Release);
        doorbell.tell();
        (outcome, serving.join().unwrap_or(Ok(Err(Broken))))
    });
    let outcome = if served?.is_ok() { outcome? } else { Outcome::Violation { call: None, at: 0 } };
    Ok(Ran { outcome, statistics: server.statistics() })
}

/// What a child is started with.
struct Start<'a> {
    devices: &'a [Device],
    filter: Vec<Instruction>,
    /// Descriptors that it keeps, beside the console.
    files: Vec<u32>,
    /// Its memory, if it shares it with the monitor.
    memory: Option<&'a Memory>,
    /// Where it is to run, if that matters.
    places: Option<Places>,
}

/// A guest that runs.
struct Started {
    child: libc::pid_t,
    report: Report,
}

impl Start<'_> {
    fn start(self, guest: &Guest) -> Result<Started, SptError> {
        let vdso = vdso::find().map_err(|why| SptError::System("/proc/self/maps could not be read", why))?;
        let clock = Clock { function: vdso.clock_gettime, ..Clock::default() };
        let told = boot::pages(guest, Kind::Spt, clock, self.devices, child::COUNTS)?;
        let report = Report::new().map_err(|why| SptError::System("no memory for the monitor", why))?;
        let needs = child::Needs {
            guest,
            told: &told,
            filter: &self.filter,
            vdso: &vdso,
            files: &self.files,
            memory: self.memory,
            places: self.places,
        };
        // SAFETY: the monitor has one thread as yet, so that the child may do what the monitor may.
        match unsafe { libc::fork() } {
            -1 => Err(SptError::System("no process could be started", io::Error::last_os_error())),
            0 => child::become_guest(&needs, &report),
            child => Ok(Started { child, report }),
        }
    }
}

impl Started {
    fn wait(&self) -> Result<Outcome, SptError> {
        let status = wait(self.child).map_err(|why| SptError::System("the guest could not be waited for", why))?;
        self.report.outcome(status).map_err(|(what, why)| SptError::Child(what, why))
    }
}

/// Ends a child that breaks the rules.
fn kill(child: libc::pid_t) {
    // SAFETY: the call takes two numbers. The child may just have ended by itself, but its number is nobody else's as long as the
    // monitor runs no other.
    unsafe { libc::kill(child, libc::SIGKILL) };
}

fn wait(child: libc::pid_t) -> io::Result<i32> {
    let mut status = 0;
    loop {
        // SAFETY: `status` is there for the call.
        match unsafe { libc::waitpid(child, &mut status, 0) } {
            -1 if io::Error::last_os_error().kind() == io::ErrorKind::Interrupted => {}
            -1 => return Err(io::Error::last_os_error()),
            _ => return Ok(status),
        }
    }
}
