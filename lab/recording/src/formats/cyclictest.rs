//! The JSON of cyclictest (rt-tests), written with `--json=FILE` and, for samples, `-h MICROSECONDS`.
//!
//! Each thread has a histogram: how often each latency was measured, in whole microseconds (rounded down), or in
//! nanoseconds when `resolution_in_ns` is 1 (`-N`). Latencies beyond the histogram are in `cycles`, `max` and `avg` only.
//! Two keys really end in a colon. Source: rt-tests, `src/cyclictest/cyclictest.c` and `src/lib/rt-utils.c`; files of
//! version 2.4.
//!
//! An imported series is therefore kept as counts, without an order, and latencies beyond the histogram are samples that are
//! only known to be greater than its end. An exported series loses its order and everything below a microsecond; no latency
//! that was recorded lies beyond its histogram.

use std::collections::BTreeMap;
use std::fmt;
use std::io::Write;
use std::marker::PhantomData;
use std::time::Duration;

use serde::de::{self, Deserializer, MapAccess, Visitor};
use serde::{Deserialize, Serialize, Serializer};
use serde_json::Number;

use super::error::{Error, NotExported};
use super::imported::{FILE, Imported, ImportedSeries, Rows, json, reported};
use crate::folder::{Column, IMPORTED, Loaded, Measured, Recording, Unit};
use crate::stats::{Beyond, Samples};

/// The version of the files that are read and written.
const FILE_VERSION: u64 = 1;

/// The year 10000, in seconds since 1970.
pub(super) const END_OF_9999: u64 = 253_402_300_800;

/// The file. What an importer does not need may be missing; what it does not know may be there.
#[derive(Debug, Serialize, Deserialize)]
struct Json {
    file_version: u64,
    #[serde(rename = "cmdline:", default)]
    cmdline: String,
    #[serde(rename = "rt_test_version:", default)]
    version: String,
    #[serde(default)]
    start_time: String,
    #[serde(default)]
    end_time: String,
    #[serde(default)]
    return_code: i64,
    #[serde(default)]
    sysinfo: BTreeMap<String, serde_json::Value>,
    num_threads: u64,
    resolution_in_ns: u64,
    thread: Pairs<Thread>,
}

#[derive(Debug, Serialize, Deserialize)]
struct Thread {
    histogram: Pairs<u64>,
    cycles: u64,
    min: Number,
    max: Number,
    avg: Number,
    #[serde(default)]
    cpu: i64,
    #[serde(default)]
    node: i64,
}

/// An object whose keys are ascending numbers, as written. A key that comes twice would hide samples.
#[derive(Debug)]
pub(super) struct Pairs<T>(pub(super) Vec<(u64, T)>);

impl<T: Serialize> Serialize for Pairs<T> {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        to.collect_map(self.0.iter().map(|(key, value)| (key, value)))
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Pairs<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Self, D::Error> {
        struct Ascending<T>(PhantomData<T>);
        impl<'de, T: Deserialize<'de>> Visitor<'de> for Ascending<T> {
            type Value = Pairs<T>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object whose keys are ascending whole numbers")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Pairs<T>, A::Error> {
                let mut pairs: Vec<(u64, T)> = Vec::new();
                while let Some(key) = map.next_key::<u64>()? {
                    if let Some((last, _)) = pairs.last().filter(|(last, _)| *last >= key) {
                        let why = format!("key {key} after {last}: keys were expected to ascend");
                        return Err(de::Error::custom(why));
                    }
                    pairs.push((key, map.next_value()?));
                }
                Ok(Pairs(pairs))
            }
        }
        from.deserialize_map(Ascending(PhantomData))
    }
}

