//! The verdict on a claim, as far as the samples support one.
//!
//! A claim is judged for each series that it selects, and its verdict is the worst of these. Each series is compared
//! with the one that agrees with it in every value that the other side does not name; where there is none, in every value that
//! neither side names.
//!
//! - Intervals are of [`Claim::confidence`]: 95 % if a run looks at a claim once.
//! - A comparison holds when the interval of the ratio lies below 1,
//!   or below the factor that the claim allows,
//!   and not because one figure is lower than another: two runs of the same job differ too.
//! - `between` and `near` hold when the whole interval lies inside the limits, and do not when all of it lies outside. Where it
//!   reaches across a limit, or is refused, the samples support neither answer: few samples are no proof that two are alike.
//!   A percentile in the tail is inside when so few samples lie beyond the limit that their share is less than the percentile
//!   leaves, by its interval. A figure that has no interval (a maximum) is that of the samples, and is judged as it is.
//! - What is compared is the statistic of every trial: whether a maximum is lower most of the time, not whether it was lower
//!   once. Fewer than five fresh starts a side support no comparison.
//! - A setting that was refused makes no difference, and an emulator's time is not a real time: neither is judged.

use std::collections::BTreeSet;

use kizami_recording::folder::{Loaded, Series, Unit};
use kizami_recording::stats::compare::{ENOUGH_TRIALS, Method};
use kizami_recording::stats::{Deadline, Interval, Options, Samples, Summary, percent};

use crate::apart::apart;
use crate::claim::{Claim, Expects};
use crate::compared::compared;
use crate::counted;
use crate::selector::Selector;
use crate::shown::{ratio, value};
use crate::words::Statistic;

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The figures that decided, with their units; of several series a line each.
    pub shown: String,
    /// The figure alone, with its interval and its bounds: `1.01 (0.99 to 1.07; bound 0.90 to 1.10)`. Empty where there is
    /// none.
    pub figure: String,
}

/// Worse ones are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Not judged, with the reason.
    NotMeasured(String),
    Holds,
    /// The difference is within the noise.
    NotSupported,
    DoesNotHold,
}

