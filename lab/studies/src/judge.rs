//! Whether a claim holds here, as far as the samples can tell.
//!
//! A claim is judged for each series that it is about, and the worst answer is the claim's. What it compares with is the
//! series that agrees in everything that the claim does not name.
//!
//! - A comparison holds when the 95 % interval of the ratio says so (lies below 1, or below the times that it may be), and not because one figure is lower than another:
//!   two runs of the same thing differ too.
//! - `between` and `near` hold when the figure lies inside. When it lies outside and its interval reaches in, the samples
//!   do not support either answer.
//! - Means, medians and 99th percentiles are compared as [`stats::compare`] defines it. Other statistics (a maximum, a
//!   standard deviation) of two series are one number each, which no interval comes with. They are therefore taken of
//!   every trial, or of the tenths of a series that has few trials, and the typical values are compared: is a maximum
//!   lower most of the time, or was it once?
//! - A setting that was refused makes no difference, and an emulator's time is no time: neither is judged.

use std::collections::BTreeSet;

use kizami_recording::folder::{Loaded, Series};
use kizami_recording::stats::compare::{ENOUGH_TRIALS, Measure, Method};
use kizami_recording::stats::{Comparison, Design, Interval, Options, Samples, Summary, compare};

use crate::claim::{Claim, Expects};
use crate::loss;
use crate::selector::Selector;
use crate::shown::{ratio, value};
use crate::words::Statistic;

/// The answer to a claim.
#[derive(Debug, Clone, PartialEq, Eq, serde::Serialize)]
pub struct Judgement {
    pub verdict: Verdict,
    /// The figures that decided, with their units.
    pub shown: String,
    /// The figure alone, with its interval and its bounds: `1.01 (0.99 to 1.07; bound 0.90 to 1.10)`. Empty where there is
    /// none.
    pub figure: String,
}

/// Worse ones are greater.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, serde::Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Why nothing can be said.
    NotMeasured(String),
    Holds,
    /// The difference is within the noise.
    NotSupported,
    DoesNotHold,
}

/// So many pieces are made of a series that has few trials.
const PIECES: u64 = 10;
/// A piece has at least so many samples.
const LEAST_PIECE: u64 = 10;
/// The fewest resamples, for summaries whose intervals are not used.
const NO_INTERVALS: u32 = 40;
/// Statistics of pieces are compared in thousandths of the unit, because samples are whole numbers.
const FINE: f64 = 1000.0;
/// And shares in parts of a thousand million.
const FINE_SHARE: f64 = 1e9;

