//! The same guests in a machine of QEMU's, which is emulated.

use std::io::{BufRead as _, BufReader};
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::support::{Disk, Ran, guest, monitors, skipped, unikernel};

/// The machines; none where there is no QEMU.
pub fn machines() -> &'static [&'static str] {
    match Command::new("qemu-system-x86_64").arg("--version").output() {
        Ok(_) => &["microvm", "pc", "q35"],
        Err(why) => {
            skipped(&format!("kizami-unikernel-command: guests in QEMU: qemu-system-x86_64 cannot be started ({why})"));
            &[]
        }
    }
}

/// That it is not there is told with the monitors.
fn has_kvm() -> bool {
    monitors().contains(&"hvt")
}

fn run(name: &'static str, machine: &str, options: &[&str], arguments: &[&str]) -> Ran {
    let mut command = unikernel();
    command.arg("run").arg(guest(name)).args(["--monitor", "qemu", "--machine", machine]).args(options);
    command.arg("--").args(arguments).output().unwrap().into()
}

#[test]
fn a_guest_is_told_what_it_is_and_its_end_is_heard() {
    for machine in machines() {
        let ran =
            run("plain", machine, &["--env", "A=b c"], &["hello", "two words", "100 %", "virtio_mmio.device=1@2"]);
        let said = "hello, two words and 100 % and virtio_mmio.device=1@2\n";
        assert_eq!((ran.code, ran.out.as_str(), ran.error.as_str()), (Some(0), said, ""), "{machine}: {ran:?}");
        let ran = run("plain", machine, &["--env", "A=b c"], &["variable", "A"]);
        assert_eq!(ran.out, "Some(\"b c\")\n", "{machine}: {ran:?}");
        let ran = run("plain", machine, &[], &["exit", "200"]);
        assert_eq!(ran.code, Some(200), "{machine}: {ran:?}");
        let ran = run("plain", machine, &[], &["panic", "x"]);
        assert!(ran.code == Some(101) && ran.error.contains("as I was told: x"), "{machine}: {ran:?}");
    }
}

/// KVM that is made of software stops at an instruction that it does not know, and QEMU waits for somebody to look at it then.
#[test]
fn on_kvm_it_runs_or_that_it_cannot_is_said() {
    for machine in machines().iter().filter(|_| has_kvm()) {
        let ran = run("plain", machine, &["--accel", "kvm"], &["exit", "9"]);
        let is_told = ran.code == Some(125) && ran.error.contains("QEMU stopped the machine");
        assert!(ran.code == Some(9) || is_told, "{machine}: {ran:?}");
    }
}

#[test]
fn it_has_time_memory_and_numbers() {
    for machine in machines() {
        let ran = run("plain", machine, &[], &["time"]);
        let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
        let told: u64 = ran.out.trim().parse().unwrap_or_else(|_| panic!("{machine}: {ran:?}"));
        assert!(since.abs_diff(told) < 60, "{machine}: {told} of {since}");
    }
    for machine in machines().iter().take(1) {
        assert_eq!(run("plain", machine, &[], &["memory"]).out, "memory is right\n", "{machine}");
        assert_eq!(run("plain", machine, &[], &["float"]).out, "1.596163\n", "{machine}");
    }
}

/// Nobody tells such a machine how fast its counter counts: it has found out.
#[test]
fn a_second_of_it_is_a_second() {
    for machine in machines().iter().take(1) {
        let mut command = unikernel();
        command.arg("run").arg(guest("plain")).args(["--monitor", "qemu", "--machine", machine, "--", "second"]);
        let mut child = command.stdout(Stdio::piped()).spawn().unwrap();
        let mut lines = BufReader::new(child.stdout.take().unwrap()).lines();
        let begins = lines.next().unwrap().unwrap();
        let start = Instant::now();
        let over = lines.next().unwrap().unwrap();
        let took = start.elapsed().as_secs_f64();
        assert_eq!((begins.as_str(), over.as_str()), ("begins", "is over"));
        // Others may keep it waiting, but nothing hurries it.
        assert!((0.97..1.5).contains(&took), "{machine}: {took} s");
        assert!(child.wait().unwrap().success());
    }
}

