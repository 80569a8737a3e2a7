//! The data model of `recording.json`: the run, and for every series the settings requested and effective, and its
//! trials.
//!
//! Names and settings are text here, because a recording outlives the program that knew their types. A reader of a
//! later version must be able to read every earlier one: fields are added with a default and never change meaning;
//! where that is not enough, [`FORMAT_VERSION`] grows and the reader keeps both ways.

use std::collections::BTreeMap;

use serde::{Deserialize, Serialize, Serializer};

use crate::stats::{Beyond, Unrecorded};

/// The file that makes a folder a recording.
pub const RECORDING_FILE: &str = "recording.json";

/// The digits that stand for the checksum while it is computed.
pub(super) const NO_CHECKSUM: &str = "00000000";

/// The version of the format that this program writes.
pub const FORMAT_VERSION: u32 = 2;

/// More rows are no series: no disk holds them, and offsets stay far from the end of a `u64`.
pub(super) const MOST_ROWS: u64 = (1 << 48) - 1;

/// More samples are no series either, where rows stand for many or some were not recorded: a million a second for eight years.
/// Sums of their numbers stay far from the end of a `u64`.
pub(crate) const MOST_SAMPLES: u64 = MOST_ROWS;

/// More columns are no series.
const MOST_COLUMNS: usize = 4096;

/// One run and everything needed to judge it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Recording {
    /// Always [`FORMAT_VERSION`] when written.
    pub format_version: u32,
    /// CRC-32 of the file with this field's digits as zeros: tells that a file was edited, not who did it.
    pub checksum: String,
    /// The version of the program that wrote it.
    pub kizami_version: String,
    /// The command line.
    pub command: Vec<String>,
    /// The studies (or single workloads) that were asked for.
    pub studies: Vec<String>,
    /// `quick`, `full`, or empty for a single workload with its own parameters.
    #[serde(default)]
    pub size: String,
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// End, once there is one.
    #[serde(default)]
    pub ended: Option<String>,
    pub state: State,
    /// The seed of the order and of the intervals.
    pub seed: u64,
    /// What the machine is: kernel, processor, memory, clock source, ….
    pub host: BTreeMap<String, String>,
    /// Versions of the programs that took part.
    pub tools: BTreeMap<String, String>,
    /// What could not be done, and why, and for what a run went on beyond its plan; one sentence each.
    #[serde(default)]
    pub notes: Vec<String>,
    /// What wake-ups are held to, where the run was asked to decide it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub requirement: Option<Requirement>,
    pub series: Vec<Series>,
    /// The order in which the trials ran.
    pub order: Vec<Step>,
}

impl Recording {
    /// A run that has begun, of which nothing is said yet.
    pub fn begun() -> Self {
        Self {
            format_version: FORMAT_VERSION,
            checksum: String::new(),
            kizami_version: String::new(),
            command: Vec::new(),
            studies: Vec::new(),
            size: String::new(),
            started: String::new(),
            ended: None,
            state: State::Running,
            seed: 1,
            host: BTreeMap::new(),
            tools: BTreeMap::new(),
            notes: Vec::new(),
            requirement: None,
            series: Vec::new(),
            order: Vec::new(),
        }
    }
}

/// What periodic wake-ups are held to.
#[derive(Debug, Clone, Copy, PartialEq, Serialize, Deserialize)]
pub struct Requirement {
    /// How late a wake-up may be, in nanoseconds; not 0.
    pub deadline: u64,
    /// The largest share of wake-ups that may be later, between 0 and 1.
    pub miss: f64,
}

impl Requirement {
    /// The share that is meant where none was said.
    pub const MISS: f64 = 1e-6;

    /// Whether it can be required of anything.
    pub fn is_possible(&self) -> bool {
        self.deadline > 0 && self.miss > 0.0 && self.miss < 1.0
    }
}

