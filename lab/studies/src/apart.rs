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

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    fn series(environment: &str, params: &[(&str, &str)], requested: &[(&str, &str)]) -> Series {
        let map = |pairs: &[(&str, &str)]| -> BTreeMap<String, String> {
            pairs.iter().map(|(name, value)| ((*name).to_owned(), (*value).to_owned())).collect()
        };
        Series {
            name: format!("file.{environment}.{params:?}.{requested:?}"),
            workload: "file".into(),
            environment: environment.into(),
            params: map(params),
            requested: map(requested),
            part: String::new(),
            columns: Vec::new(),
            operations: 1,
            emulated: false,
            asked_by: Vec::new(),
            counted: false,
            trials: Vec::new(),
        }
    }

    #[test]
    fn only_what_not_all_have_is_said() {
        let all = [
            series("host", &[("op", "read"), ("size", "4KiB")], &[("policy", "fifo")]),
            series("host", &[("op", "write"), ("size", "4KiB")], &[("policy", "fifo")]),
            series("runc", &[("op", "write"), ("size", "4KiB")], &[("policy", "fifo"), ("memory", "64MiB")]),
        ];
        let all: Vec<&Series> = all.iter().collect();
        assert_eq!(apart(&all), ["host, op read", "host, op write", "runc, op write, memory 64MiB"]);
        assert_eq!(apart(&all[..2]), ["op read", "op write"]);
        assert_eq!(apart(&all[..1]), [""]);
    }
}
