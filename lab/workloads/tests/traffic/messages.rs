//! Message groups, the memory sampled beside them, and growth until memory runs out.

use std::fs;
use std::path::PathBuf;

use super::harness::{Reached, is_root, skipped, stopped, trial, without_its_partner};

pub fn a_round_of_messages_is_timed_with_every_channel_and_kind_of_task() {
    for channel in ["socketpair", "pipe"] {
        for tasks in ["processes", "threads"] {
            let given = [
                ("groups", "2"),
                ("senders", "3"),
                ("receivers", "4"),
                ("loops", "5"),
                ("rounds", "3"),
                ("channel", channel),
                ("tasks", tasks),
            ];
            let trial = trial("messages", &given).went_well();
            assert_eq!(trial.column("", "groups"), [2, 2, 2], "{channel} {tasks}");
            assert!(trial.column("", "time").iter().all(|t| *t > 0));
        }
    }
}

pub fn memory_is_read_beside_the_messages_and_adds_up() {
    let given = [("loops", "2000"), ("rounds", "2"), ("senders", "5"), ("receivers", "5"), ("sample_interval", "1ms")];
    let trial = trial("messages", &given).went_well();
    let when = trial.column("meminfo", "when");
    assert!(when.len() > 2 && when.is_sorted_by(|a, b| a < b), "{when:?}");
    assert_eq!(trial.fact("memory_readings"), when.len() as f64);
    assert!(trial.fact("memory_reading_cpu_seconds") > 0.0);
    let groups = trial.column("meminfo", "groups");
    assert_eq!(groups[0], 0, "the first reading is of an idle machine");
    assert!(groups.contains(&1));
    let text = fs::read_to_string("/proc/meminfo").expect("meminfo");
    let total = text.lines().find_map(|line| line.strip_prefix("MemTotal:")).expect("MemTotal");
    let total = total.trim().trim_end_matches(" kB").parse::<u64>().expect("a number") * 1024;
    for row in trial.part("meminfo") {
        assert_eq!(row[1..7].iter().sum::<u64>(), total);
        assert!(row[1] > 0 && row[4] > 0 && row[5] > 0, "{row:?}");
    }
    assert!(trial.column("meminfo", "cgroup").iter().all(|bytes| *bytes == 0));
    if fs::read_to_string("/proc/slabinfo").is_err() {
        return skipped("messages: /proc/slabinfo may not be read here, so its part is not tested");
    }
    // The kernel's own sum of all caches, some of which slabinfo counts a moment later.
    let (slab, caches) = (trial.column("meminfo", "slab"), trial.part("slabinfo"));
    assert_eq!(caches.len(), slab.len());
    let all: u64 = caches[0][1..].iter().sum();
    assert!(all > slab[0] / 2 && all < slab[0] * 2, "{all} in the caches, {} in meminfo", slab[0]);
}

pub fn messages_grow_until_memory_runs_out_and_leave_nothing_behind() {
    if !is_root() {
        return skipped("messages mode=grow: making a control group needs root");
    }
    for tasks in ["processes", "threads"] {
        let given = [
            ("mode", "grow"),
            ("groups", "1000"),
            ("limit", "8MiB"),
            ("rounds", "1"),
            ("loops", "5"),
            ("size", "4KiB"),
            ("sample_interval", "1ms"),
            ("tasks", tasks),
        ];
        let trial = trial("messages", &given);
        if let Some(why) = trial.failure.as_ref().filter(|why| why.contains("control group")) {
            return skipped(&format!("messages mode=grow: {why}"));
        }
        let trial = trial.went_well();
        let reached = trial.fact("groups_reached") as u64;
        assert!(reached < 1000);
        let groups = trial.column("", "groups");
        assert_eq!(groups, (1..=reached).collect::<Vec<_>>());
        let (end, _) = &trial.effective["end"];
        assert!(end.starts_with(&format!("with {} groups", reached + 1)), "{end}");
        let usage = trial.column("meminfo", "cgroup");
        assert!(usage.iter().any(|bytes| *bytes > 1 << 20) && usage.iter().all(|bytes| *bytes <= 9 << 20), "{usage:?}");
        no_control_groups();
    }
}

/// No control group of this process is left.
fn no_control_groups() {
    let name = format!("kizami-{}", std::process::id());
    let mut folders = vec![PathBuf::from("/sys/fs/cgroup")];
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
            if entry.file_type().is_ok_and(|kind| kind.is_dir()) {
                assert_ne!(entry.file_name().to_string_lossy(), name);
                folders.push(entry.path());
            }
        }
    }
}

pub fn growing_stops_at_the_last_number_of_groups_and_on_request() {
    if !is_root() {
        return skipped("messages mode=grow: making a control group needs root");
    }
    let given =
        [("mode", "grow"), ("groups", "5"), ("step", "2"), ("senders", "2"), ("receivers", "2"), ("rounds", "2")];
    let trial = trial("messages", &given);
    if let Some(why) = trial.failure.as_ref().filter(|why| why.contains("control group")) {
        return skipped(&format!("messages mode=grow: {why}"));
    }
    let trial = trial.went_well();
    assert_eq!(trial.column("", "groups"), [1, 1, 3, 3, 5, 5]);
    assert_eq!((trial.fact("groups_reached"), trial.fact("oom_kills")), (5.0, 0.0));
    stopped("messages", &[("mode", "grow"), ("groups", "3"), ("loops", "10_000_000")], Reached::Partners);
    no_control_groups();
}

pub fn a_killed_round_is_a_failure_and_not_a_hang() {
    let failure = without_its_partner("messages", &[("loops", "10_000_000")]).failure.expect("a failure");
    assert!(failure.contains("killed"), "{failure}");
}