/// Writes the series in `threads`, each as one thread, all trials together. `recording` is theirs.
///
/// # Errors
/// When one of them does not measure times, or `out` refuses.
pub fn export(recording: &Recording, threads: &[Loaded<'_>], out: &mut dyn Write) -> Result<(), NotExported> {
    let mut thread = Vec::with_capacity(threads.len());
    for (index, series) in threads.iter().enumerate() {
        let times = series.series.columns.first().is_some_and(|c| c.unit == Unit::Nanoseconds);
        if !times || !matches!(series.series.measured(), Measured::Time { .. }) {
            let name = &series.series.name;
            return Err(NotExported::Impossible(format!(
                "series {name} measures no times: cyclictest has nothing else"
            )));
        }
        thread.push((index as u64, Thread::of(index, series)));
    }
    let trials = || threads.iter().flat_map(|series| &series.series.trials);
    let host = |name: &str| recording.host.get(name).cloned().unwrap_or_default();
    let sysinfo = [
        ("sysname", "Linux".into()),
        ("release", host("kernel").into()),
        ("version", host("kernel_version").into()),
        ("machine", host("architecture").into()),
        ("realtime", u64::from(host("realtime_kernel") == "true").into()),
    ];
    let json = Json {
        file_version: FILE_VERSION,
        cmdline: recording.command.join(" "),
        version: format!("kizami {}", recording.kizami_version),
        start_time: trials().map(|t| t.started.clone()).min().unwrap_or_default(),
        end_time: recording.ended.clone().unwrap_or_default(),
        return_code: 0,
        sysinfo: sysinfo.into_iter().map(|(name, value)| (name.to_owned(), value)).collect(),
        num_threads: threads.len() as u64,
        resolution_in_ns: 0,
        thread: Pairs(thread),
    };
    serde_json::to_writer_pretty(&mut *out, &json).map_err(std::io::Error::from)?;
    out.write_all(b"\n")?;
    Ok(out.flush()?)
}

impl Thread {
    fn of(index: usize, series: &Loaded<'_>) -> Self {
        let samples = series.samples();
        let missing = samples.unrecorded();
        let mut histogram = BTreeMap::<u64, u64>::new();
        let (mut sum, mut count) = (0u128, 0u64);
        samples.visit_counted(&mut |piece, times| {
            for sample in piece.iter().map(|sample| sample / 1000) {
                *histogram.entry(sample).or_default() += times;
                sum += u128::from(sample) * u128::from(times);
            }
            count = count.saturating_add(times.saturating_mul(piece.len() as u64));
        });
        let mean = if count == 0 { 0.0 } else { (sum as f64 / count as f64 * 100.0).round() / 100.0 };
        let min = histogram.first_key_value().map_or(0, |(us, _)| *us);
        let max = histogram.last_key_value().map_or(0, |(us, _)| *us);
        let beyond = missing.beyond.and_then(|beyond| beyond.max).map_or(0, |max| max / 1000);
        Self {
            cycles: count.saturating_add(missing.lost).saturating_add(missing.beyond()),
            min: min.into(),
            max: max.max(beyond).into(),
            avg: Number::from_f64(mean).unwrap_or_else(|| 0.into()),
            cpu: series.series.part.strip_prefix("cpu").and_then(|cpu| cpu.parse().ok()).unwrap_or(index as i64),
            node: 0,
            histogram: Pairs(histogram.into_iter().collect()),
        }
    }
}

/// Reads a file that is called `name`.
///
/// # Errors
/// The line that is not as cyclictest writes it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let json: Json = json(bytes, name, "what cyclictest writes with --json")?;
    let error = |why: String| Error::new(name, None, why);
    let wrong = |why: String| Err(error(why));
    if json.file_version != FILE_VERSION {
        return wrong(format!("it has file_version {}, and {FILE_VERSION} is understood", json.file_version));
    }
    if json.num_threads != json.thread.0.len() as u64 {
        return wrong(format!("num_threads is {}, and it has {} threads", json.num_threads, json.thread.0.len()));
    }
    let (unit, unit_name) = match json.resolution_in_ns {
        0 => (1000, "microseconds"),
        1 => (1, "nanoseconds"),
        other => return wrong(format!("resolution_in_ns is {other}: 0 (microseconds) or 1 was expected")),
    };
    if json.thread.0.iter().all(|(_, thread)| thread.histogram.0.is_empty()) {
        return wrong(
            "it has no samples: let cyclictest keep a histogram, with -h and a latency that it will not exceed".into(),
        );
    }
    let mut notes = vec![format!(
        "{name}: a histogram has no order, so trends and intervals cannot be had of it; values were rounded down to whole \
         {unit_name}"
    )];
    let started = rfc3339(&json.start_time).unwrap_or_default();
    let stem = name.strip_suffix(".json").unwrap_or(name);
    let bins = bins(&json.cmdline);
    let mut params = BTreeMap::from([("mode".to_owned(), "skip".to_owned()), (FILE.to_owned(), stem.to_owned())]);
    if !json.cmdline.is_empty() {
        params.insert("cmdline".to_owned(), json.cmdline);
    }
    if json.return_code != 0 {
        notes.push(format!("{name}: cyclictest ended with status {}", json.return_code));
    }
    let mut series = Vec::with_capacity(json.thread.0.len());
    for (number, thread) in json.thread.0 {
        let (rows, beyond) = counted(&thread.histogram, thread.cycles, &thread.max, unit, bins)
            .map_err(|why| error(format!("thread {number}: {why}")))?;
        if let Some(beyond) = beyond {
            let (max, cycles, count) = (&thread.max, thread.cycles, beyond.count);
            notes.push(format!(
                "{name}: {count} of {cycles} latencies of thread {number} lay beyond the end of the histogram, and no more is \
                 known of them than that; the highest was {max} {unit_name}"
            ));
        }
        let part = if json.num_threads == 1 { String::new() } else { format!("thread{number}") };
        series.push(ImportedSeries {
            name: format!("wakeup-{IMPORTED}-{stem}{}{part}", if part.is_empty() { "" } else { "-" }),
            workload: "wakeup".to_owned(),
            params: params.clone(),
            requested: BTreeMap::new(),
            part,
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            started: started.clone(),
            cold_rows: 0,
            beyond,
            facts: reported(&thread.min, &thread.max, &thread.avg, unit),
            rows,
        });
    }
    let tool = ("cyclictest".to_owned(), json.version);
    Ok(Imported { tool: Some(tool), host: host(&json.sysinfo), notes, series })
}

