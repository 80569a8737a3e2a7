//! Containers: the same probe in each that works here, and nothing of them left, however the run ends.

use std::fs;
use std::process::Command;

use serde_json::Value;

use crate::harness::{Lab, Left, is_root, lacks_root, processes, recorded, series_in, skipped, trials};

const ENGINES: [&str; 4] = ["bwrap", "runc", "docker", "podman"];

/// The engines with which a container really started here.
fn working(lab: &Lab, test: &str) -> Vec<&'static str> {
    lab.working(test, &ENGINES)
}

/// Whether the test's folder is part of a container's layer, above which no other can lie.
fn on_a_layer(lab: &Lab) -> bool {
    let said = Command::new("stat").args(["--file-system", "--format=%T"]).arg(lab.path()).output().expect("stat");
    said.stdout.starts_with(b"overlay")
}

/// The first series in `environment`.
fn of<'r>(recording: &'r Value, environment: &str) -> &'r Value {
    series_in(recording, environment).first().copied().unwrap_or_else(|| panic!("no series in {environment}"))
}

#[test]
fn the_same_probe_runs_in_every_container_that_works_here() {
    let lab = Lab::new();
    let engines = working(&lab, "the same probe");
    let before = Left::now();
    let all = [&["host"], engines.as_slice()].concat().join(",");
    let set = ["--set", "samples=2000", "--set", "init=default,on,off"];
    lab.kizami(&[&["run", "syscall", "--wait", "--environment", &all, "--trials", "1"], &set[..]].concat()).succeeded();
    before.again();
    let recording = recorded(&lab.recording());
    let host = &of(&recording, "host")["trials"][0];
    assert!(host["facts"]["program_crc32"].is_number(), "{host}");
    for engine in engines {
        let trial = &of(&recording, engine)["trials"][0];
        assert_eq!((&trial["outcome"], &trial["rows"]), (&host["outcome"], &host["rows"]), "{engine}: {trial}");
        assert_eq!(trial["facts"]["program_crc32"], host["facts"]["program_crc32"], "{engine}");
        let found = &trial["effective"]["files_on"]["value"];
        // A daemon whose data lie on an overlay may copy the image instead.
        let may_have = match (engine, on_a_layer(&lab)) {
            ("bwrap", _) | ("runc", true) => &["bind"][..],
            (_, true) => &["overlay", "bind"],
            (_, false) => &["overlay"],
        };
        assert!(may_have.iter().any(|place| found == place), "{engine}: {trial}");
        let filter = if ["docker", "podman"].contains(&engine) { "on" } else { "off" };
        assert_eq!(trial["effective"]["seccomp"]["value"], filter, "{engine}: {trial}");
        let by_itself = if engine == "bwrap" { "on" } else { "off" };
        let asked = series_in(&recording, engine);
        assert_eq!(asked.len(), 3, "{engine}: {asked:?}");
        for series in asked {
            let trial = &series["trials"][0];
            let expected = series["requested"]["init"].as_str().filter(|init| *init != "default").unwrap_or(by_itself);
            assert_eq!(trial["outcome"], "complete", "{engine}: {series}");
            assert_eq!(trial["effective"]["init"]["value"], expected, "{engine}: {series}");
        }
    }
}

