//! The start of a board in QEMU, and of a second one at the other end of a wire.

use std::ffi::OsString;
use std::fs;
use std::io::PipeReader;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::sync::atomic::Ordering;
use std::time::Duration;

use image::board;
use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use super::follow::{self, COUNTED, escaped};
use super::job::{CLOCK, PROFILE, Side, WIRE, WIRE_DELAY, shift, words};
use super::made::Made;
use crate::environment::{Job, Place};
use crate::error::Error;
use crate::launch::{self, Started};
use crate::locate;
use crate::wire::{Kind, Wire};

/// A switch's port has room for so much.
const QUEUE: usize = 64 << 10;

/// Starts the board for a job, and the other one if there is a wire.
pub(super) fn start(made: &Made, job: &Job, place: &Place<'_>) -> Result<Started, Error> {
    let shift = shift(job);
    let profile = job.settings.get(PROFILE) == Some("on");
    let Some(rate) = job.settings.number(WIRE, Quantity::Rate) else {
        let mut command = command(made, job, place, None)?;
        if profile {
            command.arg("-plugin").arg(follow::option(&made.symbols, place.scratch)?);
        }
        let mut started = launched(command, &[])?;
        started.profile = profile.then(|| place.scratch.join(COUNTED));
        started.read_back = Some(Box::new(move |_| {
            let why = "an option of QEMU; the same trial gives the same times".to_owned();
            vec![(CLOCK.to_owned(), Effective { value: clock(shift), as_requested: true, why })]
        }));
        return Ok(started);
    };
    if !["tcp", "udp"].contains(&job.workload().name) {
        return Err(Error::Unusable(format!("at a wire there are tcp and udp, and not {}", job.workload().name)));
    }
    let delay = job.settings.number(WIRE_DELAY, Quantity::Time).unwrap_or(0);
    let kind = Kind { rate, delay: Duration::from_nanos(delay), queue: QUEUE };
    let (wire, [own, other]) = Wire::lay(kind).map_err(Error::os("lay a wire"))?;
    let partner = launched(command(made, job, place, Some(Side::Other))?, &[other.as_fd()])?;
    let mut started = launched(command(made, job, place, Some(Side::Own))?, &[own.as_fd()])?;
    started.server = Some(Box::new(partner));
    started.read_back = Some(Box::new(move |_| {
        let held = "instructions are held to the clock of this machine, so that both boards have one: no two runs are the same".to_owned();
        let laid = "the lab carries the frames".to_owned();
        vec![
            (CLOCK.to_owned(), Effective { value: clock(shift), as_requested: true, why: held }),
            (WIRE.to_owned(), Effective { value: Quantity::Rate.write(rate), as_requested: true, why: laid.clone() }),
            (WIRE_DELAY.to_owned(), Effective { value: Quantity::Time.write(delay), as_requested: true, why: laid }),
        ]
    }));
    started.at_end = Some(Box::new(move || {
        let count = |counter: &std::sync::atomic::AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let facts = vec![
            ("wire_frames".to_owned(), count(&wire.counts.frames)),
            ("lost_on_wire".to_owned(), count(&wire.counts.lost)),
        ];
        drop(wire);
        facts
    }));
    Ok(started)
}

fn clock(shift: Option<u32>) -> String {
    shift.map_or("off".to_owned(), |shift| shift.to_string())
}

fn launched(command: Command, descriptors: &[BorrowedFd<'_>]) -> Result<Started, Error> {
    // QEMU's own, where it is to keep to a clock.
    let is_late = |line: &str| line.starts_with("Warning: The guest is now late");
    let listener = move |stream: PipeReader, sender: &_| launch::report_lines_among(is_late, stream, sender);
    launch::start(command, launch::Input::Empty, descriptors, Box::new(listener), || {})
}

/// The command line. A board at a wire has its end of that as descriptor 3.
fn command(made: &Made, job: &Job, place: &Place<'_>, wire: Option<Side>) -> Result<Command, Error> {
    let board = &made.board;
    let told = words(job, place.trial, (board.memory.bytes, made.flash.used()), wire);
    let told = board::one_more("etc/job", told.into_bytes()).map_err(|why| Error::Unusable(why.to_string()))?;
    let full = |room| Error::Unusable(format!("the flash has room for {room} bytes more, which what is to be done does not fit in"));
    let bytes = made.flash.with(&told).map_err(full)?;
    let file = place.scratch.join(if wire == Some(Side::Other) { "other.bin" } else { "flash.bin" });
    fs::write(&file, bytes).map_err(Error::os(format!("write {}", file.display())))?;
    let program = locate::program(&board.qemu.program, &board.qemu.program).map_err(Error::Unusable)?;
    let mut command = Command::new(program);
    command.args(&board.qemu.arguments).args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot"]);
    match wire {
        None => command.args(["-nic", "user,restrict=on"]),
        Some(side) => {
            let last = if side == Side::Own { 1 } else { 2 };
            command.args(["-netdev", "dgram,id=wire,local.type=fd,local.str=3"]);
            command.args(["-net", &format!("nic,netdev=wire,macaddr=52:54:00:09:00:0{last}")])
        }
    };
    if let Some(shift) = shift(job) {
        // Two boards with a wire have to have one time.
        let held = if wire.is_some() { "sleep=on,align=on" } else { "sleep=off" };
        command.args(["-icount", &format!("shift={shift},{held}")]);
    }
    command.args(["-chardev", "file,id=console,path=/dev/stderr", "-serial", "chardev:console", "-serial", "stdio"]);
    let mut loader = OsString::from("loader,file=");
    loader.push(escaped(&file));
    loader.push(format!(",addr={:#x},force-raw=on", board.flash.address));
    let mut kernel = OsString::from("loader,file=");
    kernel.push(escaped(&made.symbols));
    command.arg("-device").arg(loader).arg("-device").arg(kernel);
    Ok(command)
}
