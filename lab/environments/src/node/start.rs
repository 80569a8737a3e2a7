//! The start of a board in QEMU, and of a second one at the other end of a wire.

use std::ffi::OsString;
use std::fs;
use std::io::PipeReader;
use std::os::fd::{AsFd, BorrowedFd};
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::Duration;

use image::board;
use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;

use super::follow::{self, COUNTED, escaped};
use super::job::{CLOCK, PROFILE, Side, WIRE, WIRE_DELAY, shift, words};
use super::made::Made;
use super::pace::{self, Pace};
use crate::environment::{Job, Place};
use crate::error::Error;
use crate::launch::{self, Known, Started};
use crate::locate;
use crate::wire::{Kind, Wire};

/// The kernel waits by going on, and not by halting the processor. QEMU wakes a processor late: one that halts a thousand times in a second
/// lost 6 to 25 % of the time, and the wire, which has this machine's, was as much too fast for it.
const AWAKE: &str = "nohlt";
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
        let mut started = launched(command, &[], &Pace::default())?;
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
    let paces = [Pace::default(), Pace::default()];
    let partner = launched(command(made, job, place, Some(Side::Other))?, &[other.as_fd()], &paces[1])?;
    let mut started = launched(command(made, job, place, Some(Side::Own))?, &[own.as_fd()], &paces[0])?;
    started.server = Some(Box::new(partner));
    started.read_back = Some(Box::new(move |_| {
        let held = "instructions are held to the clock of this machine, so that both boards have one: no two runs are the same".to_owned();
        vec![(CLOCK.to_owned(), Effective { value: clock(shift), as_requested: true, why: held })]
    }));
    started.at_end = Some(Box::new(move || {
        let count = |counter: &AtomicU64| counter.load(Ordering::Relaxed) as f64;
        let mut facts = vec![
            ("wire_frames".to_owned(), count(&wire.counts.frames)),
            ("lost_on_wire".to_owned(), count(&wire.counts.lost)),
        ];
        drop(wire);
        let known = ["clock_share", "other_clock_share"].into_iter().zip(paces.iter().map(Pace::share));
        let shares: Vec<_> = known.filter_map(|(name, share)| Some((name.to_owned(), share?))).collect();
        let trouble = pace::trouble(shares.iter().map(|(_, share)| *share));
        facts.extend(shares);
        let laid = |value| {
            let why = trouble.clone().unwrap_or_else(|| "the lab carries the frames".into());
            Effective { value, as_requested: trouble.is_none(), why }
        };
        let wire = (WIRE.to_owned(), laid(Quantity::Rate.write(rate)));
        let delay = (WIRE_DELAY.to_owned(), laid(Quantity::Time.write(delay)));
        Known { facts, effective: vec![wire, delay] }
    }));
    Ok(started)
}

fn clock(shift: Option<u32>) -> String {
    shift.map_or("off".to_owned(), |shift| shift.to_string())
}

fn launched(command: Command, descriptors: &[BorrowedFd<'_>], pace: &Pace) -> Result<Started, Error> {
    let pace = pace.clone();
    // QEMU itself says at times, and not always, that the board is late.
    let takes = move |line: &str| line.starts_with("Warning: The guest is now late") || pace.takes(line);
    let listener = move |stream: PipeReader, sender: &_| launch::report_lines_among(takes, stream, sender);
    launch::start(command, launch::Input::Empty, descriptors, Box::new(listener), || {})
}

/// The command line. A board at a wire has its end of that as descriptor 3.
fn command(made: &Made, job: &Job, place: &Place<'_>, wire: Option<Side>) -> Result<Command, Error> {
    let board = &made.board;
    let told = words(job, place.trial, (board.memory.bytes, made.flash.used()), wire);
    let told = board::one_more("etc/job", told.into_bytes()).map_err(|why| Error::Unusable(why.to_string()))?;
    let full = |room| Error::Unusable(format!("the flash has room for {room} bytes more, which what is to be done does not fit in"));
    let awake = || made.flash.clone().telling(board, AWAKE).map_err(|why| Error::Unusable(why.to_string()));
    let bytes = match wire {
        None => made.flash.with(&told),
        Some(_) => awake()?.with(&told),
    };
    let bytes = bytes.map_err(full)?;
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
