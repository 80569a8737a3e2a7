//! `kizami decide`: whether a periodic task would meet its deadline, in each environment and under each setting that a
//! recording has.
//!
//! A decision is one about the wake-ups that were measured: of the same period, under the settings that were in force. The
//! time that the task itself takes has to be taken off its deadline before. What an emulator measured decides nothing.

use kizami_recording::folder::{Loaded, Series};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::{Deadline, Decision, Samples, Start};
use kizami_report::text::{self, Look};
use kizami_report::{RowKind, Table, missing};
use serde_json::{Value, json};

use super::output::{print_json, print_text};
use super::recorded::{open, status_of};
use crate::cli;
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

/// The workload whose samples are what is decided about, and the parameter that is its period.
const WORKLOAD: &str = "wakeup";
const PERIOD: &str = "interval";

/// What is required: nanoseconds, and the largest share of wake-ups that may be later.
struct Required {
    period: u64,
    deadline: u64,
    allowed: f64,
}

/// A series, and what is decided of it.
struct Decided<'a> {
    series: &'a Series,
    deadline: Option<Deadline>,
    decision: Option<Decision>,
    starts: Vec<Start>,
}

pub fn decide(args: &cli::Decide, json: bool, style: &Style) -> Result<u8, Exit> {
    let time = |name: &str, text: &str| {
        let time = Quantity::Time.parse(text).map_err(|why| Exit::usage(format!("{name}: {why}")))?;
        if time == 0 { Err(Exit::usage(format!("{name}: it has to be longer than nothing"))) } else { Ok(time) }
    };
    let required = Required {
        period: time("--period", &args.period)?,
        deadline: time("--deadline", &args.deadline)?,
        allowed: args.miss,
    };
    let folder = paths::recording(args.recording.as_deref())?;
    let reader = open(&folder, style)?;
    let period = |series: &Series| series.params.get(PERIOD).and_then(|text| Quantity::Time.parse(text).ok());
    let (mut decided, mut others) = (Vec::new(), Vec::new());
    for series in reader.series().filter(|loaded| loaded.series.workload == WORKLOAD) {
        match period(series.series) {
            Some(period) if period == required.period => decided.push(of(series, &required)),
            Some(period) if !others.contains(&period) => others.push(period),
            _ => {}
        }
    }
    if decided.is_empty() {
        return Err(nothing(&required, &others, &paths::shown(&folder)));
    }
    if json {
        let all: Vec<Value> = decided.iter().map(|one| as_json(one, &decided, &required)).collect();
        print_json(&json!({ "recording": paths::shown(&folder), "decisions": all }))?;
    } else {
        print_text(&written(&decided, &required, Look { colour: style.colour, width: style.width }))?;
    }
    Ok(status_of(&reader))
}

fn of<'a>(loaded: Loaded<'a>, required: &Required) -> Decided<'a> {
    let deadline = Deadline::of(&*loaded.values(), required.deadline);
    let start = |values: &dyn Samples| {
        let of_start = Deadline::of(values, required.deadline)?;
        Some(Start { samples: of_start.count, late: of_start.misses })
    };
    let starts: Vec<Start> = loaded.trial_values().iter().filter_map(|values| start(&**values)).collect();
    let known = deadline.as_ref().filter(|_| !loaded.series.emulated);
    let decision =
        known.map(|deadline| Decision::of(deadline, required.allowed).or_by_starts(&starts, required.allowed));
    Decided { series: loaded.series, decision, deadline, starts }
}

fn nothing(required: &Required, others: &[u64], recording: &str) -> Exit {
    let write = |time: u64| Quantity::Time.write(time);
    let there = match others {
        [] => "has no wake-ups".to_owned(),
        others => {
            format!("has wake-ups every {} only", others.iter().map(|&t| write(t)).collect::<Vec<_>>().join(", "))
        }
    };
    let period = write(required.period);
    Exit::usage(format!(
        "{recording} {there}, and none every {period}. To measure them: kizami run {WORKLOAD} --set {PERIOD}={period} \
         --set policy=other,fifo:80 --load none,cpu --environment host"
    ))
}