impl Claim {
    /// Judges the claim by the series that `find` finds. `options` has the seed of the intervals.
    pub fn judge<'a>(&self, options: &Options, find: &dyn Fn(&Selector) -> Vec<Loaded<'a>>) -> Judgement {
        let of = find(&self.of);
        let others = self.expects.other().map(find);
        if of.is_empty() || others.as_ref().is_some_and(Vec::is_empty) {
            let missing = if of.is_empty() { "nothing of it" } else { "nothing to compare it with" };
            return not_measured(format!("{missing} was recorded"));
        }
        let Some(others) = others else {
            return worst(of.iter().map(|one| (one.series, None, self.alone(*one, options))).collect());
        };
        let mut cases = Vec::new();
        for one in &of {
            let partners = self.partners(one.series, &others);
            if partners.is_empty() {
                cases.push((one.series, None, not_measured("nothing like it was recorded")));
            }
            for other in partners {
                cases.push((one.series, Some(other.series), self.pair(*one, other, options)));
            }
        }
        worst(cases)
    }

    /// What `one` is compared with.
    fn partners<'a>(&self, one: &Series, others: &[Loaded<'a>]) -> Vec<Loaded<'a>> {
        let names = |selector: &Selector, name: &str| match name {
            "workload" => selector.workload.is_some(),
            "environment" => selector.environment.is_some(),
            "part" => selector.part.is_some(),
            _ => selector.names(name),
        };
        let may_differ = |name: &str, by_of: bool| {
            self.expects.other().is_some_and(|other| names(other, name)) || (by_of && names(&self.of, name))
        };
        let others: Vec<_> = others.iter().copied().filter(|other| other.series.name != one.name).collect();
        let agree = |other: &Series, by_of: bool, parts: bool| {
            let value = |of: &Series, name: &str| of.params.get(name).or_else(|| of.requested.get(name)).cloned();
            let maps = [&one.params, &one.requested, &other.params, &other.requested];
            // What only one of two workloads knows says nothing about the other.
            let of_one = |name: &str| {
                one.workload != other.workload && one.params.contains_key(name) != other.params.contains_key(name)
            };
            (may_differ("workload", by_of) || one.workload == other.workload)
                && (may_differ("environment", by_of) || one.environment == other.environment)
                && (!parts || may_differ("part", by_of) || one.part == other.part)
                && maps
                    .iter()
                    .flat_map(|map| map.keys())
                    .all(|name| may_differ(name, by_of) || of_one(name) || value(one, name) == value(other, name))
        };
        for (by_of, parts) in [(false, true), (false, false), (true, true), (true, false)] {
            let agreeing: Vec<_> = others.iter().copied().filter(|other| agree(other.series, by_of, parts)).collect();
            if !agreeing.is_empty() {
                return agreeing;
            }
        }
        // What is the only one is meant, however much it differs.
        if others.len() == 1 { others } else { Vec::new() }
    }

    /// Judges a series by limits.
    fn alone(&self, one: Loaded<'_>, options: &Options) -> Judgement {
        let Expects::Between(low, high) = self.expects else { return not_measured("it is compared with nothing") };
        if let Some(why) = refused(one.series, |_| true) {
            return not_measured(why);
        }
        let unit = shown_unit(self.statistic, one.series);
        let limits =
            if low > 0.0 { format!("{} to {}", unit(low), unit(high)) } else { format!("at most {}", unit(high)) };
        if self.statistic.is_counted() {
            let Some(figure) = counted::of(self.statistic, one) else {
                return not_measured(format!("no {} could be counted", self.statistic));
            };
            let shown = format!("{} {}, claimed {limits}", self.statistic, unit(figure));
            let figure_alone = format!("{} (bound {limits})", unit(figure));
            return Judgement { verdict: inside(figure, None, low, high), shown, figure: figure_alone };
        }
        let operations = one.series.operations_of_one();
        let options = Options { confidence: self.confidence(), ..*options };
        let Some(summary) = Summary::of(&*one.values(), &options) else { return not_measured("it has no samples") };
        let Some(figure) = self.statistic.of(&summary).map(|known| known.map(|f| f / operations)) else {
            return not_measured(format!("{} samples are too few for the {}", summary.count, self.statistic));
        };
        let Some(figure) = figure.exactly() else {
            let bound = unit(figure.bound());
            return not_measured(format!("the {} is only known to be {}{bound}", self.statistic, figure.sign()));
        };
        let interval = match self.statistic {
            _ if one.series.is_exact() => None,
            Statistic::Mean => Some(summary.mean_interval),
            Statistic::Median => Some(summary.median_interval),
            Statistic::P99 => Some(summary.p99_interval),
            _ => None,
        };
        let mut shown = format!("{} {}", self.statistic, unit(figure));
        let tail = self.statistic.beyond().filter(|_| !one.series.is_exact());
        let verdict = match (tail, interval) {
            (Some(share), _) => {
                let ends = [low, high].map(|limit| ((limit * operations) as u64, unit(limit)));
                let (verdict, said) = tail_inside(&*one.values(), share, &ends, self.confidence());
                shown.push_str(&format!(" ({said})"));
                verdict
            }
            (None, None) => inside(figure, None, low, high),
            (None, Some(Ok(i))) => {
                let interval = Interval { low: i.low / operations, high: i.high / operations };
                let of = percent(self.confidence());
                shown.push_str(&format!(" ({of} %: {} to {})", unit(interval.low), unit(interval.high)));
                inside(figure, Some(interval), low, high)
            }
            (None, Some(Err(why))) => {
                shown.push_str(&format!(" (without an interval: {why})"));
                Verdict::NotSupported
            }
        };
        let figure_alone = format!("{} (bound {limits})", unit(figure));
        shown.push_str(&format!(", claimed {limits}"));
        Judgement { verdict, shown, figure: figure_alone }
    }

    /// The statistic of one operation, over all trials, as it is shown.
    fn figure(&self, loaded: Loaded<'_>, options: &Options) -> Option<String> {
        let shown = shown_unit(self.statistic, loaded.series);
        if self.statistic.is_counted() {
            return counted::of(self.statistic, loaded).map(shown);
        }
        let figure = self.statistic.of(&Summary::of(&*loaded.values(), options)?)?;
        Some(format!("{}{}", figure.sign(), shown(figure.bound() / loaded.series.operations_of_one())))
    }

    /// Judges a series by another.
    fn pair(&self, one: Loaded<'_>, other: Loaded<'_>, options: &Options) -> Judgement {
        let (a, b) = (one.series, other.series);
        let differs = |name: &str| a.requested.get(name) != b.requested.get(name);
        if let Some(why) = refused(a, differs).or_else(|| refused(b, differs)) {
            return not_measured(why);
        }
        if a.emulated != b.emulated {
            return not_measured("the times of an emulator are not compared with those of a machine");
        }
        if a.unit() != b.unit() {
            return not_measured("the two do not measure the same quantity");
        }
        let scales = matches!(self.statistic, Statistic::Mean | Statistic::Median);
        if a.operations_of_one() != b.operations_of_one() && !scales {
            let (of_a, of_b) = (a.operations_of_one(), b.operations_of_one());
            let why = format!("samples of {of_a} and of {of_b} operations differ in their {}", self.statistic);
            return not_measured(why);
        }
        for side in [one, other] {
            if side.values().is_empty() {
                return not_measured(format!("{} has no samples", side.series.name));
            }
        }
        let (Some(of_a), Some(of_b)) = (self.figure(one, options), self.figure(other, options)) else {
            return not_measured(format!("one of the two has too few samples for the {}", self.statistic));
        };
        let mut shown = format!("{} {of_a} against {of_b}", self.statistic);
        let comparison = match compared(self.statistic, one, other, options, self.confidence()) {
            Ok(comparison) => comparison,
            Err(why) => {
                shown.push_str(&format!("; {why}"));
                return Judgement { verdict: Verdict::NotSupported, shown, figure: String::new() };
            }
        };
        let scale = b.operations_of_one() / a.operations_of_one();
        if !self.statistic.is_counted() {
            // What was compared, which over several starts is not the figure of all samples together.
            let figure = |figure: f64, of: &Series| shown_unit(self.statistic, of)(figure / of.operations_of_one());
            shown = format!("{} {} against {}", self.statistic, figure(comparison.a, a), figure(comparison.b, b));
        }
        if comparison.trials > 1 {
            shown.push_str(" (medians of the starts)");
        }
        let times = comparison.ratio * scale;
        let Some(support) = comparison.support else {
            let (trials, plural) = (comparison.trials, if comparison.trials == 1 { "" } else { "s" });
            shown.push_str(&format!(
                "; {} times, of {trials} start{plural} a side, which support no difference: it takes {ENOUGH_TRIALS}",
                ratio(times)
            ));
            return Judgement { verdict: Verdict::NotSupported, shown, figure: String::new() };
        };
        let interval = Interval { low: support.interval.low * scale, high: support.interval.high * scale };
        let (low, high) = (ratio(interval.low), ratio(interval.high));
        let with_interval = format!("{} times ({} %: {low} to {high})", ratio(times), percent(self.confidence()));
        match support.method {
            Method::Counted => shown.push_str(&format!("; {} times", ratio(times))),
            Method::Rounds => shown.push_str(&format!("; round by round {with_interval}")),
            Method::Trials => shown.push_str(&format!("; {with_interval}")),
        }
        let mut figure = format!("{} ({low} to {high}", ratio(times));
        let verdict = match self.expects {
            Expects::Below(_, most) => {
                figure.push_str(&format!("; bound below {}", ratio(most)));
                ordered(interval.high < most, interval.low > most)
            }
            Expects::Above(_, least) => {
                figure.push_str(&format!("; bound above {}", ratio(least)));
                ordered(interval.low > least, interval.high < least)
            }
            Expects::Near(_, within) => {
                shown.push_str(&format!(", claimed {} to {}", ratio(1.0 - within), ratio(1.0 + within)));
                figure.push_str(&format!("; bound {} to {}", ratio(1.0 - within), ratio(1.0 + within)));
                inside(times, Some(interval), 1.0 - within, 1.0 + within)
            }
            Expects::Between(..) => return not_measured("it is compared with nothing"),
        };
        figure.push(')');
        Judgement { verdict, shown, figure }
    }
}

