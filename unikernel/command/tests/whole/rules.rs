//! What a guest may not do.

use crate::support::{Disk, Ran, monitors, run_plain, run_with, ways, with_rings};

/// Each ends the guest with its own code and a message that says what and where, and nothing of it happens.
#[test]
fn memory_that_it_has_not_ends_it() {
    for monitor in monitors() {
        for what in ["null", "below", "monitor", "behind", "boot", "code", "constant", "execute", "stack"] {
            // Under spt the guest may see what is in the monitor's pages: the stack on which it is told that it is ended.
            if (*monitor, what) == ("spt", "monitor") {
                continue;
            }
            let ran = run_plain(monitor, &[what]);
            assert_eq!(ran.code, Some(102), "{monitor} {what}: {ran:?}");
            assert!(ran.error.contains("memory") && ran.out.is_empty(), "{monitor} {what}: {ran:?}");
        }
        let ran = run_plain(monitor, &["null"]);
        assert!(ran.error.contains("accessed memory at 0x8 that it has not, in "), "{monitor}: {ran:?}");
    }
}

#[test]
fn what_the_processor_refuses_ends_it() {
    for monitor in monitors() {
        for (what, said) in [("divide", "divided by zero"), ("instruction", "no instruction")] {
            let ran = run_plain(monitor, &[what]);
            assert_eq!(ran.code, Some(102), "{monitor} {what}: {ran:?}");
            assert!(ran.error.contains(said), "{monitor} {what}: {ran:?}");
        }
    }
}

/// Under spt every call of Linux but those of the filter is refused, and ends the guest.
#[test]
fn calls_that_it_may_not_make_end_it() {
    // read, open, mmap, mprotect, ioctl, socket, fork, execve, kill, ptrace, openat, seccomp, io_uring_setup, of 32 bits
    for number in ["0", "2", "9", "10", "16", "41", "57", "59", "62", "101", "257", "317", "425", "1073741825"] {
        let ran = run_plain("spt", &["call", number, "0", "0", "0", "0"]);
        assert_eq!(ran.code, Some(103), "{number}: {ran:?}");
        assert!(ran.error.contains(&format!("the system call {number}")) && ran.out.is_empty(), "{number}: {ran:?}");
    }
    // To a file that is not the console.
    assert_eq!(run_plain("spt", &["call", "1", "3", "0", "0"]).code, Some(103));
    assert_eq!(run_plain("spt", &["call", "17", "3", "0", "0"]).code, Some(103));
    // There are no system calls under hvt.
    for monitor in monitors().iter().filter(|monitor| **monitor == "hvt") {
        assert_eq!(run_plain(monitor, &["call", "1"]).code, Some(102));
    }
}

/// What a guest that keeps to no rule can put into a ring: a status, and the monitor goes on; or the end of the guest.
#[test]
fn requests_that_make_no_sense_get_a_status() {
    // Past the page cache others make no sense either, and they end in any order.
    for way in with_rings().filter(|(_, interface)| *interface == "rings") {
        let disk = Disk::new(1 << 20);
        let ran = run_with("hostile", way, &disk.block(""), &["requests"]);
        assert_eq!(ran.code, Some(0), "{way:?}: {ran:?}");
        assert!(ran.out.ends_with("every request got its status\n"), "{way:?}: {ran:?}");
    }
}

#[test]
fn a_ring_that_is_broken_ends_the_guest() {
    for way in with_rings() {
        for what in ["jump", "back"] {
            let disk = Disk::new(1 << 20);
            let ran = run_with("hostile", way, &disk.block(""), &[what]);
            // Not after half a minute, when the guest ends by itself.
            assert_eq!((ran.code, ran.out.as_str()), (Some(103), ""), "{way:?} {what}: {ran:?}");
        }
        let disk = Disk::new(1 << 20);
        assert_eq!(run_with("hostile", way, &disk.block(""), &["storm"]).code, Some(0), "{way:?}");
    }
}

/// Calls to the monitor under hvt whose arguments are none.
#[test]
fn calls_that_make_no_sense_end_the_guest() {
    for way in ways().filter(|(monitor, _)| *monitor == "hvt") {
        let disk = Disk::new(1 << 20);
        let run = |what: &str| -> Ran { run_with("hostile", way, &disk.block(""), &[what]) };
        for what in ["place", "console-nowhere", "console-much", "argument-nowhere"] {
            let ran = run(what);
            assert_eq!(ran.code, Some(103), "{way:?} {what}: {ran:?}");
        }
        for what in ["hole", "halt", "tables", "port", "in"] {
            let ran = run(what);
            assert_eq!(ran.code, Some(102), "{way:?} {what}: {ran:?}");
        }
    }
}
