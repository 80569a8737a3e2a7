//! A study and its recording: the rows of its tables, the published figures beside them, its claims.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU32, Ordering};

use kizami_recording::folder::{Effective, Loaded, Outcome, Reader, Recording, Series, State, Unit, Writer};
use kizami_recording::stats::Options;
use kizami_studies::{Judgement, Plan, Selector, Size, Study, Verdict};
use kizami_workloads::Machine;

/// A folder that is gone when the test is over.
struct Scratch(PathBuf);

impl Scratch {
    fn new() -> Self {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        let path = std::env::temp_dir().join(format!("kizami-studies-{}-{number}", std::process::id()));
        fs::create_dir_all(&path).expect("a folder");
        Self(path)
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        let _ = fs::remove_dir_all(&self.0);
    }
}

fn study(text: &str) -> Study {
    Study::parse(text, Path::new("s.toml")).unwrap_or_else(|problems| panic!("{}", problems[0]))
}

/// A recording of the study's plan in which the trial `trial` of a series has the samples that `samples` gives it.
fn record(study: &Study, scratch: &Scratch, samples: impl Fn(&Series, usize) -> Vec<u64>) -> Reader {
    record_at(study, scratch, samples, |_, _| String::new())
}

/// The same, with the time at which each trial began.
fn record_at(
    study: &Study,
    scratch: &Scratch,
    samples: impl Fn(&Series, usize) -> Vec<u64>,
    began: impl Fn(&Series, usize) -> String,
) -> Reader {
    let machine = Machine::of(vec![0]);
    let plan =
        Plan::new(std::slice::from_ref(study), Size::Quick, None, &BTreeMap::new(), 1, &machine).expect("a plan");
    let recording = Recording { studies: vec![study.name.clone()], size: "quick".into(), ..Recording::begun() };
    let folder = scratch.0.join("recording");
    let mut writer = Writer::create(&folder, recording).expect("a recording");
    for planned in &plan.jobs {
        for (part, name) in planned.parts.iter().zip(&planned.series) {
            let series = Series {
                name: name.clone(),
                workload: planned.job.workload().name.to_owned(),
                environment: planned.job.environment.name().to_owned(),
                params: planned.job.params.written(),
                requested: planned.job.requested(),
                part: part.name.clone(),
                columns: part.columns.clone(),
                operations: part.operations,
                emulated: planned.job.emulated(),
                asked_by: planned.asked_by.clone(),
                counted: false,
                trials: Vec::new(),
            };
            let index = writer.add_series(series.clone());
            for trial in 0..planned.trials {
                writer.begin_trial(&[index], &[part.rows], &began(&series, trial)).expect("a trial");
                let first = samples(&series, trial);
                let rows: Vec<u64> =
                    first.iter().flat_map(|s| (0..part.columns.len()).map(move |c| s * u64::from(c == 0))).collect();
                writer.append(index, &rows).expect("rows");
                if series.requested.get("policy").is_some_and(|p| p == "fifo:99")
                    && let Some(trial) = writer.trial(index)
                {
                    let why = "not permitted".to_owned();
                    let effective = Effective { value: "other".into(), as_requested: false, why };
                    trial.effective.insert("policy".into(), effective);
                }
                writer.end_trial(&[index], &Outcome::Complete).expect("an end");
            }
        }
    }
    writer.finish(State::Complete).expect("an end");
    Reader::open(&folder).expect("a recording")
}

fn judge(study: &Study, reader: &Reader) -> Vec<Judgement> {
    let find = |selector: &Selector| -> Vec<Loaded<'_>> {
        reader.series().filter(|loaded| selector.matches(loaded.series)).collect()
    };
    study.claims.iter().map(|claim| claim.judge(&Options::default(), &find)).collect()
}

/// Samples around `centre` that differ from trial to trial by a little.
fn around(centre: u64, spread: u64, count: u64, seed: u64) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    (0..count).map(|_| centre + random.u64(0..spread)).collect()
}

