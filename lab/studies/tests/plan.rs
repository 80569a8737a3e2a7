//! Plans: each job once, unique names of series, an order that interleaves trials and is the same again for the same
//! seed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use kizami_studies::{Overrides, Plan, Size, Study};
use kizami_workloads::Machine;

const TWO_GROUPS: &str = r#"
name = "s"
title = "S"
[quick]
trials = 2
params = { cycles = 100 }
[full]
trials = 4
params = { cycles = 1000, wakeup = { interval = "2ms" } }
[[group]]
id = "a"
title = "A"
workloads = ["wakeup", "os-latency"]
vary = { policy = ["default", "fifo:80"] }
quick = { trials = 3 }
[[group]]
id = "b"
title = "B"
workloads = ["wakeup"]
params = { threads = "one" }
cases = [{}, { policy = "fifo:80", lock_memory = true }]
"#;

fn study(text: &str) -> Study {
    Study::parse(text, Path::new("s.toml")).expect("a valid study")
}

fn plan(size: Size, trials: Option<usize>, overrides: &[(&str, &[&str])], seed: u64) -> Result<Plan, String> {
    let given =
        |(name, values): &(&str, &[&str])| ((*name).to_owned(), values.iter().map(|v| (*v).to_owned()).collect());
    let overrides: Overrides = overrides.iter().map(given).collect();
    let machine = Machine::of(vec![0, 1]);
    Plan::new(&[study(TWO_GROUPS)], size, trials, &overrides, seed, &machine).map_err(|e| e.to_string())
}

fn names(plan: &Plan) -> Vec<&str> {
    plan.jobs.iter().flat_map(|job| &job.series).map(String::as_str).collect()
}

#[test]
fn a_job_that_two_groups_ask_for_is_done_once_as_often_as_the_more_demanding_asks() {
    let plan = plan(Size::Quick, None, &[], 1).expect("a plan");
    let asked: Vec<_> = plan.jobs.iter().map(|job| (job.trials, job.asked_by.join(" "))).collect();
    let expected = [(3, "s/a s/b"), (3, "s/a"), (3, "s/a"), (3, "s/a"), (2, "s/b")];
    assert_eq!(asked, expected.map(|(trials, by)| (trials, by.to_owned())));
}

#[test]
fn what_stays_open_has_its_rounds_after_all_others_and_the_rest_stays_as_it_was() {
    let claims = r#"
[[claim]]
says = "of both groups"
of = { workload = "wakeup", policy = "fifo:80", lock_memory = "true" }
statistic = "median"
below = { group = "a", workload = "wakeup", policy = "default" }
[[claim]]
says = "of nothing that runs"
of = { group = "a", workload = "wakeup", policy = "default" }
statistic = "median"
between = ["1ns", "2ns"]
"#;
    let study = study(&format!("{TWO_GROUPS}{claims}"));
    let mut plan = plan(Size::Quick, None, &[], 1).expect("a plan");
    let before = plan.clone();
    // Three rounds on one side and two on the other are two of both, and four are twice as many.
    assert_eq!(plan.go_on(&[&study.claims[0]]), (4 - 3) + (4 - 2));
    assert_eq!(plan.order[..before.order.len()], before.order);
    assert_eq!(plan.jobs.iter().map(|job| job.trials).collect::<Vec<_>>(), [4, 3, 3, 3, 4]);
    for (job, planned) in plan.jobs.iter().enumerate() {
        let trials: Vec<_> = plan.order.iter().filter(|start| start.job == job).map(|start| start.trial).collect();
        assert_eq!(trials, (0..planned.trials).collect::<Vec<_>>(), "{planned:?}");
    }
    assert_eq!(plan.go_on(&[]), 0);
    (0..30).for_each(|_| assert!(plan.go_on(&[&study.claims[0]]) <= 100_000));
    assert!(plan.order.len() <= 100_000, "no more than a run can have");
}

#[test]
fn series_are_named_by_what_tells_them_apart_and_nothing_else() {
    let plan = plan(Size::Quick, None, &[], 1).expect("a plan");
    let expected = [
        "wakeup.host",
        "wakeup.host.policy=fifo-80",
        "os-latency.host",
        "os-latency.host.policy=fifo-80",
        "wakeup.host.policy=fifo-80.lock_memory=true",
    ];
    assert_eq!(names(&plan), expected);
}

