//! The kernel, as the first process uses it.

use std::ffi::CString;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Write};
use std::mem;
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::os::unix::process::ExitStatusExt;
use std::path::Path;
use std::process::{Command, ExitStatus, Stdio};
use std::thread;
use std::time::{Duration, Instant};

/// How long a device that is to be mounted may take to come, and how often it is looked for.
const DEVICE_PATIENCE: Duration = Duration::from_secs(10);
const LOOK: Duration = Duration::from_millis(5);

/// How a program ended.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Ending {
    Status(i32),
    Signal(i32),
    /// No program could be run.
    None,
}

/// What a plan asks of the kernel.
#[expect(missing_docs, reason = "each is the step of a plan of the same name")]
pub trait System {
    fn folder(&mut self, path: &str) -> io::Result<()>;
    fn mount(&mut self, kind: &str, source: &str, target: &str) -> io::Result<()>;
    fn module(&mut self, file: &str) -> io::Result<()>;
    fn up(&mut self, interface: &str) -> io::Result<()>;
    fn address(&mut self, interface: &str, address: Ipv4Addr, bits: u8) -> io::Result<()>;
    fn name(&mut self, name: &str) -> io::Result<()>;
    fn output(&mut self, file: &str) -> io::Result<()>;
    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ending>;
    /// Tells who watches the console.
    fn say(&mut self, sentence: &str);
}

/// The variable that tells programs when the first process began: nanoseconds of CLOCK_MONOTONIC, which begins with the kernel.
pub const BEGAN: &str = "INIT_BEGAN_NS";

/// The running kernel.
#[derive(Debug)]
pub struct Kernel {
    /// Where programs write; the console without one.
    output: Option<File>,
    began: String,
}

impl Kernel {
    /// As it is when the first process begins.
    pub fn new() -> Self {
        let mut now = libc::timespec { tv_sec: 0, tv_nsec: 0 };
        // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux.
        unsafe { libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut now) };
        let began = i128::from(now.tv_sec) * 1_000_000_000 + i128::from(now.tv_nsec);
        Self { output: None, began: began.to_string() }
    }
}

impl Default for Kernel {
    fn default() -> Self {
        Self::new()
    }
}

impl System for Kernel {
    fn folder(&mut self, path: &str) -> io::Result<()> {
        fs::create_dir_all(path)
    }

    fn mount(&mut self, kind: &str, source: &str, target: &str) -> io::Result<()> {
        // A device may come a while after its module: that of a domain of Xen does.
        let begun = Instant::now();
        while source.starts_with("/dev/") && !Path::new(source).exists() && begun.elapsed() < DEVICE_PATIENCE {
            thread::sleep(LOOK);
        }
        let [kind, source, target] = [kind, source, target].map(text);
        let (kind, source, target) = (kind?, source?, target?);
        // SAFETY: three texts that end in NUL; without options the fifth is not read.
        result(unsafe { libc::mount(source.as_ptr(), target.as_ptr(), kind.as_ptr(), 0, std::ptr::null()) }.into())
    }

    fn module(&mut self, file: &str) -> io::Result<()> {
        let file = File::open(file)?;
        // SAFETY: an open file, no parameters, no flags.
        result(unsafe { libc::syscall(libc::SYS_finit_module, file.as_raw_fd(), c"".as_ptr(), 0) })
    }

