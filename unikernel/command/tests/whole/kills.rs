//! The monitor is killed at any moment: what the guest said to be stored is there.

use std::io::{BufRead as _, BufReader, Read as _};
use std::process::Stdio;
use std::time::Duration;

use crate::support::{Disk, command, unikernel, ways};

#[test]
fn what_was_said_to_be_stored_outlives_a_killed_monitor() {
    let mut random = fastrand::Rng::with_seed(11);
    for way in ways() {
        let (monitor, interface) = way;
        let disk = Disk::new(0);
        let made = unikernel().arg("mkdisk").arg(disk.path()).args(["--size", "2M", "--force"]).output().unwrap();
        assert!(made.status.success());
        let (mut stored, mut killed_at_work) = (0, 0);
        for round in 0..12 {
            let mut command = command("sensor-log", way, &disk.block(""));
            command.args(["--", "100000"]).stdout(Stdio::piped()).stderr(Stdio::piped());
            let mut child = command.spawn().unwrap();
            let mut out = BufReader::new(child.stdout.take().unwrap());
            let mut first = String::new();
            out.read_line(&mut first).unwrap();
            let there: u64 = match first.split_once(' ').and_then(|(number, _)| number.parse().ok()) {
                Some(there) => there,
                None => panic!("{monitor} {interface}: {first:?} {:?}", child.wait_with_output()),
            };
            // One more may have been stored than was said.
            assert!(
                (stored..=stored + 1).contains(&there),
                "{monitor} {interface}, round {round}: {there} of {stored}"
            );
            std::thread::sleep(Duration::from_millis(random.u64(1..60)));
            child.kill().unwrap();
            child.wait().unwrap();
            let mut rest = String::new();
            out.read_to_string(&mut rest).unwrap();
            let last = rest.lines().filter_map(|line| line.strip_prefix("stored ")?.parse::<u64>().ok()).max();
            stored = last.map_or(there, |last| last + 1);
            killed_at_work += usize::from(last.is_some());
        }
        assert!(killed_at_work > 3, "{monitor} {interface}: {killed_at_work}");
        let checked = unikernel().arg("fsck").arg(disk.path()).output().unwrap();
        assert!(checked.status.success(), "{}", String::from_utf8_lossy(&checked.stderr));
    }
}
