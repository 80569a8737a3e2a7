//! Missing rights and missing features: a user who may not change the machine, and a machine without a requested
//! setting.

use std::fs;
use std::path::PathBuf;

use serde_json::Value;

use crate::harness::{Lab, RT_RUNTIME, lacks_root, trials};
use crate::namespace::View;

/// What was in force for `setting` in the first trial of the only series.
fn effective(shown: &Value, setting: &str) -> Value {
    shown["series"][0]["series"]["trials"][0]["effective"][setting].clone()
}

#[test]
fn without_rights_it_measures_and_diagnoses() {
    let lab = Lab::without_rights();
    let ran = lab.kizami(&["run", "empty", "--wait", "--json", "--set", "samples=1000"]).succeeded();
    assert_eq!(ran.json()["complete"], 1);
    let diagnoses = lab.kizami(&["doctor", "--quick", "--json"]).succeeded().json();
    assert!(diagnoses.as_array().is_some_and(|d| !d.is_empty()));
    lab.kizami(&["doctor", "--quick"]).succeeded();
}

#[test]
fn refused_settings_are_results_and_the_message_says_what_would_allow_them() {
    let lab = Lab::without_rights();
    let settings = [
        ("policy", "fifo:80", "RLIMIT_RTPRIO"),
        ("lock_memory", "true", "RLIMIT_MEMLOCK"),
        ("nice", "-5", "RLIMIT_NICE"),
        ("rt_runtime", "900ms", "it takes root"),
    ];
    let sets: Vec<String> = settings.iter().map(|(setting, asked, _)| format!("{setting}={asked}")).collect();
    let sets: Vec<&str> = sets.iter().flat_map(|set| ["--set", set]).collect();
    let ran = lab.kizami(&[&["run", "empty", "--wait", "--set", "samples=1000"][..], &sets].concat()).succeeded();
    let shown = lab.show(&lab.recording());
    assert_eq!(trials(&shown)[0].1, 1000, "{ran}");
    for (setting, asked, hint) in settings {
        let effective = effective(&shown, setting);
        assert_eq!(effective["as_requested"], false, "{setting}: {ran}");
        assert_ne!(effective["value"], asked, "{setting}: {ran}");
        let start = format!("{setting} = {asked} did not take effect");
        let line = ran.err.lines().find(|line| line.contains(&start));
        assert!(line.is_some_and(|line| line.contains("was in force") && line.contains(hint)), "{setting}: {ran}");
    }
    let text = lab.kizami(&["show", "--series", "empty"]).succeeded();
    assert_eq!(text.out.matches("not as requested").count(), settings.len(), "{text}");
}

#[test]
fn a_governor_that_the_machine_lacks_or_refuses_is_told() {
    let lab = Lab::without_rights();
    let ran = lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000", "--set", "governor=userspace"]);
    if fs::read_dir("/sys/devices/system/cpu/cpufreq").is_ok_and(|mut f| f.next().is_some()) {
        ran.succeeded().says(&["governor = userspace did not take effect", "it takes root"]);
    } else {
        ran.says(&["governor"]);
    }
}

#[test]
fn memory_that_may_not_be_read_leaves_the_rest_of_messages() {
    let lab = Lab::without_rights();
    let args = ["run", "messages", "--wait", "--set", "senders=2", "--set", "receivers=2", "--set", "rounds=3"];
    lab.kizami(&args).succeeded();
    let shown = lab.show(&lab.recording());
    let rows = |part: &str| {
        let series = shown["series"].as_array().expect("series").iter();
        let of_part = |s: &&Value| s["series"]["part"].as_str().is_some_and(|p| p.contains(part));
        series.filter(of_part).map(|s| s["series"]["trials"][0]["rows"].as_u64().expect("rows")).sum::<u64>()
    };
    assert!(rows("meminfo") > 0, "{shown}");
    if fs::metadata("/proc/slabinfo").is_ok_and(|_| crate::harness::is_root()) {
        assert_eq!(rows("slabinfo"), 0, "nobody may not read it\n{shown}");
    }
}

