//! Histograms as text: what cyclictest prints with `-h` and writes with `--histfile`, and what `rtla timerlat hist` and `rtla
//! osnoise hist` print.
//!
//! A line is a value and, for each column, how often it occurred. The columns of cyclictest are its threads, and with `-H`
//! one more for all of them, which is left out; their sums and extremes stand below, in lines that begin with `#`. The
//! columns of rtla are named: `IRQ-000` is the time from a timer's end to its interrupt on processor 0, `Thr-000` to the
//! thread, `Usr-000` to user space, `CPU-000` a noise; `over:` are those beyond the last value. Values are in microseconds,
//! rounded down, in steps of the histogram. Sources: rt-tests, `src/cyclictest/cyclictest.c`, and rtla, `timerlat_hist.c` and
//! `osnoise_hist.c`; texts of rt-tests 2.4 and of rtla's manual.
//!
//! An imported series is kept as counts, without an order; what lies beyond the last value is only known to be greater.

use std::collections::BTreeMap;

use super::error::Error;
use super::imported::{FILE, Imported, ImportedSeries, Rows};
use crate::folder::{Column, IMPORTED, Unit};
use crate::stats::Beyond;

/// Nanoseconds in the unit of the texts.
const MICROSECOND: u64 = 1000;

/// More columns than any machine has processors, each with three.
const MOST_COLUMNS: usize = 16_384;

/// A histogram as it stands in the text.
struct Found {
    tool: &'static str,
    workload: &'static str,
    /// The parts, by column; those that are left out have none.
    parts: Vec<Option<String>>,
    /// The values with their line and the counts of each column.
    rows: Vec<(u64, u64, Vec<u64>)>,
    /// How many lay beyond the last value, by column; and what the text says of the whole: its count, and the greatest.
    over: Vec<u64>,
    count: Vec<u64>,
    greatest: Vec<u64>,
}

/// Reads a text that is called `name`.
///
/// # Errors
/// The line that is not as the programs write it, or what does not fit together.
pub(super) fn import(bytes: &[u8], name: &str) -> Result<Imported, Error> {
    let text = std::str::from_utf8(bytes).map_err(|_| Error::new(name, None, "it is not text"))?;
    let found = if text.lines().any(|line| line.starts_with("# RTLA")) { rtla(text) } else { cyclictest(text) };
    let found = found.map_err(|(line, why)| Error::new(name, line, why))?;
    let error = |why: String| Error::new(name, None, why);
    if let Some(pair) = found.rows.windows(2).find(|pair| pair[0].0 >= pair[1].0) {
        let why = format!("{} after {}: values were expected to ascend", pair[1].0, pair[0].0);
        return Err(Error::new(name, pair[1].1, why));
    }
    // Lines without a count may be left out, so the smallest step is the histogram's.
    let step = found.rows.windows(2).map(|pair| pair[1].0 - pair[0].0).min().unwrap_or(1);
    let mut notes = vec![format!(
        "{name}: a histogram has no order, so trends and intervals cannot be had of it; values were rounded \
         down to {step} us"
    )];
    let stem = [".txt", ".hist", ".log"].iter().find_map(|end| name.strip_suffix(end)).unwrap_or(name);
    let mut series = Vec::new();
    for (column, part) in found.parts.iter().enumerate() {
        let Some(part) = part else { continue };
        let mut rows = Vec::new();
        let mut total = 0u64;
        for (value, line, counts) in found.rows.iter().filter(|(_, _, counts)| counts[column] > 0) {
            let time = value.checked_mul(MICROSECOND);
            rows.push((time.ok_or_else(|| Error::new(name, *line, "it is too large a time"))?, counts[column]));
            total = total.saturating_add(counts[column]);
        }
        let of = |figures: &Vec<u64>| figures.get(column).copied();
        let over = of(&found.over).unwrap_or(0);
        if let Some(count) = of(&found.count).filter(|count| *count != total.saturating_add(over)) {
            return Err(error(format!(
                "column {}: it has {total} samples and {over} beyond the histogram, and says {count}",
                column + 1
            )));
        }
        if total == 0 && over == 0 {
            continue;
        }
        let greatest = of(&found.greatest);
        let end = found.rows.last().map_or(0, |(last, ..)| last.saturating_add(step));
        let limit = end.saturating_mul(MICROSECOND).saturating_sub(1);
        let max = greatest.and_then(|us| us.checked_mul(MICROSECOND)).filter(|max| *max > limit);
        let beyond = (over > 0).then_some(Beyond { limit, count: over, max });
        if over > 0 {
            let greatest = greatest.map_or_else(String::new, |us| format!("; the highest was {us} us"));
            let which = if part.is_empty() { String::new() } else { format!(" of {part}") };
            notes.push(format!(
                "{name}: {over} of {} values{which} lay beyond the end of the histogram, and no more is known of them than \
                 that{greatest}",
                total.saturating_add(over)
            ));
        }
        let mut facts = BTreeMap::from([("resolution_ns".to_owned(), (step as f64) * MICROSECOND as f64)]);
        facts.extend(greatest.map(|us| ("reported_max_ns".to_owned(), us as f64 * MICROSECOND as f64)));
        series.push(ImportedSeries {
            name: format!("{}-{IMPORTED}-{stem}{}{part}", found.workload, if part.is_empty() { "" } else { "-" }),
            workload: found.workload.to_owned(),
            params: BTreeMap::from([(FILE.to_owned(), stem.to_owned())]),
            requested: BTreeMap::new(),
            part: part.clone(),
            columns: vec![Column::new("time", Unit::Nanoseconds)],
            started: String::new(),
            cold_rows: 0,
            beyond,
            facts,
            rows: Rows::Counted(rows),
        });
    }
    if series.is_empty() {
        return Err(error("its histogram has no sample".into()));
    }
    Ok(Imported { tool: Some((found.tool.to_owned(), String::new())), host: BTreeMap::new(), notes, series })
}

