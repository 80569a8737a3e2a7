//! A group of a study: workloads in environments, under settings, some of which vary.
//!
//! A group expands to cells: every workload in every environment under every combination of what varies. A name that
//! means nothing to a workload (its parameters differ from another's) or to an environment (it is no Erlang VM) leaves
//! that cell alone, and is refused when it means nothing to all of them.

use std::fmt;

use kizami_environments::Environment;
use kizami_settings::Scope;
use kizami_workloads::Workload;

use crate::cell::{BEAM, Cell, DEFAULT, Values, has_param, is_setting, setting_names};
use crate::problem::suggest;
use crate::tree::{At, Source, Table};
use crate::words::{Figure, Missing, Size, Statistic, Word};

/// More series than this in one group are a mistake.
const MOST_CELLS: usize = 2000;

/// One table or figure of a study.
#[derive(Clone)]
pub struct Group {
    /// Unique in the study.
    pub id: String,
    pub title: String,
    pub about: String,
    pub workloads: Vec<&'static Workload>,
    pub environments: Vec<&'static dyn Environment>,
    pub figures: Vec<Figure>,
    pub missing: Missing,
    /// What varies and stands in the columns of the tables.
    pub across: Option<String>,
    /// Which figures of a series stand in such tables, a table each, and in a sweep the first.
    pub statistics: Vec<Statistic>,
    /// Where it begins, and where each environment is named.
    pub(crate) at: usize,
    environments_at: Vec<usize>,
    quick: Ask,
    full: Ask,
}

/// What a group asks for in one size.
#[derive(Debug, Clone, Default)]
pub(crate) struct Ask {
    trials: usize,
    /// Later ones win.
    layers: Vec<Given>,
    /// The first varies slowest.
    vary: Vec<Vary>,
    /// Sets of values, of which each cell has one. Never empty once it was read, as one without values changes nothing.
    cases: Vec<Values>,
}

/// Values for all workloads, and values for single ones.
#[derive(Debug, Clone, Default)]
pub(crate) struct Given {
    all: Values,
    of: Vec<(&'static str, Values)>,
}

#[derive(Debug, Clone)]
pub(crate) struct Vary {
    pub name: String,
    pub values: Vec<At<String>>,
}

/// The sizes as the study gives them for all of its groups.
#[derive(Debug, Clone, Default)]
pub(crate) struct Defaults {
    pub trials: Option<usize>,
    pub params: Given,
}

impl fmt::Debug for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Group").field("id", &self.id).finish_non_exhaustive()
    }
}

impl Group {
    /// A group of one workload in one environment, as it is without a study.
    pub(crate) fn of(workload: &'static Workload, environment: &'static dyn Environment, trials: usize) -> Self {
        let ask = Ask { trials, cases: vec![Values::new()], ..Ask::default() };
        Self {
            id: workload.name.to_owned(),
            title: workload.title.to_owned(),
            about: workload.about.to_owned(),
            workloads: vec![workload],
            environments: vec![environment],
            figures: vec![Figure::Box, Figure::Histogram, Figure::Tail, Figure::Trials],
            missing: Missing::Run,
            across: None,
            statistics: vec![Statistic::Median],
            at: 0,
            environments_at: Vec::new(),
            quick: ask.clone(),
            full: ask,
        }
    }

    /// How many fresh starts each series has in that size; 0 when the group is not part of it.
    pub fn trials(&self, size: Size) -> usize {
        self.ask(size).trials
    }

    /// What varies, with its values in the order of the study, all sizes together.
    pub(crate) fn varied(&self) -> Vec<(&str, Vec<&str>)> {
        let mut varied: Vec<(&str, Vec<&str>)> = Vec::new();
        for vary in self.full.vary.iter().chain(&self.quick.vary) {
            let index = varied.iter().position(|(name, _)| *name == vary.name).unwrap_or_else(|| {
                varied.push((&vary.name, Vec::new()));
                varied.len() - 1
            });
            for value in &vary.values {
                if !varied[index].1.contains(&value.value.as_str()) {
                    varied[index].1.push(&value.value);
                }
            }
        }
        varied
    }

