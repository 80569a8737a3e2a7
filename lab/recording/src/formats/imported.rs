//! Imported samples, and the recording that is made of them.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::path::Path;
use std::time::SystemTime;

use serde::de::DeserializeOwned;
use serde_json::Number;

use super::error::Error;
use crate::folder::{self, Column, Outcome, Recording, Series, State, Unit, Writer};
use crate::stats::Beyond;

/// The parameter that names the file of a series, without its ending: what tells two imports apart first.
pub const FILE: &str = "file";

/// Reads JSON of a file that is called `name`; `expected` says what would be right.
pub(super) fn json<T: DeserializeOwned>(bytes: &[u8], name: &str, expected: &str) -> Result<T, Error> {
    serde_json::from_slice(bytes).map_err(|e| {
        let line = Some(e.line() as u64).filter(|line| *line > 0);
        Error::new(name, line, format!("{e}: {expected} was expected"))
    })
}

/// What a tool says of a thread besides its histogram, in units of so many nanoseconds.
pub(super) fn reported(min: &Number, max: &Number, mean: &Number, unit: u64) -> BTreeMap<String, f64> {
    let told = [("reported_min_ns", min), ("reported_max_ns", max), ("reported_mean_ns", mean)];
    let facts = told.into_iter().filter_map(|(fact, value)| Some((fact.to_owned(), value.as_f64()? * unit as f64)));
    facts.chain([("resolution_ns".to_owned(), unit as f64)]).collect()
}

/// What one file of another tool holds.
#[derive(Debug, Clone, PartialEq)]
pub struct Imported {
    /// The tool and its version, as far as the file says them.
    pub tool: Option<(String, String)>,
    /// What the file says of the machine.
    pub host: BTreeMap<String, String>,
    /// What is not known, or known less exactly than it was measured; one sentence each.
    pub notes: Vec<String>,
    pub series: Vec<ImportedSeries>,
}

/// One trial of one series.
#[derive(Debug, Clone, PartialEq)]
pub struct ImportedSeries {
    /// Any text; what cannot be in a file's name is replaced when it is saved.
    pub name: String,
    pub workload: String,
    pub params: BTreeMap<String, String>,
    pub requested: BTreeMap<String, String>,
    pub part: String,
    /// The columns of its cells; of counts the one of the values.
    pub columns: Vec<Column>,
    /// RFC 3339, UTC; empty where the file does not say it.
    pub started: String,
    pub cold_rows: u64,
    /// Samples that the file only says to be greater than a limit.
    pub beyond: Option<Beyond>,
    pub facts: BTreeMap<String, f64>,
    pub rows: Rows,
}

/// The rows of a trial.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Rows {
    /// One after the other, as in a samples file.
    Cells(Vec<u64>),
    /// A histogram of a single column: values, ascending, and how often each was measured.
    Counted(Vec<(u64, u64)>),
}

impl ImportedSeries {
    /// The samples that it stands for.
    pub(super) fn samples(&self) -> u64 {
        let recorded = match &self.rows {
            Rows::Cells(_) => self.rows.len(self.columns.len()),
            Rows::Counted(buckets) => buckets.iter().fold(0u64, |sum, (_, count)| sum.saturating_add(*count)),
        };
        recorded.saturating_add(self.beyond.map_or(0, |beyond| beyond.count))
    }
}

impl Rows {
    /// How many rows of a recording they make, each of `columns` cells.
    pub fn len(&self, columns: usize) -> u64 {
        match self {
            Self::Cells(cells) => (cells.len() / columns.max(1)) as u64,
            Self::Counted(buckets) => buckets.len() as u64,
        }
    }

    pub fn is_empty(&self) -> bool {
        match self {
            Self::Cells(cells) => cells.is_empty(),
            Self::Counted(buckets) => buckets.is_empty(),
        }
    }

