//! `kizami show`: a recording in the terminal.

use kizami_recording::folder::{Loaded, Measured, Outcome, Trial};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::{Confidence, Deadline, Extreme, Known, Mode, Options, Summary};
use kizami_report::text::{self, Look};
use kizami_report::{RowKind, Table, missing, unit_of};
use serde_json::{Value, json};

use super::output::{print_json, print_text};
use super::recorded::{open, read_report, status_of};
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
        print_json(&json!({ "recording": paths::shown(&folder), "host": reader.recording().host, "series": series }))?;
    } else if let Some(deadline) = deadline {
        print_text(&deadlines(&chosen, deadline, look))?;
    } else if chosen.len() == 1 {
        print_text(&everything(chosen[0], &options, look, style))?;
    } else if args.series.is_some() {
        print_text(&text::write_table(&summaries(&chosen, &options), look))?;
    } else {
        let report = read_report(&reader, None, style);
        let decisions = text::decisions(&report, look);
        print_text(&format!("{}{decisions}{}", text::write(&report, look), text::findings(&report, look)))?;
    }
    Ok(status_of(&reader))
}

fn summaries(chosen: &[Loaded<'_>], options: &Options) -> Table {
    let mut table = Table::new(&["series"], &["median", "mean", "p99", "max", "n"]);
    let mut notes = Vec::new();
    for series in chosen {
        let name = series.series.name.clone();
        match Summary::of(&*series.values(), options) {
            Some(s) if series.series.measured() != Measured::Watched => {
                let (unit, per) = (unit_of(series.series), series.series.operations_of_one());
                let write = |value: f64| unit.value(value / per);
                let known = |figure: Known<f64>| format!("{}{}", figure.sign(), write(figure.bound()));
                let whole = |figure: Known<u64>| known(figure.map(|value| value as f64));
                let p99 = s.p99.map_or(String::new(), whole);
                let cells = [name, known(s.median), known(s.mean), p99, whole(s.max), s.count.to_string()];
                table.push(RowKind::Measured, cells);
                notes.extend(missing::sentence(series.series).map(|why| format!("{}: {why}", series.series.name)));
            }
            Some(s) => table.push(RowKind::Missing, [name, format!("{} rows, watched over time", s.count)]),
            None => table.push(RowKind::Missing, [name, missing::why_none(series.series)]),
        }
    }
    table.note = notes.join("\n");
    table
}

fn deadlines(chosen: &[Loaded<'_>], deadline: u64, look: Look) -> String {
    let mut table = Table::new(&["series", &format!("later than {}", Quantity::Time.write(deadline))], &[]);
    for series in chosen.iter().filter(|s| matches!(s.series.measured(), Measured::Time { .. })) {
        let per = series.series.operations_of_one();
        let answer = Deadline::of(&*series.values(), (deadline as f64 * per) as u64);
        let sentence =
            answer.map_or_else(|| missing::why_none(series.series), |d| d.sentence(&Quantity::Time.write(deadline)));
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
        let known = |figure: Known<f64>| format!("{}{}", figure.sign(), write(figure.bound()));
        let whole = |figure: Known<u64>| known(figure.map(|value| value as f64));
        let with = |figure: Known<f64>, interval: Confidence| match interval {
            Ok(i) => format!("{}   95 %: {} to {}", known(figure), write(i.low), write(i.high)),
            Err(why) => format!("{}   no interval: {why}", known(figure)),
        };
        row("samples", s.count.to_string());
        if let Some(sentence) = missing::sentence(series.series) {
            row("not recorded", sentence);
        }
        row("minimum", write(s.min as f64));
        let quartiles = [s.lower_quartile, s.median, s.upper_quartile].map(known);
        row("quartiles", quartiles.join(" · "));
        row("median", with(s.median, s.median_interval));
        row("mean", with(s.mean, s.mean_interval));
        row("standard deviation", s.standard_deviation.map(write).unwrap_or_default());
        let mode = |mode: Mode| format!("{} (bins of {})", write(mode.value as f64), write(mode.bin_width as f64));
        row("mode", s.mode.map_or_else(|| "not known".to_owned(), mode));
        let tails = [
            ("p90", s.p90),
            ("p95", s.p95),
            ("p99", s.p99),
            ("p99.9", s.p99_9),
            ("p99.99", s.p99_99),
            ("p99.999", s.p99_999),
        ];
        for (name, value) in tails {
            let value = match (value, s.p99_interval) {
                (None, _) => "too few samples".to_owned(),
                (Some(value), interval) if name == "p99" => with(value.map(|value| value as f64), interval),
                (Some(value), _) => whole(value),
            };
            row(name, value);
        }
        row("maximum", whole(s.max));
        row("likely maximum", likely_maximum(&*values, options, &write));
    } else {
        let why = match series.series.measured() {
            Measured::Watched => "watched over time".to_owned(),
            _ => missing::why_none(series.series),
        };
        row("samples", why);
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
        row(&format!("trial {}", index + 1), how_it_went(trial));
    }
    out.push_str(&text::write_table(&table, look));
    out
}

/// The maximum is estimated for so many times as many samples.
const FACTORS: [u64; 2] = [10, 100];
/// A trial in a line: its rows, when it began where that is known, and how it ended.
fn how_it_went(trial: &Trial) -> String {
    let rows = if trial.rows == 1 { "1 row".to_owned() } else { format!("{} rows", trial.rows) };
    let began = if trial.started.is_empty() { String::new() } else { format!(", begun {}", trial.started) };
    let ended = match &trial.outcome {
        Outcome::Complete => "complete".to_owned(),
        Outcome::Interrupted => "interrupted".to_owned(),
        Outcome::Running => "not ended".to_owned(),
        Outcome::Failed(why) => format!("failed: {why}"),
    };
    format!("{rows}{began}, {ended}")
}

/// The extreme-value estimate, or why there is none.
fn likely_maximum(
    values: &dyn kizami_recording::stats::Samples,
    options: &Options,
    write: &dyn Fn(f64) -> String,
) -> String {
    match Extreme::of(values, &FACTORS, options) {
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
    let extreme = match Extreme::of(&*values, &FACTORS, options) {
        Ok(extreme) => json!(extreme),
        Err(refusal) => json!({ "refused": refusal.to_string() }),
    };
    let mut value = json!({
        "series": series.series,
        "unit": series.series.unit(),
        "summary": Summary::of(&*values, options),
        "extreme": extreme,
    });
    if let Some(why) = missing::sentence(series.series) {
        value["not_recorded"] = json!(why);
    }
    if let Some(deadline) = deadline {
        value["deadline"] = json!(Deadline::of(&*values, deadline));
    }
    value
}