#[test]
fn what_is_asked_of_a_container_is_in_force_in_it() {
    let lab = Lab::new();
    let engines = working(&lab, "settings");
    for engine in engines {
        let mut asked = vec![("files_on", "tmpfs")];
        if engine != "bwrap" {
            asked.extend([("memory_limit", "64MiB"), ("cpu_limit", "0.5"), ("cpuset", "0")]);
        }
        if ["docker", "podman"].contains(&engine) {
            asked.push(("seccomp", "off"));
        }
        if is_root() {
            asked.extend([("lock_memory", "true"), ("nice", "-5"), ("policy", "fifo:5")]);
        } else {
            // A thread with a real-time policy has none.
            asked.push(("timer_slack", "1ms"));
        }
        let set: Vec<_> =
            asked.iter().flat_map(|(name, value)| ["--set".to_owned(), format!("{name}={value}")]).collect();
        let set: Vec<_> = set.iter().map(String::as_str).collect();
        let run = ["run", "syscall", "--wait", "--environment", engine, "--trials", "1", "--out", engine];
        lab.kizami(&[&run[..], &["--set", "samples=1000"], &set].concat()).succeeded();
        let recording = recorded(&lab.path().join(engine));
        let trial = &of(&recording, engine)["trials"][0];
        for (name, value) in asked {
            let effective = &trial["effective"][name];
            assert_eq!(
                (&effective["value"], &effective["as_requested"]),
                (&value.into(), &true.into()),
                "{engine}: {name}: {trial}"
            );
        }
    }
}

/// The share of real time of a container that has just ended counts for a while, and the machine has three of them.
#[test]
fn containers_with_a_real_time_policy_may_follow_one_another_at_once() {
    let lab = Lab::new();
    let working = working(&lab, "real time in one container after the other");
    if working.is_empty() || !is_root() {
        return;
    }
    let policies = "policy=fifo:10,fifo:20,fifo:30,fifo:40";
    let run =
        ["run", "wakeup", "--set", policies, "--set", "cycles=20", "--trials", "3", "--out", "r", "--environment"];
    lab.kizami(&[&run[..], &[&working.join(",")]].concat()).succeeded();
}

#[test]
fn a_process_of_the_host_lies_in_as_many_control_groups_as_it_is_asked() {
    let lab = Lab::new();
    if lacks_root("kizami: control groups within each other") {
        return;
    }
    let before = Left::now();
    let run = [
        "run",
        "syscall",
        "--wait",
        "--set",
        "samples=1000",
        "--set",
        "cgroup_depth=1,3",
        "--trials",
        "2",
        "--out",
        "r",
    ];
    let ran = lab.kizami(&run).succeeded();
    before.again();
    let why = ran.said();
    if why.contains("does not hand cpu down") {
        return skipped(&format!("kizami: control groups within each other: {why}"));
    }
    let recording = recorded(&lab.path().join("r"));
    let series = recording["series"].as_array().expect("series");
    assert_eq!(series.len(), 2, "{recording}");
    for (series, depth) in series.iter().zip(["1", "3"]) {
        for trial in series["trials"].as_array().expect("trials") {
            assert_eq!(trial["effective"]["cgroup_depth"]["value"], depth, "{trial}");
        }
    }
}

#[test]
fn files_are_where_it_is_asked_for() {
    let lab = Lab::new();
    for engine in working(&lab, "files") {
        let mut places = vec!["bind", "tmpfs"];
        if engine == "runc" && on_a_layer(&lab) {
            skipped("kizami: an overlay of runc: the folder for temporary files lies on one");
        } else if engine != "bwrap" {
            places.push("overlay");
        }
        let set = format!("files_on={}", places.join(","));
        let run = ["run", "fcntl-lock", "--wait", "--environment", engine, "--trials", "1", "--out", engine];
        let deep = if engine == "runc" { &["--set", "cgroup_depth=3"][..] } else { &[] };
        let before = Left::now();
        lab.kizami(&[&run[..], &["--set", &set], deep].concat()).succeeded();
        before.again();
        let recording = recorded(&lab.path().join(engine));
        for series in recording["series"].as_array().expect("series") {
            let trial = &series["trials"][0];
            if !layers_nothing(&lab, series) {
                assert_eq!(
                    trial["effective"]["files_on"]["value"], series["requested"]["files_on"],
                    "{engine}: {trial}"
                );
            }
            assert_eq!(trial["outcome"], "complete", "{engine}: {trial}");
            let depth = &trial["effective"]["cgroup_depth"]["value"];
            assert!(engine != "runc" || depth == "3", "{engine}: {trial}");
        }
    }
    let overlays: Vec<_> =
        working(&lab, "copies of files of an image").into_iter().filter(|&engine| engine != "bwrap").collect();
    let overlays: Vec<_> = overlays.into_iter().filter(|&engine| engine != "runc" || !on_a_layer(&lab)).collect();
    if !overlays.is_empty() {
        files_of_an_image_are_copied(&lab, &overlays);
    }
    let refused = lab.kizami(&["run", "syscall", "--wait", "--environment", "bwrap", "--set", "files_on=overlay"]);
    assert!(refused.status.code() != Some(0), "{refused}");
    lab.kizami(&["run", "syscall", "--wait", "--set", "files_on=overlay"]).ended_with(2).says(&["files_on"]);
}