/// Values in nanoseconds with their counts, and the `cycles` that are not among them. A histogram of `bins` ends there; where that is
/// not known, it ends after its last latency.
pub(super) fn counted(
    histogram: &Pairs<u64>,
    cycles: u64,
    max: &Number,
    unit: u64,
    bins: Option<u64>,
) -> Result<(Rows, Option<Beyond>), String> {
    let total = histogram.0.iter().fold(0u64, |total, (_, count)| total.saturating_add(*count));
    let Some(count) = cycles.checked_sub(total) else {
        return Err(format!("its histogram has {total} samples, more than its {cycles} cycles"));
    };
    let too_large = |value: u64| format!("{value} us is too large a time");
    let value = |&(bucket, count): &(u64, u64)| Ok((bucket.checked_mul(unit).ok_or_else(|| too_large(bucket))?, count));
    let rows = Rows::Counted(histogram.0.iter().map(value).collect::<Result<_, String>>()?);
    if count == 0 {
        return Ok((rows, None));
    }
    let after_last = histogram.0.last().map_or(0, |(bucket, _)| bucket.saturating_add(1));
    let end = bins.filter(|bins| *bins >= after_last).unwrap_or(after_last);
    let limit = end.checked_mul(unit).ok_or_else(|| too_large(end))?.saturating_sub(1);
    // A maximum that is not beyond the end is not theirs.
    let max = max.as_u64().and_then(|max| max.checked_mul(unit)).filter(|max| *max > limit);
    Ok((rows, Some(Beyond { limit, count, max })))
}

/// The number of bins that a command line of cyclictest asked for.
fn bins(cmdline: &str) -> Option<u64> {
    let mut words = cmdline.split_whitespace();
    while let Some(word) = words.next() {
        let value = if let Some(value) = word.strip_prefix("--histogram=").or_else(|| word.strip_prefix("--histofall="))
        {
            Some(value)
        } else if matches!(word, "-h" | "-H" | "--histogram" | "--histofall") {
            words.next()
        } else {
            word.strip_prefix("-h").or_else(|| word.strip_prefix("-H"))
        };
        if let Some(bins) = value.and_then(|value| value.parse().ok()) {
            return Some(bins);
        }
    }
    None
}

/// What the file says of the machine, under the names of a recording.
pub(super) fn host(sysinfo: &BTreeMap<String, serde_json::Value>) -> BTreeMap<String, String> {
    let names = [("release", "kernel"), ("version", "kernel_version"), ("machine", "architecture")];
    let text = |(theirs, ours): (&str, &str)| {
        let value = sysinfo.get(theirs)?.as_str()?;
        Some((ours.to_owned(), value.to_owned()))
    };
    let realtime = sysinfo.get("realtime").and_then(serde_json::Value::as_u64);
    let realtime = realtime.map(|yes| ("realtime_kernel".to_owned(), (yes == 1).to_string()));
    names.into_iter().filter_map(text).chain(realtime).collect()
}

/// `Sat, 21 Nov 2026 22:24:05 +0000`, which is how `date -R` writes a time, as RFC 3339 in UTC. One that is RFC 3339
/// already stays.
pub(super) fn rfc3339(text: &str) -> Option<String> {
    if humantime::parse_rfc3339(text).is_ok() {
        return Some(text.to_owned());
    }
    let words: Vec<&str> = text.split_whitespace().collect();
    let [_, day, month, year, time, offset] = words[..] else { return None };
    const MONTHS: [&str; 12] = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"];
    let month = MONTHS.iter().position(|name| *name == month)? + 1;
    let local = humantime::parse_rfc3339(&format!("{year}-{month:02}-{day:0>2}T{time}Z")).ok()?;
    let (sign, digits) = offset.split_at_checked(1)?;
    let (hours, minutes) = digits.split_at_checked(2)?;
    let (hours, minutes): (u64, u64) = (hours.parse().ok()?, minutes.parse().ok()?);
    let offset = Duration::from_secs(hours.min(24) * 3600 + minutes.min(59) * 60);
    let utc = match sign {
        "+" => local.checked_sub(offset)?,
        "-" => local.checked_add(offset)?,
        _ => return None,
    };
    // RFC 3339 has no way to write a year after 9999.
    let seconds = utc.duration_since(std::time::UNIX_EPOCH).ok()?.as_secs();
    (seconds < END_OF_9999).then(|| humantime::format_rfc3339_seconds(utc).to_string())
}