/// The labels of group `g` of study `s`, once it was recorded.
fn labels(study: &Study) -> Vec<String> {
    let scratch = Scratch::new();
    let reader = record(study, &scratch, |_, _| vec![1, 2, 3]);
    let series: Vec<_> = reader.series().map(|loaded| loaded.series).collect();
    study.group("g").expect("a group").rows("s", &series).into_iter().map(|row| row.label).collect()
}

#[test]
fn a_load_that_varies_is_the_first_that_tells_rows_apart_and_none_is_idle() {
    let study = study(
        r#"
        name = "s"
        title = "t"
        [[group]]
        id = "g"
        title = "t"
        workloads = ["sleep"]
        vary = { load = ["none", "cpu"] }
        cases = [{}, { policy = "fifo:80" }]
        "#,
    );
    assert_eq!(
        labels(&study),
        ["sleep, idle", "sleep, idle, policy fifo:80", "sleep, load cpu", "sleep, load cpu, policy fifo:80"]
    );
}

#[test]
fn what_only_some_layers_have_stands_with_those_that_have_it() {
    let study = study(
        r#"
        name = "s"
        title = "t"
        [[group]]
        id = "g"
        title = "t"
        environments = ["host", "bwrap"]
        workloads = ["net-rtt"]
        settings = { network = "link", policy = "fifo:80" }
        "#,
    );
    assert_eq!(labels(&study), ["net-rtt, host", "net-rtt, bwrap, network link"]);
}

#[test]
fn rows_stand_in_the_order_of_the_group_under_what_tells_them_apart() {
    let study = Study::load("nerves").expect("a study");
    let scratch = Scratch::new();
    let reader = record(&study, &scratch, |_, _| vec![1, 2, 3]);
    let series: Vec<_> = reader.series().map(|loaded| loaded.series).collect();
    let labels = |id: &str| -> Vec<String> {
        let group = study.group(id).expect("a group");
        group.rows("nerves", &series).into_iter().map(|row| row.label).collect()
    };
    assert_eq!(labels("table2"), ["sum", "fib", "sleep", "nothing"]);
    let table6 = ["sum, priority low", "sum, default", "sum, priority high"];
    assert_eq!(labels("table6")[..3], table6);
    assert_eq!(
        labels("table5")[4..],
        ["fib, min_heap_size 34", "fib, default", "fib, min_heap_size 6765", "fib, min_heap_size 196418"]
    );
    assert_eq!(labels("erlang")[..2], ["sum, lang elixir", "sum, lang erlang"]);
    let flags = "vm_flags +sbwt none +sbwtdcpu none +sbwtdio none";
    assert_eq!(labels("realtime"), ["sleep, default", &format!("sleep, {flags}"), "sleep, policy fifo:80"]);

    let group = study.group("table6").expect("a group");
    let row = &group.rows("nerves", &series)[2];
    assert_eq!(row.condition_text(), "priority=high");
    let published: Vec<_> = study.published_for(group, series[row.series]).map(|p| p.value).collect();
    assert_eq!(published.len(), 3 * 4);
    assert_eq!(published[..4], [5018.0, 5707.0, 9256.0, 96.0]);
    let default = &group.rows("nerves", &series)[1];
    let normal: Vec<_> = study.published_for(group, series[default.series]).map(|p| p.value).collect();
    assert_eq!(normal[..2], [4990.0, 5715.0]);
}

const CLAIMS: &str = r#"
name = "s"
title = "S"
[[group]]
id = "a"
title = "A"
workloads = ["wakeup"]
params = { cycles = 400 }
vary = { policy = ["default", "fifo:1", "fifo:99"] }
quick = { trials = TRIALS }
[[claim]]
says = "FIFO is lower."
of = { group = "a", policy = "fifo:1" }
statistic = "STATISTIC"
below = { group = "a", policy = "default" }
[[claim]]
says = "FIFO is higher."
of = { group = "a", policy = "fifo:1" }
statistic = "STATISTIC"
above = { group = "a", policy = "default" }
[[claim]]
says = "FIFO is the same."
of = { group = "a", policy = "fifo:1" }
statistic = "STATISTIC"
near = { group = "a", policy = "default" }
"#;

