//! Decisions at the head of a report: of simulated wake-ups, recorded as a run would record them.

use std::collections::BTreeMap;

use kizami_recording::folder::{
    Column, Effective, Outcome, Reader, Recording, Requirement, Series, State, Unit, Writer,
};
use kizami_report::decisions::{Decisions, Verdict};
use kizami_report::plot::Width;
use kizami_report::{Report, html};
use kizami_studies::Study;

const REQUIRED: Requirement = Requirement { deadline: 200_000, miss: 1e-3 };
const LATE: u64 = 300_000;

/// A series of one environment under one policy.
struct Made {
    series: Series,
    /// The cells of each trial.
    trials: Vec<Vec<u64>>,
    /// What was in force where it is not what was asked.
    effective: BTreeMap<String, Effective>,
}

fn series(workload: &str, environment: &str, policy: &str, columns: Vec<Column>) -> Series {
    let asked = |policy: &str| BTreeMap::from([("policy".to_owned(), policy.to_owned())]);
    Series {
        name: format!("{workload}.{environment}.{}", policy.replace(':', "-")),
        workload: workload.into(),
        environment: environment.into(),
        params: BTreeMap::new(),
        requested: if policy.is_empty() { BTreeMap::new() } else { asked(policy) },
        part: String::new(),
        columns,
        operations: 1,
        emulated: environment == "qemu",
        asked_by: vec![format!("{workload}/{workload}")],
        counted: false,
        trials: Vec::new(),
    }
}

/// Wake-ups every millisecond in five starts, `count` in all: independent, of which about one in `rate` is late.
fn wake_ups(environment: &str, policy: &str, count: usize, rate: f64) -> Made {
    let mut random = fastrand::Rng::with_seed(count as u64 + rate.min(1e9) as u64);
    let mut one = || {
        let usual = (-(1.0 - random.f64()).ln() * 20_000.0) as u64;
        if random.f64() * rate < 1.0 { LATE } else { usual.clamp(5_000, 100_000) }
    };
    let mut series = series("wakeup", environment, policy, vec![Column::new("time", Unit::Nanoseconds)]);
    series.params.insert("interval".into(), "1ms".into());
    let trials = (0..5).map(|_| (0..count / 5).map(|_| one()).collect()).collect();
    Made { series, trials, effective: BTreeMap::new() }
}

/// Three starts of an environment: what each took, in the columns of the workload.
fn starts(workload: &str, environment: &str, unit: Unit, columns: &[&str], rows: [&[u64]; 3]) -> Made {
    let columns = columns.iter().map(|name| Column::new(*name, unit)).collect();
    let trials = rows.iter().map(|row| row.to_vec()).collect();
    Made { series: series(workload, environment, "", columns), trials, effective: BTreeMap::new() }
}

/// The report of all of them, held to `asked` by the run.
fn report(all: &[Made], asked: Option<Requirement>) -> Report {
    let host = kizami_environments::find("host").expect("the host");
    let workload = kizami_workloads::find("wakeup").expect("the workload");
    report_of(all, asked, &[Study::of_workload(workload, host, 1)])
}

fn report_of(all: &[Made], asked: Option<Requirement>, studies: &[Study]) -> Report {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let recording = Recording { started: "2026-01-01T00:00:00Z".into(), requirement: asked, ..Recording::begun() };
    let mut writer = Writer::create(&folder, recording).expect("a folder");
    for made in all {
        let index = writer.add_series(made.series.clone());
        for cells in &made.trials {
            let rows = cells.len() / made.series.columns.len();
            writer.begin_trial(&[index], &[rows as u64], "2026-01-01T00:00:00Z").expect("a trial");
            writer.append(index, cells).expect("samples");
            writer.trial(index).expect("a trial").effective = made.effective.clone();
            writer.end_trial(&[index], &Outcome::Complete).expect("an end");
        }
    }
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    Report::new(&reader, studies, None)
}

fn decisions(all: &[Made]) -> Decisions {
    report(all, Some(REQUIRED)).decisions.remove(0)
}

/// The box of a page, without its marks.
fn boxed(page: &str) -> String {
    let from = page.split("<section class=\"decisions\"").nth(1).expect("a box");
    let mut inside = false;
    let text = from.split("</section>").next().unwrap_or_default().chars().filter(|c| {
        let shown = !inside && *c != '<';
        inside = if *c == '<' { true } else { inside && *c != '>' };
        shown
    });
    text.collect()
}

