//! `kizami-probe keep`: does what has to be done once the lab has ended, in whatever way.
//!
//! The lab writes one line, a [`Keep`], on standard input, and holds that pipe open for as long as things are needed. The
//! kernel closes it when the lab ends, also by `kill -9`. The keeper is in a session of its own and ignores the signals
//! that a terminal sends, so that Ctrl-C, a closed terminal and a killed process group do not end it.

use std::ffi::CString;
use std::fs::{self, File};
use std::io::{self, BufRead, Read, Write};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use kizami_protocol::Keep;

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
    }
    for folder in &keep.folders {
        problems.extend(remove(folder).err().map(|e| format!("could not remove {}: {e}", folder.display())));
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

/// Removes a folder, after what is mounted in it was taken away.
fn remove(folder: &Path) -> io::Result<()> {
    for point in mounts_in(folder, &fs::read_to_string("/proc/self/mountinfo").unwrap_or_default()) {
        if let Ok(point) = CString::new(point.as_os_str().as_bytes()) {
            // SAFETY: a path that ends in NUL. What cannot be taken away keeps the folder, and that is told.
            unsafe { libc::umount2(point.as_ptr(), libc::MNT_DETACH) };
        }
    }
    match fs::remove_dir_all(folder) {
        Err(e) if e.kind() != io::ErrorKind::NotFound => Err(e),
        _ => Ok(()),
    }
}

/// Where something is mounted in `folder`, the innermost first, by a table as in proc(5).
fn mounts_in(folder: &Path, table: &str) -> Vec<PathBuf> {
    let point = |line: &str| line.split(' ').nth(4).map(|point| PathBuf::from(unescaped(point)));
    let mut points: Vec<PathBuf> = table.lines().filter_map(point).filter(|p| p.starts_with(folder)).collect();
    points.reverse();
    points
}

/// The kernel writes a blank in a path as `\040`.
fn unescaped(path: &str) -> String {
    path.replace("\\040", " ").replace("\\011", "\t").replace("\\012", "\n").replace("\\134", "\\")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_mounted_in_a_folder_is_found_the_innermost_first() {
        let table = "22 1 0:20 / / rw - ext4 /dev/a rw\n\
                     30 22 0:31 / /tmp/a\\040b rw - tmpfs none rw\n\
                     31 30 0:32 / /tmp/a\\040b/c rw - overlay none rw\n\
                     32 22 0:33 / /tmp/abc rw - tmpfs none rw\n";
        let found = mounts_in(Path::new("/tmp/a b"), table);
        assert_eq!(found, [PathBuf::from("/tmp/a b/c"), PathBuf::from("/tmp/a b")]);
    }
}
