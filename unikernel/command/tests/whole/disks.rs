//! Guests and their disks.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};

use crate::support::{Disk, Ran, command, run_disk, unikernel, ways};

#[test]
fn requests_end_as_they_should_at_every_edge() {
    for way in ways() {
        let disk = Disk::new(1 << 20);
        let ran = run_disk(way, &disk.block(""), &["edges"]);
        assert_eq!(ran.code, Some(0), "{way:?}: {ran:?}");
        assert!(ran.out.starts_with("the edges are right"), "{way:?}: {ran:?}");
        assert_eq!(std::fs::metadata(disk.path()).unwrap().len(), 1 << 20, "{way:?}");
    }
}

#[test]
fn a_disk_is_what_it_is_given_as() {
    for way in ways() {
        let disk = Disk::new(4096 + 100);
        let shape = |more: &str| run_disk(way, &disk.block(more), &["shape"]).out;
        assert_eq!(shape(""), "8 blocks of 512, read only false, writeback\n", "{way:?}");
        assert_eq!(shape(",ro"), "8 blocks of 512, read only true, writeback\n", "{way:?}");
        assert_eq!(shape(",sync=unsafe"), "8 blocks of 512, read only false, unsafe\n", "{way:?}");
        assert_eq!(run_disk(way, &disk.block(",ro"), &["write", "0", "7"]).out, "Err(ReadOnly)\n", "{way:?}");
        assert_eq!(run_disk(way, &disk.block(""), &["write", "7", "9"]).out, "Ok(())\n", "{way:?}");
        assert_eq!(run_disk(way, &disk.block(",ro"), &["read", "7"]).out, "Ok(()) 4608\n", "{way:?}");
        assert_eq!(run_disk(way, &disk.block(""), &["write", "8", "9"]).out, "Err(Range)\n", "{way:?}");
    }
}

/// A file that is cut while the guest has it: the guest is told, and goes on.
#[test]
fn what_the_host_cannot_read_is_a_status() {
    for way in ways() {
        let disk = Disk::new(1 << 20);
        let mut command = command("disk", way, &disk.block(""));
        command.args(["--", "until"]).stdout(Stdio::piped());
        let mut child = command.spawn().unwrap();
        let mut out = BufReader::new(child.stdout.take().unwrap()).lines();
        assert_eq!(out.next().unwrap().unwrap(), "reading", "{way:?}");
        std::fs::File::options().write(true).open(disk.path()).unwrap().set_len(4096).unwrap();
        assert_eq!(out.next().unwrap().unwrap(), "Io, and then Ok(())", "{way:?}");
        assert!(child.wait().unwrap().success(), "{way:?}");
    }
}

/// So does one for whom there is no room, or whom the host allows no such file.
#[test]
fn what_has_no_room_on_the_host_is_a_status() {
    for way in ways() {
        let disk = Disk::new(1 << 20);
        let run = command("disk", way, &disk.block(""));
        let mut limited = Command::new("sh");
        limited.args(["-c", "ulimit -f 64 && exec \"$@\"", "sh"]).arg(run.get_program()).args(run.get_args());
        let ran: Ran = limited.args(["--", "write", "2000", "7"]).output().unwrap().into();
        assert_eq!((ran.code, &*ran.out), (Some(0), "Err(NoSpace)\n"), "{way:?}: {ran:?}");
    }
}

#[test]
fn files_outlive_the_guest_and_are_seen_from_the_host() {
    for way in ways() {
        let disk = Disk::new(0);
        let path = disk.path().to_str().unwrap();
        let command = |arguments: &[&str]| {
            let output = unikernel().args(arguments).output().unwrap();
            assert!(output.status.success(), "{way:?} {arguments:?}: {}", String::from_utf8_lossy(&output.stderr));
            String::from_utf8(output.stdout).unwrap()
        };
        command(&["mkdisk", path, "--size", "4M", "--force"]);
        assert_eq!(run_disk(way, &disk.block(""), &["files", "put", "a/b", "what I know"]).code, Some(0), "{way:?}");
        assert_eq!(run_disk(way, &disk.block(""), &["files", "get", "a/b"]).out, "what I know\n", "{way:?}");
        assert_eq!(command(&["cat", path, "a/b"]), "what I know");
        assert!(command(&["ls", path]).ends_with("  a/b\n"));
        assert!(command(&["fsck", path]).contains("1 files of 11 bytes"));
        let none = run_disk(way, &disk.block(""), &["files", "get", "c"]);
        assert_eq!((none.code, none.error.contains("there is no file \"c\"")), (Some(1), true), "{way:?}: {none:?}");
    }
}