#[test]
fn names_that_a_file_cannot_have_and_several_parts_stay_unique_and_plain() {
    let text = r#"
name = "s"
title = "S"
[[group]]
id = "a"
title = "A"
workloads = ["sum"]
environments = ["beam"]
params = { lang = "elixir" }
vary = { vm_flags = ["+S 1:1", "+S 1"] }
[[group]]
id = "b"
title = "B"
workloads = ["wakeup"]
params = { threads = "per-cpu" }
"#;
    let machine = Machine::of(vec![0, 3]);
    let plan = Plan::new(&[study(text)], Size::Full, None, &BTreeMap::new(), 1, &machine).expect("a plan");
    let names = names(&plan);
    assert_eq!(names.iter().collect::<BTreeSet<_>>().len(), names.len());
    let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+=,%".contains(c);
    assert!(names.iter().all(|name| name.chars().all(plain)), "{names:?}");
    assert!(names.ends_with(&["wakeup.host.cpu0", "wakeup.host.cpu3"]), "{names:?}");
}

#[test]
fn trials_are_interleaved_in_an_order_that_the_seed_decides() {
    let of = |seed| plan(Size::Quick, None, &[], seed).expect("a plan").order;
    let order = of(1);
    assert_eq!(order, of(1));
    assert!((2..20).any(|seed| of(seed) != order));
    let trials: Vec<_> = order.iter().map(|start| start.trial).collect();
    assert_eq!(trials, [0, 0, 0, 0, 0, 1, 1, 1, 1, 1, 2, 2, 2, 2]);
    let first: BTreeSet<_> = order[..5].iter().map(|start| start.job).collect();
    assert_eq!(first, (0..5).collect());
}

#[test]
fn the_jobs_of_a_workload_in_a_group_run_one_after_the_other() {
    for seed in 1..20 {
        let plan = plan(Size::Quick, None, &[], seed).expect("a plan");
        for round in plan.order.chunk_by(|a, b| a.trial == b.trial) {
            let jobs = round.iter().map(|start| &plan.jobs[start.job]);
            let mut together: Vec<_> =
                jobs.map(|planned| (&planned.asked_by[0], planned.job.workload().name)).collect();
            together.dedup();
            assert_eq!(together.iter().collect::<BTreeSet<_>>().len(), together.len(), "{together:?}");
        }
    }
}

#[test]
fn a_size_gives_its_own_values_and_a_workload_may_have_its_own() {
    let plan = plan(Size::Full, None, &[], 1).expect("a plan");
    let written = plan.jobs[0].job.params.written();
    assert_eq!((written["cycles"].as_str(), written["interval"].as_str()), ("1000", "2ms"));
    assert_eq!(plan.jobs[0].trials, 4);
}

#[test]
fn overrides_replace_what_the_study_says_where_they_mean_something_and_several_values_multiply() {
    let none = plan(Size::Quick, None, &[("policy", &["default"]), ("lock_memory", &["default"])], 1).expect("a plan");
    assert_eq!(none.jobs.len(), 2, "{none:?}");
    let two = plan(Size::Quick, None, &[("interval", &["1ms", "5ms"])], 1).expect("a plan");
    assert_eq!(two.jobs.len(), 3 * 2 + 2);
    let loaded = plan(Size::Quick, Some(9), &[("load", &["none", "cpu+disk"])], 1).expect("a plan");
    assert_eq!(loaded.jobs.len(), 5 * 2);
    assert!(loaded.jobs.iter().all(|job| job.trials == 9));
    assert!(names(&loaded).contains(&"os-latency.host.load=cpu+disk"));
}

#[test]
fn an_override_that_means_nothing_or_cannot_be_is_refused_with_a_reason() {
    for (name, value, said) in [
        (
            "cyles",
            "1",
            "\"cyles\" is no setting, and no parameter of a workload that is measured here; did you mean \"cycles\"?",
        ),
        ("priority", "high", "the setting \"priority\" reaches nothing that is measured here"),
        ("cycles", "0", "wakeup in host with cycles=0: cycles: 0 is not between 1 and 100000000"),
        ("load", "gpu", "there is no load \"gpu\""),
    ] {
        let why = plan(Size::Quick, None, &[(name, &[value])], 1).expect_err(name);
        assert!(why.contains(said), "{why}");
    }
}

#[test]
fn a_workload_alone_is_a_study_too() {
    let workload = kizami_workloads::find("wakeup").expect("it is there");
    let host = kizami_environments::find("host").expect("it is there");
    let study = Study::of_workload(workload, host, 3);
    let machine = Machine::of(vec![0]);
    let plan = Plan::new(&[study], Size::Quick, None, &BTreeMap::new(), 1, &machine).expect("a plan");
    assert_eq!((names(&plan), plan.order.len()), (vec!["wakeup.host"], 3));
    assert_eq!(plan.jobs[0].asked_by, ["wakeup/wakeup"]);
}