#[test]
fn the_page_has_each_environment_and_setting_with_its_decision_at_its_head() {
    let page = html::page(&report(
        &[
            wake_ups("host", "other", 50_000, 100.0),
            wake_ups("host", "fifo:80", 50_000, f64::INFINITY),
            wake_ups("docker", "fifo:80", 2_000, f64::INFINITY),
            wake_ups("qemu", "other", 50_000, f64::INFINITY),
        ],
        Some(REQUIRED),
    ));
    assert!(page.find("class=\"decisions\"") < page.find("id=\"machine\""), "at the head");
    let said = boxed(&page);
    for words in [
        "at most 200 µs late, at most 1 in 1000 later",
        "does nothost · policy other · every 1ms",
        "with 95 % confidence at least",
        "What would help: policy=fifo:80: meets it",
        "meets ithost · policy fifo:80 · every 1ms",
        "0 of 50000 were late, with 95 % confidence at most 1 in ",
        "not enough samplesdocker · policy fifo:80 · every 1ms",
        "more would tell",
    ] {
        assert!(said.contains(words), "{words}\n{said}");
    }
    let emulated = said.split("Emulated: of another machine, and no answer").nth(1).expect("apart from the rest");
    assert!(
        emulated.contains("emulatedqemu (emulated) · policy other · every 1ms") && emulated.contains("decide nothing"),
        "{said}"
    );
    assert!(!said.contains("environment=qemu"), "what an emulator measured is never recommended: {said}");
    assert_eq!(page.matches("<li class=\"holds\">").count(), 1, "{said}");
}

#[test]
fn without_a_deadline_nothing_is_decided_and_one_line_says_how_to_ask() {
    let made = report(&[wake_ups("host", "other", 1_000, 100.0)], None);
    let page = html::page(&made);
    assert!(made.decisions.is_empty() && !page.contains("class=\"decisions\""));
    assert!(page.contains("kizami report --deadline 200us"), "{page}");
    assert!(!page.contains("class=\"k-deadline\""), "no line without a deadline");
    let boots = starts("boot", "host", Unit::Nanoseconds, &["total"], [&[1], &[2], &[3]]);
    assert!(!html::page(&report(&[boots], None)).contains("class=\"ask\""), "without wake-ups there is nothing to ask");
}

#[test]
fn a_study_holds_its_own_wake_ups_to_its_deadline_unless_the_run_was_asked_for_another() {
    let study = |name: &str, requirement: &str| {
        let text = format!(
            "name = \"{name}\"\ntitle = \"The {name}\"\n{requirement}\n[[group]]\nid = \"g\"\ntitle = \"G\"\nworkloads = \
             [\"wakeup\"]\nfigures = [\"tail\"]"
        );
        Study::parse(&text, std::path::Path::new("s.toml")).expect("a study")
    };
    let studies = [study("pump", "[requirement]\ndeadline = \"200us\"\nmiss = 0.01"), study("door", "")];
    let of = |name: &str, policy: &str| {
        let mut made = wake_ups("host", policy, 20_000, f64::INFINITY);
        made.series.asked_by = vec![format!("{name}/g")];
        made
    };
    let all = || [of("pump", "other"), of("door", "fifo:80")];
    let own = report_of(&all(), None, &studies);
    let said = boxed(&html::page(&own));
    assert!(said.contains("Required by The pump: a wake-up at most 200 µs late, at most 1 in 100 later"), "{said}");
    assert!(said.contains("policy other") && !said.contains("fifo:80"), "{said}");
    let lines: Vec<bool> = own.figures().map(|drawn| drawn.figure.render(Width::WIDE).contains("deadline")).collect();
    assert_eq!(lines, [true, false]);
    let asked = report_of(&all(), Some(REQUIRED), &studies);
    assert_eq!((asked.decisions.len(), asked.decisions[0].decided.len()), (1, 2));
}

#[test]
fn what_only_an_emulator_measured_is_no_answer() {
    let all = [wake_ups("qemu", "other", 50_000, 50.0), wake_ups("qemu", "fifo:80", 50_000, f64::INFINITY)];
    let said = boxed(&html::page(&report(&all, Some(REQUIRED))));
    assert!(said.contains("Nothing but an emulator measured wake-ups") && !said.contains("What would help"), "{said}");
}

