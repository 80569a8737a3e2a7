//! A cell of a group: one workload in one environment, with the values that the study gives it.

use std::collections::BTreeMap;

use kizami_environments::{Environment, Job, LOAD};
use kizami_workloads::Workload;

use crate::tree::At;

/// The word for a parameter or setting that is left alone.
pub const DEFAULT: &str = "default";

/// Values by name, each with its place in the study.
pub(crate) type Values = BTreeMap<String, At<String>>;

/// Values that are not checked yet; what is left alone is not in it.
#[derive(Clone)]
pub(crate) struct Cell {
    pub workload: &'static Workload,
    pub environment: &'static dyn Environment,
    pub params: Values,
    pub settings: Values,
}

impl Cell {
    /// Checks everything.
    ///
    /// # Errors
    /// The name that is wrong, as [`Job::new`] says it, and a sentence.
    pub fn job(&self) -> Result<Job, (String, String)> {
        Job::new(self.environment, self.workload, &text(&self.params), &text(&self.settings))
    }

    /// Whether `other` says the same; by text, so a value in two spellings makes two.
    pub fn same_as(&self, other: &Self) -> bool {
        text(&self.params) == text(&other.params) && text(&self.settings) == text(&other.settings)
    }

    /// Where the value of `name` stands.
    pub fn place_of(&self, name: &str) -> Option<usize> {
        self.params.get(name).or_else(|| self.settings.get(name)).map(|value| value.at)
    }

    /// What `name` would change in this cell.
    pub fn kind_of(&self, name: &str) -> Option<Kind> {
        if has_param(self.workload, name) {
            return Some(Kind::Param);
        }
        let reaches = kizami_settings::find(name).map_or(name == LOAD, |setting| self.environment.has(setting));
        reaches.then_some(Kind::Setting)
    }

    /// Gives `name` the value; [`DEFAULT`] takes it away. Nothing happens where the name means nothing here.
    pub fn set(&mut self, name: &str, value: &At<String>) {
        let values = match self.kind_of(name) {
            None => return,
            Some(Kind::Param) => &mut self.params,
            Some(Kind::Setting) => &mut self.settings,
        };
        if value.value == DEFAULT {
            values.remove(name);
        } else {
            values.insert(name.to_owned(), value.clone());
        }
    }
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Kind {
    Param,
    Setting,
}

pub(crate) fn has_param(workload: &Workload, name: &str) -> bool {
    workload.params.iter().any(|p| p.name == name)
}

/// Whether `name` is a setting, or the word for background loads.
pub(crate) fn is_setting(name: &str) -> bool {
    name == LOAD || kizami_settings::find(name).is_some()
}

/// Every name that [`is_setting`].
pub(crate) fn setting_names() -> Vec<&'static str> {
    kizami_settings::SETTINGS.iter().map(|s| s.name).chain([LOAD]).collect()
}

fn text(values: &Values) -> BTreeMap<String, String> {
    values.iter().map(|(name, value)| (name.clone(), value.value.clone())).collect()
}
