//! `kizami-probe guest`: the agent in a virtual machine. It starts a fresh probe for each request of the lab, and passes on
//! what that reports.
//!
//! It talks to the lab in frames, over the port of a virtio console where there is one and over the console's line
//! otherwise. A probe records into memory that the machine shares with the lab (the second region of QEMU's ivshmem
//! device). Where there is none the agent makes an arena of its own, and sends its rows while the probe runs.

use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::Ipv4Addr;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::Ordering;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::thread;
use std::time::Duration;

use init::{Kernel, System};
use kizami_protocol::frames::{Decoder, Encoder, Received};
use kizami_protocol::{ARENA_FD, Arena, FromGuest, PartSize, Report, Request, ToGuest, VERSION, ending};
use kizami_settings::Root;
use kizami_workloads::clock_ns;

use crate::domain;
use crate::facts::{self, LINK};
use crate::line::{self, device, open_both};

/// The name that the lab gives to its port.
const PORT: &str = "kizami";
/// How often rows are sent that lie in no shared memory.
const SEND_ROWS: Duration = Duration::from_secs(1);
/// Cells of one frame of rows.
const PIECE: u64 = 8 << 10;
/// How much of a probe's error output is kept: its end.
const SAID: usize = 4096;
const SCRATCH: &str = "/tmp/scratch";

/// What the agent waits for.
enum Event {
    Asked(ToGuest),
    /// A line of the probe's.
    Line(String),
    /// The probe wrote its last.
    Silent,
    /// Something about the other domain.
    Domain(FromGuest),
    /// The lab is gone, or cannot be understood.
    Over(String),
}

/// Where the first process of an image tells when it began.
const INIT_BEGAN: &str = "INIT_BEGAN_NS";

/// The whole life of an agent that began at `first`: until the machine ends.
pub fn main(first: i64) -> Result<(), String> {
    let port = open_port()?;
    let reader = port.try_clone().map_err(|e| format!("could not open the port twice: {e}"))?;
    let (sender, events) = channel();
    let from_lab = sender.clone();
    thread::spawn(move || read_frames(reader, &from_lab));
    let shared = shared_memory();
    let mut agent = Agent { port, encoder: Encoder::default(), shared, sender };
    agent.say(&hello(agent.shared.is_some(), first))?;
    loop {
        match events.recv() {
            Ok(Event::Asked(ToGuest::Start { request, address, unix_nanoseconds, parts })) => {
                set_clock(unix_nanoseconds);
                let linked = address.map_or(Ok(()), link);
                let ended = match linked.and_then(|()| agent.run(&request, parts.as_deref(), &events)) {
                    Ok(ended) => ended,
                    Err(how) => FromGuest::Ended { how, said: String::new() },
                };
                agent.say(&ended)?;
            }
            Ok(Event::Asked(ToGuest::Domain(asked))) => {
                let about = agent.sender.clone();
                domain::start(asked, move |message| drop(about.send(Event::Domain(message))));
            }
            Ok(Event::Asked(ToGuest::AreYouThere {})) => agent.say(&FromGuest::Here {})?,
            Ok(Event::Domain(message)) => agent.say(&message)?,
            Ok(Event::Over(why)) => return Err(why),
            Ok(_) => {}
            Err(_) => return Err("the port was closed".into()),
        }
    }
}

struct Agent {
    port: File,
    encoder: Encoder,
    shared: Option<PathBuf>,
    sender: Sender<Event>,
}

impl Agent {
    fn say(&mut self, message: &FromGuest) -> Result<(), String> {
        let content = serde_json::to_vec(message).map_err(|e| e.to_string())?;
        let frame = self.encoder.frame(&content)?;
        self.port.write_all(&frame).map_err(|e| format!("could not write to the lab: {e}"))
    }

