//! Runs a unikernel in a machine of QEMU's: as a whole machine that is emulated, or runs on KVM, with virtio devices.

use std::fs::File;
use std::io::{self, BufRead as _, BufReader, PipeReader, Read as _, Write as _};
use std::os::fd::{AsRawFd as _, RawFd};
use std::os::unix::net::UnixStream;
use std::os::unix::process::{CommandExt as _, ExitStatusExt as _};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{SystemTime, UNIX_EPOCH};

use anyhow::{Context as _, bail};
use serde_json::json;
use unikernel_abi::line::Encode;
use unikernel_monitor::{Disk, Durability, Guest, Outcome};

use crate::cli::{Accelerator, Engine, Machine, RunOptions};

const QEMU: &str = "qemu-system-x86_64";
/// Descriptors of the child: where what is no result goes, where the exit code does, and by which QEMU tells of the machine.
const ERRORS: RawFd = 3;
const CODE: RawFd = 4;
const EVENTS: RawFd = 5;
/// What a device can be called there.
const LONGEST_NAME: usize = 20;

/// Runs it until it ends.
pub fn run(options: &RunOptions, guest: &Guest) -> anyhow::Result<Outcome> {
    let disks = guest.disks();
    if let Some(disk) = disks.iter().find(|disk| disk.name().len() > LONGEST_NAME) {
        bail!("in QEMU a device is called by at most {LONGEST_NAME} letters, and not {:?}", disk.name());
    }
    // QEMU counts memory in whole MiB.
    let memory = options.mem.div_ceil(1 << 20);
    let (mut told, code) = io::pipe().context("no pipe could be had")?;
    let (events, events_there) = UnixStream::pair().context("no socket could be had")?;
    let mut command = Command::new(QEMU);
    command.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-m", &format!("{memory}M")]);
    command.args(["-M", machine(options.machine)]);
    for accelerator in accelerators(options.accel) {
        command.args(["-accel", accelerator]);
    }
    command.arg("-kernel").arg(guest.program().path()).args(["-append", &line(options, disks)]);
    command.args(["-chardev", "stdio,id=out,signal=off", "-serial", "chardev:out"]);
    command.args(["-add-fd", &format!("fd={ERRORS},set=1"), "-add-fd", &format!("fd={CODE},set=2")]);
    command.args(["-chardev", "file,id=errors,path=/dev/fdset/1,append=on"]);
    command.args(["-device", "isa-debugcon,iobase=0xe9,chardev=errors"]);
    command.args(["-chardev", "file,id=code,path=/dev/fdset/2,append=on"]);
    command.args(["-device", "isa-debugcon,iobase=0xea,readback=0xea,chardev=code"]);
    command.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4"]);
    command.args(["-chardev", &format!("socket,id=events,fd={EVENTS}"), "-qmp", "chardev:events"]);
    for (n, disk) in disks.iter().enumerate() {
        if let Some(log) = disk.log() {
            File::create_new(log).with_context(|| format!("the log {}", log.display()))?;
        }
        command.args(["-blockdev", &drive(n, disk, options.engine)]);
        let kind = if options.machine == Machine::Microvm { "virtio-blk-device" } else { "virtio-blk-pci" };
        let cache = if disk.durability() == Durability::Writethrough { "off" } else { "on" };
        command.args(["-device", &format!("{kind},drive=disk{n},serial={},write-cache={cache}", disk.name())]);
    }
    command.stdin(Stdio::null());
    let mut child = start(command, code.as_raw_fd(), events_there.as_raw_fd()).with_context(|| {
        format!("{QEMU} could not be started (Debian has it in qemu-system-x86); spt and hvt need none")
    })?;
    drop((code, events_there));
    let process = child.id() as libc::pid_t;
    let watching = std::thread::spawn(move || {
        let has_stopped = stops(events);
        if has_stopped {
            // SAFETY: the call takes two numbers, and the child is not waited for before this thread has ended.
            unsafe { libc::kill(process, libc::SIGKILL) };
        }
        has_stopped
    });
    let code = last(&mut told)?;
    let has_stopped = watching.join().unwrap_or_default();
    let status = child.wait().context("QEMU could not be waited for")?;
    if has_stopped {
        bail!("QEMU stopped the machine, whose processor could not go on; --accel tcg emulates it");
    }
    match (code, status.signal()) {
        (Some(code), _) => Ok(Outcome::Exited(code)),
        (None, Some(signal)) => Ok(Outcome::Killed { signal }),
        (None, None) => bail!("QEMU ended before the program did, with {status}"),
    }
}

