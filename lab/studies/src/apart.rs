//! What tells series apart that a claim is about.

use kizami_recording::folder::Series;

/// For each of them what not all of them have: `unikernel-hvt, device_interface rings`. Nothing if there is only one.
pub(crate) fn apart(all: &[&Series]) -> Vec<String> {
    let facts: Vec<Vec<String>> = all.iter().map(|series| facts(series)).collect();
    let is_common = |fact: &String| facts.iter().all(|of_one| of_one.contains(fact));
    let own =
        |of_one: &Vec<String>| of_one.iter().filter(|fact| !is_common(fact)).cloned().collect::<Vec<_>>().join(", ");
    facts.iter().map(own).collect()
}

fn facts(series: &Series) -> Vec<String> {
    let Series { workload, environment, part, params, requested, .. } = series;
    let names = [workload, environment, part].into_iter().filter(|name| !name.is_empty()).cloned();
    // A setting that goes into a parameter is said once.
    let settings = requested.iter().filter(|(name, _)| !params.contains_key(*name));
    names.chain(params.iter().chain(settings).map(|(name, value)| format!("{name} {value}"))).collect()
}
