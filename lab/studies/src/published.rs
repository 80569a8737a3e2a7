//! Published figures: a CSV file beside the study, one figure a line.
//!
//! The columns are `group,workload,condition,machine,statistic,value,unit`. A condition says beside which rows of the
//! group the figure is to stand: `name=value` of parameters and settings, and `environment=name`, joined by `;`. Conditions that only the paper
//! has are written in words (`direction=send;IPsec ESP`), and match no row here. Lines that begin with `#` name the
//! source of the figures.

use kizami_recording::folder::Series;
use kizami_recording::foreign::printable;

use crate::cell::{is_setting, setting_names};
use crate::group::Group;
use crate::problem::suggest;
use crate::selector::{Selector, canonical};
use crate::tree::{At, Source};
use crate::words::{Statistic, Word};

const COLUMNS: [&str; 7] = ["group", "workload", "condition", "machine", "statistic", "value", "unit"];

/// What one of a unit is in the unit of samples: nanoseconds, bits per second, bytes, or a plain number.
const UNITS: &[(&str, f64)] = &[
    ("ns", 1.0),
    ("us", 1e3),
    ("ms", 1e6),
    ("s", 1e9),
    ("bit/s", 1.0),
    ("kbit/s", 1e3),
    ("Mbit/s", 1e6),
    ("Gbit/s", 1e9),
    ("B", 1.0),
    ("KiB", 1024.0),
    ("MiB", 1_048_576.0),
    ("words", 1.0),
    ("count", 1.0),
];

/// One figure of a paper.
#[derive(Debug, Clone, PartialEq)]
pub struct Published {
    pub group: String,
    pub workload: String,
    /// As it is written in the file.
    pub condition: String,
    pub machine: String,
    pub statistic: Statistic,
    /// In `unit`, as it was published.
    pub value: f64,
    /// A variance has the unit's square, written `us2`.
    pub unit: String,
    /// The value in the unit of samples (nanoseconds, bits per second, …; a variance in its square).
    pub base: f64,
    /// Which series it is to stand beside; `None` when its condition has words.
    pub selector: Option<Selector>,
}

impl Published {
    /// Whether it is to stand beside `series`.
    pub fn matches(&self, series: &Series) -> bool {
        self.selector.as_ref().is_some_and(|s| s.matches(series))
    }
}

/// Reads all of `text`; tells `source` (the study) what is wrong with `file`.
pub(crate) fn read(source: &Source<'_>, file: &str, text: &str, study: &str, groups: &[Group]) -> Vec<Published> {
    let csv = Source::new(file, text);
    let mut reader = csv::ReaderBuilder::new().comment(Some(b'#')).flexible(true).from_reader(text.as_bytes());
    let has_columns = reader.headers().is_ok_and(|header| header.iter().eq(COLUMNS));
    let mut published = Vec::new();
    if !has_columns {
        csv.wrong(header_at(text), format!("the columns must be {}", COLUMNS.join(",")));
    } else {
        for record in reader.records() {
            match record {
                Ok(record) => published.extend(read_line(&csv, &record, study, groups)),
                Err(e) => {
                    let at = e.position().map_or(0, |p| p.byte() as usize);
                    csv.wrong(at, format!("this line cannot be read: {e}"));
                }
            }
        }
    }
    csv.into_problems().into_iter().for_each(|problem| source.add(problem));
    published
}

/// Where the first line that is no comment begins.
fn header_at(text: &str) -> usize {
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        if !line.starts_with('#') && !line.trim().is_empty() {
            break;
        }
        at += line.len();
    }
    at
}

