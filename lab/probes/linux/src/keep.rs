//! `kizami-probe keep`: does what has to be done once the lab has ended, in whatever way.
//!
//! The lab writes one line, a [`Keep`], on standard input, and holds that pipe open for as long as things are needed. The
//! kernel closes it when the lab ends, also by `kill -9`. The keeper is in a session of its own and ignores the signals
//! that a terminal sends, so that Ctrl-C, a closed terminal and a killed process group do not end it.

use std::fs::File;
use std::io::{self, BufRead, Read, Write};
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::Keep;

use crate::remains;

/// How long each step may take.
const PATIENCE: Duration = Duration::from_secs(20);

/// The whole life of a keeper. What could not be done is said on standard error.
pub fn main() -> Result<(), String> {
    // SAFETY: the calls take numbers; SIG_IGN runs no code of ours. setsid fails only for the leader of a group, which
    // a child that was just started is not.
    unsafe {
        libc::setsid();
        for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGPIPE] {
            libc::signal(signal, libc::SIG_IGN);
        }
    }
    let mut line = String::new();
    let mut stdin = io::stdin().lock();
    stdin.read_line(&mut line).map_err(|e| format!("could not read what is to be kept: {e}"))?;
    let keep: Keep = serde_json::from_str(&line).map_err(|e| format!("what is to be kept cannot be read: {e}"))?;
    let daemon = match keep.daemon.as_slice() {
        [] => None,
        words => {
            let started = start(words, keep.folders.first());
            Some(started.map_err(|e| format!("could not start {}: {e}", words.join(" ")))?)
        }
    };
    // Whether or not the lab still listens, there is only one thing to do from here on.
    let mut out = io::stdout();
    let _ = writeln!(out, "ready").and_then(|()| out.flush());
    let mut byte = [0];
    while !matches!(stdin.read(&mut byte), Ok(0) | Err(_)) {}

    let run = keep.run.iter().map(|words| run(words).map_err(|e| format!("{}: {e}", words.join(" "))));
    let mut problems: Vec<String> = run.filter_map(Result::err).collect();
    if let Some(daemon) = daemon {
        end(daemon);
        // One that was killed has ended nothing of what it started.
        remains::kill_what_names(&keep.folders);
    }
    for folder in &keep.folders {
        let removed = remains::remove_folder(folder);
        problems.extend(removed.err().map(|e| format!("could not remove {}: {e}", folder.display())));
    }
    if let Some(name) = &keep.cgroup {
        problems.extend(remains::remove_cgroup(name).err());
    }
    if problems.is_empty() { Ok(()) } else { Err(problems.join("; ")) }
}

fn command(words: &[String]) -> Command {
    let mut command = Command::new(words.first().map_or("", String::as_str));
    command.args(&words[1.min(words.len())..]).stdin(Stdio::null()).stdout(Stdio::null());
    // What this process ignores would be ignored there too.
    // SAFETY: between fork and exec there are system calls that take numbers.
    unsafe {
        command.pre_exec(|| {
            for signal in [libc::SIGINT, libc::SIGTERM, libc::SIGHUP, libc::SIGQUIT, libc::SIGTSTP, libc::SIGPIPE] {
                libc::signal(signal, libc::SIG_DFL);
            }
            Ok(())
        });
    }
    command
}

fn start(words: &[String], folder: Option<&PathBuf>) -> io::Result<Child> {
    let log = folder.map(|folder| File::create(folder.join("log"))).transpose()?;
    command(words).stderr(log.map_or_else(Stdio::null, Stdio::from)).process_group(0).spawn()
}

/// Runs a program to its end. One that says that there is nothing to remove is no failure of ours, so only a program that
/// could not be run, or did not end, is.
fn run(words: &[String]) -> io::Result<()> {
    let mut child = command(words).stderr(Stdio::null()).spawn()?;
    if ended(&mut child, PATIENCE) {
        return Ok(());
    }
    let _ = child.kill();
    let _ = child.wait();
    Err(io::Error::other(format!("did not end within {} s", PATIENCE.as_secs())))
}

/// Asks it to end, and kills its group if it does not.
fn end(mut daemon: Child) {
    let group = -(daemon.id() as libc::pid_t);
    // SAFETY: the child leads this group and was not reaped yet, so the number is its own.
    unsafe { libc::kill(group.abs(), libc::SIGTERM) };
    if !ended(&mut daemon, PATIENCE) {
        // SAFETY: as above.
        unsafe { libc::kill(group, libc::SIGKILL) };
        let _ = daemon.wait();
    }
}

fn ended(child: &mut Child, patience: Duration) -> bool {
    let begun = Instant::now();
    loop {
        match child.try_wait() {
            Ok(None) if begun.elapsed() < patience => thread::sleep(Duration::from_millis(2)),
            Ok(None) => return false,
            Ok(Some(_)) | Err(_) => return true,
        }
    }
}