#[test]
fn without_control_groups_limits_are_refused_with_what_is_missing() {
    if lacks_root("a machine without control groups") {
        return;
    }
    let lab = Lab::new();
    let view = View::without_cgroups();
    let run = |args: &[&str]| lab.start_command(view.join(lab.command(args))).end();

    let ran = run(&["run", "messages", "--wait", "--set", "mode=grow", "--set", "groups=2", "--set", "loops=1"]);
    ran.ended_with(1).says(&["messages", "control group with limited memory", "mount cgroup2 on /sys/fs/cgroup"]);

    let out = lab.path().join("limited");
    let out = out.to_str().expect("a path of ours");
    let args = ["run", "empty", "--wait", "--set", "samples=1000", "--set", "memory_limit=64MiB", "--out", out];
    run(&args).succeeded().says(&["memory_limit = 64MiB did not take effect", "no control groups are mounted here"]);
    let shown = lab.kizami(&["show", "--json", out]).succeeded().json();
    assert_eq!(effective(&shown, "memory_limit")["value"], "none");
}

#[test]
fn a_setting_of_the_machine_holds_during_the_run_and_not_after_it() {
    if lacks_root("settings of the machine") {
        return;
    }
    let lab = Lab::new();
    let before = fs::read_to_string(RT_RUNTIME).expect("the kernel's value");
    let args = ["run", "wakeup", "--wait", "--set", "cycles=500", "--set", "rt_runtime=960ms"];
    let mut run = lab.start(&args);
    run.wait_for_rows(10);
    assert_eq!(fs::read_to_string(RT_RUNTIME).expect("the kernel's value").trim(), "960000");
    run.end().succeeded();
    assert_eq!(fs::read_to_string(RT_RUNTIME).expect("the kernel's value"), before);
    assert_eq!(effective(&lab.show(&lab.recording()), "rt_runtime")["value"], "960ms");
}

#[test]
fn throttling_is_measured_and_a_file_is_not_believed() {
    let lab = Lab::new();
    let throttling = |findings: &Value| {
        let all = findings.as_array().expect("findings").clone();
        all.into_iter().find(|f| f["check"] == "throttling").expect("it is looked at")
    };
    let found = |findings: &Value| throttling(findings)["found"].as_str().expect("text").to_owned();
    let quick = found(&lab.kizami(&["doctor", "--quick", "--json"]).succeeded().json());
    assert!(quick.contains("not measured: it takes two seconds"), "{quick}");
    if lacks_root("throttling of a busy real-time thread") {
        return;
    }
    let measured = throttling(&lab.kizami(&["doctor", "--json"]).succeeded().json());
    let words = measured["found"].as_str().expect("text");
    assert!(words.contains("measured: a busy fifo:80 thread"), "{measured}");
    let was_stopped = |words: &str| !words.contains("was never stopped");
    assert_eq!(measured["verdict"] == "fair", was_stopped(words), "{measured}");

    // The file reads back as off on every kernel; whether nothing stops a real-time thread is another question.
    lab.kizami(&["run", "empty", "--wait", "--set", "samples=1000", "--set", "rt_runtime=off"]).succeeded();
    let setting = effective(&lab.show(&lab.recording()), "rt_runtime");
    if setting["as_requested"] == true {
        assert_eq!(setting["value"], "off");
    } else {
        let why = setting["why"].as_str().expect("text");
        assert!(why.starts_with("the file reads back as off, and yet a busy fifo:80 thread"), "{setting}");
        assert!(was_stopped(why) && setting["value"].as_str().is_some_and(|v| v.ends_with("ms")), "{setting}");
    }
    let release = fs::read_to_string("/proc/sys/kernel/osrelease").expect("a version");
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse::<u32>().ok());
    let has_server = (numbers.next(), numbers.next()) >= (Some(6), Some(12));
    if has_server && !PathBuf::from("/sys/kernel/debug/sched").exists() {
        // Nobody can have switched the server off without debugfs.
        assert_eq!(setting["as_requested"], false, "{setting}");
    }
}

#[test]
fn without_rights_it_is_said_that_throttling_was_not_measured() {
    let lab = Lab::without_rights();
    let findings = lab.kizami(&["doctor", "--json"]).succeeded().json();
    let all = findings.as_array().expect("findings");
    let throttling = all.iter().find(|f| f["check"] == "throttling").expect("it is looked at");
    let found = throttling["found"].as_str().expect("text");
    assert!(found.contains("not measured: a real-time policy needs CAP_SYS_NICE"), "{found}");
}