fn read_line(csv: &Source<'_>, record: &csv::StringRecord, study: &str, groups: &[Group]) -> Option<Published> {
    let begin = line_begin(csv.text, record.position().map_or(0, |p| p.byte() as usize));
    if record.len() != COLUMNS.len() {
        csv.wrong(begin, format!("{} fields where {} belong: {}", record.len(), COLUMNS.len(), COLUMNS.join(",")));
        return None;
    }
    // Fields are written without quotes, so each begins after those before it and their commas.
    let field = |index: usize| {
        let before: usize = record.iter().take(index).map(|f| f.len() + 1).sum();
        At::new(printable(record[index].trim()).into_owned(), begin + before)
    };
    let [group, workload, condition, machine, statistic, value, unit] = std::array::from_fn(field);
    let ids: Vec<_> = groups.iter().map(|g| g.id.as_str()).collect();
    let Some(known_group) = groups.iter().find(|g| g.id == group.value) else {
        csv.wrong_but(group.at, format!("the study has no group {:?}", group.value), suggest(&group.value, &ids));
        return None;
    };
    let names: Vec<_> = known_group.workloads.iter().map(|w| w.name).collect();
    let Some(known_workload) = known_group.workloads.iter().find(|w| w.name == workload.value) else {
        let message = format!("group {:?} has no workload {:?}", group.value, workload.value);
        csv.wrong_but(workload.at, message, suggest(&workload.value, &names));
        return None;
    };

    let mut selector = Some(Selector {
        study: study.to_owned(),
        group: Some(group.value.clone()),
        workload: Some(workload.value.clone()),
        ..Selector::default()
    });
    let mut fine = true;
    for part in condition.value.split(';').map(str::trim).filter(|part| !part.is_empty()) {
        let Some((name, value)) = part.split_once('=') else {
            selector = None;
            continue;
        };
        if name == "environment" {
            let environments: Vec<_> = known_group.environments.iter().map(|e| e.name()).collect();
            if !environments.contains(&value) {
                let message = format!("group {:?} has no environment {value:?}", group.value);
                csv.wrong_but(condition.at, message, suggest(value, &environments));
                fine = false;
            }
            if let Some(selector) = &mut selector {
                selector.environment = Some(value.to_owned());
            }
            continue;
        }
        let params: Vec<_> = known_workload.params.iter().map(|p| p.name).chain(setting_names()).collect();
        if !params.contains(&name) && !is_setting(name) {
            let message = format!("{name:?} is no parameter of {} and no setting", workload.value);
            csv.wrong_but(condition.at, message, suggest(name, &params));
            fine = false;
        } else if let Err(why) = canonical(known_workload, name, value) {
            csv.wrong(condition.at, why);
            fine = false;
        }
        if let Some(selector) = &mut selector {
            selector.values.push((name.to_owned(), value.to_owned()));
        }
    }
    let statistic = Statistic::read(csv, &statistic)?;
    let factor = factor(csv, &unit, statistic);
    let number = match value.value.parse::<f64>() {
        Ok(number) if number.is_finite() => Some(number),
        _ => {
            csv.wrong(value.at, format!("{:?} is not a number", value.value));
            None
        }
    };
    let (value, factor) = (number?, factor?);
    fine.then_some(Published {
        group: group.value,
        workload: workload.value,
        condition: condition.value,
        machine: machine.value,
        statistic,
        value,
        unit: unit.value,
        base: value * factor,
        selector,
    })
}

/// The reader's position of a record that follows comments is where they begin.
fn line_begin(text: &str, at: usize) -> usize {
    at + text.get(at..).map_or(0, header_at)
}

fn factor(csv: &Source<'_>, unit: &At<String>, statistic: Statistic) -> Option<f64> {
    let names: Vec<_> = UNITS.iter().map(|(name, _)| *name).collect();
    let (name, power) = match statistic {
        Statistic::Variance => (unit.value.strip_suffix('2').unwrap_or_default(), 2),
        _ => (unit.value.as_str(), 1),
    };
    let factor = UNITS.iter().find(|(known, _)| *known == name).map(|(_, factor)| factor.powi(power));
    if factor.is_none() && power == 2 {
        csv.wrong(unit.at, format!("{:?} is no squared unit, such as us2", unit.value));
    } else if factor.is_none() {
        csv.wrong_but(unit.at, format!("unknown unit {:?}", unit.value), suggest(&unit.value, &names));
    }
    factor
}
