//! The probe of the Linux environments: runs a workload, or a background load, in this process.
//!
//! `kizami-probe` reads a request on its standard input, finds the arena for its samples as descriptor 3, and reports on
//! its standard output. `kizami-probe connect SOCKET` has all three from a socket of the lab. `kizami-probe load NAME FOLDER`
//! is a background load until its standard input ends, `kizami-probe init ARGUMENTS` the first process of a container, which
//! waits for one with these arguments, `kizami-probe partner ADDRESS` does the other half of network workloads for
//! probes elsewhere, `kizami-probe guest` is the agent in a virtual machine, `kizami-probe domain XL DOMAIN FILE` the monitor of a
//! domain of the Xen that it runs on, and `kizami-probe keep` cleans up after the lab. The lab starts it; a person has no use for it.

mod beside;
mod domain;
mod facts;
mod guest;
mod init;
mod keep;
mod line;
mod monitor;
mod remains;

use std::io::{Read, Write};
use std::net::{IpAddr, TcpListener};
use std::os::fd::{AsRawFd, IntoRawFd, RawFd};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::ExitCode;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::time::Duration;

use beside::Beside;
use kizami_protocol::{ARENA_FD, Arena, Report, Request, handover};
use kizami_recording::folder::Effective;
use kizami_settings::{Settings, process};
use kizami_workloads::linux::partner;
use kizami_workloads::window::CountingAllocator;
use kizami_workloads::{Bench, Params, Start, clock_ns, loads};

#[global_allocator]
static ALLOCATOR: CountingAllocator = CountingAllocator;

fn main() -> ExitCode {
    let first = clock_ns() as i64;
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        [] => measure(ARENA_FD, first),
        // Before there is a connection, nobody reads reports.
        ["connect", socket] => match connect(Path::new(socket)) {
            Ok(arena) => measure(arena, first),
            Err(why) => return refuse(&format!("could not take the arena from {socket}: {why}")),
        },
        ["guest"] => match guest::main(first) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(why) => return refuse(&why),
        },
        // As the program that Xen's tools call when the disk of a domain comes and goes.
        ["add"] => match domain::disk_comes() {
            Ok(()) => return ExitCode::SUCCESS,
            Err(why) => return refuse(&why),
        },
        ["remove"] => return ExitCode::SUCCESS,
        ["domain", xl, asked, configured] => match monitor::main(Path::new(xl), asked, Path::new(configured)) {
            Ok(()) => return ExitCode::SUCCESS,
            Err(why) => return refuse(&why),
        },
        ["keep"] => match keep::main() {
            Ok(()) => return ExitCode::SUCCESS,
            Err(why) => return refuse(&why),
        },
        ["init", rest @ ..] => return init::main(rest).unwrap_or_else(|why| refuse(&why)),
        ["load", name, folder] => load(name, Path::new(folder)),
        ["partner", address] => serve(address),
        ["--version"] => {
            println!("kizami-probe {}", env!("CARGO_PKG_VERSION"));
            return ExitCode::SUCCESS;
        }
        _ => {
            eprintln!("kizami-probe is started by kizami. To measure something: kizami run <study|workload>");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(()) => {
            say(&Report::Done {});
            ExitCode::SUCCESS
        }
        Err(why) => {
            say(&Report::Failed { why });
            ExitCode::FAILURE
        }
    }
}

fn refuse(why: &str) -> ExitCode {
    eprintln!("kizami-probe: {why}");
    ExitCode::FAILURE
}

/// The lab's socket takes the place of standard input and output; gives the arena's descriptor.
fn connect(socket: &Path) -> std::io::Result<RawFd> {
    let socket = UnixStream::connect(socket)?;
    let arena = handover::take(&socket)?;
    for standard in [libc::STDIN_FILENO, libc::STDOUT_FILENO] {
        // SAFETY: two descriptors of this process, of which nothing has read or written the second yet.
        if unsafe { libc::dup2(socket.as_raw_fd(), standard) } < 0 {
            return Err(std::io::Error::last_os_error());
        }
    }
    Ok(arena.into_raw_fd())
}

/// One line on standard output. A lab that is gone needs no reports.
fn say(report: &Report) {
    let mut out = std::io::stdout().lock();
    let _ = writeln!(out, "{}", report.line()).and_then(|()| out.flush());
}

fn say_effective(settings: impl IntoIterator<Item = (String, Effective)>) {
    for (setting, Effective { value, as_requested, why }) in settings {
        say(&Report::Effective { setting, value, as_requested, why });
    }
}

