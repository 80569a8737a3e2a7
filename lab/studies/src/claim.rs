//! Claims of a paper: which series a claim is about, and which relation between their figures it expects.

use kizami_environments::Environment;
use kizami_recording::folder::{Column, Unit};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::CONFIDENCE;
use kizami_workloads::Machine;

use crate::counted;
use crate::group::Group;
use crate::planned::Planned;
use crate::reach::read_environments;
use crate::selector::Selector;
use crate::tree::{At, Source, Table};
use crate::words::{Size, Statistic, Word};

/// A claim: a sentence, and the relation between figures that would support it.
#[derive(Debug, Clone, PartialEq)]
pub struct Claim {
    pub says: String,
    /// The place of the sentence in the paper; empty for a question of the study's own.
    pub source: String,
    pub of: Selector,
    pub statistic: Statistic,
    pub expects: Expects,
    /// How often a run looks whether the claim is decided: at its end, and after each doubling of its rounds.
    pub looks: usize,
}

/// The condition on the statistic. Limits are in the unit of the samples of one operation.
#[derive(Debug, Clone, PartialEq)]
pub enum Expects {
    Between(f64, f64),
    /// At most so many times the other.
    Below(Selector, f64),
    /// At least so many times the other.
    Above(Selector, f64),
    /// Within this share of the other: 0.1 is from 0.9 to 1.1 times.
    Near(Selector, f64),
}

impl Expects {
    /// The series that the claim compares with, if it compares.
    pub fn other(&self) -> Option<&Selector> {
        match self {
            Self::Between(..) => None,
            Self::Below(other, _) | Self::Above(other, _) | Self::Near(other, _) => Some(other),
        }
    }
}

const WITHIN: f64 = 0.10;

impl Claim {
    /// Reads a `[[claim]]` of the study `study`, whose groups are `groups`; without them, which series it is about is not
    /// checked. A run looks at it so often. One that is for certain environments is `None` where the study was not moved to them (`elsewhere`).
    pub(crate) fn read(
        table: Table<'_, '_>,
        study: &str,
        groups: Option<&[Group]>,
        elsewhere: Option<&[&'static dyn Environment]>,
        looks: usize,
    ) -> Option<Self> {
        let keys =
            ["says", "source", "elsewhere", "of", "statistic", "between", "below", "above", "near", "within", "times"];
        let table = table.only(&keys);
        let source = table.source;
        let only_in = table.get("elsewhere").is_some().then(|| read_environments(&table, "elsewhere").0);
        let moved: Option<Vec<Group>> = only_in
            .as_ref()
            .zip(groups)
            .map(|(environments, groups)| groups.iter().map(|group| group.moved_to(environments)).collect());
        let groups = moved.as_deref().or(groups);
        let says = table.required("says");
        let statistic = table.required("statistic").and_then(|word| Statistic::read(source, &word));
        if table.get("of").is_none() {
            source.wrong(table.at, "[[claim]] needs the key \"of\", such as of = { group = \"table2\" }");
        }
        let series = |key: &str| {
            let table = table.table(key, key)?;
            let groups = groups?;
            let selector = Selector::read(&table, study, groups)?;
            let columns = columns_of(&selector, groups);
            if columns.is_empty() {
                source.wrong(table.at, "this selects no series of the study");
                return None;
            }
            let has = |statistic| columns.iter().all(|columns| counted::can_have(statistic, columns));
            if statistic.is_some_and(|statistic| !has(statistic)) {
                source.wrong(table.at, "this selects series that do not count what was lost");
                return None;
            }
            Some((selector, columns))
        };
        let of = series("of");
        let within = table.number("within");
        let given: Vec<_> =
            table.entries().filter(|e| ["between", "below", "above", "near"].contains(&e.key)).collect();
        let [one] = given[..] else {
            let at = given.get(1).map_or(table.at, |second| second.key_at);
            source.wrong(at, "[[claim]] needs exactly one of between, below, above and near");
            return None;
        };
        if let Some(within) = &within
            && (one.key != "near" || !(within.value > 0.0 && within.value < 1.0))
        {
            let message = if one.key == "near" { "within must be between 0 and 1" } else { "within belongs to near" };
            source.wrong(within.at, message);
            return None;
        }
        let times = table.number("times");
        let ordered = ["below", "above"].contains(&one.key);
        let is_times = |times: f64| times > 0.0 && times.is_finite();
        if let Some(times) = times.as_ref().filter(|times| !ordered || !is_times(times.value)) {
            let message = if ordered { "times must be greater than 0" } else { "times belongs to below and above" };
            source.wrong(times.at, message);
            return None;
        }
        let times = times.map_or(1.0, |t| t.value);
        let expects = match one.key {
            "between" => {
                let columns = of.as_ref().and_then(|(_, columns)| columns.first());
                read_limits(source, one.at, &table.values(one), columns.map(|c| unit_of(c)), statistic)
            }
            key => series(key).map(|(other, _)| match key {
                "below" => Expects::Below(other, times),
                "above" => Expects::Above(other, times),
                _ => Expects::Near(other, within.map_or(WITHIN, |w| w.value)),
            }),
        };
        let is_there = |environment: &&'static dyn Environment| {
            elsewhere.is_some_and(|there| there.iter().any(|one| one.name() == environment.name()))
        };
        if only_in.is_some_and(|environments| !environments.iter().all(is_there)) {
            return None;
        }
        Some(Self {
            says: says?.value,
            source: table.string("source").map(|s| s.value).unwrap_or_default(),
            of: of?.0,
            statistic: statistic?,
            expects: expects?,
            looks,
        })
    }