impl Claim {
    /// Judges the claim by the series that `find` finds. `options` has the seed of the intervals.
    pub fn judge<'a>(&self, options: &Options, find: &dyn Fn(&Selector) -> Vec<Loaded<'a>>) -> Judgement {
        let of = find(&self.of);
        let others = self.expects.other().map(find);
        if of.is_empty() || others.as_ref().is_some_and(Vec::is_empty) {
            let missing = if of.is_empty() { "nothing of it" } else { "nothing to compare it with" };
            return not_measured(format!("{missing} was recorded"));
        }
        let mut cases = Vec::new();
        for one in &of {
            match &others {
                None => cases.push((one.series.name.clone(), self.alone(*one, options))),
                Some(others) => {
                    let partners = self.partners(one.series, others);
                    if partners.is_empty() {
                        cases.push((one.series.name.clone(), not_measured("nothing like it was recorded")));
                    }
                    for other in partners {
                        let name = format!("{} against {}", one.series.name, other.series.name);
                        cases.push((name, self.pair(*one, other, options)));
                    }
                }
            }
        }
        worst(cases)
    }

    /// What `one` is compared with.
    fn partners<'a>(&self, one: &Series, others: &[Loaded<'a>]) -> Vec<Loaded<'a>> {
        let named = |name: &str| {
            let named = |s: &Selector| match name {
                "workload" => s.workload.is_some(),
                "environment" => s.environment.is_some(),
                "part" => s.part.is_some(),
                _ => s.names(name),
            };
            named(&self.of) || self.expects.other().is_some_and(named)
        };
        let others: Vec<_> = others.iter().copied().filter(|other| other.series.name != one.name).collect();
        let agree = |other: &Series, parts: bool| {
            let value = |of: &Series, name: &str| of.params.get(name).or_else(|| of.requested.get(name)).cloned();
            let maps = [&one.params, &one.requested, &other.params, &other.requested];
            (named("workload") || one.workload == other.workload)
                && (named("environment") || one.environment == other.environment)
                && (!parts || named("part") || one.part == other.part)
                && maps
                    .iter()
                    .flat_map(|map| map.keys())
                    .all(|name| named(name) || value(one, name) == value(other, name))
        };
        for parts in [true, false] {
            let agreeing: Vec<_> = others.iter().copied().filter(|other| agree(other.series, parts)).collect();
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
        if self.statistic == Statistic::Loss {
            let Some(figure) = loss_of(one) else { return not_measured("nothing was sent") };
            let shown = format!("loss {}, claimed {} to {}", unit(figure), unit(low), unit(high));
            let figure_alone = format!("{} (bound {} to {})", unit(figure), unit(low), unit(high));
            return Judgement { verdict: inside(figure, None, low, high), shown, figure: figure_alone };
        }
        let operations = one.series.operations_of_one();
        let Some(summary) = Summary::of(&*one.values(), options) else { return not_measured("it has no samples") };
        let Some(figure) = self.statistic.of(&summary).map(|f| f / operations) else {
            return not_measured(format!("{} samples are too few for the {}", summary.count, self.statistic));
        };
        let interval = match self.statistic {
            Statistic::Mean => summary.mean_interval,
            Statistic::Median => summary.median_interval,
            Statistic::P99 => summary.p99_interval,
            _ => None,
        };
        let interval = interval.map(|i| Interval { low: i.low / operations, high: i.high / operations });
        let mut shown = format!("{} {}", self.statistic, unit(figure));
        if let Some(interval) = interval {
            shown.push_str(&format!(" (95 %: {} to {})", unit(interval.low), unit(interval.high)));
        }
        let figure_alone = format!("{} (bound {} to {})", unit(figure), unit(low), unit(high));
        shown.push_str(&format!(", claimed {} to {}", unit(low), unit(high)));
        Judgement { verdict: inside(figure, interval, low, high), shown, figure: figure_alone }
    }

    /// The statistic of one operation, over all trials, as it is shown.
    fn figure(&self, loaded: Loaded<'_>, options: &Options) -> Option<String> {
        let shown = shown_unit(self.statistic, loaded.series);
        if self.statistic == Statistic::Loss {
            return loss_of(loaded).map(shown);
        }
        let summary = Summary::of(&*loaded.values(), &no_intervals(options))?;
        self.statistic.of(&summary).map(|figure| shown(figure / loaded.series.operations_of_one()))
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
        let compared = match compared(self.statistic, one, other, options) {
            Ok(compared) => compared,
            Err(why) => {
                shown.push_str(&format!("; {why}"));
                return Judgement { verdict: Verdict::NotSupported, shown, figure: String::new() };
            }
        };
        let scale = b.operations_of_one() / a.operations_of_one();
        let comparison = compared.comparison;
        if compared.by.is_empty() && self.statistic != Statistic::Loss {
            // What was compared, which over several trials is not the figure of all samples together.
            let figure = |figure: f64, of: &Series| shown_unit(self.statistic, of)(figure / of.operations_of_one());
            shown = format!("{} {} against {}", self.statistic, figure(comparison.a, a), figure(comparison.b, b));
        }
        let times = comparison.ratio * scale;
        let interval = Interval { low: comparison.interval.low * scale, high: comparison.interval.high * scale };
        let (low, high) = (ratio(interval.low), ratio(interval.high));
        shown.push_str(&format!("; {}{} times (95 %: {low} to {high})", compared.by, ratio(times)));
        if comparison.method == Method::Blocks || !compared.by.is_empty() && few(one, other) {
            shown.push_str("; too few starts to know how starts differ");
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
    let unit = if statistic == Statistic::Loss { None } else { Some(series.unit()) };
    move |figure| unit.map_or_else(|| format!("{} %", ratio(figure * 100.0)), |unit| value(figure, unit))
}

/// Whether there are too few fresh starts to tell how much one differs from the next.
fn few(a: Loaded<'_>, b: Loaded<'_>) -> bool {
    a.trial_values().len().min(b.trial_values().len()) < ENOUGH_TRIALS
}

/// The share that was lost: the median of the trials.
fn loss_of(loaded: Loaded<'_>) -> Option<f64> {
    let mut shares = loss::of_trials(loaded)?;
    shares.sort_by(f64::total_cmp);
    shares.get(shares.len() / 2).copied()
}

struct Compared {
    comparison: Comparison,
    /// What was compared, where it is not the statistic of all samples.
    by: String,
}

fn compared(statistic: Statistic, a: Loaded<'_>, b: Loaded<'_>, options: &Options) -> Result<Compared, String> {
    if statistic == Statistic::Loss {
        return losses(a, b, options);
    }
    let (trials_a, trials_b) = (a.trial_values(), b.trial_values());
    let design = a.design_with(&b);
    let few = few(a, b);
    let direct = match statistic {
        Statistic::Mean => Some(Measure::Mean),
        Statistic::Median => Some(Measure::Median),
        Statistic::P99 => Some(Measure::P99),
        Statistic::Max if !few => Some(Measure::Max),
        _ => None,
    };
    if let Some(measure) = direct {
        // Few trials are pooled; of a throughput there are rows to pool, and not only one figure a trial.
        let comparison = match few {
            true => with(&wholes(&[a.values()]), &wholes(&[b.values()]), Design::Apart, measure, options)?,
            false => with(&wholes(&trials_a), &wholes(&trials_b), design, measure, options)?,
        };
        return Ok(Compared { comparison, by: String::new() });
    }
    // The square of a time may be too large for a sample; what is lower squared is lower.
    let statistic = if statistic == Statistic::Variance { Statistic::Stdev } else { statistic };
    let (values_a, values_b) = (a.values(), b.values());
    let (a, b, of) = if few {
        (pieces(&*values_a)?, pieces(&*values_b)?, "tenth")
    } else {
        (wholes(&trials_a), wholes(&trials_b), "trial")
    };
    let by = format!("the typical {statistic} of a {of} is ");
    let figures = |pieces: &[Piece<'_>]| -> Result<Vec<Vec<u64>>, String> {
        let figure = |piece: &Piece<'_>| {
            let summary = Summary::of(piece, &no_intervals(options));
            let figure = summary.and_then(|s| statistic.of(&s));
            figure.map(|f| vec![(f * FINE).round() as u64]).ok_or("the samples are too few to compare it")
        };
        pieces.iter().map(|piece| figure(piece).map_err(str::to_owned)).collect()
    };
    let design = if few { Design::Apart } else { design };
    let comparison = with(&figures(&a)?, &figures(&b)?, design, Measure::Median, options)?;
    Ok(Compared { comparison, by })
}

