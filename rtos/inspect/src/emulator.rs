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

/// Ends the emulator when dropped, if it still runs.
struct Guard(Child);

impl Drop for Guard {
    fn drop(&mut self) {
        // It may have ended already.
        let _ = self.0.kill();
        let _ = self.0.wait();
    }
}

/// Runs a program until it ends, at most that long.
pub fn run(image: &Image, longest: Duration, told: Told) -> Result<Run> {
    match image.platform.machine(image.model) {
        Some(machine) => start(image, machine, &[], longest, told),
        None => Rp2040::load(image)?.run(longest, told, |_| ()),
    }
}

/// Runs a program in QEMU, one instruction after the other, and writes which it executes to a file.
pub(crate) fn trace(image: &Image, machine: &[&str], to: &Path, longest: Duration) -> Result<Run> {
    let to = to.to_str().context("the path of the trace is not UTF-8")?;
    let each = ["-singlestep", "-accel", "tcg,thread=single", "-d", "exec,nochain", "-D", to];
    start(image, machine, &each, longest, Told::Afterwards)
}

fn start(image: &Image, machine: &[&str], arguments: &[&str], longest: Duration, told: Told) -> Result<Run> {
    let mut qemu = Command::new("qemu-system-arm");
    qemu.args(machine).args(arguments);
    qemu.args(["-display", "none", "-serial", "null", "-monitor", "none", "-chardev", "stdio,id=words"]);
    qemu.args(["-semihosting-config", "enable=on,target=native,chardev=words", "-kernel"]).arg(&image.path);
    // What the emulator itself says on standard error is about sound cards and the like; its status tells the rest.
    qemu.stdin(Stdio::null()).stdout(Stdio::piped()).stderr(Stdio::null());
    let mut child = Guard(qemu.spawn().context("cannot start qemu-system-arm; `./x setup rtos` installs it")?);
    let mut pipe = child.0.stdout.take().context("the emulator has no standard output")?;
    let reader = std::thread::spawn(move || {
        let (mut said, mut now) = (Vec::new(), [0; 1024]);
        // An error ends it early, and the status tells.
        while let Ok(length @ 1..) = pipe.read(&mut now) {
            told.pass(&now[..length]);
            said.extend_from_slice(&now[..length]);
        }
        String::from_utf8_lossy(&said).into_owned()
    });
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
    let said = reader.join().unwrap_or_default();
    match status {
        Some(status) => Ok(Run { status: status.code().unwrap_or(-1), said }),
        None => bail!("{}", unended(image, longest, told, &said)),
    }
}
