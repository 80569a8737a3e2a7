//! A flush of the guest is one of the host, seen from outside.

use std::process::Command;

use crate::support::{Disk, command, skipped, ways};

/// How often the host's kernel was asked to make a file durable while that command ran; `None` if it cannot be seen here.
fn syncs_of(traced: &Command) -> Option<usize> {
    let told = Disk::new(0);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-e", "trace=fsync,fdatasync,sync_file_range", "-o"]).arg(told.path()).arg("--");
    strace.arg(traced.get_program()).args(traced.get_args());
    let ran = strace.output().ok()?;
    let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if error.contains("PTRACE") || error.contains("ptrace") {
        return None;
    }
    assert_eq!(out, "Ok(())\n", "{error}");
    let text = std::fs::read_to_string(told.path()).unwrap();
    // One that was interrupted in the trace is told twice, the second time as resumed.
    Some(text.lines().filter(|line| line.contains("sync(") || line.contains("sync_file_range(")).count())
}

#[test]
fn a_flush_of_the_guest_is_one_of_the_host_where_that_is_promised_and_none_elsewhere() {
    // What io_uring does is no call; the lab counts what reaches the disk.
    for way in ways().filter(|(_, interface)| *interface != "uring") {
        for (sync, expected) in [("writeback", 1), ("writethrough", 0), ("unsafe", 0)] {
            let disk = Disk::new(1 << 20);
            let run = |what: &[&str]| {
                let mut run = command("disk", way, &disk.block(&format!(",sync={sync}")));
                run.arg("--").args(what);
                syncs_of(&run)
            };
            let Some(syncs) = run(&["flush"]) else {
                return skipped("kizami-unikernel-command: the syncs of the host: strace cannot trace here");
            };
            assert_eq!(syncs, expected, "{way:?} {sync}");
            assert_eq!(run(&["write", "1", "7"]), Some(0), "{way:?} {sync}");
        }
    }
}
