//! `kizami show`: a recording in the terminal.

use kizami_recording::folder::{Loaded, Measured};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::{Deadline, Extreme, Options, Summary};
use kizami_report::text::{self, Look};
use kizami_report::{RowKind, Table, unit_of};
use serde_json::{Value, json};

use super::{open, print_json, print_text, read_report, status_of};
use crate::cli;
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

pub fn show(args: &cli::Show, json: bool, style: &Style) -> Result<u8, Exit> {
    let folder = paths::recording(args.recording.as_deref())?;
    let deadline = match &args.deadline {
        Some(text) => Some(Quantity::Time.parse(text).map_err(|why| Exit::usage(format!("--deadline: {why}")))?),
        None => None,
    };
    let reader = open(&folder, style)?;
    let look = Look { colour: style.colour, width: style.width };
    let wanted = args.series.as_deref().unwrap_or_default();
    let chosen: Vec<Loaded<'_>> = reader.series().filter(|s| s.series.name.contains(wanted)).collect();
    if chosen.is_empty() {
        return Err(Exit::usage(format!("no series of {} has {wanted:?} in its name", folder.display())));
    }
    let options = Options { seed: reader.recording().seed, ..Options::default() };
    if json {
        let series: Vec<Value> = chosen.iter().map(|s| as_json(*s, deadline, &options)).collect();
        print_json(&json!({ "recording": folder, "host": reader.recording().host, "series": series }))?;
    } else if let Some(deadline) = deadline {
        print_text(&deadlines(&chosen, deadline, &options, look))?;
    } else if chosen.len() == 1 {
        print_text(&everything(chosen[0], &options, look, style))?;
    } else if args.series.is_some() {
        print_text(&text::write_table(&summaries(&chosen, &options), look))?;
    } else {
        let report = read_report(&reader, style);
        print_text(&format!("{}{}", text::write(&report, look), text::findings(&report, look)))?;
    }
    Ok(status_of(&reader))
}

fn summaries(chosen: &[Loaded<'_>], options: &Options) -> Table {
    let mut table = Table::new(&["series"], &["median", "mean", "p99", "max", "n"]);
    for series in chosen {
        let name = series.series.name.clone();
        match Summary::of(&*series.values(), options) {
            Some(s) if series.series.measured() != Measured::Watched => {
                let (unit, per) = (unit_of(series.series), series.series.operations_of_one());
                let write = |value: f64| unit.value(value / per);
                let p99 = s.p99.map_or(String::new(), |v| write(v as f64));
                let cells = [name, write(s.median), write(s.mean), p99, write(s.max as f64), s.count.to_string()];
                table.push(RowKind::Measured, cells);
            }
            Some(s) => table.push(RowKind::Missing, [name, format!("{} rows, watched over time", s.count)]),
            None => table.push(RowKind::Missing, [name, "no samples".to_owned()]),
        }
    }
    table
}

fn deadlines(chosen: &[Loaded<'_>], deadline: u64, options: &Options, look: Look) -> String {
    let mut table = Table::new(&["series", &format!("later than {}", Quantity::Time.write(deadline))], &[]);
    for series in chosen.iter().filter(|s| matches!(s.series.measured(), Measured::Time { .. })) {
        let per = series.series.operations_of_one();
        let answer = Deadline::of(&*series.values(), (deadline as f64 * per) as u64, options);
        let sentence = answer.map_or_else(|| "no samples".to_owned(), |d| d.sentence("ns"));
        table.push(RowKind::Measured, [series.series.name.clone(), sentence]);
    }
    text::write_table(&table, look)
}

/// One series: its summary, the likely maximum, what was in force, how each trial ended.
fn everything(series: Loaded<'_>, options: &Options, look: Look, style: &Style) -> String {
    let mut out = format!("{}\n", style.bold(&series.series.name));
    let mut table = Table::new(&["", ""], &[]);
    let mut row = |name: &str, value: String| table.push(RowKind::Measured, [name.to_owned(), value]);
    let (unit, per) = (unit_of(series.series), series.series.operations_of_one());
    let write = |value: f64| unit.value(value / per);
    let values = series.values();
    if let Some(s) = Summary::of(&*values, options).filter(|_| series.series.measured() != Measured::Watched) {
        let with = |value: f64, interval: Option<kizami_recording::stats::Interval>| match interval {
            Some(i) => format!("{}   95 %: {} to {}", write(value), write(i.low), write(i.high)),
            None => write(value),
        };
        row("samples", s.count.to_string());
        row("minimum", write(s.min as f64));
        row("quartiles", format!("{} · {} · {}", write(s.lower_quartile), write(s.median), write(s.upper_quartile)));
        row("median", with(s.median, s.median_interval));
        row("mean", with(s.mean, s.mean_interval));
        row("standard deviation", s.standard_deviation.map(write).unwrap_or_default());
        row("mode", format!("{} (bins of {})", write(s.mode.value as f64), write(s.mode.bin_width as f64)));
        let tails = [
            ("p90", s.p90),
            ("p95", s.p95),
            ("p99", s.p99),
            ("p99.9", s.p99_9),
            ("p99.99", s.p99_99),
            ("p99.999", s.p99_999),
        ];
        for (name, value) in tails {
            row(name, value.map_or_else(|| "too few samples".to_owned(), |v| write(v as f64)));
        }
        row("maximum", write(s.max as f64));
        row("likely maximum", likely_maximum(&*values, options, &write));
    } else {
        row("samples", "none".to_owned());
    }
    for trial in series.series.trials.last().iter() {
        for (name, effective) in &trial.effective {
            let mark = if effective.as_requested { "" } else { "  ! not as requested" };
            let why = if effective.why.is_empty() { String::new() } else { format!("  ({})", effective.why) };
            row(name, format!("{}{mark}{why}", effective.value));
        }
        for (name, value) in &trial.facts {
            row(name, kizami_report::numbers::plain(*value));
        }
    }
    for (index, trial) in series.series.trials.iter().enumerate() {
        row(&format!("trial {}", index + 1), format!("{} rows, {:?}, {}", trial.rows, trial.outcome, trial.started));
    }
    out.push_str(&text::write_table(&table, look));
    out
}

/// The extreme-value estimate, or why there is none.
fn likely_maximum(
    values: &dyn kizami_recording::stats::Samples,
    options: &Options,
    write: &dyn Fn(f64) -> String,
) -> String {
    match Extreme::of(values, &[10, 1000], options) {
        Ok(extreme) => {
            let level = |l: &kizami_recording::stats::gev::Level| {
                let (low, high) = (write(l.interval.low), write(l.interval.high));
                format!("{} expected in {} samples ({low} to {high})", write(l.expected), l.samples)
            };
            let levels: Vec<String> = extreme.levels.iter().map(level).collect();
            format!("{} (fit: p = {:.2})", levels.join("; "), extreme.p_value)
        }
        Err(refusal) => format!("no estimate: {refusal}"),
    }
}

fn as_json(series: Loaded<'_>, deadline: Option<u64>, options: &Options) -> Value {
    let values = series.values();
    let extreme = match Extreme::of(&*values, &[10, 1000], options) {
        Ok(extreme) => json!(extreme),
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    };
    let mut value = json!({
        "series": series.series,
        "unit": series.series.unit(),
        "summary": Summary::of(&*values, options),
        "extreme": extreme,
    });
    if let Some(deadline) = deadline {
        value["deadline"] = json!(Deadline::of(&*values, deadline, options));
    }
    value
}
