//! Emulators: running a program in QEMU, or for the RP2040 in an emulator that is part of this process.

use std::io::Read;
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use crate::image::Image;
use crate::rp2040::Rp2040;
use crate::run::unended;

pub use crate::run::{Run, Told};

const QEMU: &str = "qemu-system-arm";
const MISSING: &str = "cannot start qemu-system-arm; `./x setup rtos` installs it";

/// Ends the emulator when dropped, if it still runs.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// By what the clock of an emulated board goes on.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Clock {
    /// By the clock of this machine: a program is held up when the emulator is.
    Host,
    /// By the instructions of the program alone, and at once to the next alarm when it has none to execute: a run is the same
    /// each time, whatever else this machine does. The emulator of the RP2040 counts cycles in either case, also where nothing is executed.
    Instructions,
}

impl Clock {
    fn arguments(self) -> &'static [&'static str] {
        match self {
            Clock::Host => &[],
            // Each takes 2⁵ ns.
            Clock::Instructions => &["-icount", "shift=5,sleep=off"],
        }
    }
}

/// Runs a program until it ends, at most that long.
pub fn run(image: &Image, clock: Clock, longest: Duration, told: Told) -> Result<Run> {
    match image.platform.machine(image.model) {
        Some(machine) => start(image, machine, clock.arguments(), longest, told),
        None => Rp2040::load(image)?.run(longest, told, |_| ()),
    }
}

/// Runs a program in QEMU, one instruction after the other, and writes which it executes to a file.
pub(crate) fn trace(image: &Image, machine: &[&str], to: &Path, longest: Duration) -> Result<Run> {
    let to = to.to_str().context("the path of the trace is not UTF-8")?;
    let mut arguments = one_at_a_time()?.to_vec();
    arguments.extend(["-d", "exec,nochain", "-D", to]);
    start(image, machine, &arguments, longest, Told::Afterwards)
}

/// How this QEMU is told to execute one instruction after the other: from 8.1 on by a property, which later took the option's place.
fn one_at_a_time() -> Result<&'static [&'static str]> {
    let told = Command::new(QEMU).arg("--version").output().context(MISSING)?.stdout;
    let is_older = version(&String::from_utf8_lossy(&told)).is_some_and(|version| version < (8, 1));
    Ok(if is_older {
        &["-singlestep", "-accel", "tcg,thread=single"]
    } else {
        &["-accel", "tcg,thread=single,one-insn-per-tb=on"]
    })
}

/// The first two numbers in a text such as `QEMU emulator version 7.2.22 (Debian …)`.
fn version(told: &str) -> Option<(u32, u32)> {
    let mut numbers = told.split_once("version ")?.1.split(['.', ' ', '\n']).map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

fn start(image: &Image, machine: &[&str], arguments: &[&str], longest: Duration, told: Told) -> Result<Run> {
    let mut qemu = Command::new(QEMU);
    qemu.args(machine).args(arguments);
    qemu.args(["-display", "none", "-serial", "null", "-monitor", "none", "-chardev", "stdio,id=words"]);
    qemu.args(["-semihosting-config", "enable=on,target=native,chardev=words", "-kernel"]).arg(&image.path);
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::piped());
    let mut child = Guard(qemu.spawn().context(MISSING)?);
    let program = child.0.stdout.take().context("the emulator has no standard output")?;
    let emulator = child.0.stderr.take().context("the emulator has no standard error")?;
    let program = std::thread::spawn(move || heard(program, told));
    let emulator = std::thread::spawn(move || heard(emulator, Told::Afterwards));
    let began = Instant::now();
    let status = loop {
        if let Some(status) = child.0.try_wait()? {
            break Some(status);
        }
        if began.elapsed() > longest {
            break None;
        }
        std::thread::sleep(Duration::from_millis(10));
    };
    drop(child);
    let mut said = program.join().unwrap_or_default();
    // What the emulator itself says is of sound cards and the like, unless it has failed.
    let complaint = emulator.join().unwrap_or_default();
    match status {
        Some(status) => {
            if !status.success() {
                said += &complaint;
            }
            Ok(Run { status: status.code().unwrap_or(-1), said })
        }
        None => bail!("{}", unended(image, longest, told, &said)),
    }
}

/// All that comes out of a pipe, passed on as it comes.
fn heard(mut pipe: impl Read, told: Told) -> String {
    let (mut said, mut now) = (Vec::new(), [0; 1024]);
    // An error ends it early, and the status tells.
    while let Ok(length @ 1..) = pipe.read(&mut now) {
        told.pass(&now[..length]);
        said.extend_from_slice(&now[..length]);
    }
    String::from_utf8_lossy(&said).into_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_version_of_the_emulator_is_read() {
        for (told, expected) in [
            ("QEMU emulator version 7.2.22 (Debian 1:7.2+dfsg-7+deb12u18)\nCopyright", Some((7, 2))),
            ("QEMU emulator version 10.0.2 (Debian 1:10.0.2+ds-2+b1)\n", Some((10, 0))),
            ("QEMU emulator version 8.1\n", Some((8, 1))),
            ("", None),
        ] {
            assert_eq!(version(told), expected, "{told}");
        }
    }
}