/// How a figure of that statistic of `series` is shown.
fn shown_unit(statistic: Statistic, series: &Series) -> impl Fn(f64) -> String {
    let unit = series.unit();
    move |figure| match statistic {
        Statistic::Loss | Statistic::Accounted => format!("{} %", ratio(figure * 100.0)),
        Statistic::Flushes => format!("{} a sync", ratio(figure)),
        Statistic::PerTask => value(figure, Unit::Bytes),
        _ => value(figure, unit),
    }
}

/// Why a series is not what it is called: a setting among those that are `relevant` was refused.
fn refused(series: &Series, relevant: impl Fn(&str) -> bool) -> Option<String> {
    let refused = series.refused();
    let (name, asked, effective) = refused.iter().find(|(name, ..)| relevant(name))?;
    let why = if effective.why.is_empty() { String::new() } else { format!(": {}", effective.why) };
    Some(format!("{name}={asked} did not take effect in {}{why}", series.name))
}

/// Whether the interval lies inside the limits; the figure, if it has no interval.
fn inside(figure: f64, interval: Option<Interval>, low: f64, high: f64) -> Verdict {
    let interval = interval.unwrap_or(Interval { low: figure, high: figure });
    ordered(low <= interval.low && interval.high <= high, interval.high < low || high < interval.low)
}