#[test]
fn what_boots_takes_longer_at_first_and_a_start_from_nothing_each_time() {
    let seconds = |workload: &str, trials| {
        let workload = kizami_workloads::find(workload).expect("it is there");
        let machine = kizami_environments::find("xen-domu").expect("it is there");
        let study = Study::of_workload(workload, machine, trials);
        let machine = Machine::of(vec![0, 1]);
        Plan::new(&[study], Size::Quick, None, &BTreeMap::new(), 1, &machine).expect("a plan").seconds()
    };
    let (one, two) = (seconds("syscall", 1), seconds("syscall", 2));
    assert!(one > 20.0 && two - one < 5.0, "{one} s, {two} s");
    let (one, two) = (seconds("boot", 1), seconds("boot", 2));
    assert!(one > 20.0 && two > 1.9 * one, "{one} s, {two} s");
}

#[test]
fn a_run_of_more_starts_than_can_be_recorded_is_refused_before_it_takes_memory() {
    for trials in [20_001, 1_000_000_000, usize::MAX] {
        let why = plan(Size::Quick, Some(trials), &[], 1).expect_err("it is too much");
        for words in [&format!("{trials} trials of each of 5 jobs"), "at most 100000", "fewer trials"] {
            assert!(why.contains(words), "{words}: {why}");
        }
    }
    assert_eq!(plan(Size::Quick, Some(20_000), &[], 1).expect("it is as much as goes").order.len(), 100_000);
}

#[test]
fn more_combinations_of_values_than_a_run_has_are_refused_before_they_are_made() {
    let values: Vec<String> = (1..=400).map(|n| n.to_string()).collect();
    let values: Vec<&str> = values.iter().map(String::as_str).collect();
    let times: Vec<String> = (1..=400).map(|n| format!("{n}us")).collect();
    let times: Vec<&str> = times.iter().map(String::as_str).collect();
    let all = [("cycles", &values[..]), ("interval", &times), ("duration", &times), ("timer_slack", &times)];
    let why = plan(Size::Quick, None, &all, 1).expect_err("it is too much");
    for words in ["64000000", "at most 5000", "400 of cycles", "several runs"] {
        assert!(why.contains(words), "{words}: {why}");
    }
}

#[test]
fn a_study_says_what_its_wake_ups_are_held_to() {
    let with = |lines: &str| {
        let text = TWO_GROUPS.replacen("[[group]]", &format!("{lines}\n[[group]]"), 1);
        study(&text).requirement.map(|requirement| (requirement.deadline, requirement.miss))
    };
    assert_eq!(with(""), None);
    assert_eq!(with("[requirement]\ndeadline = \"200us\""), Some((200_000, 1e-6)));
    assert_eq!(with("[requirement]\ndeadline = \"1ms\"\nmiss = 0.01"), Some((1_000_000, 0.01)));
}

/// What the environment does not do is left out and told; the rest is what the study says.
#[test]
fn a_study_is_measured_elsewhere_as_far_as_that_is_possible() {
    let text = format!(
        "{TWO_GROUPS}{}",
        r#"
[[claim]]
says = "of both, there"
elsewhere = ["mps2-none", "mps2-preempt"]
of = { group = "a", workload = "os-latency", environment = "mps2-preempt" }
statistic = "mean"
below = { group = "a", workload = "os-latency", environment = "mps2-none" }
"#
    );
    let here = study(&text);
    assert!(here.claims.is_empty() && here.left_out(Size::Quick).is_empty());
    let there = here.elsewhere(&["mps2-none".into(), "mps2-preempt".into()]).expect("it can be moved");
    let plan = Plan::new(std::slice::from_ref(&there), Size::Quick, None, &Overrides::new(), 1, &Machine::of(vec![0]))
        .expect("a plan");
    assert_eq!(names(&plan), ["os-latency.mps2-none", "os-latency.mps2-preempt"]);
    assert_eq!(there.claims.len(), 1);
    let left_out = there.left_out(Size::Quick);
    assert_eq!(left_out.len(), 4, "wakeup, of two groups, in both: {left_out:?}");
    assert!(left_out.iter().all(|sentence| sentence.starts_with("wakeup in mps2-")));
    // The copy that is kept beside a recording says it as well.
    let again = study(&there.text);
    assert_eq!((again.claims.len(), again.left_out(Size::Quick).len()), (1, 4));
    let twice = again.elsewhere(&["host".into()]).expect_err("it says already where it is");
    assert!(twice.iter().any(|problem| problem.to_string().contains("duplicate")), "{twice:?}");
    let one = study(&text).elsewhere(&["mps2-none".into()]).expect("it can be moved");
    assert!(one.claims.is_empty());
}
