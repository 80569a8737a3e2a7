//! A group of a study: workloads in environments, under settings, some of which vary.
//!
//! A group expands to cells: every workload in every environment under every combination of the varied values. A name
//! may be unknown to a workload (a parameter that it does not have) or to an environment (a setting of the Erlang VM,
//! elsewhere). Such a name leaves the cell as it is, and is refused if it is unknown to all cells.

use std::fmt;

use kizami_environments::Environment;
use kizami_workloads::Workload;
use kizami_workloads::linux::{boot, footprint};

use crate::cell::{Cell, Values};
use crate::limits::MOST_STARTS;
use crate::reach::{Given, Reach, Vary, read_environments, read_workloads};
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
    /// The varied name whose values stand in the columns of the tables.
    pub across: Option<String>,
    /// The figures of a series in such tables, a table each; a sweep shows the first.
    pub statistics: Vec<Statistic>,
    /// Where it begins, and where each environment is named.
    pub(crate) at: usize,
    environments_at: Vec<usize>,
    /// Its environments are not those that the study was written for.
    moved: bool,
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

/// What is drawn of a workload without a study. One that takes a single sample a start has no distribution worth three figures.
fn figures_of(workload: &Workload) -> Vec<Figure> {
    match workload.name {
        name if name == boot::WORKLOAD.name => vec![Figure::Phases, Figure::Box],
        name if name == footprint::WORKLOAD.name => vec![Figure::Box],
        _ => vec![Figure::Box, Figure::Histogram, Figure::Tail, Figure::Trials],
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
            figures: figures_of(workload),
            missing: Missing::Run,
            across: None,
            statistics: vec![Statistic::Median],
            at: 0,
            environments_at: Vec::new(),
            moved: false,
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

    /// Has it measured in `environments` instead, as far as they do it.
    pub(crate) fn move_to(&mut self, environments: Option<&[&'static dyn Environment]>) {
        if let Some(environments) = environments {
            self.environments = environments.to_vec();
            self.moved = true;
        }
    }

    /// The same group there.
    pub(crate) fn moved_to(&self, environments: &[&'static dyn Environment]) -> Self {
        let mut group = self.clone();
        group.move_to(Some(environments));
        group
    }

    /// Every cell that can be measured, in the order in which tables show them.
    pub(crate) fn cells(&self, size: Size) -> Vec<Cell> {
        let mut cells = self.all_cells(size);
        if self.moved {
            cells.retain(|cell| cell.job().is_ok());
        }
        cells
    }

    /// Why cells cannot be measured where this was moved to.
    pub(crate) fn left_out(&self, size: Size) -> Vec<String> {
        let cells = if self.moved { self.all_cells(size) } else { Vec::new() };
        let why = |cell: &Cell| {
            let (_, why) = cell.job().err()?;
            let place =
                format!("{} in {} is not measured for {}", cell.workload.name, cell.environment.name(), self.id);
            // It names all that there is, which is too much here.
            Some(if cell.environment.does(cell.workload) {
                format!("{place}: {why}")
            } else {
                format!("{place}: it is not done there")
            })
        };
        cells.iter().filter_map(why).collect()
    }

    fn all_cells(&self, size: Size) -> Vec<Cell> {
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
        let (environments, environments_at) = read_environments(&table, "environments");
        let scope = Reach { workloads: &workloads, environments: &environments };

        let params = table.table("params", "params").map(|t| scope.read_params(&t)).unwrap_or_default();
        let settings = table.table("settings", "settings").map(|t| scope.read_settings(&t)).unwrap_or_default();
        let vary = table.table("vary", "vary").map(|t| scope.read_vary(&t)).unwrap_or_default();
        let cases = scope.read_cases(&table);
        let sizes = [Size::Quick, Size::Full].into_iter().zip(defaults).map(|(size, default)| {
            let own = table.table(size.name(), size.name()).map(|t| t.only(&["trials", "params", "vary"]));
            let trials = own.as_ref().and_then(|t| t.count("trials", 0, MOST_STARTS)).map(|trials| trials.value);
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
            moved: false,
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