/// Whether the percentile beyond which that share of the samples lies is inside the limits, by the intervals of the shares beyond these.
/// The limits are those of a sample, and as they are shown.
fn tail_inside(
    samples: &dyn Samples,
    share: f64,
    [low, high]: &[(u64, String); 2],
    confidence: f64,
) -> (Verdict, String) {
    const ALL: Interval = Interval { low: 1.0, high: 1.0 };
    let of = |limit: u64| Deadline::with(samples, limit, confidence);
    let (over, under) = (of(high.0), of(low.0).filter(|_| low.0 > 0));
    let said: Vec<_> =
        [(&over, high), (&under, low)].iter().filter_map(|(of, limit)| Some(of.as_ref()?.sentence(&limit.1))).collect();
    let said = said.join(" ").trim_end_matches('.').to_owned();
    let verdict = match (over.map(|over| over.interval), under.map_or(Ok(ALL), |under| under.interval)) {
        (Some(Ok(over)), Ok(under)) => {
            ordered(over.high <= share && under.low >= share, over.low > share || under.high < share)
        }
        _ => Verdict::NotSupported,
    };
    (verdict, said)
}

fn ordered(as_claimed: bool, reverse: bool) -> Verdict {
    if as_claimed {
        Verdict::Holds
    } else if reverse {
        Verdict::DoesNotHold
    } else {
        Verdict::NotSupported
    }
}

fn not_measured(why: impl Into<String>) -> Judgement {
    let why = why.into();
    Judgement { shown: why.clone(), verdict: Verdict::NotMeasured(why), figure: String::new() }
}

/// Of what was judged: a series, what it was compared with, and the judgement.
fn worst(cases: Vec<(&Series, Option<&Series>, Judgement)>) -> Judgement {
    if let [(_, _, only)] = &cases[..] {
        return only.clone();
    }
    let of = apart(&cases.iter().map(|(one, ..)| *one).collect::<Vec<_>>());
    let mut others = apart(&cases.iter().filter_map(|(_, other, _)| *other).collect::<Vec<_>>()).into_iter();
    let line = |((_, other, judgement), of): (&(_, Option<&Series>, Judgement), String)| {
        let other = other.and_then(|_| others.next()).filter(|other| !other.is_empty() && *other != of);
        let alike = cases.iter().filter(|(.., like)| like == judgement).count();
        if alike >= MANY {
            return format!("{alike} alike: {}", judgement.shown);
        }
        let name =
            [Some(of).filter(|of| !of.is_empty()), other].into_iter().flatten().collect::<Vec<_>>().join(" against ");
        if name.is_empty() { judgement.shown.clone() } else { format!("{name}: {}", judgement.shown) }
    };
    let lines: Vec<String> = cases.iter().zip(of).map(line).collect();
    let verdict = cases.iter().map(|(.., judgement)| judgement.verdict.clone()).max();
    let verdict = verdict.unwrap_or(Verdict::NotMeasured(String::new()));
    // What decided comes first.
    let decided = |n: &usize| cases[*n].2.verdict == verdict;
    let (first, rest): (Vec<_>, Vec<_>) = (0..cases.len()).partition(decided);
    let mut said = BTreeSet::new();
    let lines: Vec<_> =
        first.into_iter().chain(rest).map(|n| &lines[n][..]).filter(|line| said.insert(*line)).collect();
    let mut figures: Vec<String> = Vec::new();
    for (.., judgement) in cases.iter().filter(|(.., judgement)| !judgement.figure.is_empty()) {
        let alike = cases.iter().filter(|(.., like)| like.figure == judgement.figure).count();
        let figure = if alike > 1 { format!("{alike} × {}", judgement.figure) } else { judgement.figure.clone() };
        if !figures.contains(&figure) {
            figures.push(figure);
        }
    }
    Judgement { verdict, shown: lines.join("\n"), figure: figures.join(", ") }
}

/// So many series of which the same is said are told in one line.
const MANY: usize = 4;