/// The state of a run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum State {
    /// Still running, or ended without an entry (killed, power lost).
    Running,
    Complete,
    /// Stopped by its user; what was measured until then is whole.
    Interrupted,
    Failed,
}

/// One entry of the order: all parts of one workload's trial run together.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Step {
    /// The series that the trial filled, as indices.
    pub series: Vec<usize>,
    pub trial: usize,
}

/// The samples of one workload in one environment under one setting.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Series {
    /// Unique in the recording, and the stem of its samples file.
    pub name: String,
    pub workload: String,
    pub environment: String,
    /// The workload's parameters, every one of them, in their written form.
    pub params: BTreeMap<String, String>,
    /// The settings that were asked for, in their written form. One that is missing was left as it was.
    pub requested: BTreeMap<String, String>,
    /// Which part of a workload with several series, such as `cpu0`. Empty for the only one.
    #[serde(default)]
    pub part: String,
    /// The first column is the sample.
    pub columns: Vec<Column>,
    /// How many operations one sample timed.
    pub operations: u64,
    /// An emulated environment's times are never ranked against native ones.
    #[serde(default)]
    pub emulated: bool,
    /// Which group of which study asked for it, as `study/group`.
    #[serde(default)]
    pub asked_by: Vec<String>,
    /// Whether it is kept as counts, as a histogram is: each row then has one value, and how often it was measured. The order
    /// of the samples is not known.
    #[serde(default, skip_serializing_if = "is_false")]
    pub counted: bool,
    pub trials: Vec<Trial>,
}

#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Column {
    pub name: String,
    pub unit: Unit,
}

impl Column {
    pub fn new(name: impl Into<String>, unit: Unit) -> Self {
        Self { name: name.into(), unit }
    }
}

/// The unit of a column's cells.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "kebab-case")]
pub enum Unit {
    Nanoseconds,
    Instructions,
    /// Of a processor.
    Cycles,
    Bytes,
    Words,
    BitsPerSecond,
    Count,
}

/// One start of a fresh probe.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Trial {
    /// Start, RFC 3339, UTC.
    pub started: String,
    /// Its rows in the samples file.
    pub first_row: u64,
    pub rows: u64,
    /// How many of its first rows were taken cold: kept, marked, and not part of summaries.
    pub cold_rows: u64,
    /// Rows that found the buffer full.
    #[serde(default)]
    pub dropped: u64,
    /// Samples that are only known to be greater than a limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub beyond: Option<Beyond>,
    /// CRC-32 of its rows as they lie in the file.
    pub crc32: u32,
    pub outcome: Outcome,
    /// What was in force, by setting.
    pub effective: BTreeMap<String, Effective>,
    /// What was counted beside the samples: clock pair, allocations, page faults, …. JSON has no way to write what is
    /// not finite, so that is left out of the file.
    #[serde(serialize_with = "finite")]
    pub facts: BTreeMap<String, f64>,
}

/// The fact that a profile lies beside the samples of a trial: its checksum.
pub const PROFILE_CRC: &str = "profile_crc32";

/// The fact that says how often the disk of the host was told to write out its cache in a trial, each of whose samples ended with a sync.
pub const HOST_FLUSHES: &str = "host_flushes";

/// One setting as it was read back.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Effective {
    pub value: String,
    /// Whether the value is the requested one. True where no value was requested.
    pub as_requested: bool,
    /// Why not, or how it was read.
    #[serde(default)]
    pub why: String,
}

/// How a trial ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Outcome {
    /// Not ended yet, or the program that wrote the recording was killed.
    Running,
    Complete,
    Interrupted,
    Failed(String),
}

fn is_false(value: &bool) -> bool {
    !value
}

fn finite<S: Serializer>(facts: &BTreeMap<String, f64>, to: S) -> Result<S::Ok, S::Error> {
    to.collect_map(facts.iter().filter(|(_, value)| value.is_finite()))
}

