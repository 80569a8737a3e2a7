//! A flush of the guest is one of the host, seen from outside.

use std::process::Command;

use crate::support::{Disk, command, skipped, ways};

/// What a command said, and what was traced of it with these expressions; `None` if nothing can be traced here.
fn traced(command: &Command, expressions: &[&str]) -> Option<(String, String)> {
    let told = Disk::new(0);
    let mut strace = Command::new("strace");
    strace.args(["-f", "-q", "-o"]).arg(told.path());
    expressions.iter().for_each(|expression| _ = strace.args(["-e", expression]));
    strace.arg("--").arg(command.get_program()).args(command.get_args());
    let ran = strace.output().ok()?;
    let (out, error) = (String::from_utf8_lossy(&ran.stdout), String::from_utf8_lossy(&ran.stderr));
    if error.contains("PTRACE") || error.contains("ptrace") {
        return None;
    }
    assert!(ran.status.success(), "{error}");
    Some((out.into_owned(), std::fs::read_to_string(told.path()).unwrap()))
}

/// How often the host's kernel was asked to make a file durable while that command ran; `None` if it cannot be seen here.
fn syncs_of(command: &Command) -> Option<usize> {
    let (out, text) = traced(command, &["trace=fsync,fdatasync,sync_file_range"])?;
    assert_eq!(out, "Ok(())\n");
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

/// The host tells of a failed flush once, and would let the next one through. Where the guest asks the kernel itself its filter does not let
/// through what strace makes of a call: there it is the library that knows, which unikernel/guests/tests/linux.rs tests.
#[test]
fn after_a_failed_flush_nothing_is_written_any_more() {
    for way in ways().filter(|(monitor, interface)| *interface == "rings" || (*monitor, *interface) == ("hvt", "calls"))
    {
        let disk = Disk::new(1 << 20);
        let mut run = command("disk", way, &disk.block(""));
        run.args(["--", "failing"]);
        let Some((out, _)) = traced(&run, &["trace=fdatasync", "inject=fdatasync:error=EIO:when=1"]) else {
            return skipped("kizami-unikernel-command: a failed flush: strace cannot trace here");
        };
        assert_eq!(out, "[Err(Failed), Err(Failed), Err(Failed), Err(Failed)], Ok(())\n", "{way:?}");
        assert!(std::fs::read(disk.path()).unwrap().iter().all(|byte| *byte == 0), "{way:?}: it was written to");
    }
}
