//! `kizami decide`: whether a periodic task would meet its deadline, in each environment and under each setting that a
//! recording has. The report has the same decisions at its head; `kizami_report::decisions` makes them.

use kizami_recording::folder::{Reader, Requirement};
use kizami_recording::quantity::Quantity;
use kizami_report::decisions::{self, Decided, Decisions};
use kizami_report::text::{self, Look};
use serde_json::{Value, json};

use super::output::{print_json, print_text};
use super::recorded::{open, status_of};
use crate::cli;
use crate::exit::Exit;
use crate::paths;
use crate::style::Style;

pub fn decide(args: &cli::Decide, json: bool, style: &Style) -> Result<u8, Exit> {
    let period = args.period;
    let requirement = Requirement { deadline: args.deadline, miss: args.miss };
    let folder = paths::recording(args.recording.as_deref())?;
    let reader = open(&folder, style)?;
    let decisions = Decisions::of(&reader, requirement, |_, of_series| of_series == period);
    if decisions.decided.is_empty() {
        return Err(nothing(&reader, period, &paths::shown(&folder)));
    }
    if json {
        let all: Vec<Value> = decisions.decided.iter().map(Decided::as_json).collect();
        print_json(&json!({ "recording": paths::shown(&folder), "requirement": requirement, "decisions": all }))?;
    } else {
        let table = decisions.table();
        print_text(&text::write_table(&table, Look { colour: style.colour, width: style.width }))?;
    }
    Ok(status_of(&reader))
}

/// That there are no wake-ups of this period, which there are, and how to measure some.
fn nothing(reader: &Reader, period: u64, recording: &str) -> Exit {
    let wake_ups = || reader.series().filter(|loaded| decisions::is_wake_up(loaded.series));
    let mut others: Vec<u64> = wake_ups().filter_map(|loaded| decisions::period(loaded.series)).collect();
    others.sort_unstable();
    others.dedup();
    let write = |time: u64| Quantity::Time.write(time);
    let period = write(period);
    let there = match others.as_slice() {
        [] if wake_ups().next().is_some() => "has wake-ups of which it does not say how often they came".to_owned(),
        [] => "has no wake-ups".to_owned(),
        others => {
            let others = others.iter().map(|&other| write(other)).collect::<Vec<_>>().join(", ");
            format!("has wake-ups every {others} only, and none every {period}")
        }
    };
    Exit::usage(format!(
        "{recording} {there}. To measure them: kizami run wakeup --set interval={period} --set policy=other,fifo:80 --load none,cpu \
         --environment host"
    ))
}