    fn run(
        &mut self,
        request: &Request,
        parts: Option<&[(usize, u64)]>,
        events: &Receiver<Event>,
    ) -> Result<FromGuest, String> {
        let own = parts.map(|parts| {
            let sizes: Vec<_> = parts.iter().map(|&(columns, rows)| PartSize { columns, rows }).collect();
            Arena::create(&sizes).map_err(|e| format!("the guest has no memory for the samples: {e}"))
        });
        let own = own.transpose()?;
        let given = match (&own, &self.shared) {
            (Some(arena), _) => arena.descriptor().try_clone_to_owned().map_err(|e| e.to_string())?,
            (None, Some(path)) => open_both(path).map_err(|e| format!("{}: {e}", path.display()))?.into(),
            (None, None) => return Err("the guest has no memory that it shares with the lab".into()),
        };
        empty_scratch().map_err(|e| format!("could not make the folder {SCRATCH}: {e}"))?;
        let request = Request { scratch: SCRATCH.into(), ..request.clone() };
        let mut child = start(&given, &request).map_err(|e| format!("could not start a probe in the guest: {e}"))?;
        drop(given);
        let said = self.listen(&mut child);
        let mut sent = Sent::of(own.as_ref());
        let mut silent = false;
        while !silent {
            match events.recv_timeout(SEND_ROWS) {
                Ok(Event::Line(line)) => match Report::parse(&line) {
                    Ok(report @ (Report::Done {} | Report::Failed { .. })) => {
                        self.send_rows(own.as_ref(), &mut sent)?;
                        self.say(&FromGuest::Report(report))?;
                    }
                    Ok(report) => self.say(&FromGuest::Report(report))?,
                    Err(why) => self.say(&FromGuest::Report(Report::Failed { why }))?,
                },
                Ok(Event::Silent) => silent = true,
                Ok(Event::Asked(ToGuest::Stop {})) => {
                    if let Some(arena) = &own {
                        arena.stop().store(true, Ordering::Relaxed);
                    }
                }
                Ok(Event::Asked(ToGuest::AreYouThere {})) => self.say(&FromGuest::Here {})?,
                Ok(Event::Domain(message)) => self.say(&message)?,
                Ok(Event::Asked(ToGuest::Start { .. } | ToGuest::Domain(_))) => {
                    kill(&child);
                    return Err("the lab asked for something else while a probe ran".into());
                }
                Ok(Event::Over(why)) => {
                    kill(&child);
                    return Err(why);
                }
                Err(RecvTimeoutError::Timeout) => self.send_rows(own.as_ref(), &mut sent)?,
                Err(RecvTimeoutError::Disconnected) => silent = true,
            }
        }
        let status = child.wait().map_err(|e| e.to_string())?;
        kill(&child);
        self.send_rows(own.as_ref(), &mut sent)?;
        let said = said.join().unwrap_or_default();
        Ok(FromGuest::Ended { how: ending(status), said })
    }

    /// Reads what the probe writes on threads of their own; what it writes to its standard error is given at its end.
    fn listen(&self, child: &mut Child) -> thread::JoinHandle<String> {
        let sender = self.sender.clone();
        if let Some(stdout) = child.stdout.take() {
            thread::spawn(move || {
                for line in BufReader::new(stdout).lines().map_while(Result::ok).filter(|line| !line.trim().is_empty())
                {
                    let _ = sender.send(Event::Line(line));
                }
                let _ = sender.send(Event::Silent);
            });
        }
        let stderr = child.stderr.take();
        thread::spawn(move || {
            let (mut kept, mut piece) = (Vec::new(), [0; 1024]);
            if let Some(mut stream) = stderr {
                while let Ok(read @ 1..) = stream.read(&mut piece) {
                    kept.extend_from_slice(&piece[..read]);
                    let excess = kept.len().saturating_sub(SAID);
                    kept.drain(..excess);
                }
            }
            String::from_utf8_lossy(&kept).trim().to_owned()
        })
    }

    /// Sends the rows of an arena of the agent's that were not sent.
    fn send_rows(&mut self, arena: Option<&Arena>, sent: &mut Sent) -> Result<(), String> {
        let Some(arena) = arena else { return Ok(()) };
        for part in 0..arena.parts() {
            let columns = arena.columns(part);
            let piece = (PIECE / columns as u64).max(1);
            let complete = arena.rows(part);
            while sent.0[part] < complete {
                let to = (sent.0[part] + piece).min(complete);
                let cells = arena.copy_rows(part, sent.0[part], to);
                let rows = cells.chunks(columns).map(<[u64]>::to_vec).collect();
                self.say(&FromGuest::Report(Report::Rows { part, rows }))?;
                sent.0[part] = to;
            }
        }
        Ok(())
    }
}

/// How many rows of each part were sent.
struct Sent(Vec<u64>);

impl Sent {
    fn of(arena: Option<&Arena>) -> Self {
        Self(vec![0; arena.map_or(0, Arena::parts)])
    }
}

