//! The figures of whole reports: colours, memory, and the times of the worst samples.

use std::collections::{BTreeMap, BTreeSet};

use kizami_recording::folder::{Column, Outcome, Reader, Recording, Series, State, Unit, Writer};
use kizami_report::Report;
use kizami_report::plot::Width;
use kizami_studies::Study;

const STARTED: &str = "2026-11-25T08:52:40.126Z";
/// 2026-11-25T08:52:40.200Z, when the rows began.
const BEGAN: f64 = 1_795_596_760.2;

fn recording() -> Recording {
    Recording {
        kizami_version: "0.1.0".into(),
        command: vec!["kizami".into(), "run".into(), "linux".into()],
        studies: vec!["linux".into()],
        size: "quick".into(),
        started: STARTED.into(),
        seed: 7,
        ..Recording::begun()
    }
}

/// A series of the group `group`, with the parameters that the study gives it.
fn series(workload: &str, group: &str, part: &str, params: &[(&str, &str)]) -> Series {
    Series {
        name: format!("{workload}.{group}.{part}.{}", params.iter().map(|(_, value)| *value).collect::<String>()),
        workload: workload.into(),
        environment: "host".into(),
        params: params.iter().map(|(name, value)| ((*name).into(), (*value).into())).collect(),
        requested: BTreeMap::new(),
        part: part.into(),
        columns: vec![Column::new("time", Unit::Nanoseconds)],
        operations: 1,
        emulated: false,
        asked_by: vec![format!("linux/{group}")],
        counted: false,
        trials: Vec::new(),
    }
}

/// A trial: the cells of its rows, and its facts.
type Given<'g> = (&'g [u64], &'g [(&'g str, f64)]);