fn verdicts(trials: usize, statistic: &str, fifo: (u64, u64), other: (u64, u64), count: u64) -> Vec<Verdict> {
    let study = study(&CLAIMS.replace("TRIALS", &trials.to_string()).replace("STATISTIC", statistic));
    let scratch = Scratch::new();
    let reader = record(&study, &scratch, |series, trial| {
        let is_fifo = series.requested.contains_key("policy");
        let (centre, spread) = if is_fifo { fifo } else { other };
        around(centre, spread, count, 100 * trial as u64 + u64::from(is_fifo))
    });
    judge(&study, &reader).into_iter().map(|j| j.verdict).collect()
}

#[test]
fn a_clear_difference_holds_one_way_and_not_the_other_whatever_the_statistic() {
    for trials in [5, 7] {
        for statistic in ["mean", "median", "max", "stdev", "variance", "p90"] {
            let got = verdicts(trials, statistic, (40_000, 1_000), (80_000, 9_000), 300);
            let expected = [Verdict::Holds, Verdict::DoesNotHold, Verdict::DoesNotHold];
            assert_eq!(got, expected, "{statistic} of {trials} trials");
        }
    }
}

#[test]
fn equal_series_support_neither_answer_and_are_near() {
    for trials in [5, 7] {
        for statistic in ["mean", "median", "max", "stdev"] {
            let got = verdicts(trials, statistic, (40_000, 5_000), (40_000, 5_000), 300);
            let expected = [Verdict::NotSupported, Verdict::NotSupported, Verdict::Holds];
            assert_eq!(got, expected, "{statistic} of {trials} trials");
        }
    }
}

#[test]
fn noise_is_no_proof_that_two_are_alike() {
    // One takes 1.12 times the other, beyond the tenth that is claimed, and starts differ by a third: the ratio of the samples
    // lies within the tenth nearly as often as not.
    let study = study(&CLAIMS.replace("TRIALS", "5").replace("STATISTIC", "mean"));
    let (mut holds, mut lies_inside) = (0, 0);
    for seed in 0..100 {
        let scratch = Scratch::new();
        let reader = record(&study, &scratch, |series, trial| {
            let is_fifo = series.requested.contains_key("policy");
            let mut random = fastrand::Rng::with_seed(seed);
            let drawn = (0..=2 * trial + usize::from(is_fifo)).map(|_| random.f64()).last().unwrap_or_default();
            let centre = 40_000.0 * (0.8 + 0.4 * drawn) * if is_fifo { 1.12 } else { 1.0 };
            around(centre as u64, 100, 20, seed)
        });
        let near = judge(&study, &reader).pop().expect("three claims");
        let ratio: f64 = near.figure.split(' ').next().and_then(|f| f.parse().ok()).expect("a ratio");
        holds += u32::from(near.verdict == Verdict::Holds);
        lies_inside += u32::from((0.9..=1.1).contains(&ratio));
    }
    assert!(holds <= 5 && lies_inside > 30, "{holds} of {lies_inside}");
}

#[test]
fn the_figures_of_a_comparison_are_not_taken_for_those_of_all_samples() {
    let study = study(&CLAIMS.replace("TRIALS", "5").replace("STATISTIC", "max"));
    let scratch = Scratch::new();
    // The worst of all is the second start's, of both.
    let reader = record(&study, &scratch, |_, trial| vec![1000, if trial == 1 { 9_000_000 } else { 2_000_000 }]);
    let shown = &judge(&study, &reader)[0].shown;
    assert!(shown.starts_with("max 2.00 ms against 2.00 ms (medians of the starts); "), "{shown}");
}