    fn ask(&self, size: Size) -> &Ask {
        match size {
            Size::Quick => &self.quick,
            Size::Full => &self.full,
        }
    }

    /// Every cell, in the order in which tables show them.
    pub(crate) fn cells(&self, size: Size) -> Vec<Cell> {
        let ask = self.ask(size);
        let mut cells = Vec::new();
        for &workload in &self.workloads {
            for &environment in &self.environments {
                let mut cell = Cell { workload, environment, params: Values::new(), settings: Values::new() };
                for layer in &ask.layers {
                    let own = layer.of.iter().filter(|(name, _)| *name == workload.name).map(|(_, values)| values);
                    for values in std::iter::once(&layer.all).chain(own) {
                        values.iter().for_each(|(name, value)| cell.set(name, value));
                    }
                }
                let mut product = vec![cell];
                for vary in &ask.vary {
                    if product[0].kind_of(&vary.name).is_none() {
                        continue;
                    }
                    let varied = |cell: &Cell| {
                        let cell = cell.clone();
                        vary.values.iter().map(move |value| {
                            let mut cell = cell.clone();
                            cell.set(&vary.name, value);
                            cell
                        })
                    };
                    product = product.iter().flat_map(varied).collect();
                }
                for cell in product {
                    let mut made: Vec<Cell> = Vec::new();
                    for case in &ask.cases {
                        let mut cell = cell.clone();
                        case.iter().for_each(|(name, value)| cell.set(name, value));
                        // A case that means nothing here is the same as one that says nothing.
                        if made.iter().all(|other| !other.same_as(&cell)) {
                            made.push(cell);
                        }
                    }
                    cells.extend(made);
                }
            }
        }
        cells
    }

    /// The cases, in the order of the study.
    pub(crate) fn cases(&self) -> &[Values] {
        &self.full.cases
    }

    /// How many cells there would be, without making them.
    fn number_of_cells(&self, size: Size) -> usize {
        let product = self.ask(size).vary.iter().fold(1, |n: usize, v| n.saturating_mul(v.values.len()));
        let product = product.saturating_mul(self.ask(size).cases.len());
        product.saturating_mul(self.workloads.len()).saturating_mul(self.environments.len())
    }