#[test]
fn what_is_wrong_with_a_disk_is_said() {
    let said = |block: &str| {
        let ran = run_disk(("spt", "calls"), block, &["shape"]);
        assert_eq!(ran.code, Some(125), "{ran:?}");
        ran.error
    };
    assert!(said("data=/nowhere/x.img").contains("/nowhere/x.img does not exist. `unikernel mkdisk"));
    assert!(said("data=/tmp").contains("neither a file nor a block device"));
    let disk = Disk::new(100);
    assert!(said(&disk.block("")).contains("has 100 bytes"));
    let large = Disk::new(1 << 20);
    assert!(said(&large.block("").replace("data=", "other=")).contains("needs the block device \"data\""));
    let locked = std::fs::File::options().write(true).open(large.path()).unwrap();
    locked.lock().unwrap();
    assert!(said(&large.block("")).contains("is in use by another guest"));
}

/// What a disk holds is lost when it is made anew, and for no other reason.
#[test]
fn a_disk_that_cannot_be_made_anew_is_as_it_was() {
    let disk = Disk::new(1 << 20);
    std::fs::write(disk.path(), [7; 1 << 20]).unwrap();
    let made = |more: &[&str]| {
        let ran: Ran = unikernel().arg("mkdisk").arg(disk.path()).args(more).output().unwrap().into();
        let is_same = std::fs::read(disk.path()).unwrap() == [7; 1 << 20];
        (ran.code, is_same, ran.error)
    };
    let refused = |more: &[&str], why: &str| {
        let (code, is_same, said) = made(more);
        assert!(code == Some(125) && is_same && said.contains(why), "{more:?}: {code:?} {is_same} {said}");
    };
    refused(&["--size", "1M"], "--force makes a disk of it");
    refused(&["--size", "200K", "--force"], "204800 bytes are too few");
    let guest = std::fs::File::open(disk.path()).unwrap();
    guest.lock().unwrap();
    refused(&["--size", "1M", "--force"], "is in use by a guest");
    drop(guest);
    assert_eq!(made(&["--size", "1M", "--force"]).0, Some(0));
}

/// While both sides look, requests leave the guest for nothing; a call each is left for.
#[test]
fn a_request_in_a_polled_ring_takes_no_exit() {
    for way in ways().filter(|(monitor, interface)| *monitor == "hvt" && *interface != "blocks") {
        let disk = Disk::new(1 << 20);
        let mut command = command("disk", way, &disk.block(""));
        let ran: Ran = command.args(["--poll", "5000000", "--json", "--", "edges"]).output().unwrap().into();
        let told: serde_json::Value = serde_json::from_str(ran.error.lines().last().unwrap()).unwrap();
        let number = |value: &serde_json::Value| value.as_u64().unwrap();
        let (exits, of) = (&told["exits"], &told["devices"][0]);
        let requests = number(&of["reads"]) + number(&of["writes"]) + number(&of["flushes"]);
        assert!(requests > 50, "{way:?}: {ran:?}");
        if way.1 == "calls" {
            assert!(number(&exits["block"]) >= requests, "{way:?}: {ran:?}");
        } else {
            assert_eq!((number(&exits["block"]), number(&exits["wait"])), (0, 0), "{way:?}: {ran:?}");
            // What it said, and its end.
            assert!(number(&exits["all"]) < 10, "{way:?}: {ran:?}");
        }
    }
}

#[test]
fn each_request_that_the_monitor_sees_is_traced() {
    for way in ways().filter(|way| *way != ("spt", "calls") && *way != ("spt", "blocks")) {
        let (disk, trace) = (Disk::new(1 << 20), Disk::new(0));
        let mut run = command("disk", way, &disk.block(""));
        run.arg("--trace").arg(trace.path());
        let ran: Ran = run.args(["--json", "--", "edges"]).output().unwrap().into();
        assert_eq!(ran.code, Some(0), "{way:?}: {ran:?}");
        let told: serde_json::Value = serde_json::from_str(ran.error.lines().last().unwrap()).unwrap();
        let lines = std::fs::read_to_string(trace.path()).unwrap();
        let lines: Vec<serde_json::Value> = lines.lines().map(|line| serde_json::from_str(line).unwrap()).collect();
        let count = |op: &str| lines.iter().filter(|line| line["op"].as_str().unwrap().starts_with(op)).count() as u64;
        for (op, name) in [("read", "reads"), ("write", "writes"), ("flush", "flushes")] {
            assert_eq!(Some(count(op)), told["devices"][0][name].as_u64(), "{way:?} {op}");
        }
        assert!(lines.iter().all(|line| line["status"] == "Ok" && line["took_ns"].as_u64().unwrap() > 0), "{way:?}");
        let at: Vec<u64> = lines.iter().map(|line| line["at_ns"].as_u64().unwrap()).collect();
        assert!(at.is_sorted(), "{way:?}");
    }
    let (disk, trace) = (Disk::new(1 << 20), Disk::new(0));
    let mut run = command("disk", ("spt", "calls"), &disk.block(""));
    let ran: Ran = run.arg("--trace").arg(trace.path()).output().unwrap().into();
    assert!(ran.code == Some(125) && ran.error.contains("no request can be traced"), "{ran:?}");
}