#[test]
fn costs_stand_beside_the_decision_of_the_same_environment() {
    let phases = ["total", "monitor", "firmware", "kernel", "init", "probe"];
    const MIB: u64 = 1 << 20;
    let boot = starts(
        "boot",
        "docker",
        Unit::Nanoseconds,
        &phases,
        [&[900_000_000, 1, 1, 1, 1, 1], &[700_000_000, 1, 1, 1, 1, 1], &[800_000_000, 1, 1, 1, 1, 1]],
    );
    let rows: [&[u64]; 3] = [&[60 * MIB, 3 * MIB, MIB], &[64 * MIB, 3 * MIB, MIB], &[62 * MIB, 3 * MIB, MIB]];
    let footprint = starts("footprint", "docker", Unit::Bytes, &["host", "guest", "disk"], rows);
    let of_qemu = starts("boot", "qemu", Unit::Nanoseconds, &["total"], [&[4_000_000_000]; 3]);
    let wakes = |environment| wake_ups(environment, "fifo:80", 20_000, f64::INFINITY);
    let all = [wakes("host"), wakes("docker"), wakes("qemu"), boot, footprint, of_qemu];

    let made = report(&all, Some(REQUIRED));
    let said = boxed(&html::page(&made));
    assert!(said.contains("boot 800 ms · memory 62.0 MiB · memory inside 3.00 MiB · disk 1.00 MiB"), "{said}");
    assert!(said.contains("boot 4.00 s (emulated)"), "{said}");
    assert!(said.contains("Boot and memory:"), "{said}");
    let costs: Vec<_> = made.decisions[0].decided.iter().map(|one| one.costs.clone()).collect();
    assert_eq!(costs[0], kizami_report::decisions::Costs::default(), "the host's were not measured");
    assert_eq!(costs[1].boot.as_ref().map(|cost| (cost.median, cost.starts)), Some((8e8, 3)));
    let table = made.decisions[0].table();
    assert_eq!(table.headers.last().map(|header| header.text.as_str()), Some("memory"));
    let without = decisions(&[wakes("host")]).table();
    assert_eq!(without.headers.len(), 2, "no column for what was not measured, and none for what would not help");
}

#[test]
fn a_cost_of_another_machine_is_none_of_this_one() {
    let with = |mut made: Made, name: &str, value: &str| {
        made.series.requested.insert(name.into(), value.into());
        made.series.name.push_str(&format!(".{name}-{value}"));
        made
    };
    let boot = || starts("boot", "docker", Unit::Nanoseconds, &["total"], [&[5_000], &[6_000], &[7_000]]);
    let wakes = || wake_ups("docker", "fifo:80", 1_000, f64::INFINITY);
    let boots = |all: &[Made]| decisions(all).decided[0].costs.boot.as_ref().map(|cost| cost.median);
    assert_eq!(boots(&[wakes(), boot()]), Some(6_000.0));
    assert_eq!(boots(&[wakes(), with(boot(), "load", "cpu")]), None);
    assert_eq!(boots(&[with(wakes(), "load", "cpu"), boot()]), Some(6_000.0));
    assert_eq!(boots(&[with(wakes(), "vm_memory", "1GiB"), boot()]), None);
    assert_eq!(boots(&[with(wakes(), "vm_memory", "1GiB"), with(boot(), "vm_memory", "1GiB")]), Some(6_000.0));
}

#[test]
fn what_helps_differs_in_one_setting_and_is_seen_to_be_better() {
    let helps = |all: &[Made]| decisions(all).decided[0].helps();
    // Two things differ.
    let late = || wake_ups("host", "other", 50_000, 20.0);
    assert_eq!(helps(&[late(), wake_ups("bwrap", "fifo:80", 50_000, f64::INFINITY)]), "");
    // Neither meets it, and the other is late less often beyond doubt; or not.
    let fewer = helps(&[late(), wake_ups("host", "fifo:80", 50_000, 150.0)]);
    assert!(fewer.starts_with("policy=fifo:80: fewer are late: at most "), "{fewer}");
    assert_eq!(helps(&[late(), wake_ups("host", "fifo:80", 50_000, 20.0)]), "");
    // One start a side supports no difference.
    let mut once = [late(), wake_ups("host", "fifo:80", 50_000, 150.0)];
    once.iter_mut().for_each(|made| made.trials = vec![made.trials.concat()]);
    assert_eq!(helps(&once), "");
    // A start that was late as often as those of the other side leaves it open.
    let mut mixed = [late(), wake_ups("host", "fifo:80", 50_000, 150.0)];
    mixed[1].trials[3] = wake_ups("host", "other", 50_000, 20.0).trials.remove(0);
    assert_eq!(helps(&mixed), "");
    // Of several that meet it, the one of which the samples show most.
    let many = wake_ups("host", "fifo:80", 50_000, f64::INFINITY);
    let fewer_samples = wake_ups("host", "rr:80", 20_000, f64::INFINITY);
    assert_eq!(helps(&[late(), fewer_samples, many]), "policy=fifo:80: meets it");
    // Where more samples would tell, they are what helps.
    assert_eq!(
        helps(&[wake_ups("host", "other", 2_000, f64::INFINITY), wake_ups("host", "fifo:80", 50_000, f64::INFINITY)]),
        ""
    );
    // Another tool that measures the host is no other place, and an emulator is no way out.
    assert_eq!(helps(&[late(), wake_ups("cyclictest", "other", 50_000, f64::INFINITY)]), "");
    assert_eq!(helps(&[late(), wake_ups("bwrap", "other", 50_000, f64::INFINITY)]), "environment=bwrap: meets it");
    assert_eq!(helps(&[late(), wake_ups("qemu", "other", 50_000, f64::INFINITY)]), "");
}