    /// Whether a series of `planned` is on one of its sides.
    pub fn is_about(&self, planned: &Planned) -> bool {
        let selects = |selector: &Selector| {
            let mut asked_by = planned.asked_by.iter().filter_map(|by| by.split_once('/'));
            asked_by.any(|(study, group)| study == selector.study && selector.matches_job(group, &planned.job))
        };
        selects(&self.of) || self.expects.other().is_some_and(selects)
    }

    /// The confidence of the interval by which the claim is judged. Whoever looks several times and stops at the first
    /// answer is wrong as often as all looks together, so each has its part of the five in a hundred.
    pub fn confidence(&self) -> f64 {
        1.0 - (1.0 - CONFIDENCE) / self.looks as f64
    }
}

/// The columns of each series that `selector` is about, in either size; empty when it is about none.
fn columns_of(selector: &Selector, groups: &[Group]) -> Vec<Vec<Column>> {
    let machine = Machine::of(vec![0, 1]);
    let mut columns = Vec::new();
    for group in groups {
        for size in Size::ALL.iter().filter(|size| group.trials(**size) > 0) {
            let jobs = group.cells(*size).into_iter().filter_map(|cell| cell.job().ok());
            for job in jobs.filter(|job| selector.matches_job(&group.id, job)) {
                let parts = (job.workload().parts)(&job.params, &machine);
                let mine = parts.into_iter().filter(|part| match &selector.part {
                    Some(name) => part.name == *name,
                    // What was watched beside the work begins with when.
                    None => part.columns.first().is_some_and(|c| c.name != "when"),
                });
                columns.extend(mine.map(|part| part.columns));
            }
        }
    }
    columns
}

/// The quantity in which samples of that unit are written.
fn quantity(unit: Unit) -> Quantity {
    match unit {
        Unit::Nanoseconds => Quantity::Time,
        Unit::Bytes => Quantity::Size,
        Unit::BitsPerSecond => Quantity::Rate,
        Unit::Instructions | Unit::Cycles | Unit::Words | Unit::Count => Quantity::Count,
    }
}

/// The unit of the values of a series with such columns.
fn unit_of(columns: &[Column]) -> Unit {
    let moved = columns.iter().any(|c| c.name == "bytes" || c.name == "received");
    if moved { Unit::BitsPerSecond } else { columns.first().map_or(Unit::Count, |c| c.unit) }
}

fn read_limits(
    source: &Source<'_>,
    at: usize,
    limits: &[At<String>],
    unit: Option<Unit>,
    statistic: Option<Statistic>,
) -> Option<Expects> {
    let [low, high] = limits else {
        source.wrong(at, "between needs two values, such as [\"5.5ms\", \"6.5ms\"]");
        return None;
    };
    // Without a series or a statistic, of which another problem tells, the unit is not known.
    let (unit, statistic) = (unit?, statistic?);
    let read = |limit: &At<String>| {
        let value = match statistic {
            Statistic::Loss => share(&limit.value, 1.0),
            Statistic::Accounted => share(&limit.value, 2.0),
            Statistic::Flushes => plain(&limit.value),
            Statistic::PerTask => Quantity::Size.parse(&limit.value).map(|v| v as f64),
            Statistic::Variance => Err("limits of a variance are not understood: use the stdev".to_owned()),
            _ => quantity(unit).parse(&limit.value).map(|v| v as f64),
        };
        value.map_err(|why| source.wrong(limit.at, why)).ok()
    };
    let (low_value, high_value) = (read(low), read(high));
    let (low_value, high_value) = (low_value?, high_value?);
    if low_value >= high_value {
        source.wrong(low.at, format!("{} is not below {}", low.value, high.value));
        return None;
    }
    Some(Expects::Between(low_value, high_value))
}

fn plain(text: &str) -> Result<f64, String> {
    let number = text.trim().parse::<f64>().ok().filter(|number| number.is_finite() && *number >= 0.0);
    number.ok_or_else(|| format!("{text:?} is no number of flushes for each sync, such as 1.05"))
}

fn share(text: &str, most: f64) -> Result<f64, String> {
    let number = text.strip_suffix('%').and_then(|number| number.trim().parse::<f64>().ok());
    let share = number.map(|percent| percent / 100.0).filter(|share| (0.0..=most).contains(share));
    share.ok_or_else(|| format!("{text:?} is not a share, such as 1%"))
}