/// Whether the engine has no overlay because it keeps its containers on one, and says of the series that it is not on an overlay.
fn layers_nothing(lab: &Lab, series: &Value) -> bool {
    let found = &series["trials"][0]["effective"]["files_on"];
    let refused = series["requested"]["files_on"] == "overlay" && found["value"] != "overlay";
    assert!(!refused || on_a_layer(lab) && found["as_requested"] == false, "{series}");
    refused
}

/// What the first write to a file of an image takes, where files are on an overlay: a copy of all of the file.
fn files_of_an_image_are_copied(lab: &Lab, overlays: &[&'static str]) {
    let set = ["files_on=overlay,bind", "size=4KiB,32MiB", "samples=5"];
    let set: Vec<_> = set.iter().flat_map(|one| ["--set", one]).collect();
    let run =
        ["run", "first-write", "--wait", "--environment", &overlays.join(","), "--trials", "1", "--out", "copies"];
    lab.kizami(&[&run[..], &set].concat()).succeeded();
    let recording = recorded(&lab.path().join("copies"));
    let shown = lab.show(&lab.path().join("copies"));
    for engine in overlays {
        let mut of_overlay = Vec::new();
        for series in series_in(&recording, engine) {
            let overlay = series["requested"]["files_on"] == "overlay";
            let found = &series["trials"][0]["effective"]["files"]["value"];
            assert_eq!(found, if overlay { "of the image" } else { "made before" }, "{engine}: {series}");
            if overlay && !layers_nothing(lab, series) {
                let mut all = shown["series"].as_array().expect("series").iter();
                let about = all.find(|about| about["series"]["name"] == series["name"]).expect("the series");
                let median = about["summary"]["median"].as_f64().expect("a median");
                of_overlay.push((series["params"]["size"].as_str() == Some("32MiB"), median));
            }
        }
        if of_overlay.is_empty() {
            skipped(&format!("kizami: copies of files of an image in {engine}: it has no overlay in a folder on one"));
            continue;
        }
        of_overlay.sort_by_key(|(large, _)| *large);
        // All of a file is copied, however little is written to it.
        assert!(
            matches!(of_overlay[..], [(false, small), (true, large)] if large > 5.0 * small),
            "{engine}: {of_overlay:?}"
        );
    }
}

#[test]
fn the_other_half_of_a_workload_is_on_the_host_over_a_link() {
    if lacks_root("a link out of a container") {
        return;
    }
    let lab = Lab::new();
    let engines = working(&lab, "a link");
    let before = Left::now();
    let run = ["run", "net-rtt", "tcp", "udp", "--wait", "--trials", "2", "--environment", &engines.join(",")];
    let set = ["protocol=tcp,udp", "trips=100", "direction=send,receive", "duration=100ms", "network=link,loopback"];
    let set: Vec<_> = set.iter().flat_map(|one| ["--set", one]).collect();
    lab.kizami(&[&run[..], &set].concat()).succeeded();
    before.again();
    let recording = recorded(&lab.recording());
    for engine in engines {
        let series = series_in(&recording, engine);
        assert_eq!(series.len(), 10, "{engine}: {recording}");
        for series in series {
            let outside = series["requested"]["network"] == "link";
            for trial in series["trials"].as_array().expect("trials") {
                assert_eq!(trial["outcome"], "complete", "{engine}: {trial}");
                assert_eq!(trial["effective"]["network"]["value"], series["requested"]["network"], "{engine}: {trial}");
                // What a partner outside counted, a message before those that are rows with it.
                let answered = trial["facts"]["answered"].as_f64();
                let expected = Some(101.0).filter(|_| outside && series["workload"] == "net-rtt");
                assert_eq!(answered, expected, "{engine}: {trial}");
            }
        }
    }
    let user = ["run", "net-rtt", "--wait", "--environment", "bwrap", "--set", "network=user"];
    lab.kizami(&user).ended_with(2).says(&["network", "loopback or link"]);
}

#[test]
fn a_probe_that_is_killed_in_its_container_keeps_its_rows() {
    let lab = Lab::new();
    for engine in working(&lab, "a probe that is killed") {
        let before = Left::now();
        let out = format!("killed-{engine}");
        let mut run =
            lab.start(&["run", "wakeup", "--wait", "--environment", engine, "--set", "cycles=100000", "--out", &out]);
        let rows = run.wait_for_rows(20);
        let is_probe = |pid: i32| {
            fs::read(format!("/proc/{pid}/cmdline")).is_ok_and(|line| line.starts_with(b"/probe\0connect\0"))
        };
        let probe = run.wait_for("a probe", || processes().into_iter().map(|p| p.pid).find(|&pid| is_probe(pid)));
        // SAFETY: the call takes numbers; the process was found to be the probe.
        unsafe { libc::kill(probe, libc::SIGKILL) };
        run.end().ended_with(1).says(&[&format!("wakeup in {engine}"), "signal 9"]);
        let trials = trials(&lab.show(&lab.path().join(&out)));
        assert!(trials.iter().any(|(_, kept, outcome)| *kept >= rows && outcome["failed"].is_string()), "{trials:?}");
        before.again();
    }
}

#[test]
fn a_daemon_that_dies_costs_no_trial() {
    let lab = Lab::new();
    if !working(&lab, "a daemon that dies").contains(&"docker") {
        return;
    }
    let before = Left::now();
    let run = ["run", "wakeup", "--wait", "--environment", "docker", "--set", "cycles=3000", "--trials", "3"];
    let mut run = lab.start(&run);
    run.wait_for_rows(20);
    let data = format!("--data-root=/var/lib/kizami/docker-{}", run.pid());
    let is_ours = |pid: &i32| {
        let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
        String::from_utf8_lossy(&line).contains(&data)
    };
    let Some(daemon) = processes().into_iter().map(|p| p.pid).find(is_ours) else {
        return skipped("kizami: a daemon that dies: another runs on this machine");
    };
    // SAFETY: the call takes numbers; the process was found to be the daemon of our run.
    unsafe { libc::kill(daemon, libc::SIGKILL) };
    // The probe goes on without it, and the next has a daemon of its own.
    run.end().succeeded();
    let trials = trials(&lab.show(&lab.recording()));
    assert!(trials.len() == 3 && trials.iter().all(|trial| trial.2 == "complete"), "{trials:?}");
    before.again();
}

#[test]
fn nothing_of_a_container_outlives_its_run() {
    let engines = working(&Lab::new(), "interrupts");
    for engine in engines {
        for signal in [libc::SIGINT, libc::SIGKILL] {
            let lab = Lab::new();
            let before = Left::now();
            let network = if is_root() { "network=link" } else { "network=loopback" };
            let run = ["run", "wakeup", "--wait", "--environment", engine, "--set", "cycles=100000", "--set", network];
            let mut run = lab.start(&run);
            run.wait_for_rows(20);
            run.stopped_by(signal);
            before.again();
            let rows: u64 = trials(&lab.show(&lab.recording())).iter().map(|trial| trial.1).sum();
            assert!(signal == libc::SIGKILL || rows >= 20, "{rows} rows");
        }
    }
}
