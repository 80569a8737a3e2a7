//! Tests of the findings: of whom they speak, and what they do not say.

use std::collections::BTreeMap;

use kizami_recording::folder::{
    Column, Effective, IMPORTED, Outcome, Reader, Recording, State, Unit as SampleUnit, Writer,
};
use kizami_recording::stats::Options;

use super::*;

/// A series of one trial, its samples, the policy and the load under which it ran, and how many rows were lost. `sleep` is the
/// Erlang VM's; `sleep +FLAGS` had these flags; of what was `imported` neither is known.
struct Ran(&'static str, &'static str, Option<&'static str>, Vec<u64>, u64);

/// The findings of a recording of these series.
fn findings(ran: &[Ran]) -> Vec<Finding> {
    let folder = tempfile::tempdir().expect("a folder");
    let recording = Recording::begun();
    let path = folder.path().join("r");
    let mut writer = Writer::create(&path, recording).expect("a recording");
    for (number, Ran(workload, policy, load, samples, lost)) in ran.iter().enumerate() {
        let (workload, flags) = workload.split_once(' ').map_or((*workload, None), |(w, flags)| (w, Some(flags)));
        let imported = flags == Some("imported");
        let asked = [("load", load.as_ref()), ("vm_flags", flags.as_ref())];
        let asked = asked.into_iter().filter_map(|(name, value)| Some((name.to_owned(), (*value?).to_owned())));
        let series = writer.add_series(Series {
            name: format!("{workload}-{number}"),
            workload: workload.to_owned(),
            environment: match (workload, imported) {
                (_, true) => IMPORTED.into(),
                ("sleep", _) => "beam".into(),
                _ => "host".into(),
            },
            params: (!imported)
                .then_some([("interval".into(), "1ms".into()), ("n".into(), "5".into())])
                .into_iter()
                .flatten()
                .collect(),
            requested: asked.collect(),
            part: "cpu1".into(),
            columns: vec![Column::new("time", SampleUnit::Nanoseconds)],
            operations: 1,
            emulated: flags == Some("emulated"),
            asked_by: Vec::new(),
            counted: false,
            trials: Vec::new(),
        });
        writer.begin_trial(&[series], &[samples.len() as u64], "").expect("a trial");
        writer.append(series, samples).expect("rows");
        let trial = writer.trial(series).expect("a trial");
        trial.dropped = *lost;
        trial.facts = BTreeMap::from([("lost_ns_cpu1".into(), 2e7), ("elapsed_ns_cpu1".into(), 1e9)]);
        let still = flags.and_then(|flags| flags.strip_prefix("still=")?.parse().ok());
        trial.facts.extend(still.map(|pairs| ("clock_still_pairs".to_owned(), pairs)));
        let settings = [("policy", Some(policy)), ("load", load.as_ref())];
        for (name, value) in settings.into_iter().filter(|_| !imported).filter_map(|(name, value)| Some((name, value?)))
        {
            let effective = Effective { value: (*value).to_owned(), as_requested: true, why: String::new() };
            trial.effective.insert(name.to_owned(), effective);
        }
        writer.end_trial(&[series], &Outcome::Complete).expect("an end");
    }
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&path).expect("a recording");
    let analyses: Vec<Analysis<'_>> = reader.series().map(|loaded| Analysis::of(loaded, &Options::default())).collect();
    find(&analyses)
}

#[test]
fn a_clock_that_stands_still_is_said_first() {
    let ran = |name| Ran(name, "other", None, vec![0; 20], 0);
    let found = findings(&[ran("file"), ran("file still=600"), ran("tcp still=20")]);
    let [headline, meaning] = [&found[0].headline, &found[0].meaning];
    assert!(headline.contains("for 600 pairs of readings") && headline.contains("file-1"), "{headline}");
    assert!(meaning.contains("It is so in 2 series."), "{meaning}");
    // A board whose clock counts 41 ns at a time.
    assert!(findings(&[ran("file still=2")]).iter().all(|finding| !finding.headline.contains("stood still")));
}

#[test]
fn of_what_another_tool_measured_no_condition_is_said() {
    let found = findings(&[Ran("wakeup imported", "other", None, vec![989_000, 1000], 0)]);
    let all: String = found.iter().flat_map(|finding| [&finding.headline[..], &finding.meaning, "\n"]).collect();
    assert_eq!(found[0].headline, "wakeup-0: the longest of 2 samples is 989 µs.");
    assert!(
        all.contains("not known here")
            && !["policy other", "every", "without load", "periods"].iter().any(|word| all.contains(word)),
        "{all}"
    );
    // Nor is one of ours set beside it.
    let found = findings(&[
        Ran("wakeup imported", "", None, vec![9_000_000], 0),
        Ran("wakeup", "fifo:80", None, vec![5000], 0),
    ]);
    assert!(found.iter().all(|finding| !finding.headline.contains("A thread under policy")), "{found:?}");
}

fn about<'f>(findings: &'f [Finding], what: &str) -> &'f Finding {
    let found = findings.iter().find(|finding| finding.headline.contains(what));
    found.unwrap_or_else(|| panic!("nothing about {what}: {findings:?}"))
}