impl Series {
    /// Whether it can be kept: its name must be a plain file name, it must have columns and rows that follow one another.
    ///
    /// # Errors
    /// A sentence that says what is wrong.
    pub(super) fn check(&self) -> Result<(), String> {
        let name = &self.name;
        let plain = |c: char| c.is_ascii_alphanumeric() || "-_.+=,%".contains(c);
        if name.is_empty() || name.starts_with('.') || !name.chars().all(plain) {
            return Err(format!("series name {name:?} is not a plain file name"));
        }
        if self.columns.is_empty() || self.columns.len() > MOST_COLUMNS {
            return Err(format!("series {name} has {} columns: 1 to {MOST_COLUMNS} are possible", self.columns.len()));
        }
        if self.counted && self.columns.len() != 2 {
            return Err(format!("series {name} is kept as counts, and has {} columns and not 2", self.columns.len()));
        }
        if self.operations == 0 {
            return Err(format!("series {name} has samples of no operation: at least one is possible"));
        }
        let (mut next, mut unrecorded) = (0, 0u64);
        for (index, trial) in self.trials.iter().enumerate() {
            if trial.first_row != next {
                let first = trial.first_row;
                return Err(format!("trial {} of series {name} begins at row {first} and not at {next}", index + 1));
            }
            next = trial.first_row.saturating_add(trial.rows);
            if next > MOST_ROWS || trial.cold_rows > trial.rows {
                let (rows, cold) = (trial.rows, trial.cold_rows);
                return Err(format!(
                    "trial {} of series {name} cannot have {rows} rows, {cold} of them cold",
                    index + 1
                ));
            }
            let beyond = trial.beyond.map_or(0, |beyond| beyond.count);
            unrecorded = unrecorded.saturating_add(trial.dropped).saturating_add(beyond);
            if unrecorded > MOST_SAMPLES {
                return Err(format!(
                    "trial {} of series {name} cannot have {} samples that were lost and {beyond} beyond a limit",
                    index + 1,
                    trial.dropped
                ));
            }
        }
        Ok(())
    }

    /// The file that holds its samples.
    pub fn file(&self) -> String {
        format!("{}.samples", self.name)
    }

    /// The file that holds which functions took the instructions of a trial.
    pub fn profile_file(&self, trial: usize) -> String {
        format!("{}.{}.folded", self.name, trial + 1)
    }

    /// The index of the column `name`.
    pub fn column(&self, name: &str) -> Option<usize> {
        self.columns.iter().position(|c| c.name == name)
    }

    /// What is known of its samples that are not among the rows.
    pub fn unrecorded(&self) -> Unrecorded {
        let of_trial = |trial: &Trial| self.unrecorded_of(trial);
        self.trials.iter().map(of_trial).fold(Unrecorded::default(), Unrecorded::and)
    }

    pub(super) fn unrecorded_of(&self, trial: &Trial) -> Unrecorded {
        Unrecorded { lost: trial.dropped, beyond: trial.beyond, unordered: self.counted }
    }

    /// Rows in all trials, cold ones too.
    pub fn rows(&self) -> u64 {
        self.trials.iter().map(|t| t.rows).sum()
    }

    /// Settings that were asked for and did not take effect in some trial: name, asked, in force, why.
    pub fn refused(&self) -> Vec<(&str, &str, &Effective)> {
        self.requested
            .iter()
            .filter_map(|(name, asked)| {
                let refused = self
                    .trials
                    .iter()
                    .filter_map(|t| t.effective.get(name))
                    .find(|effective| !effective.as_requested)?;
                Some((name.as_str(), asked.as_str(), refused))
            })
            .collect()
    }

    /// A fact of all trials that have it: the median of them.
    pub fn fact(&self, name: &str) -> Option<f64> {
        let mut values: Vec<f64> = self.trials.iter().filter_map(|t| t.facts.get(name).copied()).collect();
        values.sort_by(f64::total_cmp);
        values.get(values.len() / 2).copied()
    }
}