    fn up(&mut self, interface: &str) -> io::Result<()> {
        let (socket, mut request) = (socket()?, named(interface)?);
        // SAFETY: an open socket and a request with the interface's name, which the kernel fills.
        result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCGIFFLAGS, &raw mut request) }.into())?;
        // SAFETY: the call before has filled this member of the union.
        unsafe { request.ifr_ifru.ifru_flags |= (libc::IFF_UP | libc::IFF_RUNNING) as i16 };
        // SAFETY: as above; the kernel reads it.
        result(unsafe { libc::ioctl(socket.as_raw_fd(), libc::SIOCSIFFLAGS, &raw const request) }.into())
    }

    fn address(&mut self, interface: &str, address: Ipv4Addr, bits: u8) -> io::Result<()> {
        let socket = socket()?;
        let mask = Ipv4Addr::from(u32::MAX.checked_shl(32 - u32::from(bits)).unwrap_or(0));
        for (call, value) in [(libc::SIOCSIFADDR, address), (libc::SIOCSIFNETMASK, mask)] {
            let mut request = named(interface)?;
            // SAFETY: an all-zero address is a valid one of that type.
            let mut place: libc::sockaddr_in = unsafe { mem::zeroed() };
            place.sin_family = libc::AF_INET as libc::sa_family_t;
            place.sin_addr.s_addr = u32::from(value).to_be();
            // SAFETY: the two have the same size, and the kernel reads by the family which it is.
            request.ifr_ifru.ifru_addr = unsafe { mem::transmute::<libc::sockaddr_in, libc::sockaddr>(place) };
            // SAFETY: an open socket and a request that the kernel reads.
            result(unsafe { libc::ioctl(socket.as_raw_fd(), call, &raw const request) }.into())?;
        }
        Ok(())
    }

    fn name(&mut self, name: &str) -> io::Result<()> {
        // SAFETY: a text and its length.
        result(unsafe { libc::sethostname(name.as_ptr().cast(), name.len()) }.into())
    }

    fn output(&mut self, file: &str) -> io::Result<()> {
        self.output = Some(OpenOptions::new().read(true).write(true).open(file)?);
        Ok(())
    }

    fn run(&mut self, program: &str, arguments: &[String]) -> io::Result<Ending> {
        let mut command = Command::new(program);
        command.args(arguments).env(BEGAN, &self.began);
        if let Some(output) = &self.output {
            command.stdin(output.try_clone()?).stdout(Stdio::from(output.try_clone()?));
        }
        let child = command.spawn()?.id() as libc::pid_t;
        loop {
            let mut status = 0;
            // Whoever lost its parent is this process's child too, and is taken in.
            // SAFETY: waits for any child; the status is ours.
            match unsafe { libc::waitpid(-1, &raw mut status, 0) } {
                ended if ended == child => return Ok(ending(ExitStatus::from_raw(status))),
                -1 if io::Error::last_os_error().kind() != io::ErrorKind::Interrupted => {
                    return Err(io::Error::last_os_error());
                }
                _ => {}
            }
        }
    }

    fn say(&mut self, sentence: &str) {
        // A console that is gone hears nothing.
        let _ = writeln!(io::stderr(), "init: {sentence}");
    }
}

impl Kernel {
    /// Writes out what is in memory, and switches the machine off. Where it has no switch, it starts anew, which a virtual machine
    /// can be told to take for the end.
    pub fn end(&mut self) -> io::Error {
        // SAFETY: as the names say; nothing comes back where it works.
        unsafe {
            libc::sync();
            libc::reboot(libc::LINUX_REBOOT_CMD_POWER_OFF);
            libc::reboot(libc::LINUX_REBOOT_CMD_RESTART);
        }
        io::Error::last_os_error()
    }
}

fn ending(status: ExitStatus) -> Ending {
    match (status.code(), status.signal()) {
        (Some(code), _) => Ending::Status(code),
        (None, Some(signal)) => Ending::Signal(signal),
        (None, None) => Ending::None,
    }
}

fn result(result: libc::c_long) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}

fn text(word: &str) -> io::Result<CString> {
    CString::new(word).map_err(io::Error::other)
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: numbers; what comes back is an open descriptor or an error.
    let socket = unsafe { libc::socket(libc::AF_INET, libc::SOCK_DGRAM | libc::SOCK_CLOEXEC, 0) };
    result(socket.into())?;
    // SAFETY: the kernel gave this descriptor to us alone.
    Ok(unsafe { OwnedFd::from_raw_fd(socket) })
}

/// A request about that interface.
fn named(interface: &str) -> io::Result<libc::ifreq> {
    // SAFETY: an all-zero request is a valid one.
    let mut request: libc::ifreq = unsafe { mem::zeroed() };
    if interface.len() >= request.ifr_name.len() {
        return Err(io::Error::other("a name of an interface has at most 15 letters"));
    }
    for (place, byte) in request.ifr_name.iter_mut().zip(interface.bytes()) {
        *place = byte as libc::c_char;
    }
    Ok(request)
}