    /// Reads a `[[group]]`; what comes of one with problems only serves to find more of them.
    pub(crate) fn read(table: Table<'_, '_>, defaults: [&Defaults; 2]) -> Option<Self> {
        let table = table.only(&[
            "id",
            "title",
            "about",
            "workloads",
            "environments",
            "params",
            "settings",
            "vary",
            "cases",
            "figures",
            "missing",
            "across",
            "statistics",
            "quick",
            "full",
        ]);
        let source = table.source;
        let id = table.required("id").filter(|id| is_plain(source, id));
        let title = table.required("title");
        let workloads = read_workloads(&table);
        let (environments, environments_at) = read_environments(&table);
        let scope = Reach { workloads: &workloads, environments: &environments };

        let params = table.table("params", "params").map(|t| scope.read_params(&t)).unwrap_or_default();
        let settings = table.table("settings", "settings").map(|t| scope.read_settings(&t)).unwrap_or_default();
        let vary = table.table("vary", "vary").map(|t| scope.read_vary(&t)).unwrap_or_default();
        let cases = scope.read_cases(&table);
        let sizes = [Size::Quick, Size::Full].into_iter().zip(defaults).map(|(size, default)| {
            let own = table.table(size.name(), size.name()).map(|t| t.only(&["trials", "params", "vary"]));
            let trials = own.as_ref().and_then(|t| t.count("trials", 0)).map(|trials| trials.value);
            let own_params = own.as_ref().and_then(|t| t.table("params", "params")).map(|t| scope.read_params(&t));
            let own_vary = own.as_ref().and_then(|t| t.table("vary", "vary")).map(|t| scope.read_vary(&t));
            let layers = vec![default.params.clone(), params.clone(), settings.clone(), own_params.unwrap_or_default()];
            let mut vary = vary.clone();
            for own in own_vary.unwrap_or_default() {
                match vary.iter_mut().find(|v| v.name == own.name) {
                    Some(common) => *common = own,
                    None => vary.push(own),
                }
            }
            Ask { trials: trials.or(default.trials).unwrap_or(1), layers, vary, cases: cases.clone() }
        });
        let sizes: Vec<Ask> = sizes.collect();
        let [quick, full] = <[Ask; 2]>::try_from(sizes).ok()?;

        let figures = table.strings("figures");
        let figures: Vec<_> = figures.iter().filter_map(|name| Figure::read(source, name)).collect();
        let missing = table.string("missing").and_then(|word| Missing::read(source, &word));
        let across = table.string("across");
        if let Some(name) = across.as_ref().filter(|name| vary.iter().all(|vary| vary.name != name.value)) {
            source.wrong(name.at, format!("across = {:?} is not one of what varies in the group", name.value));
        }
        let statistics = table.strings("statistics");
        if let Some(word) = statistics.first().filter(|_| across.is_none() && !figures.contains(&Figure::Sweep)) {
            source.wrong(word.at, "statistics stand in the tables of across, or in a sweep; the group has neither");
        }
        let statistics: Vec<_> = statistics.iter().filter_map(|word| Statistic::read(source, word)).collect();
        let group = Self {
            id: id?.value,
            title: title?.value,
            about: table.string("about").map(|a| a.value).unwrap_or_default(),
            workloads,
            environments,
            figures: if table.get("figures").is_none() { vec![Figure::Box] } else { figures },
            missing: missing.unwrap_or(Missing::Run),
            across: across.map(|name| name.value),
            statistics: if statistics.is_empty() { vec![Statistic::Median] } else { statistics },
            at: table.at,
            environments_at,
            quick,
            full,
        };
        group.check(source);
        Some(group)
    }

    /// Tells which cells could not be measured.
    fn check(&self, source: &Source<'_>) {
        for size in Size::ALL {
            let number = self.number_of_cells(*size);
            if number > MOST_CELLS {
                let message = format!("group {:?} makes {number} series in size {size}; at most {MOST_CELLS}", self.id);
                source.wrong(self.at, message);
                return;
            }
            for cell in self.cells(*size) {
                let Err((name, why)) = cell.job() else { continue };
                let environment = self.environments.iter().position(|e| e.name() == cell.environment.name());
                let of_environment = || environment.and_then(|index| self.environments_at.get(index)).copied();
                let at = cell.place_of(&name).or_else(of_environment).unwrap_or(self.at);
                source.wrong(at, why);
            }
        }
    }
}

/// Whether `text` is a name as studies and groups have them; tells when it is not.
pub(crate) fn is_plain(source: &Source<'_>, text: &At<String>) -> bool {
    let plain = text.value.chars().all(|c| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-');
    if !plain {
        source.wrong(text.at, format!("{:?} is no name: use lower-case letters, digits and hyphens", text.value));
    }
    plain
}

fn read_workloads(table: &Table<'_, '_>) -> Vec<&'static Workload> {
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

fn read_environments(table: &Table<'_, '_>) -> (Vec<&'static dyn Environment>, Vec<usize>) {
    let source = table.source;
    let mut names = table.strings("environments");
    if table.get("environments").is_none() {
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
    pub fn read_params(&self, table: &Table<'_, '_>) -> Given {
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

    fn read_settings(&self, table: &Table<'_, '_>) -> Given {
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
        let of_beam = kizami_settings::find(name).is_some_and(|s| s.scope == Scope::Beam);
        let reaches = !of_beam || self.environments.is_empty() || self.environments.iter().any(|e| e.name() == BEAM);
        if !reaches {
            let message = format!("{name} is a setting of the Erlang VM, and no environment of this group is one");
            source.wrong_but(at, message, "use environments = [\"beam\"]".into());
        }
        reaches
    }

    fn read_vary(&self, table: &Table<'_, '_>) -> Vec<Vary> {
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

    fn read_cases(&self, table: &Table<'_, '_>) -> Vec<Values> {
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