impl Decided<'_> {
    /// In words.
    fn sentence(&self, required: &Required) -> String {
        let Some(deadline) = &self.deadline else { return missing::why_none(self.series) };
        let odds = |share: f64| if share > 0.0 { format!("1 in {:.0}", (1.0 / share).floor()) } else { "never".into() };
        let seen = format!("{} of {} were late", deadline.misses, deadline.count);
        let ends = deadline.interval.map(|interval| (interval.low, interval.high));
        match (self.decision, ends) {
            (None, _) => "an emulator's times decide nothing".into(),
            (Some(Decision::Meets), Ok((_, high))) => {
                format!("meets it: {seen}, with 95 % confidence at most {}", odds(high))
            }
            (Some(Decision::DoesNot), Ok((low, _))) => {
                format!("does not: {seen}, with 95 % confidence at least {}", odds(low))
            }
            (Some(Decision::DoesNot), Err(_)) => {
                let late = self.starts.iter().filter(|start| start.late > 0).count();
                format!("does not: {seen}, in {late} of {} starts", self.starts.len())
            }
            (Some(Decision::NotYet { times }), _) => {
                let more = (times - 1.0) * deadline.count as f64 * required.period as f64;
                format!("not enough samples: {seen}; {} more would tell", rounded(more))
            }
            (Some(Decision::Open { why: Some(why) }), _) => format!("cannot be said: {seen}; {why}"),
            (Some(_), _) => format!("cannot be said: {seen}, which is as often as is allowed"),
        }
    }

    /// Another series that differs in one value, and meets what this one does not.
    fn helps(&self, all: &[Decided<'_>]) -> Option<String> {
        if self.decision == Some(Decision::Meets) {
            return None;
        }
        let settings = |series: &Series| {
            let own = [("environment".to_owned(), series.environment.clone())];
            series
                .requested
                .iter()
                .chain(&series.params)
                .map(|(n, v)| (n.clone(), v.clone()))
                .chain(own)
                .collect::<Vec<_>>()
        };
        let mine = settings(self.series);
        all.iter().filter(|other| other.decision == Some(Decision::Meets)).find_map(|other| {
            let theirs = settings(other.series);
            let differ: Vec<_> = theirs.iter().filter(|value| !mine.contains(value)).collect();
            let missing = mine.iter().filter(|(name, _)| theirs.iter().all(|(theirs, _)| theirs != name)).count();
            // Less load is no change that whoever builds a system can make.
            match differ[..] {
                [(name, value)] if missing == 0 && name != "load" => Some(format!("{name}={value}")),
                _ => None,
            }
        })
    }
}

/// A time that is far off, in the unit in which it is thought of.
fn rounded(nanoseconds: f64) -> String {
    let seconds = (nanoseconds / 1e9).ceil().max(1.0);
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} minutes", (seconds / 60.0).ceil()),
        ..172_800.0 => format!("{:.0} hours", (seconds / 3600.0).ceil()),
        _ => format!("{:.0} days", (seconds / 86_400.0).ceil()),
    }
}

fn written(decided: &[Decided<'_>], required: &Required, look: Look) -> String {
    let write = |time: u64| Quantity::Time.write(time);
    let head = format!(
        "a wake-up every {}, at most {} late, {} of them later",
        write(required.period),
        write(required.deadline),
        required.allowed
    );
    let mut table = Table::new(&["series", &head, "what would help"], &[]);
    for one in decided {
        let helps = one.helps(decided).unwrap_or_default();
        table.push(RowKind::Measured, [one.series.name.clone(), one.sentence(required), helps]);
    }
    text::write_table(&table, look)
}

fn as_json(one: &Decided<'_>, all: &[Decided<'_>], required: &Required) -> Value {
    json!({
        "series": one.series.name,
        "environment": one.series.environment,
        "requested": one.series.requested,
        "emulated": one.series.emulated,
        "deadline": one.deadline,
        "decision": one.decision,
        "sentence": one.sentence(required),
        "helps": one.helps(all),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_times_are_told_in_their_unit() {
        let told = [0.2, 90.0, 600.0, 50_000.0, 4e6].map(|seconds: f64| rounded(seconds * 1e9));
        assert_eq!(told, ["1 s", "90 s", "10 minutes", "14 hours", "47 days"]);
    }
}