type Wrong = (Option<u64>, String);

fn cyclictest(text: &str) -> Result<Found, Wrong> {
    let figures = |head: &str| -> Vec<u64> {
        let line = text.lines().find_map(|line| line.strip_prefix(head));
        line.map_or_else(Vec::new, |line| line.split_whitespace().map_while(|word| word.parse().ok()).collect())
    };
    let (smallest, greatest) = (figures("# Min Latencies:"), figures("# Max Latencies:"));
    let (total, over) = (figures("# Total:"), figures("# Histogram Overflows:"));
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1u64..) {
        // Empty lines and what begins with # are not of the histogram, nor is a summary.
        if line.starts_with(|c: char| c.is_ascii_digit()) {
            rows.push(row(line, number)?);
        }
    }
    if rows.is_empty() || smallest.is_empty() {
        return Err((None, "it has no histogram as cyclictest prints it with -h, nor one of rtla's".into()));
    }
    let columns = width(&rows)?;
    // With -H there is one more, the sum of all.
    let threads = smallest.len();
    if columns != threads && columns != threads + 1 {
        return Err((None, format!("its histogram has {columns} columns, and {threads} threads have a minimum")));
    }
    let part = |thread: usize| if threads == 1 { String::new() } else { format!("thread{thread}") };
    let parts = (0..columns).map(|column| (column < threads).then(|| part(column))).collect();
    // The total is of what the histogram holds.
    let count = total.iter().zip(over.iter().chain(std::iter::repeat(&0)));
    let count = count.map(|(total, over)| total.saturating_add(*over)).collect();
    Ok(Found { tool: "cyclictest", workload: "wakeup", parts, rows, over, count, greatest })
}

fn rtla(text: &str) -> Result<Found, Wrong> {
    let (mut parts, mut workload) = (None, "timerlat");
    let mut found = BTreeMap::<&str, Vec<u64>>::new();
    let mut rows = Vec::new();
    for (line, number) in text.lines().zip(1u64..) {
        let mut words = line.split_whitespace();
        match words.next() {
            Some("Index") if parts.is_none() => {
                let named = words
                    .map(|word| part(word).ok_or_else(|| (Some(number), format!("{word:?} is no column of rtla's"))));
                let named: Vec<(String, bool)> = named.collect::<Result<_, _>>()?;
                if named.iter().any(|(_, noise)| *noise) {
                    workload = "noise";
                }
                parts = Some(named.into_iter().map(|(part, _)| Some(part)).collect::<Vec<_>>());
            }
            Some("over:" | "count:" | "max:") if parts.is_some() => {
                let head = line.split_whitespace().next().unwrap_or_default();
                // A column without a sample has no maximum.
                let figures = words.map(|word| word.parse().unwrap_or(0)).collect();
                // What follows for all processors together has the same heads.
                found.entry(head).or_insert(figures);
            }
            Some(first) if parts.is_some() && first.bytes().all(|c| c.is_ascii_digit()) => {
                rows.push(row(line, number)?)
            }
            _ => {}
        }
    }
    let Some(parts) = parts else { return Err((None, "it has no line that begins with Index".into())) };
    if rows.is_empty() {
        return Err((None, "its histogram has no line".into()));
    }
    let columns = width(&rows)?;
    if columns != parts.len() {
        return Err((Some(rows[0].1), format!("it has {columns} counts, and the head names {} columns", parts.len())));
    }
    let mut of = |head| found.remove(head).unwrap_or_default();
    let (over, count, greatest) = (of("over:"), of("count:"), of("max:"));
    Ok(Found { tool: "rtla", workload, parts, rows, over, count, greatest })
}

/// The part that a column of rtla's is, and whether it is a noise.
fn part(word: &str) -> Option<(String, bool)> {
    let (kind, cpu) = word.split_once('-')?;
    let cpu: u32 = cpu.parse().ok()?;
    match kind {
        "CPU" => Some((format!("cpu{cpu}"), true)),
        "IRQ" => Some((format!("irq-cpu{cpu}"), false)),
        "Thr" => Some((format!("thread-cpu{cpu}"), false)),
        "Usr" => Some((format!("user-cpu{cpu}"), false)),
        _ => None,
    }
}

/// A value, the line that it stands in, and its counts.
fn row(line: &str, number: u64) -> Result<(u64, u64, Vec<u64>), Wrong> {
    let wrong = |word: &str| (Some(number), format!("{word:?}: a whole number was expected"));
    let mut words = line.split_whitespace().map(|word| word.parse::<u64>().map_err(|_| wrong(word)));
    let value = words.next().unwrap_or_else(|| Err(wrong("")))?;
    let counts: Vec<u64> = words.collect::<Result<_, _>>()?;
    if counts.is_empty() || counts.len() > MOST_COLUMNS {
        return Err((Some(number), format!("it has {} counts: 1 to {MOST_COLUMNS} were expected", counts.len())));
    }
    Ok((value, number, counts))
}

/// How many counts every line has.
fn width(rows: &[(u64, u64, Vec<u64>)]) -> Result<usize, Wrong> {
    let width = rows.first().map_or(0, |(_, _, counts)| counts.len());
    match rows.iter().find(|(_, _, counts)| counts.len() != width) {
        Some((_, line, counts)) => {
            Err((Some(*line), format!("it has {} counts, and the first line has {width}", counts.len())))
        }
        None => Ok(width),
    }
}
