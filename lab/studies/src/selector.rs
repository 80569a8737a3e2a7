//! Selectors: the series that a claim or a published figure is about.

use std::collections::BTreeMap;

use kizami_environments::{Job, LOAD, NO_LOAD, load_names};
use kizami_recording::folder::{Measured, Series};
use kizami_settings::Settings;
use kizami_workloads::Workload;

use crate::cell::{DEFAULT, is_setting, setting_names};
use crate::group::Group;
use crate::problem::suggest;
use crate::tree::{At, Table};

/// A selector of series: the values that it names must be equal, all others may be anything. Without a part it selects
/// every part except those that were sampled beside the work.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Selector {
    pub study: String,
    pub group: Option<String>,
    pub workload: Option<String>,
    pub environment: Option<String>,
    pub part: Option<String>,
    /// Parameters and settings, as they are written in the study.
    pub values: Vec<(String, String)>,
}

impl Selector {
    /// Whether it selects `series`.
    pub fn matches(&self, series: &Series) -> bool {
        let asked = |by: &String| match (by.split_once('/'), &self.group) {
            (Some((study, group)), Some(wanted)) => study == self.study && group == wanted,
            (Some((study, _)), None) => study == self.study,
            (None, _) => false,
        };
        let of_part = match &self.part {
            Some(part) => *part == series.part,
            None => series.measured() != Measured::Watched,
        };
        series.asked_by.iter().any(asked)
            && of_part
            && self.matches_names(&series.workload, &series.environment, &series.params, &series.requested)
    }

    /// Whether it selects a series of `job`, which the group `id` asks for.
    pub fn matches_job(&self, id: &str, job: &Job) -> bool {
        let (params, requested) = (job.params.written(), job.requested());
        self.group.as_ref().is_none_or(|group| group == id)
            && self.matches_names(job.workload().name, job.environment.name(), &params, &requested)
    }

    fn matches_names(
        &self,
        workload: &str,
        environment: &str,
        params: &BTreeMap<String, String>,
        requested: &BTreeMap<String, String>,
    ) -> bool {
        self.workload.as_ref().is_none_or(|w| w == workload)
            && self.environment.as_ref().is_none_or(|e| e == environment)
            && self.values.iter().all(|(name, value)| {
                let has = if params.contains_key(name) { params.get(name) } else { requested.get(name) };
                // A workload that this program does not know (an old recording) is compared by its text.
                let wanted = match kizami_workloads::find(workload) {
                    Some(workload) => canonical(workload, name, value).unwrap_or_else(|_| Some(value.clone())),
                    None => Some(value.clone()),
                };
                wanted.as_ref() == has
            })
    }

    /// Whether it names `name`: one of the fields, a parameter or a setting.
    pub(crate) fn names(&self, name: &str) -> bool {
        self.values.iter().any(|(n, _)| n == name)
    }

    /// Reads a selector of the study `study`, whose groups are `groups`.
    pub(crate) fn read(table: &Table<'_, '_>, study: &str, groups: &[Group]) -> Option<Self> {
        let source = table.source;
        let workloads: Vec<_> = groups.iter().flat_map(|g| &g.workloads).copied().collect();
        let ids: Vec<_> = groups.iter().map(|g| g.id.as_str()).collect();
        let names: Vec<_> = workloads.iter().map(|w| w.name).collect();
        let environments: Vec<_> = groups.iter().flat_map(|g| &g.environments).map(|e| e.name()).collect();
        let params: Vec<_> = workloads.iter().flat_map(|w| w.params).map(|p| p.name).collect();
        let mut fine = true;
        let mut one_of = |key: &str, kind: &str, known: &[&str]| -> Option<String> {
            let written: At<String> = table.string(key)?;
            if !known.contains(&written.value.as_str()) {
                let message = format!("this study has no {kind} {:?}", written.value);
                source.wrong_but(written.at, message, suggest(&written.value, known));
                fine = false;
            }
            Some(written.value)
        };
        let mut selector = Self {
            study: study.to_owned(),
            group: one_of("group", "group", &ids),
            workload: one_of("workload", "workload", &names),
            environment: one_of("environment", "environment", &environments),
            part: table.string("part").map(|p| p.value),
            values: Vec::new(),
        };
        for entry in table.entries().filter(|e| !["group", "workload", "environment", "part"].contains(&e.key)) {
            if !params.contains(&entry.key) && !is_setting(entry.key) {
                let fields = ["group", "workload", "environment", "part"];
                let known: Vec<_> = fields.into_iter().chain(params.iter().copied()).chain(setting_names()).collect();
                let message = format!("{:?} is no parameter of a workload here and no setting", entry.key);
                source.wrong_but(entry.key_at, message, suggest(entry.key, &known));
                fine = false;
            } else if let Some(value) = table.value(entry) {
                let concerned = workloads.iter().filter(|w| selector.workload.as_ref().is_none_or(|n| n == w.name));
                let tried: Vec<_> = concerned.map(|w| canonical(w, entry.key, &value.value)).collect();
                if let (false, Some(Err(why))) = (tried.iter().any(Result::is_ok), tried.first()) {
                    source.wrong(value.at, why.clone());
                    fine = false;
                }
                selector.values.push((entry.key.to_owned(), value.value));
            } else {
                fine = false;
            }
        }
        fine.then_some(selector)
    }
}

/// The form in which a series has `value`: its written form, or nothing where it was left alone.
///
/// # Errors
/// A sentence when there is no such parameter or setting, or it cannot have the value.
pub(crate) fn canonical(workload: &Workload, name: &str, value: &str) -> Result<Option<String>, String> {
    if let Some(param) = workload.params.iter().find(|p| p.name == name) {
        let text = if value == DEFAULT { param.default } else { value };
        let number = param.kind.parse(text).map_err(|why| format!("{name}: {why}"))?;
        return Ok(Some(param.kind.write(number)));
    }
    if value == DEFAULT || (name == LOAD && value == NO_LOAD) {
        return Ok(None);
    }
    if name == LOAD {
        let names: Vec<_> = load_names(value)?.iter().map(|l| l.name).collect();
        return Ok(Some(names.join("+")));
    }
    let settings = Settings::new(&BTreeMap::from([(name.to_owned(), value.to_owned())])).map_err(|(_, why)| why)?;
    Ok(settings.written().remove(name))
}