/// The report of a recording of `all`, each series with its trials.
fn report(all: &[(Series, Vec<Given<'_>>)]) -> Report {
    report_by("linux", all)
}

/// The same, by another of our studies.
fn report_by(study: &str, all: &[(Series, Vec<Given<'_>>)]) -> Report {
    let dir = tempfile::tempdir().expect("a folder");
    let folder = dir.path().join("r");
    let mut writer = Writer::create(&folder, recording()).expect("a new folder");
    for (series, trials) in all {
        let index = writer.add_series(series.clone());
        for (cells, facts) in trials {
            let rows = cells.len() / series.columns.len();
            writer.begin_trial(&[index], &[rows as u64], STARTED).expect("a trial begins");
            writer.append(index, cells).expect("rows");
            let trial = writer.trial(index).expect("a trial");
            trial.facts = facts.iter().map(|(name, value)| ((*name).to_owned(), *value)).collect();
            writer.end_trial(&[index], &Outcome::Complete).expect("a trial ends");
        }
    }
    writer.finish(State::Complete).expect("an end");
    let reader = Reader::open(&folder).expect("a recording");
    Report::new(&reader, &[Study::load(study).expect("a study of ours")], None)
}

/// The SVG of the figure whose name ends so.
fn svg(report: &Report, name: &str) -> String {
    let names: Vec<&str> = report.figures().map(|drawn| drawn.name.as_str()).collect();
    let found = report.figures().find(|drawn| drawn.name.ends_with(name));
    found.unwrap_or_else(|| panic!("no {name} among {names:?}")).figure.render(Width::WIDE)
}

/// The class in which `svg` colours the text or the area named `name`.
fn colour(svg: &str, name: &str) -> String {
    let mut lines = svg.lines();
    let line = lines.find(|line| line.contains(&format!("<title>{name}")) || line.contains(&format!(">{name}</text>")));
    let line = line.unwrap_or_else(|| panic!("no {name} in {svg}"));
    let coloured = if line.starts_with("<g>") { lines.next().expect("what is named") } else { line };
    let class = coloured.split(['"', ' ']).find(|class| class.starts_with("k-f") || class.starts_with("k-c"));
    class.unwrap_or_else(|| panic!("{name} has no colour: {coloured}"))[3..].to_owned()
}

#[test]
fn only_columns_that_add_up_are_phases_and_each_figure_has_one_kind_of_them() {
    let of = |workload: &str, environment: &str, unit: Unit, columns: &[&str]| {
        let mut series = series(workload, "xen-boot", environment, &[]);
        series.environment = environment.into();
        series.asked_by = vec!["environments/xen-boot".into()];
        series.columns = columns.iter().map(|name| Column::new(*name, unit)).collect();
        series.part = String::new();
        series.emulated = environment != "host";
        series
    };
    const MS: u64 = 1_000_000;
    const MIB: u64 = 1 << 20;
    let start: &[u64] = &[900 * MS, 100 * MS, 800 * MS];
    let weight: &[u64] = &[230 * MIB, 95 * MIB, 64 * MIB];
    let (phases, taken) = (["total", "monitor", "kernel"], ["host", "guest", "disk"]);
    let made = report_by(
        "environments",
        &[
            (of("boot", "qemu", Unit::Nanoseconds, &phases), vec![(start, &[])]),
            (of("boot", "xen-dom0", Unit::Nanoseconds, &phases), vec![(start, &[])]),
            (of("boot", "xen-domu", Unit::Nanoseconds, &["total", "hypervisor", "kernel"]), vec![(start, &[])]),
            (of("footprint", "qemu", Unit::Bytes, &taken), vec![(weight, &[])]),
        ],
    );
    let phases: Vec<String> =
        made.figures().map(|drawn| drawn.figure.render(Width::WIDE)).filter(|svg| svg.contains("the phases")).collect();
    assert_eq!(phases.len(), 2, "those with other phases stand in another figure");
    assert!(phases.iter().all(|svg| !svg.contains("footprint") && !svg.contains("guest")), "{phases:?}");
    assert!(phases[0].contains("monitor") && !phases[0].contains("hypervisor"), "{}", phases[0]);
    assert!(phases[1].contains("hypervisor") && !phases[1].contains("monitor"), "{}", phases[1]);
}

/// Readings of the memory of a large machine: `other` grows by 40 MiB, of 23 GiB that are mostly free.
fn memory(groups: &str) -> Vec<(Series, Vec<u64>)> {
    const MIB: u64 = 1 << 20;
    let params = [("groups", groups), ("senders", "20"), ("receivers", "20"), ("channel", "pipe")];
    let column = |name: &&str| Column::new(*name, Unit::Bytes);
    let with = |mut series: Series, names: &[&str]| {
        series.columns =
            std::iter::once(Column::new("when", Unit::Nanoseconds)).chain(names.iter().map(column)).collect();
        series
    };
    let names = ["free", "buffers", "cached", "slab", "kernel", "other"];
    let meminfo = with(series("messages", "memory", "meminfo", &params), &names);
    let caches = ["dentry", "other", "task_struct"];
    let slabinfo = with(series("messages", "memory", "slabinfo", &params), &caches);
    let meminfo_rows = (0..5u64).flat_map(|i| {
        // Which part moves most differs between the two series.
        let (kernel, other) = if groups == "4" { (2 * i, 10 * i) } else { (12 * i, 3 * i) };
        let moved = kernel + other;
        [
            i * 20_000_000,
            (22_000 - moved) * MIB,
            60 * MIB,
            900 * MIB,
            300 * MIB,
            (20 + kernel) * MIB,
            (700 + other) * MIB,
        ]
    });
    let slab_rows = (0..5u64).flat_map(|i| [i * 20_000_000, 107 * MIB + i * 1000, MIB, (2 + i) * MIB]);
    vec![(meminfo, meminfo_rows.collect()), (slabinfo, slab_rows.collect())]
}

#[test]
fn a_name_has_one_colour_in_the_whole_report() {
    let all: Vec<_> = ["4", "10"].into_iter().flat_map(memory).collect();
    let given: Vec<_> = all.iter().map(|(series, cells)| (series.clone(), vec![(cells.as_slice(), &[][..])])).collect();
    let report = report(&given);
    // The composition, the changes, and the slab caches, of each of the two.
    let figures: Vec<String> = ["memory", "memory-2", "memory-3", "memory-4", "memory-5", "memory-6"]
        .iter()
        .map(|name| svg(&report, &format!("linux-memory-{name}")))
        .collect();
    let of = |name: &str| -> BTreeSet<String> {
        let named = figures
            .iter()
            .filter(|svg| svg.contains(&format!(">{name}</text>")) || svg.contains(&format!("<title>{name}:")));
        named.map(|svg| colour(svg, name)).collect()
    };
    let names = ["free", "kernel", "other"];
    let colours: Vec<BTreeSet<String>> = names.iter().map(|name| of(name)).collect();
    assert!(colours.iter().all(|found| found.len() == 1), "{colours:?}");
    assert_eq!(colours.iter().flatten().collect::<BTreeSet<_>>().len(), names.len(), "{colours:?}");
    assert_eq!(of("free"), BTreeSet::from(["q".to_owned()]), "what is not in use is grey");
}

#[test]
fn what_moved_in_the_memory_is_most_of_what_is_drawn() {
    let all = memory("4");
    let given: Vec<_> = all.iter().map(|(series, cells)| (series.clone(), vec![(cells.as_slice(), &[][..])])).collect();
    let report = report(&given);
    let composition = svg(&report, "linux-memory-memory");
    assert!(composition.contains(">1.93 GiB, 21.5 GiB free</text>"), "{composition}");
    assert!(composition.contains(">other 700 MiB → 740 MiB</text>"), "{composition}");
    assert!(!composition.contains("<title>free"), "free memory has no bar");
    // A large slab cache that hardly moved does not press the others flat.
    let slabs = svg(&report, "linux-memory-memory-3");
    assert!(slabs.contains(">4 MiB</text>") && !slabs.contains("100 MiB"), "{slabs}");
}

fn wakeup(part: &str) -> Series {
    series("wakeup", "wakeup", part, &[("interval", "1ms"), ("threads", "per-cpu"), ("mode", "every")])
}

#[test]
fn the_worst_sample_has_the_time_at_which_it_was_planned() {
    let mut samples = [5_000u64; 3000];
    samples[1116] = 2_920_000;
    let facts = [("began_unix_seconds_cpu0", BEGAN), ("interval_ns_cpu0", 1e6), ("ended_unix_seconds", BEGAN + 3.1)];
    let report = report(&[(wakeup("cpu0"), vec![(&samples, &facts)])]);
    let trials = svg(&report, "linux-wakeup-trials");
    // 1117 intervals of 1 ms after 08:52:40.200.
    assert!(trials.contains(">2.92 ms at 08:52:41.317</text>"), "{trials}");
}

#[test]
fn where_the_time_is_not_known_the_worst_sample_has_its_place() {
    let (mut quiet, mut loud) = ([5_000u64; 300], [5_000u64; 300]);
    quiet[7] = 1_000_000;
    loud[41] = 2_920_000;
    let report = report(&[(wakeup("cpu0"), vec![(&quiet, &[]), (&loud, &[])])]);
    let trials = svg(&report, "linux-wakeup-trials");
    assert!(trials.contains(">2.92 ms in sample 42 of trial 2, which began at 08:52:40</text>"), "{trials}");
}

#[test]
fn samples_after_one_another_have_a_time_as_exact_as_what_lies_between_them() {
    let sleeps = |facts: &[(&str, f64)]| {
        let mut samples = [100_000u64; 100];
        samples[49] = 20_000_000;
        let series = series("os-latency", "latency", "", &[("period", "50ms"), ("trials", "100")]);
        svg(&report(&[(series, vec![(&samples, facts)])]), "linux-latency-trials")
    };
    let all = 99.0 * 50e-3 + 99.0 * 100e-6 + 20e-3;
    let known = |beyond: f64, pause: f64| {
        sleeps(&[("began_unix_seconds", BEGAN), ("ended_unix_seconds", BEGAN + all + beyond), ("pause_ns", pause)])
    };
    // Forty-nine samples of 100 us and as many pauses of 50 ms after 08:52:40.200: 2.4549 s.
    let exact = known(0.0005, 50e6);
    assert!(exact.contains(">20.0 ms at 08:52:42.655</text>"), "{exact}");
    let tenths = known(0.05, 50e6);
    assert!(tenths.contains(">20.0 ms at 08:52:42.6</text>"), "{tenths}");
    // Without the pauses, the sample can be anywhere in five seconds.
    let unknown = known(0.0005, 0.0);
    assert!(unknown.contains(">20.0 ms in sample 50, the trial began at 08:52:40</text>"), "{unknown}");
}

#[test]
fn the_worst_of_a_throughput_is_the_least() {
    let mut tcp = series("tcp", "tcp", "", &[("direction", "send")]);
    tcp.columns.push(Column::new("bytes", Unit::Bytes));
    let rows: Vec<u64> = (0..40).flat_map(|i| [1_000_000, if i == 30 { 100_000 } else { 1_000_000 + i }]).collect();
    let trials = svg(&report(&[(tcp, vec![(&rows, &[])])]), "linux-tcp-trials");
    assert!(trials.contains(">800 Mbit/s in sample 31, the trial began at 08:52:40</text>"), "{trials}");
}