/// Two comparisons and two bounds, of which the samples decide one each; each look has its part of what all of them may miss.
#[test]
fn what_stays_open_is_a_claim_that_is_not_decided() {
    let study = study(
        r#"
        name = "s"
        title = "t"
        doublings = 2
        [quick]
        trials = 15
        [[group]]
        id = "clear"
        title = "t"
        workloads = ["sleep"]
        vary = { timer_slack = ["default", "1us"] }
        [[group]]
        id = "near"
        title = "t"
        workloads = ["wakeup"]
        vary = { timer_slack = ["default", "1us"] }
        [[claim]]
        says = "decided"
        of = { group = "clear", timer_slack = "1us" }
        statistic = "median"
        below = { group = "clear", timer_slack = "default" }
        [[claim]]
        says = "open"
        of = { group = "near", timer_slack = "1us" }
        statistic = "median"
        below = { group = "near", timer_slack = "default" }
        [[claim]]
        says = "decided by its bounds"
        of = { group = "near", timer_slack = "1us" }
        statistic = "median"
        between = ["1ns", "2ns"]
        [[claim]]
        says = "open at its bounds"
        of = { group = "near", timer_slack = "1us" }
        statistic = "median"
        between = ["0us", "65us"]
        "#,
    );
    let scratch = Scratch::new();
    let reader = record(&study, &scratch, |series, trial| {
        let less = series.workload == "sleep" && series.requested.contains_key("timer_slack");
        let place = series.name.len() as u64;
        around(if less { 50_000 } else { 60_000 }, 10_000, 50, 1000 * trial as u64 + place)
    });
    let open = study.open(&reader, &Options::default());
    assert_eq!(open.iter().map(|claim| claim.says.as_str()).collect::<Vec<_>>(), ["open", "open at its bounds"]);
    let judged = judge(&study, &reader);
    assert!(judged[0].shown.contains("(98.3 %: "), "{:?}", judged[0]);
    assert_eq!(judged[0].verdict, Verdict::Holds, "{:?}", judged[0]);
    assert!(judged[3].shown.contains(" (98.3 %: "), "{:?}", judged[3]);
}

/// A machine that slows down by half from round to round, and two that are alike on it.
#[test]
fn what_did_not_run_in_turn_is_not_compared_round_by_round() {
    let study = study(
        r#"
        name = "s"
        title = "t"
        [quick]
        trials = 6
        [[group]]
        id = "g"
        title = "t"
        workloads = ["sleep"]
        vary = { timer_slack = ["default", "1us"] }
        [[claim]]
        says = "alike"
        of = { group = "g", timer_slack = "1us" }
        statistic = "median"
        near = { group = "g", timer_slack = "default" }
        "#,
    );
    let judged = |apart: usize| {
        let later = |series: &Series| if series.requested.contains_key("timer_slack") { apart } else { 0 };
        let scratch = Scratch::new();
        let samples = |_: &Series, trial: usize| around(50_000 + 25_000 * trial as u64, 100, 50, trial as u64);
        let began = |series: &Series, trial: usize| format!("2026-11-28T10:{:02}:00.000Z", trial + later(series));
        let reader = record_at(&study, &scratch, samples, began);
        judge(&study, &reader).remove(0)
    };
    let in_turn = judged(0);
    assert!(in_turn.verdict == Verdict::Holds && in_turn.shown.contains("round by round"), "{in_turn:?}");
    let one_after_the_other = judged(6);
    assert_eq!(one_after_the_other.verdict, Verdict::NotSupported, "{one_after_the_other:?}");
    assert!(!one_after_the_other.shown.contains("round by round"), "{one_after_the_other:?}");
}

#[test]
fn few_starts_support_nothing_however_clear_it_looks() {
    for trials in [1, 4] {
        let got = verdicts(trials, "median", (40_000, 1_000), (80_000, 9_000), 3000);
        assert_eq!(got, [Verdict::NotSupported, Verdict::NotSupported, Verdict::NotSupported]);
    }
    let study = study(&CLAIMS.replace("TRIALS", "1").replace("STATISTIC", "mean"));
    let scratch = Scratch::new();
    let reader = record(&study, &scratch, |_, _| around(1000, 10, 100, 1));
    let shown = &judge(&study, &reader)[0].shown;
    assert!(shown.ends_with("of 1 start a side, which support no difference: it takes 5"), "{shown}");
}

