//! The rows of a group's table: their series, order and labels.
//!
//! A label has only the values in which the rows of a group differ: `sum, default`, `fib, priority high`. The series of
//! the recording decide which values these are, because the user may have varied a setting or parameter that the study
//! does not vary.

use kizami_environments::LOAD;
use kizami_recording::folder::Series;
use kizami_recording::formats::FILE;
use kizami_settings::Scope;

use crate::cell::DEFAULT;
use crate::group::Group;
use crate::selector::canonical;

/// One line of a group's table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Row {
    /// Index in the series that were given.
    pub series: usize,
    /// Unique among the rows unless two series differ in nothing that is known of them.
    pub label: String,
    /// The names that vary in the group, with the series' values; a value that was left alone is `default`.
    pub condition: Vec<(String, String)>,
}

impl Row {
    /// The condition as a published table writes it: `priority=high`.
    pub fn condition_text(&self) -> String {
        self.condition.iter().map(|(name, value)| format!("{name}={value}")).collect::<Vec<_>>().join(";")
    }
}

/// What rows are sorted by: workload and environment, what varies, the case, and anything else that differs.
type Rank = ([usize; 2], Vec<(usize, u64, String)>, usize, Vec<(usize, u64, String)>);

impl Group {
    /// The rows of this group of the study `study`, in the order of the group: workloads as they are listed, their
    /// environments, then what varies.
    pub fn rows(&self, study: &str, series: &[&Series]) -> Vec<Row> {
        let asked_by = format!("{study}/{}", self.id);
        let mine: Vec<_> = (0..series.len()).filter(|index| series[*index].asked_by.contains(&asked_by)).collect();
        let of_mine: Vec<_> = mine.iter().map(|index| series[*index]).collect();
        let names = self.varying(&of_mine);
        let of_some = settings_of_some(&of_mine, &names);
        let (mut workloads, mut environments): (Vec<_>, Vec<_>) =
            mine.iter().map(|index| (&series[*index].workload, &series[*index].environment)).unzip();
        workloads.sort();
        workloads.dedup();
        environments.sort();
        environments.dedup();

        let mut rows: Vec<_> = mine
            .iter()
            .map(|&index| {
                let one = series[index];
                let mut words = vec![one.workload.clone()];
                let place = one.place();
                if environments.len() > 1 || place != one.environment {
                    words.push(place);
                }
                let condition: Vec<_> = names.iter().map(|name| (name.clone(), value_of(one, name))).collect();
                words.extend(words_of(one, &condition));
                let layer = of_some.iter().filter_map(|name| Some(format!("{name} {}", one.requested.get(*name)?)));
                words.extend(layer);
                if !one.part.is_empty() {
                    words.push(one.part.clone());
                }
                (self.rank(one, &names), Row { series: index, label: words.join(", "), condition })
            })
            .collect();
        // Stable, so that the parts of a workload stay in its order.
        rows.sort_by(|(a, _), (b, _)| a.cmp(b));
        rows.into_iter().map(|(_, row)| row).collect()
    }

    /// The parameters and settings that tell series of the same workload and environment apart; those of the study first,
    /// in its order. What always goes with another (locked memory with a policy) says nothing more and is left out.
    fn varying(&self, series: &[&Series]) -> Vec<String> {
        let mut names: Vec<String> = self.varied().iter().map(|(name, _)| (*name).to_owned()).collect();
        let mut in_cases: Vec<_> = self.cases().iter().flatten().collect();
        in_cases.sort_by_key(|(_, value)| value.at);
        for (name, _) in in_cases {
            if !names.contains(name) {
                names.push(name.clone());
            }
        }
        // Whoever imported files knows them by their names.
        if series.iter().any(|s| s.params.contains_key(FILE)) && !names.iter().any(|name| name == FILE) {
            names.push(FILE.to_owned());
        }
        let others = series.iter().flat_map(|s| s.params.keys().chain(s.requested.keys()));
        let others: std::collections::BTreeSet<_> = others.filter(|name| !names.contains(name)).cloned().collect();
        names.extend(others);
        // Pairs that nothing tells apart yet.
        let mut alike: Vec<(&Series, &Series)> = Vec::new();
        for (index, &one) in series.iter().enumerate() {
            let same = |other: &&&Series| one.workload == other.workload && one.environment == other.environment;
            alike.extend(series[..index].iter().filter(same).map(|&other| (one, other)));
        }
        names.retain(|name| {
            let before = alike.len();
            alike.retain(|(one, other)| value_of(one, name) == value_of(other, name));
            alike.len() < before
        });
        names
    }

