//! Decisions in words, for the terminal, the page and JSON alike.

use kizami_recording::folder::Requirement;
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::Decision;
use serde_json::{Value, json};

use super::costs::{Cost, Costs};
use super::decided::{Change, Decided, Decisions};
use crate::missing;
use crate::numbers::whole;
use crate::plot::Unit;
use crate::settings;
use crate::table::{RowKind, Table};

/// What is decided, as a mark.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Verdict {
    Meets,
    DoesNot,
    NotYet,
    /// More samples of the same kind would not tell, or it is not known how many would; or there are none.
    Open,
    /// An emulator's times, which decide nothing.
    Emulated,
}

impl Verdict {
    pub fn word(self) -> &'static str {
        match self {
            Self::Meets => "meets it",
            Self::DoesNot => "does not",
            Self::NotYet => "not enough samples",
            Self::Open => "cannot be said",
            Self::Emulated => "emulated",
        }
    }
}

/// At most this share, rounded up.
pub(super) fn most(share: f64) -> String {
    match share {
        ..=0.0 => "never".into(),
        ..0.01 => format!("1 in {:.0}", (1.0 / share).floor()),
        _ => format!("{:.1} %", (share * 1000.0).ceil() / 10.0),
    }
}

/// At least this share, rounded down.
pub(super) fn least(share: f64) -> String {
    match share {
        ..=0.0 => "never".into(),
        ..0.01 => format!("1 in {:.0}", (1.0 / share).ceil()),
        _ => format!("{:.1} %", (share * 1000.0).floor() / 10.0),
    }
}

/// A time that is far off, in the unit in which it is thought of.
fn rounded(nanoseconds: f64, round: fn(f64) -> f64) -> String {
    let seconds = round(nanoseconds / 1e9).max(1.0);
    match seconds {
        ..120.0 => format!("{seconds:.0} s"),
        ..7200.0 => format!("{:.0} minutes", round(seconds / 60.0)),
        ..172_800.0 => format!("{:.0} hours", round(seconds / 3600.0)),
        _ => format!("{:.0} days", round(seconds / 86_400.0)),
    }
}

/// What is required, without the period.
pub fn required(requirement: &Requirement) -> String {
    let deadline = Unit::Nanoseconds.value(requirement.deadline as f64);
    let odds = 1.0 / requirement.miss;
    let share = match (odds - odds.round()).abs() < 1e-6 * odds && odds < 1e12 {
        true => format!("1 in {}", whole(odds.round() as u64)),
        false => requirement.miss.to_string(),
    };
    format!("at most {deadline} late, at most {share} later")
}

impl Decided {
    pub fn verdict(&self) -> Verdict {
        match self.decision {
            _ if self.series.emulated => Verdict::Emulated,
            Some(Decision::Meets) => Verdict::Meets,
            Some(Decision::DoesNot) => Verdict::DoesNot,
            Some(Decision::NotYet { .. }) => Verdict::NotYet,
            Some(Decision::Open { .. }) | None => Verdict::Open,
        }
    }

    /// What it is of: environment, period, the policy and the settings that were in force, and what else tells it apart.
    pub fn label(&self) -> String {
        let series = &self.series;
        let mut words = vec![series.place()];
        let others = series.requested.keys().map(String::as_str).filter(|name| *name != "policy");
        for name in std::iter::once("policy").chain(others) {
            let asked = series.requested.get(name).map(String::as_str);
            let written = name.replace('_', " ");
            match (settings::one(series, name), asked) {
                (Some(value), Some(asked)) if value != asked => {
                    words.push(format!("{written} {value} ({asked} was refused)"));
                }
                (Some(value), _) => words.push(format!("{written} {value}")),
                (None, Some(asked)) => words.push(format!("{written} {asked} (not in force in every start)")),
                (None, None) => {}
            }
        }
        words.extend((!series.part.is_empty()).then(|| series.part.clone()));
        words.extend(self.apart.iter().map(|(name, value)| format!("{} {value}", name.replace('_', " "))));
        words.push(format!("every {}", Quantity::Time.write(self.period)));
        words.join(" · ")
    }

