//! Power cuts at every moment of a real guest, by the log that its monitor keeps of what it writes.

use std::path::PathBuf;

use unikernel_crash::{Event, Trace};
use unikernel_files::{Files, Memory, check};

use crate::support::{Disk, Ran, command, guest, monitors, unikernel, ways};

const READINGS: usize = 30;
/// Bytes of a reading.
const READING: u64 = 16;

/// What a guest did to its disk.
fn traced(name: &str, run: impl Fn(&str) -> Ran) -> Trace {
    let disk = Disk::new(0);
    let made = unikernel().arg("mkdisk").arg(disk.path()).args(["--size", "1M", "--force"]).output().unwrap();
    assert!(made.status.success());
    let before = std::fs::read(disk.path()).unwrap();
    let log = Log(disk.path().with_extension("log"));
    let ran = run(&disk.block(&format!(",log={}", log.0.display())));
    assert_eq!(ran.code, Some(0), "{name}: {ran:?}");
    let trace = Trace::of_log(before, &std::fs::read(&log.0).unwrap()).unwrap();
    // Everything that is on the disk now is in the log.
    let last = trace.images(trace.events.len(), 2, &mut fastrand::Rng::with_seed(1)).last().unwrap();
    assert!(last == std::fs::read(disk.path()).unwrap(), "{name}");
    trace
}

struct Log(PathBuf);

impl Drop for Log {
    fn drop(&mut self) {
        let _ = std::fs::remove_file(&self.0);
    }
}

/// After a power cut at any moment there are as many readings as had been acknowledged, or one more.
fn holds(name: &str, trace: &Trace) {
    let mut random = fastrand::Rng::with_seed(2);
    let flushes = trace.events.iter().filter(|event| **event == Event::Flush).count();
    // Others may come before the first reading.
    assert!(flushes >= READINGS, "{name}: {flushes} flushes");
    let mut images = 0;
    for happened in 0..=trace.events.len() {
        let flushed = trace.events[..happened].iter().filter(|event| **event == Event::Flush).count();
        let stored = (flushed + READINGS).saturating_sub(flushes) as u64;
        for image in trace.images(happened, 60, &mut random) {
            images += 1;
            let mut disk = Memory::from_bytes(512, image);
            assert_eq!(check(&mut disk).unwrap().problems, Vec::<String>::new(), "{name}, {happened} events");
            let mut files = Files::mount(disk).unwrap();
            let there = files.open("readings").map_or(0, |log| {
                let content = files.read(log).unwrap();
                assert!(content.chunks(READING as usize).all(|reading| reading[8..] != [0; 8]), "{name}: torn");
                content.len() as u64
            });
            assert!(
                there.is_multiple_of(READING) && (stored..=stored + 1).contains(&(there / READING)),
                "{name}, {happened} events: {there} bytes, {stored} readings stored"
            );
        }
    }
    assert!(images > 100, "{name}: {images}");
}

#[test]
fn what_was_acknowledged_is_there_after_a_power_cut_at_any_moment() {
    let readings = READINGS.to_string();
    for way in monitors().iter().flat_map(|monitor| [(*monitor, "rings"), (*monitor, "calls")]) {
        if way == ("spt", "calls") {
            continue;
        }
        let name = format!("{way:?}");
        let trace =
            traced(&name, |block| command("sensor-log", way, block).args(["--", &readings]).output().unwrap().into());
        holds(&name, &trace);
    }
}

/// The same file under QEMU, whose own log it is then.
#[test]
fn and_in_qemu() {
    if crate::machines::machines().is_empty() {
        return;
    }
    let trace = traced("qemu", |block| {
        let mut command = unikernel();
        command.arg("run").arg(guest("sensor-log")).args(["--monitor", "qemu", "--block", block, "--"]);
        command.arg(READINGS.to_string()).output().unwrap().into()
    });
    holds("qemu", &trace);
}

/// Where the guest asks the kernel itself nobody sees what it writes.
#[test]
fn where_no_log_can_be_kept_that_is_said() {
    let disk = Disk::new(1 << 20);
    let ran: Ran = command("disk", ("spt", "calls"), &disk.block(",log=/tmp/none")).output().unwrap().into();
    assert!(ran.code == Some(125) && ran.error.contains("--interface rings"), "{ran:?}");
    let there = Disk::new(10);
    for way in ways().filter(|(monitor, interface)| *interface == "rings" || (*monitor, *interface) == ("hvt", "calls"))
    {
        let block = disk.block(&format!(",log={}", there.path().display()));
        let ran: Ran = command("disk", way, &block).output().unwrap().into();
        assert!(ran.code == Some(125) && ran.error.contains("a log takes a new file"), "{way:?}: {ran:?}");
        assert_eq!(std::fs::metadata(there.path()).unwrap().len(), 10);
    }
}

/// A log says of each write whether it was durable when it was done.
#[test]
fn a_log_knows_what_a_write_was_worth() {
    const FUA: u64 = 2;
    for way in [("spt", "rings"), ("hvt", "calls"), ("hvt", "rings")] {
        if !monitors().contains(&way.0) {
            continue;
        }
        for (sync, flags) in [("writeback", 0), ("writethrough", FUA), ("unsafe", 0)] {
            let disk = Disk::new(1 << 20);
            let log = Log(disk.path().with_extension("log"));
            let block = disk.block(&format!(",sync={sync},log={}", log.0.display()));
            let ran: Ran = command("disk", way, &block).args(["--", "write", "3", "7"]).output().unwrap().into();
            assert_eq!(ran.out, "Ok(())\n", "{way:?} {sync}: {ran:?}");
            let log = std::fs::read(&log.0).unwrap();
            let entry = log[512..].first_chunk::<24>().unwrap();
            let numbers: Vec<u64> =
                entry.chunks(8).map(|word| u64::from_le_bytes(*word.first_chunk().unwrap())).collect();
            assert_eq!(numbers, [3, 1, flags], "{way:?} {sync}: the sector, how many, what it was worth");
        }
    }
}