    /// Where a series stands: its workload and environment as the group lists them, then each value as the study lists
    /// it, else by its number, else by its text.
    fn rank(&self, series: &Series, names: &[String]) -> Rank {
        let workload = self.workloads.iter().position(|w| w.name == series.workload);
        let environment = self.environments.iter().position(|e| e.name() == series.environment);
        let varied = self.varied();
        let known = kizami_workloads::find(&series.workload);
        let has_value = |name: &str, value: &str| {
            let has = value_of(series, name);
            match known.map(|w| canonical(w, name, value)) {
                Some(Ok(Some(written))) => written == has,
                Some(Ok(None)) => has == DEFAULT,
                _ => value == has,
            }
        };
        // Among the cases that it has the values of, the one that says most is its own.
        let cases = self.cases().iter().enumerate();
        let mine = cases.filter(|(_, case)| case.iter().all(|(name, value)| has_value(name, &value.value)));
        let case = mine.max_by_key(|(index, case)| (case.len(), usize::MAX - index)).map(|(index, _)| index);
        let of_value = |name: &String| {
            let has = value_of(series, name);
            let listed = varied.iter().find(|(varied, _)| varied == name).map(|(_, values)| values);
            let at = listed.and_then(|values| values.iter().position(|value| has_value(name, value)));
            let param = known.and_then(|w| w.params.iter().find(|p| p.name == *name));
            let number = param.and_then(|p| p.kind.parse(&has).ok()).or_else(|| has.parse().ok()).unwrap_or(0);
            (at.unwrap_or(usize::MAX), number, has)
        };
        let last = usize::MAX;
        let listed = [workload.unwrap_or(last), environment.unwrap_or(last)];
        let varied = self.varied().iter().map(|(name, _)| of_value(&(*name).to_owned())).collect();
        let rest = names.iter().map(of_value).collect();
        (listed, varied, case.unwrap_or(last), rest)
    }
}

/// The settings of a layer that were asked of every series that has them, while others have none: the host has no link
/// out of itself. Those of `named` are said already.
fn settings_of_some(series: &[&Series], named: &[String]) -> Vec<&'static str> {
    let asked = |name: &str| series.iter().filter(|one| one.requested.contains_key(name)).count();
    let of_layers = kizami_settings::SETTINGS.iter().filter(|setting| setting.scope == Scope::Layer);
    let unsaid = of_layers.map(|setting| setting.name).filter(|name| !named.iter().any(|said| said == name));
    unsaid.filter(|name| (1..series.len()).contains(&asked(name))).collect()
}

fn value_of(series: &Series, name: &str) -> String {
    let value = series.params.get(name).or_else(|| series.requested.get(name));
    value.cloned().unwrap_or_else(|| DEFAULT.to_owned())
}

/// The words of a label for what varies: only what was not left alone, or that nothing was.
fn words_of(series: &Series, condition: &[(String, String)]) -> Vec<String> {
    // A parameter that the workload does not have says nothing about it.
    let is_setting = |name: &String| kizami_settings::find(name).is_some();
    let mut words = Vec::new();
    for (name, value) in condition {
        if value != DEFAULT {
            words.push(format!("{name} {value}"));
        } else if name == LOAD {
            words.push("idle".to_owned());
        }
    }
    let left_alone = condition.iter().any(|(name, _)| is_setting(name) && !series.params.contains_key(name));
    if words.is_empty() && left_alone {
        words.push(DEFAULT.to_owned());
    }
    words
}