#[test]
fn what_was_refused_or_not_recorded_is_not_judged() {
    let text = CLAIMS.replace("TRIALS", "1").replace("STATISTIC", "mean").replace("\"fifo:1\" }", "\"fifo:99\" }");
    let (study, scratch) = (study(&text), Scratch::new());
    let reader = record(&study, &scratch, |_, _| around(1000, 10, 100, 1));
    let judged = judge(&study, &reader);
    let why = "policy=fifo:99 did not take effect in wakeup.host.policy=fifo-99: not permitted";
    assert_eq!(judged[0].verdict, Verdict::NotMeasured(why.into()));

    let nothing = study.claims[0].judge(&Options::default(), &|_| Vec::new());
    assert_eq!(nothing.verdict, Verdict::NotMeasured("nothing of it was recorded".into()));
}

#[test]
fn a_claim_about_many_is_as_good_as_its_worst_and_says_so_first() {
    let text = r#"
name = "s"
title = "S"
[[group]]
id = "a"
title = "A"
workloads = ["sleep"]
vary = { n = [5, 6, 50] }
[[claim]]
says = "Sleeping takes 6 ms."
of = { group = "a" }
statistic = "mean"
between = ["5.5ms", "6.5ms"]
[[claim]]
says = "Sleeping takes 6 ms."
of = { group = "a", n = 6 }
statistic = "mean"
between = ["5.5ms", "6.5ms"]
[[claim]]
says = "Sleeping takes no longer than 7 ms."
of = { group = "a", n = 6 }
statistic = "mean"
between = ["0", "7ms"]
"#;
    let (study, scratch) = (study(text), Scratch::new());
    let reader = record(&study, &scratch, |series, _| {
        let centre = if series.params["n"] == "50" { 50_000_000 } else { 6_000_000 };
        around(centre, 1000, 101, 1)
    });
    let judged = judge(&study, &reader);
    assert_eq!(judged[0].verdict, Verdict::DoesNotHold);
    let lines: Vec<_> = judged[0].shown.lines().map(|line| line.split(" (").next().unwrap()).collect();
    assert_eq!(lines, ["n 50: mean 50.00 ms", "n 5: mean 6.00 ms", "n 6: mean 6.00 ms"]);
    assert_eq!(judged[1].verdict, Verdict::Holds);
    assert_eq!(judged[1].shown, "mean 6.00 ms (95 %: 6.00 ms to 6.00 ms), claimed 5.50 ms to 6.50 ms");
    assert_eq!(judged[2].shown, "mean 6.00 ms (95 %: 6.00 ms to 6.00 ms), claimed at most 7.00 ms");
    assert_eq!(judged[2].figure, "6.00 ms (bound at most 7.00 ms)");
}

#[test]
fn what_only_one_side_names_the_other_has_as_well() {
    let text = r#"
name = "s"
title = "S"
[[group]]
id = "a"
title = "A"
workloads = ["file"]
environments = ["host", "fio"]
params = { size = "4KiB", cache = "hot", place = "sequential" }
vary = { op = ["write", "read"] }
quick = { trials = 21 }
[[claim]]
says = "Writing is as in fio."
of = { group = "a", environment = "host", op = "write" }
statistic = "median"
near = { group = "a", environment = "fio" }
[[claim]]
says = "Reading is faster than writing."
of = { group = "a", environment = "host", op = "read" }
statistic = "median"
below = { group = "a", op = "write" }
"#;
    let (study, scratch) = (study(text), Scratch::new());
    let reader = record(&study, &scratch, |series, trial| {
        let centre = if series.params["op"] == "write" { 40_000 } else { 10_000 };
        around(centre, 1000, 101, 2 * trial as u64 + u64::from(series.environment == "fio"))
    });
    let judged = judge(&study, &reader);
    assert_eq!(judged[0].verdict, Verdict::Holds, "{}", judged[0].shown);
    assert_eq!(judged[1].verdict, Verdict::Holds, "{}", judged[1].shown);
}

/// The judgement of a study of one group and one claim about it.
fn judged_alone(group: &str, claim: &str, samples: &[u64]) -> Judgement {
    let text = format!(
        "name = \"s\"\ntitle = \"S\"\n[[group]]\nid = \"a\"\ntitle = \"A\"\n{group}\n[[claim]]\nsays = \"So.\"\n{claim}"
    );
    let (study, scratch) = (study(&text), Scratch::new());
    let reader = record(&study, &scratch, |_, _| samples.to_vec());
    judge(&study, &reader).remove(0)
}

