//! The parts of a `[[group]]` that name workloads, environments, parameters and settings.
//!
//! A name is refused when it means nothing to any workload or environment of the group.

use kizami_environments::Environment;
use kizami_workloads::Workload;

use crate::cell::{DEFAULT, Values, has_param, is_setting, setting_names};
use crate::problem::suggest;
use crate::tree::{At, Source, Table};

/// Values for all workloads, and values for single ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    pub all: Values,
    pub of: Vec<(&'static str, Values)>,
}

/// A parameter or a setting that varies, and its values.
#[derive(Debug, Clone)]
pub(crate) struct Vary {
    pub name: String,
    pub values: Vec<At<String>>,
}

/// Reads `workloads`.
pub(crate) fn read_workloads(table: &Table<'_, '_>) -> Vec<&'static Workload> {
    let source = table.source;
    let names = table.strings("workloads");
    if names.is_empty() && table.get("workloads").is_none_or(|e| e.value.is_array()) {
        source.wrong(table.at, "[[group]] needs workloads, such as workloads = [\"wakeup\"]");
    }
    let find = |name: &At<String>| {
        let workload = kizami_workloads::find(&name.value);
        if workload.is_none() {
            let known: Vec<_> = kizami_workloads::ALL.iter().map(|w| w.name).collect();
            let message = format!("unknown workload {:?}", name.value);
            source.wrong_but(name.at, message, suggest(&name.value, &known));
        }
        workload
    };
    names.iter().filter_map(find).collect()
}

/// Reads `environments`, with the place of each.
pub(crate) fn read_environments(table: &Table<'_, '_>, key: &str) -> (Vec<&'static dyn Environment>, Vec<usize>) {
    let source = table.source;
    let mut names = table.strings(key);
    if table.get(key).is_none() {
        names.push(At::new("host".into(), table.at));
    }
    let find = |name: &At<String>| {
        let environment = kizami_environments::find(&name.value);
        if environment.is_none() {
            let known: Vec<_> = kizami_environments::ALL.iter().map(|e| e.name()).collect();
            let message = format!("unknown environment {:?}", name.value);
            source.wrong_but(name.at, message, suggest(&name.value, &known));
        }
        environment.map(|e| (e, name.at))
    };
    names.iter().filter_map(find).unzip()
}

/// What names can mean: the workloads and environments that they are for.
pub(crate) struct Reach<'g> {
    pub workloads: &'g [&'static Workload],
    pub environments: &'g [&'static dyn Environment],
}

impl Reach<'_> {
    fn param_names(&self) -> Vec<&'static str> {
        self.workloads.iter().flat_map(|w| w.params).map(|p| p.name).collect()
    }

    fn knows_param(&self, name: &str) -> bool {
        self.workloads.iter().any(|w| has_param(w, name))
    }

    /// Reads `params`: names with values, and tables of them under the names of workloads.
    pub(crate) fn read_params(&self, table: &Table<'_, '_>) -> Given {
        let mut given = Given::default();
        for entry in table.entries() {
            if !entry.value.is_table() {
                let (at, name) = (entry.key_at, entry.key);
                if let Some(value) = table.value(entry).filter(|_| self.check_param(table.source, at, name)) {
                    given.all.insert(name.to_owned(), value);
                }
                continue;
            }
            let names: Vec<_> = self.workloads.iter().map(|w| w.name).collect();
            let Some(workload) = self.workloads.iter().find(|w| w.name == entry.key) else {
                let message = format!("a table of parameters for {:?}, which is no workload here", entry.key);
                table.source.wrong_but(entry.key_at, message, suggest(entry.key, &names));
                continue;
            };
            let own = Reach { workloads: &[*workload], environments: self.environments };
            if let Some(values) = table.as_table(entry, entry.key) {
                given.of.push((workload.name, own.read_params(&values).all));
            }
        }
        given
    }

    fn check_param(&self, source: &Source<'_>, at: usize, name: &str) -> bool {
        // Without workloads, of which another problem tells, no parameter can be judged.
        if self.workloads.is_empty() || self.knows_param(name) {
            return true;
        }
        let suggestion = if is_setting(name) {
            "it is a setting: put it under settings".to_owned()
        } else {
            suggest(name, &self.param_names())
        };
        let names: Vec<_> = self.workloads.iter().map(|w| w.name).collect();
        source.wrong_but(at, format!("unknown parameter {name:?} of {}", names.join(", ")), suggestion);
        false
    }

    pub(crate) fn read_settings(&self, table: &Table<'_, '_>) -> Given {
        let mut given = Given::default();
        for entry in table.entries() {
            let value = table.value(entry);
            if self.check_setting(table.source, entry.key_at, entry.key)
                && let Some(value) = value
            {
                given.all.insert(entry.key.to_owned(), value);
            }
        }
        given
    }

    fn check_setting(&self, source: &Source<'_>, at: usize, name: &str) -> bool {
        if !is_setting(name) {
            let suggestion = if self.knows_param(name) {
                "it is a parameter: put it under params".to_owned()
            } else {
                suggest(name, &setting_names())
            };
            source.wrong_but(at, format!("unknown setting {name:?}"), suggestion);
            return false;
        }
        let Some(setting) = kizami_settings::find(name).filter(|_| !self.environments.is_empty()) else { return true };
        let reaches = self.environments.iter().any(|environment| environment.has(setting));
        if !reaches {
            let whose = setting.scope.whose();
            let message = format!("{name} is a setting of {whose}, and no environment of this group is one");
            let have = kizami_environments::ALL.iter().filter(|environment| environment.has(setting));
            let have: Vec<_> = have.map(|environment| format!("{:?}", environment.name())).collect();
            source.wrong_but(at, message, format!("use environments = [{}]", have.join(", ")));
        }
        reaches
    }

    pub(crate) fn read_vary(&self, table: &Table<'_, '_>) -> Vec<Vary> {
        let mut varied = Vec::new();
        for entry in table.entries() {
            let known = self.check_either(table.source, entry.key_at, entry.key);
            let values = table.values(entry);
            if entry.value.as_array().is_some_and(|array| array.is_empty()) {
                let suggestion = format!("leave it out, or say [{DEFAULT:?}]");
                table.source.wrong_but(entry.at, format!("{} varies over nothing", entry.key), suggestion);
            } else if known && !values.is_empty() {
                varied.push(Vary { name: entry.key.to_owned(), values });
            }
        }
        varied
    }

    fn check_either(&self, source: &Source<'_>, at: usize, name: &str) -> bool {
        if self.workloads.is_empty() || self.knows_param(name) {
            return true;
        }
        if is_setting(name) {
            return self.check_setting(source, at, name);
        }
        let names: Vec<_> = self.param_names().into_iter().chain(setting_names()).collect();
        let message = format!("{name:?} is neither a parameter nor a setting");
        source.wrong_but(at, message, suggest(name, &names));
        false
    }

    pub(crate) fn read_cases(&self, table: &Table<'_, '_>) -> Vec<Values> {
        let read = |case: &Table<'_, '_>| {
            let mut values = Values::new();
            for entry in case.entries() {
                let value = case.value(entry);
                if self.check_either(case.source, entry.key_at, entry.key)
                    && let Some(value) = value
                {
                    values.insert(entry.key.to_owned(), value);
                }
            }
            values
        };
        let cases: Vec<_> = table.tables("cases").iter().map(read).collect();
        if cases.is_empty() { vec![Values::new()] } else { cases }
    }
}