fn machine(machine: Machine) -> &'static str {
    match machine {
        Machine::Microvm => "microvm,acpi=off,isa-serial=on,pit=on,rtc=on",
        Machine::Pc => "pc",
        Machine::Q35 => "q35",
    }
}

fn accelerators(accelerator: Accelerator) -> &'static [&'static str] {
    match accelerator {
        Accelerator::Kvm => &["kvm"],
        Accelerator::Tcg => &["tcg"],
    }
}

/// What the program is told.
fn line(options: &RunOptions, disks: &[Disk]) -> String {
    let now = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos());
    let never = disks.iter().filter(|disk| disk.durability() == Durability::Unsafe);
    let mut words = vec![format!("now={now}")];
    words.extend(never.map(|disk| format!("unsafe={}", disk.name())));
    words.extend(options.env.iter().map(|text| format!("env={}", Encode(text))));
    words.extend(options.arguments.iter().map(|text| format!("arg={}", Encode(text))));
    words.join(" ")
}

/// A disk as QEMU has it.
fn drive(n: usize, disk: &Disk, engine: Engine) -> String {
    let (direct, path) = (disk.is_direct(), disk.path());
    let aio = if engine == Engine::Uring { "io_uring" } else { "threads" };
    let host = if is_device(path) { "host_device" } else { "file" };
    let cache = json!({ "direct": direct, "no-flush": disk.durability() == Durability::Unsafe });
    let file = json!({ "driver": host, "filename": path.to_string_lossy(), "aio": aio, "cache": cache });
    let name = format!("disk{n}");
    let mut drive = json!({ "driver": "raw", "read-only": disk.is_read_only(), "cache": cache, "file": file });
    if let Some(log) = disk.log() {
        let log = json!({ "driver": "file", "filename": log.to_string_lossy() });
        drive = json!({ "driver": "blklogwrites", "file": drive, "log": log });
    }
    drive["node-name"] = name.into();
    drive.to_string()
}

fn is_device(path: &Path) -> bool {
    use std::os::unix::fs::FileTypeExt as _;
    path.metadata().is_ok_and(|about| about.file_type().is_block_device())
}

/// Reads what QEMU tells of the machine until that ends. True if it stands still: QEMU would wait for somebody to look at it.
fn stops(mut events: UnixStream) -> bool {
    // It tells of nothing before it is asked something.
    if events.write_all(b"{\"execute\": \"qmp_capabilities\"}\n").is_err() {
        return false;
    }
    let lines = BufReader::new(events).lines().map_while(Result::ok);
    let mut told = lines.filter_map(|line| serde_json::from_str::<serde_json::Value>(&line).ok());
    told.any(|told| told["event"] == "STOP")
}

/// Starts it with its descriptors; whoever ends this program ends it.
fn start(mut command: Command, code: RawFd, events: RawFd) -> io::Result<Child> {
    let check = |result: i32| if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) };
    // SAFETY: between fork and exec only system calls are made.
    unsafe {
        command.pre_exec(move || {
            check(libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL))?;
            // None of them is in the way of another: they go to where all may be from beyond that.
            let beyond = [code, events].map(|descriptor| libc::fcntl(descriptor, libc::F_DUPFD, EVENTS + 1));
            beyond.iter().try_for_each(|descriptor| check(*descriptor))?;
            check(libc::dup2(libc::STDERR_FILENO, ERRORS))?;
            check(libc::dup2(beyond[0], CODE))?;
            check(libc::dup2(beyond[1], EVENTS))?;
            beyond.iter().try_for_each(|descriptor| check(libc::close(*descriptor)))
        });
    }
    command.spawn()
}

/// The last byte of what comes there until nobody writes any more.
fn last(told: &mut PipeReader) -> anyhow::Result<Option<u8>> {
    let mut bytes = Vec::new();
    told.take(1 << 16).read_to_end(&mut bytes).context("QEMU's pipe")?;
    Ok(bytes.last().copied())
}