#[test]
fn a_percentile_in_the_tail_is_judged_by_the_share_beyond_the_limit() {
    let group = "workloads = [\"wakeup\"]";
    let claim = |between: &str| format!("of = {{ group = \"a\" }}\nstatistic = \"p99.9\"\nbetween = {between}");
    // One in so many, in no order, takes 3 ms, and none of the others more than 1.
    let mut random = fastrand::Rng::with_seed(1);
    let late =
        |random: &mut fastrand::Rng, of: u64| if random.u64(..of) == 0 { 3_000_000 } else { random.u64(..1_000_000) };
    let mut samples = |of: u64, count: usize| -> Vec<u64> { (0..count).map(|_| late(&mut random, of)).collect() };
    let verdict = |between: &str, samples: &[u64]| judged_alone(group, &claim(between), samples).verdict;
    let (often, seldom, near) = (samples(300, 20_000), samples(10_000, 20_000), samples(1000, 20_000));
    assert_eq!(verdict("[\"0ms\", \"2ms\"]", &often), Verdict::DoesNotHold);
    assert_eq!(verdict("[\"0ms\", \"2ms\"]", &seldom), Verdict::Holds);
    assert_eq!(verdict("[\"0ms\", \"4ms\"]", &often), Verdict::Holds);
    assert_eq!(verdict("[\"2ms\", \"4ms\"]", &often), Verdict::Holds);
    assert_eq!(verdict("[\"2ms\", \"4ms\"]", &seldom), Verdict::DoesNotHold);
    // One in a thousand: its percentile is one of the two, by chance.
    let judged = judged_alone(group, &claim("[\"0ms\", \"2ms\"]"), &near);
    assert_eq!(judged.verdict, Verdict::NotSupported, "{}", judged.shown);
    assert!(judged.shown.contains("samples are above 2.00 ms; with 95 % confidence"), "{}", judged.shown);
}

#[test]
fn what_an_emulator_counts_needs_no_interval() {
    let group = r#"
workloads = ["rtos-instructions"]
environments = ["rtos-m33"]
"#;
    let claim = r#"
of = { group = "a", part = "act_switch" }
statistic = "median"
between = ["1", "98"]
"#;
    let judged = judged_alone(group, claim, &[56; 3]);
    assert_eq!(judged.verdict, Verdict::Holds, "{judged:?}");
}

#[test]
fn a_mean_whose_interval_is_refused_supports_no_limits() {
    let claim = r#"
of = { group = "a" }
statistic = "mean"
between = ["5.5ms", "6.5ms"]
"#;
    let judged = judged_alone("workloads = [\"sleep\"]", claim, &[6_000_000; 3]);
    assert_eq!(judged.verdict, Verdict::NotSupported, "{judged:?}");
    assert!(judged.shown.starts_with("mean 6.00 ms (without an interval: "), "{judged:?}");
}

#[test]
fn samples_of_batches_are_judged_by_the_operation() {
    let text = r#"
name = "s"
title = "S"
[[group]]
id = "a"
title = "A"
workloads = ["syscall"]
vary = { batch = [10, 1000] }
quick = { trials = 5 }
[[claim]]
says = "One call takes 100 ns."
of = { group = "a" }
statistic = "mean"
between = ["90ns", "110ns"]
[[claim]]
says = "The batch makes no difference."
of = { group = "a", batch = 10 }
statistic = "mean"
near = { group = "a", batch = 1000 }
"#;
    let (study, scratch) = (study(text), Scratch::new());
    let reader = record(&study, &scratch, |series, _| around(100 * series.operations, series.operations, 200, 1));
    let judged = judge(&study, &reader);
    assert_eq!(judged.iter().map(|j| &j.verdict).collect::<Vec<_>>(), [&Verdict::Holds, &Verdict::Holds], "{judged:?}");
    assert!(reader.series().all(|loaded| loaded.series.columns[0].unit == Unit::Nanoseconds));
}