fn with<S: Samples>(
    a: &[S],
    b: &[S],
    design: Design,
    measure: Measure,
    options: &Options,
) -> Result<Comparison, String> {
    fn side<S: Samples>(trials: &[S]) -> Vec<&dyn Samples> {
        trials.iter().map(|trial| trial as &dyn Samples).collect()
    }
    compare(&side(a), &side(b), design, measure, options).map_err(|why| why.to_string())
}

/// Losses are compared by trials only: one trial has one.
fn losses(a: Loaded<'_>, b: Loaded<'_>, options: &Options) -> Result<Compared, String> {
    let shares = |loaded| loss::of_trials(loaded).unwrap_or_default();
    let (of_a, of_b) = (shares(a), shares(b));
    if of_a.len().min(of_b.len()) < ENOUGH_TRIALS {
        return Err(format!("a loss is only compared over {ENOUGH_TRIALS} or more trials a side"));
    }
    let whole =
        |shares: Vec<f64>| shares.into_iter().map(|s| vec![(s * FINE_SHARE).round() as u64]).collect::<Vec<_>>();
    let comparison = with(&whole(of_a), &whole(of_b), a.design_with(&b), Measure::Median, options)?;
    Ok(Compared { comparison, by: String::new() })
}

/// Consecutive values of a series.
struct Piece<'a> {
    values: &'a dyn Samples,
    start: u64,
    end: u64,
}

impl Samples for Piece<'_> {
    fn len(&self) -> u64 {
        self.end - self.start
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        self.values.visit(self.start + start, self.start + end, see);
    }
}

fn wholes<'a>(trials: &'a [Box<dyn Samples + 'a>]) -> Vec<Piece<'a>> {
    trials.iter().map(|trial| Piece { values: &**trial, start: 0, end: trial.len() }).collect()
}

fn pieces(values: &dyn Samples) -> Result<Vec<Piece<'_>>, String> {
    let count = values.len();
    let number = (count / LEAST_PIECE).min(PIECES);
    if number < ENOUGH_TRIALS as u64 {
        return Err(format!("{count} samples of few starts are too few to tell whether that would be so again"));
    }
    let at = |index: u64| count * index / number;
    Ok((0..number).map(|i| Piece { values, start: at(i), end: at(i + 1) }).collect())
}

fn no_intervals(options: &Options) -> Options {
    Options { resamples: NO_INTERVALS, ..*options }
}

/// Why a series is not what it is called: a setting among those that are `relevant` was refused.
fn refused(series: &Series, relevant: impl Fn(&str) -> bool) -> Option<String> {
    let refused = series.refused();
    let (name, asked, effective) = refused.iter().find(|(name, ..)| relevant(name))?;
    let why = if effective.why.is_empty() { String::new() } else { format!(": {}", effective.why) };
    Some(format!("{name}={asked} did not take effect in {}{why}", series.name))
}

fn inside(figure: f64, interval: Option<Interval>, low: f64, high: f64) -> Verdict {
    if (low..=high).contains(&figure) {
        Verdict::Holds
    } else if interval.is_some_and(|i| i.low <= high && i.high >= low) {
        Verdict::NotSupported
    } else {
        Verdict::DoesNotHold
    }
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

fn worst(cases: Vec<(String, Judgement)>) -> Judgement {
    if let [(_, only)] = &cases[..] {
        return only.clone();
    }
    let verdict = cases.iter().map(|(_, j)| j.verdict.clone()).max();
    let verdict = verdict.unwrap_or(Verdict::NotMeasured(String::new()));
    // What decided comes first.
    let (first, rest): (Vec<_>, Vec<_>) = cases.iter().partition(|(_, j)| j.verdict == verdict);
    let mut said = BTreeSet::new();
    let texts = first.into_iter().chain(rest).map(|(name, j)| format!("{name}: {}", j.shown));
    let texts: Vec<_> = texts.filter(|text| said.insert(text.clone())).collect();
    let figures: Vec<_> = cases.iter().map(|(_, j)| j.figure.as_str()).filter(|f| !f.is_empty()).collect();
    Judgement { verdict, shown: texts.join("; "), figure: figures.join(", ") }
}