/// In a machine with neither a timer nor a calendar: what is left is the clock that KVM keeps for its guests.
#[test]
fn kvm_keeps_a_clock_for_it() {
    if !has_kvm() || machines().is_empty() {
        return;
    }
    let errors = Disk::new(0);
    let said = || std::fs::read_to_string(errors.path()).unwrap();
    let run = |processor: &str, what: &str| {
        let mut qemu = Command::new("qemu-system-x86_64");
        qemu.args(["-nodefaults", "-no-user-config", "-display", "none", "-no-reboot", "-accel", "kvm", "-m", "16M"]);
        qemu.args(["-M", "microvm,acpi=off,isa-serial=on,pit=off,rtc=off", "-cpu", processor, "-serial", "stdio"]);
        qemu.args(["-device", "isa-debug-exit,iobase=0xf4,iosize=4", "-append", what, "-kernel"]);
        qemu.arg(guest("plain")).stdin(Stdio::null()).stdout(Stdio::piped());
        let mut child = qemu.stderr(std::fs::File::create(errors.path()).unwrap()).spawn().unwrap();
        let begun = Instant::now();
        while child.try_wait().unwrap().is_none() {
            // One whose processor cannot go on stands still.
            if said().contains("KVM internal error") || begun.elapsed() > Duration::from_secs(60) {
                child.kill().unwrap();
            }
            std::thread::sleep(Duration::from_millis(5));
        }
        String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
    };
    let ran = run("qemu64", "arg=time");
    if said().contains("KVM internal error") {
        return skipped("kizami-unikernel-command: KVM's clock: its processor is made of software, and stopped");
    }
    let since = SystemTime::now().duration_since(UNIX_EPOCH).unwrap().as_secs();
    let told: u64 = ran.trim().parse().unwrap_or_else(|_| panic!("{ran} {}", said()));
    assert!(since.abs_diff(told) < 60, "{told} of {since}");
    let start = Instant::now();
    assert_eq!(run("qemu64", "arg=second"), "begins\nis over\n");
    assert!((0.97..5.0).contains(&start.elapsed().as_secs_f64()), "{:?}", start.elapsed());
    let ran = run("qemu64,-kvmclock", "arg=second");
    assert!(ran.contains("nothing says how fast the clock of this machine counts"), "{ran} {}", said());
}

#[test]
fn what_it_may_not_do_ends_it() {
    for machine in machines().iter().take(1) {
        for what in ["null", "behind", "code", "constant", "execute", "stack", "divide", "instruction"] {
            let ran = run("plain", machine, &[], &[what]);
            assert!(ran.code == Some(102) && ran.out.is_empty(), "{machine} {what}: {ran:?}");
            assert!(ran.error.starts_with("unikernel: ") && ran.error.contains(", at 0x"), "{machine} {what}: {ran:?}");
        }
    }
}

#[test]
fn its_disks_are_what_they_are_given_as() {
    for machine in machines() {
        let disk = Disk::new(1 << 20);
        let ran = run("disk", machine, &["--block", &disk.block("")], &["edges"]);
        assert!(ran.code == Some(0) && ran.out.starts_with("the edges are right"), "{machine}: {ran:?}");
        let shape = |more: &str| run("disk", machine, &["--block", &disk.block(more)], &["shape"]).out;
        assert_eq!(shape(",ro"), "2048 blocks of 512, read only true, writeback\n", "{machine}");
        assert_eq!(shape(",sync=unsafe"), "2048 blocks of 512, read only false, unsafe\n", "{machine}");
        let ran = run("disk", machine, &["--block", &disk.block(",ro")], &["write", "0", "7"]);
        assert_eq!(ran.out, "Err(ReadOnly)\n", "{machine}: {ran:?}");
    }
}

#[test]
fn files_that_it_made_are_seen_under_the_other_monitors() {
    for machine in machines().iter().take(1) {
        let disk = Disk::new(0);
        let made = unikernel().arg("mkdisk").arg(disk.path()).args(["--size", "4M", "--force"]).output().unwrap();
        assert!(made.status.success());
        let block = disk.block("");
        assert_eq!(run("disk", machine, &["--block", &block], &["files", "put", "a", "what I know"]).code, Some(0));
        let ran = crate::support::run_disk(("spt", "calls"), &block, &["files", "get", "a"]);
        assert_eq!(ran.out, "what I know\n", "{ran:?}");
        let ran = run("sensor-log", machine, &["--block", &block], &["3"]);
        assert!(ran.code == Some(0) && ran.out.ends_with("stored 2\n"), "{ran:?}");
    }
}