#[test]
fn gaps_of_an_ordinary_thread_say_nothing_of_a_real_time_one() {
    let gaps = |policy| Ran("clock-gap", policy, None, vec![1000, 3_110_000, 2000], 0);
    let found = findings(&[gaps("other"), Ran("wakeup", "fifo:80", Some("cpu"), vec![1_140_000, 9000], 0)]);
    let noise = about(&found, "never sleeps");
    assert_eq!(
        noise.headline,
        "A thread under policy other that never sleeps was held up for 3.11 ms in one piece, and lost 2.00 % of its time in all, \
         without load on the host (cpu1)."
    );
    assert!(!noise.meaning.contains("whatever"), "{}", noise.meaning);
    assert!(noise.meaning.contains("In the same run one under policy fifo:80 woke up to 1.14 ms late under load cpu."));

    let found = findings(&[gaps("fifo:80")]);
    assert!(about(&found, "never sleeps").meaning.starts_with("A thread under policy fifo:80 that reacts faster"));
}

#[test]
fn what_an_emulator_measured_is_no_finding_about_this_machine() {
    let late = |workload| Ran(workload, "other", None, vec![18_200_000, 1000], 0);
    assert!(findings(&[late("wakeup emulated")]).is_empty());
    let native = Ran("wakeup", "other", None, vec![1_000_000, 1000], 0);
    let found = findings(&[late("wakeup emulated"), native]);
    assert!(about(&found, "wakes every").headline.contains("1.00 ms late"), "{found:?}");
}

#[test]
fn the_loss_of_one_series_is_not_joined_to_the_maximum_of_another() {
    let mut quiet = Ran("clock-gap", "other", None, vec![1000; 10], 0);
    quiet.3[3] = 1500;
    let found = findings(&[quiet, Ran("clock-gap", "fifo:80", Some("cpu"), vec![9_000_000, 10], 0)]);
    let noise = about(&found, "never sleeps");
    assert!(
        noise.headline.contains("policy fifo:80") && noise.headline.contains("under load cpu"),
        "{}",
        noise.headline
    );
}

#[test]
fn wake_ups_are_set_beside_those_under_the_same_load_only() {
    let other = Ran("wakeup", "other", Some("cpu"), vec![5_130_000, 1000], 0);
    let idle = Ran("wakeup", "fifo:80", None, vec![20_000, 1000], 0);
    let found = findings(&[other, idle]);
    let late = about(&found, "wakes every");
    assert_eq!(
        late.headline,
        "A thread under policy other that wakes every 1ms came up to 5.13 ms late under load cpu on the host."
    );
    assert_eq!(late.meaning, "It missed whole periods, one after the other.");

    let other = Ran("wakeup", "other", Some("cpu"), vec![5_130_000, 1000], 0);
    let found = findings(&[other, Ran("wakeup", "fifo:80", Some("cpu"), vec![30_000, 1000], 0)]);
    assert!(
        about(&found, "wakes every")
            .meaning
            .ends_with("Under policy fifo:80 it was 30.0 µs in the same run and under the same load.")
    );
}

#[test]
fn what_was_lost_is_the_first_finding_and_bounds_the_others() {
    let found = findings(&[Ran("clock-gap", "other", None, vec![30_000; 50], 3050)]);
    assert_eq!(
        found[0].headline,
        "clock-gap-0: 3050 of 3100 samples were lost for want of room, and nothing is known of them: figures are of the rest, and \
         the maximum is at least theirs."
    );
    assert!(about(&found, "never sleeps").headline.contains("held up for at least 30.0 µs"), "{:?}", found[1]);
}

#[test]
fn latencies_with_and_without_load_are_of_one_policy() {
    let loaded = || Ran("os-latency", "fifo:80", Some("network"), vec![900_000, 1000], 0);
    let idle = |policy, worst| Ran("os-latency", policy, None, vec![worst, 1000], 0);
    let found = findings(&[idle("other", 7_000_000), loaded()]);
    assert!(!found.iter().any(|finding| finding.headline.contains("OS latency")), "{found:?}");
    let found = findings(&[idle("other", 7_000_000), idle("fifo:80", 50_000), loaded()]);
    assert_eq!(
        about(&found, "OS latency").headline,
        "The paper's OS latency was up to 50.0 µs without load and up to 900 µs under load network, under policy fifo:80 on the \
         host."
    );
}

#[test]
fn a_tick_of_the_erlang_vm_explains_a_millisecond_and_no_more() {
    let sleep = |load, samples: &[u64]| Ran("sleep", "other", load, samples.to_vec(), 0);
    let idle = || sleep(None, &[6_000_000, 6_000_000, 6_020_000]);
    let found = findings(&[idle(), sleep(Some("cpu"), &[6_000_000, 6_010_000, 6_030_000])]);
    let said = about(&found, "timer:sleep(5)");
    assert!(
        said.headline.ends_with("takes 6.00 ms in the Erlang VM under policy other without load, and up to 6.02 ms.")
    );
    assert!(said.meaning.ends_with("rounds up: plan with 1.00 ms more than asked."), "{}", said.meaning);

    let loaded = || sleep(Some("cpu"), &[140_000_000, 140_000_000, 148_000_000]);
    let found = findings(&[idle(), loaded()]);
    let said = about(&found, "timer:sleep(5)");
    assert!(
        said.headline.ends_with("takes 140 ms in the Erlang VM under policy other under load cpu, and up to 148 ms.")
    );
    assert_eq!(
        said.meaning,
        "That is 135 ms more than asked, of which the VM's timers, ticks of a millisecond rounded up, explain 1 ms."
    );

    // What explains the rest is said of the same policy and load only.
    let without = |policy, load| Ran("sleep +sbwt none", policy, load, vec![6_000_000; 3], 0);
    let says = |other| {
        let found = findings(&[idle(), loaded(), other]);
        about(&found, "timer:sleep(5)").meaning.contains("With vm_flags +sbwt none it takes 6.00 ms in the same run")
    };
    assert!(says(without("other", Some("cpu"))));
    assert!(!says(without("other", None)));
    assert!(!says(without("fifo:80", Some("cpu"))));
}
