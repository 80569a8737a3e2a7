//! The studies that come with the program: their files are complete, no published figure is lost, and their plans end
//! in time.

use std::collections::{BTreeMap, BTreeSet};

use kizami_studies::{Plan, Planned, Selector, Size, Study, builtin};
use kizami_workloads::Machine;

fn load(name: &str) -> Study {
    Study::load(name).unwrap_or_else(|problems| {
        let problems: Vec<_> = problems.iter().map(ToString::to_string).collect();
        panic!("{}", problems.join("\n"))
    })
}

fn machine() -> Machine {
    Machine::of(vec![0, 1])
}

#[test]
fn every_one_is_valid_has_the_name_of_its_file_and_can_be_planned_in_both_sizes() {
    for name in builtin() {
        let study = load(name);
        assert_eq!(study.name, name);
        for size in [Size::Quick, Size::Full] {
            let plan = Plan::new(&[load(name)], size, None, &BTreeMap::new(), 1, &machine()).expect("a plan");
            let asked: BTreeSet<_> = plan.jobs.iter().flat_map(|job| job.asked_by.clone()).collect();
            for group in &study.groups {
                assert!(asked.contains(&format!("{name}/{}", group.id)), "{name} {size} leaves out {}", group.id);
            }
        }
    }
}

/// The first row of many is cold, and in no figure: a start with one row would be measured for nothing.
#[test]
fn every_condition_has_samples_that_are_not_cold() {
    for name in builtin() {
        for size in [Size::Quick, Size::Full] {
            let plan = Plan::new(&[load(name)], size, None, &BTreeMap::new(), 1, &machine()).expect("a plan");
            for planned in &plan.jobs {
                let few = planned.parts.iter().zip(&planned.series).find(|(part, _)| part.rows <= part.cold_rows);
                assert_eq!(few.map(|(_, series)| series), None, "{name} {size}");
            }
        }
    }
}

#[test]
fn every_published_figure_is_kept_and_only_encryption_has_no_row_to_stand_beside() {
    let nerves = load("nerves");
    assert_eq!(nerves.published.len(), 89 * 4);
    assert!(nerves.published.iter().all(|p| p.selector.is_some()));
    let sleep = nerves.published.iter().find(|p| p.group == "table2" && p.workload == "sleep");
    assert_eq!(sleep.map(|p| (p.value, p.base, p.unit.as_str())), Some((5999.0, 5_999_000.0, "us")));

    let linux = load("linux");
    assert_eq!(linux.published.len(), 52);
    let without: Vec<_> = linux.published.iter().filter(|p| p.selector.is_none()).collect();
    assert_eq!(without.len(), 4);
    assert!(without.iter().all(|p| p.condition.contains("IPsec ESP")));
}

/// A figure that no row of its group could stand beside would be lost without a word.
#[test]
fn every_published_figure_has_a_row_to_stand_beside() {
    for name in builtin() {
        let study = load(name);
        let plans = [Size::Quick, Size::Full]
            .map(|size| Plan::new(&[load(name)], size, None, &BTreeMap::new(), 1, &machine()).expect("a plan"));
        for figure in &study.published {
            // Of those of a paper's own conditions there are none.
            let Some(selector) = &figure.selector else { continue };
            let planned = plans.iter().flat_map(|plan| &plan.jobs).any(|planned| selects(selector, planned));
            assert!(planned, "{name}: {} {} {}", figure.group, figure.condition, figure.machine);
        }
    }
}

#[test]
fn the_quick_sizes_are_expected_to_take_minutes() {
    let seconds = |names: &[&str]| {
        let studies: Vec<_> = names.iter().map(|name| load(name)).collect();
        let plan = Plan::new(&studies, Size::Quick, None, &BTreeMap::new(), 1, &machine()).expect("a plan");
        for job in &plan.jobs {
            println!("{:8.2} s  {} x {:?}", job.seconds * job.trials as f64, job.trials, job.series);
        }
        plan.seconds()
    };
    let (linux, nerves) = (seconds(&["linux"]), seconds(&["nerves"]));
    println!("linux {linux:.1} s, nerves {nerves:.1} s, crosscheck {:.1} s", seconds(&["crosscheck"]));
    assert!(linux <= 90.0, "linux: {linux} s");
    assert!(nerves <= 100.0, "nerves: {nerves} s");
    let environments = seconds(&["environments"]);
    assert!(environments <= 600.0, "environments: {environments} s");
}

/// One start of a program differs from the next, so one start a side supports no difference: a comparison that asks for
/// fewer than five would have no answer on any machine.
#[test]
fn every_comparison_has_the_starts_that_an_answer_needs() {
    const STARTS: usize = 5;
    for name in builtin() {
        let study = load(name);
        for size in [Size::Quick, Size::Full] {
            let plan = Plan::new(&[load(name)], size, None, &BTreeMap::new(), 1, &machine()).expect("a plan");
            for claim in &study.claims {
                let Some(other) = claim.expects.other() else { continue };
                for selector in [&claim.of, other] {
                    let mut asked = plan.jobs.iter().filter(|planned| selects(selector, planned)).peekable();
                    assert!(
                        asked.peek().is_some(),
                        "{name} {size}: {}: nothing is planned for {selector:?}",
                        claim.says
                    );
                    // What an emulator counts does not vary.
                    let few = asked.find(|planned| !counted(planned) && planned.trials < STARTS);
                    assert_eq!(few.map(|few| (&few.series, few.trials)), None, "{name} {size}: {}", claim.says);
                }
            }
        }
    }
}

fn selects(selector: &Selector, planned: &Planned) -> bool {
    let mut groups = planned.asked_by.iter().filter_map(|by| by.split_once('/'));
    groups.any(|(_, group)| selector.matches_job(group, &planned.job))
}

fn counted(planned: &Planned) -> bool {
    ["rtos-instructions", "rtos-cycles"].contains(&planned.job.workload().name)
}

#[test]
fn an_unknown_study_is_answered_with_the_one_that_was_probably_meant() {
    let problems = Study::load("nervs").expect_err("no such study");
    assert_eq!(problems[0].to_string(), "nervs: there is no such study; did you mean \"nerves\"?");
    let problems = Study::load("no/such/file.toml").expect_err("no such file");
    assert!(problems[0].to_string().starts_with("no/such/file.toml: the study cannot be read"), "{}", problems[0]);
}

#[test]
fn the_example_of_the_documentation_is_a_valid_study() {
    let text = include_str!("../../../docs/studies.md");
    let example = text.split("```toml\n").nth(1).and_then(|rest| rest.split("```").next()).expect("an example");
    let study = Study::parse(example, std::path::Path::new("docs/studies.md"));
    let study = study.unwrap_or_else(|problems| panic!("{}", problems[0]));
    let plan = Plan::new(&[study], Size::Quick, None, &BTreeMap::new(), 1, &machine()).expect("a plan");
    assert_eq!(plan.jobs.len(), 4);
}