fn start(arena: &OwnedFd, request: &Request) -> io::Result<Child> {
    let given = arena.as_raw_fd();
    let mut command = Command::new("/proc/self/exe");
    command.stdin(Stdio::piped()).stdout(Stdio::piped()).stderr(Stdio::piped()).process_group(0);
    // SAFETY: between fork and exec there are system calls on descriptors of the child's own.
    unsafe {
        command.pre_exec(move || {
            let done =
                if given == ARENA_FD { libc::fcntl(given, libc::F_SETFD, 0) } else { libc::dup2(given, ARENA_FD) };
            if done < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
        });
    }
    let mut child = command.spawn()?;
    if let Some(mut stdin) = child.stdin.take() {
        // A probe that is gone already says why by its end.
        let _ = serde_json::to_vec(request).map_err(io::Error::other).and_then(|text| stdin.write_all(&text));
    }
    Ok(child)
}

/// Ends what is left of a probe's processes.
fn kill(child: &Child) {
    // SAFETY: the call takes numbers; the probe led this group.
    unsafe { libc::kill(-(child.id() as libc::pid_t), libc::SIGKILL) };
}

fn empty_scratch() -> io::Result<()> {
    match fs::remove_dir_all(SCRATCH) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(e),
        _ => {}
    }
    fs::create_dir_all(SCRATCH)
}

fn read_frames(mut port: File, events: &Sender<Event>) {
    let mut decoder = Decoder::default();
    let mut piece = [0; 4096];
    let over = |why: String| {
        let _ = events.send(Event::Over(why));
    };
    loop {
        match port.read(&mut piece) {
            Ok(0) => return over("the lab closed the port".into()),
            Ok(read) => decoder.push(&piece[..read]),
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return over(format!("the port cannot be read: {e}")),
        }
        while let Some(received) = decoder.received() {
            let asked = match received {
                Received::Frame(content) => serde_json::from_slice(&content).map_err(|e| e.to_string()),
                Received::Lost(frames) => Err(format!("{frames} messages of the lab were lost")),
            };
            match asked {
                Ok(asked) => drop(events.send(Event::Asked(asked))),
                Err(why) => return over(format!("the lab cannot be understood: {why}")),
            }
        }
    }
}

/// The port of the lab, or the line of the console, as a stream of bytes.
fn open_port() -> Result<File, String> {
    if let Some(port) = line::port(PORT)? {
        kernel_says(4);
        return Ok(port);
    }
    let lines = ["/dev/hvc0", "/dev/ttyS0", "/dev/ttyAMA0"].map(Path::new);
    let line = lines.into_iter().find(|path| path.exists());
    let line = line.ok_or("this machine has neither a port of the lab nor a serial line")?;
    // What the kernel printed there in the middle of a frame would damage it. A panic is said all the same.
    kernel_says(1);
    line::open(line)
}

/// From here on the kernel prints to its console what is more urgent than this level.
fn kernel_says(level: u8) {
    // Without the right it prints what it did.
    let _ = fs::write("/proc/sys/kernel/printk", level.to_string());
}

/// The file of the memory that QEMU's device for shared memory (ivshmem) has.
fn shared_memory() -> Option<PathBuf> {
    let device = device(&["0x1110"])?;
    // The kernel maps it only when the device answers for its memory.
    let _ = fs::write(device.join("enable"), "1");
    Some(device.join("resource2")).filter(|path| path.exists())
}

fn hello(shared: bool, agent: i64) -> FromGuest {
    let mut facts = kizami_settings::host::describe(&Root::machine());
    facts.extend(facts::of_guest(SCRATCH));
    let init = std::env::var(INIT_BEGAN).ok().and_then(|text| text.parse().ok());
    let (version, cpus) = (VERSION, kizami_settings::cpus::allowed());
    FromGuest::Hello { version, cpus, shared, facts, init, agent, now: clock_ns() as i64 }
}

/// Gives its address to the link out of this machine.
fn link((address, bits): (Ipv4Addr, u8)) -> Result<(), String> {
    let mut kernel = Kernel::new();
    let done = kernel.address(LINK, address, bits).and_then(|()| kernel.up(LINK));
    done.map_err(|e| format!("the guest could not give the address {address}/{bits} to {LINK}: {e}"))
}

/// The guest has no clock of its own that is right.
fn set_clock(unix_nanoseconds: u64) {
    let now = libc::timespec {
        tv_sec: (unix_nanoseconds / 1_000_000_000) as libc::time_t,
        tv_nsec: (unix_nanoseconds % 1_000_000_000) as libc::c_long,
    };
    // SAFETY: the kernel reads a value of ours. Without the right the clock stays as it is.
    unsafe { libc::clock_settime(libc::CLOCK_REALTIME, &raw const now) };
}