/// Does what the request on standard input asks for, into the arena behind descriptor `arena`; this program began at `first`.
fn measure(arena: RawFd, first: i64) -> Result<(), String> {
    // The lab raises the arena's stop flag, which ends the workload in order; the signal is for probes that have none.
    // SAFETY: changes only what this process does with a signal.
    unsafe { libc::signal(libc::SIGTERM, libc::SIG_IGN) };
    let mut text = String::new();
    std::io::stdin().read_to_string(&mut text).map_err(|e| format!("could not read the request: {e}"))?;
    let request: Request = serde_json::from_str(&text).map_err(|e| format!("the request is not one: {e}"))?;
    let workload = kizami_workloads::find(&request.workload)
        .ok_or_else(|| format!("this probe does not know the workload {:?}", request.workload))?;
    let params = Params::new(workload, &request.params).map_err(|(_, why)| why)?;
    let settings = Settings::new(&request.settings).map_err(|(_, why)| why)?;
    let body = workload.linux.ok_or_else(|| format!("{} does not run in a Linux process", workload.name))?;
    let arena = Arena::attach(arena).map_err(|e| format!("could not map the memory for the samples: {e}"))?;
    let recorders: Option<Vec<_>> = (0..arena.parts()).map(|part| arena.recorder(part)).collect();
    let recorders = recorders.ok_or("the memory for the samples was used before")?;

    // Before this process has its settings, which are not theirs.
    let beside = Beside::start(&request.loads, &request.scratch)?;
    say_effective(process::apply(&settings));
    let (pair, still) = clock_pair();
    say(&Report::Fact { name: "clock_pair_ns".into(), value: pair });
    say(&Report::Fact { name: "clock_still_pairs".into(), value: still });
    say(&Report::Fact { name: "program_crc32".into(), value: f64::from(own_checksum()?) });
    say(&Report::Ready {});
    let machine = request.start.machine.map(|machine| [machine.runs, machine.init, machine.agent]);
    let start = Start { began: request.start.began, first, machine };
    let tell = |name: &str, value| say(&Report::Fact { name: name.to_owned(), value });
    let bench = Bench::new(recorders, request.columns, arena.stop(), &request.scratch);
    let mut bench = bench.of_probe(start, request.partner, tell);
    let result = body(&params, &mut bench);
    if let Some((effective, facts)) = beside.stop() {
        say_effective([("load".to_owned(), effective)]);
        facts.into_iter().for_each(|(name, value)| say(&Report::Fact { name, value }));
    }
    say_effective(bench.effective_settings().iter().cloned());
    for (name, value) in bench.facts() {
        say(&Report::Fact { name: name.clone(), value: *value });
    }
    result.map_err(|e| e.to_string())
}

/// The CRC-32 of the program that runs here: it is the same file in every environment, and the recording shows it.
fn own_checksum() -> Result<u32, String> {
    let failed = |e: std::io::Error| format!("could not read the program that runs (/proc/self/exe): {e}");
    let mut file = std::fs::File::open("/proc/self/exe").map_err(failed)?;
    let mut hasher = crc32fast::Hasher::new();
    // On the stack, so that what the workload finds of the heap is what it was before.
    let mut piece = [0; 16 << 10];
    loop {
        match file.read(&mut piece).map_err(failed)? {
            0 => return Ok(hasher.finalize()),
            read => hasher.update(&piece[..read]),
        }
    }
}

/// The median of a thousand clock pairs: what taking the time costs, here and now. And how many of them, one after the other, read the
/// same time twice: a few where a clock counts in steps that are longer than a reading, many where it stands still.
fn clock_pair() -> (f64, f64) {
    let mut pairs = [0u64; 1001];
    for pair in &mut pairs {
        let before = clock_ns();
        *pair = clock_ns() - before;
    }
    let still = pairs.split(|pair| *pair != 0).map(<[u64]>::len).max().unwrap_or(0);
    pairs.sort_unstable();
    (pairs[pairs.len() / 2] as f64, still as f64)
}

/// Does the other half of network workloads for whoever connects to `address`, at a port that it tells, until its input ends.
fn serve(address: &str) -> Result<(), String> {
    let listener = address.parse::<IpAddr>().map_err(std::io::Error::other).and_then(|ip| TcpListener::bind((ip, 0)));
    let listener = listener.map_err(|e| format!("could not listen at {address}: {e}"))?;
    let port = listener.local_addr().map_err(|e| e.to_string())?.port();
    say(&Report::Fact { name: "port".into(), value: port.into() });
    say(&Report::Ready {});
    std::thread::spawn(move || partner::serve(&listener));
    let _ = std::io::stdin().read(&mut [0]);
    Ok(())
}

fn load(name: &str, folder: &Path) -> Result<(), String> {
    let load = loads::find(name).ok_or_else(|| format!("there is no load {name:?}"))?;
    let (stop, work) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicU64::new(0)));
    // The load works on the main thread, because its children are bound to the life of the thread that made them.
    std::thread::spawn({
        let stop = Arc::clone(&stop);
        move || {
            let _ = std::io::stdin().read(&mut [0]);
            stop.store(true, Ordering::Relaxed);
        }
    });
    std::thread::spawn({
        let work = Arc::clone(&work);
        move || {
            while work.load(Ordering::Relaxed) == 0 {
                std::thread::sleep(Duration::from_millis(5));
            }
            say(&Report::Ready {});
        }
    });
    let bench = loads::LoadBench { stop: &stop, work: &work, scratch: folder };
    let result = (load.run)(&bench);
    say(&Report::Fact { name: "operations".into(), value: work.load(Ordering::Relaxed) as f64 });
    result.map_err(|e| e.to_string())
}
