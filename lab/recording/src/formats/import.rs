//! The formats that can be imported, and those that are told apart from them.

use serde_json::Value;

use super::error::Error;
use super::imported::Imported;
use super::{cyclictest, fio, histogram, hyperfine, jitterdebugger, nerves, oslat};
use crate::folder::MOST_SAMPLES;

/// A format of another tool.
#[derive(Debug)]
pub struct Format {
    /// Its name, as users write it.
    pub name: &'static str,
    /// Whether the name of a file says what was measured, so that files of one name are trials of one series.
    pub by_name: bool,
    read: fn(&[u8], &str) -> Result<Imported, Error>,
}

pub static NERVES: Format = Format { name: "nerves", by_name: true, read: nerves::import };
pub static CYCLICTEST: Format = Format { name: "cyclictest", by_name: false, read: cyclictest::import };
pub static OSLAT: Format = Format { name: "oslat", by_name: false, read: oslat::import };
pub static JITTERDEBUGGER: Format = Format { name: "jitterdebugger", by_name: false, read: jitterdebugger::import };
pub static HISTOGRAM: Format = Format { name: "histogram", by_name: false, read: histogram::import };
pub static HYPERFINE: Format = Format { name: "hyperfine", by_name: false, read: hyperfine::import };
pub static FIO: Format = Format { name: "fio", by_name: false, read: fio::import };

impl Format {
    /// Reads a file that is called `name`.
    ///
    /// # Errors
    /// The line that is not as the tool writes it, and what was expected; of a file of another tool, which one that is and
    /// what to do with it.
    pub fn import(&self, bytes: &[u8], name: &str) -> Result<Imported, Error> {
        let imported = (self.read)(bytes, name).map_err(|error| match recognise(bytes) {
            Some((what, Next::Import(format))) if format.name != self.name => {
                Error::new(name, None, format!("it is {what}: import it with kizami import {}", format.name))
            }
            Some((what, Next::Otherwise(advice))) => Error::new(name, None, format!("it is {what}: {advice}")),
            _ => error,
        })?;
        match imported.series.iter().find(|series| series.samples() > MOST_SAMPLES) {
            None => Ok(imported),
            Some(series) => {
                let (which, samples) = (&series.name, series.samples());
                Err(Error::new(name, None, format!("{which} has {samples} samples: up to {MOST_SAMPLES} are taken")))
            }
        }
    }
}

/// What can be done with a file of a known tool.
enum Next {
    Import(&'static Format),
    /// It holds no samples; a sentence that says how to get some.
    Otherwise(&'static str),
}

/// What a file is, as far as its form tells, in words that follow "it is".
fn recognise(bytes: &[u8]) -> Option<(&'static str, Next)> {
    use Next::{Import, Otherwise};
    if bytes.trim_ascii_start().starts_with(b"{") {
        let json: Value = serde_json::from_slice(bytes).ok()?;
        let has = |key: &str| json.get(key).is_some();
        let threads = json.get("thread").and_then(Value::as_object);
        let of_oslat = threads.is_some_and(|all| all.values().any(|thread| thread.get("freq").is_some()));
        return match () {
            () if has("fio version") => Some(("the JSON of fio", Import(&FIO))),
            () if has("results") => Some(("the JSON of hyperfine", Import(&HYPERFINE))),
            () if has("cpu") && has("version") => Some(("the JSON of jitterdebugger", Import(&JITTERDEBUGGER))),
            () if has("file_version") && of_oslat => Some(("the JSON of oslat", Import(&OSLAT))),
            () if has("file_version") && has("resolution_in_ns") => {
                Some(("the JSON of cyclictest", Import(&CYCLICTEST)))
            }
            () if has("file_version") && has("rt_test_version:") => Some((
                "the JSON of another program of rt-tests",
                Otherwise("of those, cyclictest and oslat are imported"),
            )),
            () => None,
        };
    }
    // What tells a text stands in its first lines; a histogram may be long.
    let head = String::from_utf8_lossy(&bytes[..bytes.len().min(1 << 16)]).into_owned();
    let first = head.lines().map(str::trim).find(|line| !line.is_empty()).unwrap_or_default();
    let begins = |with: &str| head.lines().any(|line| line.trim_start().starts_with(with));
    const SUMMARY: &str = "it has figures and no samples; let hyperfine write them with --export-json FILE";
    match () {
        () if first.starts_with("count,time") => Some(("a file of nerves_rt_perf", Import(&NERVES))),
        () if first.starts_with("command,mean,stddev") => Some(("the CSV of hyperfine", Otherwise(SUMMARY))),
        () if first.starts_with("| Command | Mean") => Some(("a table of hyperfine", Otherwise(SUMMARY))),
        () if first.starts_with("Benchmark 1") => Some(("what hyperfine prints", Otherwise(SUMMARY))),
        () if begins("# RTLA") => Some(("a histogram of rtla", Import(&HISTOGRAM))),
        () if begins("# Histogram") => Some(("a histogram of cyclictest", Import(&HISTOGRAM))),
        () if begins("oslat V") => Some((
            "what oslat prints",
            Otherwise("let oslat write its histogram with --json=FILE, and import that with kizami import oslat"),
        )),
        () if begins("T: 0 (") => Some((
            "what cyclictest prints",
            Otherwise(
                "it has figures and no samples; let cyclictest write a histogram with --json=FILE -h MICROSECONDS",
            ),
        )),
        () if begins("fio-") => Some((
            "what fio prints",
            Otherwise(
                "it has figures and no samples; let fio write a histogram with --output-format=json+ --output=FILE",
            ),
        )),
        () => None,
    }
}