#[test]
fn a_setting_that_was_refused_is_told_and_not_recommended() {
    let refused = Effective { value: "other".into(), as_requested: false, why: "no right to it".into() };
    let mut made = wake_ups("host", "fifo:80", 50_000, f64::INFINITY);
    made.effective.insert("policy".into(), refused);
    let decided = decisions(&[wake_ups("host", "other", 50_000, 20.0), made]).decided;
    assert_eq!(decided[1].label(), "host · policy other (fifo:80 was refused) · every 1ms");
    assert_eq!(decided[0].helps(), "", "what was in force does not differ");
}

#[test]
fn periods_that_were_skipped_support_no_promise() {
    let decided = |late: u64| {
        let mut made = wake_ups("host", "other", 50_000, f64::INFINITY);
        made.series.params.insert("mode".into(), "skip".into());
        made.trials[2][500] = late;
        decisions(&[made]).decided.remove(0)
    };
    assert_eq!(decided(900_000).verdict(), Verdict::Meets);
    let passed = decided(5_000_000);
    assert_eq!(passed.verdict(), Verdict::Open, "{}", passed.sentence());
}

#[test]
fn threads_with_periods_of_their_own_are_told_with_theirs() {
    let mut made = wake_ups("host", "other", 1_000, f64::INFINITY);
    made.series.part = "cpu1".into();
    let dir = tempfile::tempdir().expect("a folder");
    let mut writer = Writer::create(&dir.path().join("r"), Recording::begun()).expect("a folder");
    let index = writer.add_series(made.series.clone());
    writer.begin_trial(&[index], &[1000], "2026-01-01T00:00:00Z").expect("a trial");
    writer.append(index, &made.trials.concat()).expect("samples");
    writer.trial(index).expect("a trial").facts = BTreeMap::from([("interval_ns_cpu1".to_owned(), 1.5e6)]);
    writer.end_trial(&[index], &Outcome::Complete).expect("an end");
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&dir.path().join("r")).expect("a recording");
    let decided = Decisions::of(&reader, REQUIRED, |_, period| period == 1_500_000).decided;
    assert_eq!(decided[0].label(), "host · policy other · cpu1 · every 1500us");
}

/// `attribute` of the first element of `svg` whose class begins with `class`.
fn number(svg: &str, class: &str, attribute: &str) -> f64 {
    let line = svg.lines().find(|line| line.contains(&format!("class=\"{class}"))).unwrap_or_else(|| panic!("{svg}"));
    let value = line.split(&format!(" {attribute}=\"")).nth(1).and_then(|rest| rest.split('"').next());
    value.and_then(|value| value.parse().ok()).unwrap_or_else(|| panic!("{line}"))
}

#[test]
fn every_figure_of_latencies_has_the_deadline_at_its_place() {
    let all = [wake_ups("host", "other", 20_000, 500.0), wake_ups("host", "fifo:80", 20_000, 500.0)];
    // 100 µs has a tick of its own on each axis, where the line has to be.
    let made = report(&all, Some(Requirement { deadline: 100_000, ..REQUIRED }));
    let names: Vec<&str> = made.figures().map(|drawn| drawn.name.as_str()).collect();
    assert_eq!(names, ["box", "histogram", "tail", "trials"].map(|form| format!("wakeup-wakeup-{form}")));
    for drawn in made.figures() {
        for width in [Width::WIDE, Width::NARROW] {
            let svg = drawn.figure.render(width);
            assert!(svg.contains("deadline 100 µs</text>"), "{}: {svg}", drawn.name);
            let across = drawn.name.ends_with("trials");
            let (line, tick) = if across { ("y1", "y") } else { ("x1", "x") };
            let label = svg.lines().find(|line| line.contains(">100 µs</text>")).expect("a tick");
            let at = number(label, "k-s", tick) - if across { 4.0 } else { 0.0 };
            let drawn_at = number(&svg, "k-deadline", line);
            assert!((drawn_at - at).abs() < 0.05, "{} of {width:?}: {drawn_at} and not {at}", drawn.name);
        }
    }
}

#[test]
fn a_deadline_that_is_far_off_is_named_at_the_end_of_the_axis() {
    let made = report(
        &[wake_ups("host", "other", 20_000, f64::INFINITY)],
        Some(Requirement { deadline: 50_000_000, ..REQUIRED }),
    );
    for drawn in made.figures() {
        let svg = drawn.figure.render(Width::WIDE);
        assert!(!svg.contains("class=\"k-deadline\""), "{}", drawn.name);
        let arrow = if drawn.name.ends_with("trials") { "↑ deadline 50.0 ms" } else { "deadline 50.0 ms →" };
        assert!(svg.contains(arrow), "{}: {svg}", drawn.name);
    }
}
