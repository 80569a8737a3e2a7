//! The names of series: unique in a plan, plain file names, and as short as uniqueness allows.
//!
//! A name is `workload.environment`, then as few parameters and settings as distinguish the plan's jobs of that
//! workload in that environment, then the part: `wakeup.host.policy=fifo-80.cpu0`.

use std::collections::{BTreeMap, BTreeSet};

use kizami_environments::LOAD;

use crate::planned::Planned;

/// File names end at 255 bytes, and more is put after these.
const MOST: usize = 180;

/// Gives every part of every job its name.
pub(crate) fn give(jobs: &mut [Planned]) {
    let mut places: BTreeMap<(&str, &str), Vec<usize>> = BTreeMap::new();
    for (index, planned) in jobs.iter().enumerate() {
        places.entry((planned.job.workload().name, planned.job.environment.name())).or_default().push(index);
    }
    let mut stems = vec![String::new(); jobs.len()];
    for ((workload, environment), indices) in places {
        let values: Vec<_> = indices.iter().map(|index| values(&jobs[*index])).collect();
        let told_by = tell_apart(&values, &names(&jobs[indices[0]]));
        for (index, values) in indices.into_iter().zip(&values) {
            let words = told_by.iter().filter_map(|name| values.get(*name).map(|value| format!(".{name}={value}")));
            stems[index] = plain(&format!("{workload}.{environment}{}", words.collect::<String>()));
        }
    }
    let mut taken = BTreeSet::new();
    for (planned, stem) in jobs.iter_mut().zip(stems) {
        // Values that differ only in what a file name cannot have are counted.
        let numbered = (1..).map(|number| if number == 1 { stem.clone() } else { format!("{stem}.{number}") });
        let named = |stem: String| -> Vec<String> { planned.parts.iter().map(|p| with_part(&stem, &p.name)).collect() };
        // Systems that do not tell case apart would mix two series.
        let free = |names: &Vec<String>| names.iter().all(|name| !taken.contains(&name.to_lowercase()));
        planned.series = numbered.map(named).find(free).unwrap_or_default();
        taken.extend(planned.series.iter().map(|name| name.to_lowercase()));
    }
}

/// Everything that may tell jobs of one workload apart, the more telling first.
fn names(planned: &Planned) -> Vec<&'static str> {
    let params = planned.job.workload().params.iter().map(|p| p.name);
    params.chain(kizami_settings::SETTINGS.iter().map(|s| s.name)).chain([LOAD]).collect()
}

/// Parameters and settings together.
fn values(planned: &Planned) -> BTreeMap<String, String> {
    let mut all = planned.job.params.written();
    all.extend(planned.job.requested());
    all
}

/// A few of `names` by which no two of `jobs` are equal: always the one that tells the most of them apart from those
/// that are not yet.
fn tell_apart(jobs: &[BTreeMap<String, String>], names: &[&'static str]) -> Vec<&'static str> {
    let mut chosen: Vec<&str> = Vec::new();
    let classes = |chosen: &[&str]| {
        let keys = jobs.iter().map(|job| chosen.iter().map(|name| job.get(*name)).collect::<Vec<_>>());
        keys.collect::<BTreeSet<_>>().len()
    };
    let mut number = classes(&chosen);
    while number < jobs.len() {
        let with = |name: &'static str| {
            let mut tried = chosen.clone();
            tried.push(name);
            classes(&tried)
        };
        // The first of the best, in the order of the names.
        let best = names.iter().copied().rev().max_by_key(|name| with(name));
        match best.filter(|name| with(name) > number) {
            Some(name) => {
                number = with(name);
                chosen.push(name);
            }
            None => break,
        }
    }
    chosen.sort_by_key(|name| names.iter().position(|n| n == name));
    chosen
}

fn with_part(stem: &str, part: &str) -> String {
    if part.is_empty() { stem.to_owned() } else { format!("{stem}.{}", plain(part)) }
}

fn plain(text: &str) -> String {
    let keep = |c: char| if c.is_ascii_alphanumeric() || "-_.+=,%".contains(c) { c } else { '-' };
    text.chars().map(keep).take(MOST).collect()
}