    /// The decision, and what it stands on.
    pub fn sentence(&self) -> String {
        let word = self.verdict().word();
        let Some(deadline) = &self.deadline else { return missing::why_none(&self.series) };
        let seen = format!("{} of {} were late", deadline.misses, deadline.count);
        let ends = deadline.interval.map(|interval| (interval.low, interval.high));
        match (self.decision, ends) {
            (None, _) => "an emulator's times decide nothing".into(),
            (Some(Decision::Meets), Ok((_, high))) => {
                let apart = self.period as f64 / high.max(f64::MIN_POSITIVE);
                let apart = match rounded(apart, f64::floor) {
                    time if apart >= 1e9 => format!(", or one in {time} on average"),
                    _ => String::new(),
                };
                format!("{word}: {seen}, with 95 % confidence at most {}{apart}", most(high))
            }
            (Some(Decision::DoesNot), Ok((low, _))) => {
                format!("{word}: {seen}, with 95 % confidence at least {}", least(low))
            }
            (Some(Decision::DoesNot), Err(_)) => {
                let late = self.starts.iter().filter(|start| start.late > 0).count();
                format!("{word}: {seen}, in {late} of {} starts", self.starts.len())
            }
            (Some(Decision::NotYet { times }), _) => {
                let more = (times - 1.0) * deadline.count as f64 * self.period as f64;
                format!("{word}: {seen}; {} more would tell", rounded(more, f64::ceil))
            }
            (Some(Decision::Open { why: Some(why) }), _) => format!("{word}: {seen}; {why}"),
            (Some(_), _) => format!("{word}: {seen}, which is as often as is allowed"),
        }
    }

    /// The one change that would help most, and what was seen with it; empty without one.
    pub fn helps(&self) -> String {
        let write = |change: &Change| format!("{}: {}", change.change, change.effect);
        self.change.as_ref().map_or_else(String::new, write)
    }

    /// The same for programs.
    pub fn as_json(&self) -> Value {
        json!({
            "series": self.series.name,
            "environment": self.series.environment,
            "requested": self.series.requested,
            "emulated": self.series.emulated,
            "of": self.label(),
            "period": self.period,
            "deadline": self.deadline,
            "decision": self.decision,
            "sentence": self.sentence(),
            "costs": self.costs,
            "helps": self.change.as_ref().map(|change| &change.change),
            "effect": self.change.as_ref().map(|change| &change.effect),
        })
    }
}

impl Costs {
    /// Each that is known, as its name and its median; a time of an emulator is named so.
    pub fn written(&self, emulated: bool) -> Vec<(&'static str, String)> {
        let whose = if emulated { " (emulated)" } else { "" };
        let time = |cost: &Cost| format!("{}{whose}", Unit::Nanoseconds.value(cost.median));
        let size = |cost: &Cost| Unit::Bytes.value(cost.median);
        let all = [
            ("boot", self.boot.as_ref().map(time)),
            ("memory", self.memory.as_ref().map(size)),
            ("memory inside", self.guest_memory.as_ref().map(size)),
            ("disk", self.disk.as_ref().map(size)),
        ];
        all.into_iter().filter_map(|(name, value)| Some((name, value?))).collect()
    }

    /// From how many starts the medians are; empty where nothing is known.
    pub fn starts(&self) -> String {
        let each = [&self.boot, &self.memory].into_iter().flatten();
        let mut counts: Vec<String> = each.map(|cost| cost.starts.to_string()).collect();
        counts.dedup();
        match counts.join(" and ").as_str() {
            "" => String::new(),
            "1" => "of 1 start".into(),
            counts => format!("medians of {counts} starts"),
        }
    }
}

impl Decisions {
    /// What the costs are medians of; empty where none are known.
    pub fn note(&self) -> String {
        let mut starts: Vec<String> = self.decided.iter().map(|one| one.costs.starts()).collect();
        starts.retain(|starts| !starts.is_empty());
        starts.sort();
        starts.dedup();
        match starts.as_slice() {
            [] => String::new(),
            [one] => format!("Boot and memory: {one} of the same environment in this run."),
            _ => "Boot and memory: medians of the starts of the same environment in this run.".into(),
        }
    }

    /// For the terminal: one row a series, and columns only for what the run measured.
    pub fn table(&self) -> Table {
        let head = format!("a wake-up {}", required(&self.requirement));
        let mut table = Table::new(&["series", &head, "what would help"], &["boot", "memory"]);
        for one in &self.decided {
            let costs = one.costs.written(one.series.emulated);
            let cost = |name: &str| {
                let found = costs.iter().find(|(of, _)| *of == name);
                found.map_or_else(String::new, |(_, value)| value.clone())
            };
            let cells = [one.label(), one.sentence(), one.helps(), cost("boot"), cost("memory")];
            table.push(RowKind::Measured, cells);
        }
        table.drop_empty_columns();
        table.note = self.note();
        table
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn far_times_are_told_in_their_unit() {
        let told = [0.2, 90.0, 600.0, 50_000.0, 4e6].map(|seconds: f64| rounded(seconds * 1e9, f64::ceil));
        assert_eq!(told, ["1 s", "90 s", "10 minutes", "14 hours", "47 days"]);
    }

    #[test]
    fn rounding_widens_what_is_said_of_a_share() {
        assert_eq!((most(1.0 / 3334.5), least(1.0 / 3334.5)), ("1 in 3334".into(), "1 in 3335".into()));
        assert_eq!((most(0.123_41), least(0.123_41)), ("12.4 %".into(), "12.3 %".into()));
        assert_eq!((most(0.0), least(0.0)), ("never".into(), "never".into()));
    }
}