    /// Their cells, row by row. Counts stay counts.
    fn cells(&self) -> Cow<'_, [u64]> {
        match self {
            Self::Cells(cells) => cells.into(),
            Self::Counted(buckets) => buckets.iter().flat_map(|&(value, count)| [value, count]).collect(),
        }
    }
}

/// Makes a recording of `imported` in the new folder `folder`; `command` is the command line that asked for it. Series
/// of the same name, workload, settings and columns become trials of one series.
///
/// # Errors
/// When the folder exists already, or the disk refuses. There is no new folder then.
pub fn save(folder: &Path, command: Vec<String>, imported: &[Imported]) -> Result<(), folder::Error> {
    let mut recording = Recording {
        kizami_version: env!("CARGO_PKG_VERSION").to_owned(),
        command,
        started: humantime::format_rfc3339_seconds(SystemTime::now()).to_string(),
        seed: 0,
        ..Recording::begun()
    };
    for one in imported {
        recording.host.extend(one.host.clone());
        recording.tools.extend(one.tool.clone());
        for series in &one.series {
            if !recording.studies.contains(&series.workload) {
                recording.studies.push(series.workload.clone());
            }
        }
    }
    let mut writer = Writer::create(folder, recording)?;
    fill(&mut writer, imported).inspect_err(|_| {
        // Half an import would look like a run that was killed.
        let _ = std::fs::remove_dir_all(folder);
    })
}

fn fill(writer: &mut Writer, imported: &[Imported]) -> Result<(), folder::Error> {
    imported.iter().flat_map(|one| &one.notes).for_each(|note| writer.note(note));
    for series in imported.iter().flat_map(|one| &one.series) {
        if let Some(beyond) = series.beyond.filter(|_| series.rows.is_empty()) {
            writer.note(format!(
                "{}: all of its {} samples lie beyond the end of the histogram, so there is no figure of them: measure with a \
                 longer one",
                series.name, beyond.count
            ));
            continue;
        }
        let index = place(writer, series);
        writer.begin_trial(&[index], &[series.rows.len(series.columns.len())], &series.started)?;
        writer.append(index, &series.rows.cells())?;
        if let Some(trial) = writer.trial(index) {
            trial.cold_rows = series.cold_rows;
            trial.beyond = series.beyond;
            trial.facts = series.facts.clone();
        }
        writer.end_trial(&[index], &Outcome::Complete)?;
    }
    writer.finish(State::Complete)
}

/// The series of the recording that `series` is a trial of; a new one where there is none.
fn place(writer: &mut Writer, series: &ImportedSeries) -> usize {
    let counted = matches!(series.rows, Rows::Counted(_));
    let new = Series {
        name: plain(&series.name),
        workload: series.workload.clone(),
        environment: folder::IMPORTED.to_owned(),
        params: series.params.clone(),
        requested: series.requested.clone(),
        part: series.part.clone(),
        columns: series.columns.iter().cloned().chain(counted.then(|| Column::new("count", Unit::Count))).collect(),
        counted,
        operations: 1,
        emulated: false,
        asked_by: vec![format!("{0}/{0}", series.workload)],
        trials: Vec::new(),
    };
    let mut name = new.name.clone();
    for number in 2.. {
        match writer.recording().series.iter().position(|other| other.name == name) {
            None => break,
            Some(index) => {
                let other = &writer.recording().series[index];
                if (Series { name: name.clone(), trials: other.trials.clone(), ..new.clone() }) == *other {
                    return index;
                }
                name = format!("{}.{number}", new.name);
            }
        }
    }
    writer.add_series(Series { name, ..new })
}

/// `name` as the name of a series: of characters that mean nothing to a file system, and not too long for one.
fn plain(name: &str) -> String {
    let kept = |c: char| if c.is_ascii_alphanumeric() || "-_.+=,%".contains(c) { c } else { '_' };
    let name: String = name.chars().map(kept).take(200).collect();
    match name.trim_start_matches('.') {
        "" => "series".to_owned(),
        name => name.to_owned(),
    }
}
