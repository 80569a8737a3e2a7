//! The product's own way in and out: series are written as a run writes them, or imported from a file, and what the command says of
//! them is read.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::process::Command;

use kizami_recording::folder::{Column, Outcome, Recording, Series, State, Unit, Writer};
use serde_json::Value;

pub struct Product {
    pub kizami: PathBuf,
}

/// From one wake-up to the next, of those that are simulated.
const PERIOD: &str = "1ms";

/// The samples of the trials of one series.
pub type Trials = Vec<Vec<u64>>;

impl Product {
    /// What `kizami show` says of each series of a recording, with a deadline.
    pub fn show(&self, recording: &Path, deadline: u64) -> Result<Vec<Value>, String> {
        let folder = recording.display().to_string();
        let said = self.said(&["show", &folder, "--json", "--deadline", &format!("{deadline}ns")], recording)?;
        Ok(said["series"].as_array().cloned().unwrap_or_default())
    }

    /// What `kizami decide` says of each series of a recording.
    pub fn decide(&self, recording: &Path, deadline: u64, allowed: f64) -> Result<Vec<Value>, String> {
        let (path, deadline, allowed) = (recording.display().to_string(), format!("{deadline}ns"), allowed.to_string());
        let args = ["decide", &path, "--json", "--period", PERIOD, "--deadline", &deadline, "--miss", &allowed];
        let said = self.said(&args, recording)?;
        Ok(said["decisions"].as_array().cloned().unwrap_or_default())
    }

    /// What `kizami compare` says of two recordings, or of two series of one.
    pub fn compare(&self, a: &str, b: &str, folder: &Path) -> Result<Vec<Value>, String> {
        let said = self.said(&["compare", a, b, "--json"], folder)?;
        Ok(said.as_array().cloned().unwrap_or_default())
    }

    /// Imports a file of cyclictest into the folder `recordings` of `folder`.
    pub fn import(&self, files: &[PathBuf], folder: &Path) -> Result<PathBuf, String> {
        let files = files.iter().map(|file| file.display().to_string());
        let args: Vec<String> =
            ["import", "cyclictest"].map(str::to_owned).into_iter().chain(files).chain(["--json".to_owned()]).collect();
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        let said = self.said(&args, folder)?;
        said["recording"].as_str().map(|path| folder.join(path)).ok_or_else(|| format!("no recording in {said}"))
    }

    fn said(&self, args: &[&str], folder: &Path) -> Result<Value, String> {
        let ran = Command::new(&self.kizami).args(args).current_dir(folder).output();
        let ran = ran.map_err(|e| format!("{} did not start: {e}", self.kizami.display()))?;
        let error = || String::from_utf8_lossy(&ran.stderr).into_owned();
        if !ran.status.success() {
            return Err(format!("kizami {}: {}\n{}", args.join(" "), ran.status, error()));
        }
        serde_json::from_slice(&ran.stdout).map_err(|e| format!("kizami {}: {e}\n{}", args.join(" "), error()))
    }
}

/// Writes a recording of these series, each `s` with its number, as a run of them would be written: trials in turn.
pub fn record(folder: &Path, all: &[Trials]) -> Result<(), String> {
    record_with(folder, all, &|_, _| ())
}

/// The same, with what `change` makes of the series of each number.
pub fn record_with(folder: &Path, all: &[Trials], change: &dyn Fn(usize, &mut Series)) -> Result<(), String> {
    let recording =
        Recording { kizami_version: "simulated".into(), started: "2026-01-01T00:00:00Z".into(), ..Recording::begun() };
    let write = || {
        let mut writer = Writer::create(folder, recording)?;
        for number in 0..all.len() {
            let mut series = Series {
                name: format!("s{number}"),
                workload: "wakeup".into(),
                environment: "host".into(),
                params: BTreeMap::from([("interval".to_owned(), PERIOD.to_owned())]),
                requested: BTreeMap::new(),
                part: String::new(),
                columns: vec![Column::new("time", Unit::Nanoseconds)],
                operations: 1,
                emulated: false,
                asked_by: Vec::new(),
                counted: false,
                trials: Vec::new(),
            };
            change(number, &mut series);
            writer.add_series(series);
        }
        let most = all.iter().map(Vec::len).max().unwrap_or(0);
        for trial in 0..most {
            for (series, trials) in all.iter().enumerate() {
                let Some(samples) = trials.get(trial) else { continue };
                writer.begin_trial(&[series], &[samples.len() as u64], "2026-01-01T00:00:00Z")?;
                writer.append(series, samples)?;
                writer.end_trial(&[series], &Outcome::Complete)?;
            }
        }
        writer.finish(State::Complete)
    };
    write().map_err(|e: kizami_recording::folder::Error| e.to_string())
}
