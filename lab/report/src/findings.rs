//! Findings: the results that matter most for a user of this machine, one sentence each.
//!
//! Every candidate for a finding reads the analysed series and returns a weight: about how many powers of ten the
//! measured value is away from what a user would assume. The heaviest three are printed at the end of a run.
//!
//! A finding is a fact of one series, or sets two of the same run side by side; it names policy, load and environment of what it
//! is about, and claims nothing of what ran otherwise. Of a series that was not recorded whole it says so.

use kizami_recording::folder::{Series, Unit as SampleUnit};
use kizami_recording::quantity::Quantity;
use kizami_recording::stats::Known;
use serde::Serialize;

use crate::analysis::{self, Analysis};
use crate::missing;
use crate::plot::Unit;

/// A result that matters for a user of this machine.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// One sentence with the figure.
    pub headline: String,
    /// The consequence for a user who builds on this machine.
    pub meaning: String,
    pub weight: f64,
}

/// All findings, the heaviest first.
pub fn find(analyses: &[Analysis<'_>]) -> Vec<Finding> {
    let candidates = [
        not_recorded,
        clock_still,
        imported,
        wake_up,
        noise,
        erlang_sleep,
        ignored,
        fsync,
        udp_loss,
        latency_under_load,
        first_call,
    ];
    let mut findings: Vec<Finding> = candidates.iter().filter_map(|candidate| candidate(analyses)).collect();
    findings.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    findings
}

fn time(value: f64) -> String {
    Unit::Nanoseconds.value(value)
}

/// Those of a workload that say something of this machine, and under which conditions.
fn of<'r, 'a>(analyses: &'r [Analysis<'a>], workload: &'static str) -> impl Iterator<Item = &'r Analysis<'a>> {
    let is_known = |series: &Series| !series.is_of_an_emulator() && !series.is_imported();
    let of_it = move |a: &&Analysis<'_>| a.series().workload == workload && is_known(a.series());
    analyses.iter().filter(of_it).filter(|a| a.summary.is_some())
}

/// The maximum, or what it is at least.
fn worst(analysis: &Analysis<'_>) -> Known<f64> {
    let max = analysis.summary.as_ref().map_or(Known::Exactly(0), |s| s.max);
    max.map(|max| analysis.scale(max as f64))
}

/// A maximum in words: `5.13 ms`, or `at least 5.13 ms`.
fn up_to(worst: Known<f64>) -> String {
    match worst {
        Known::Exactly(worst) => time(worst),
        bound => format!("at least {}", time(bound.bound())),
    }
}

fn median(analysis: &Analysis<'_>) -> f64 {
    analysis.summary.as_ref().map_or(0.0, |s| analysis.scale(s.median.bound()))
}

/// What really ran.
#[derive(Debug, PartialEq, Eq)]
struct Conditions {
    policy: String,
    load: String,
    environment: String,
}

impl Conditions {
    fn of(series: &Series) -> Self {
        let effective = |name: &str| {
            let mut values: Vec<&str> =
                series.trials.iter().filter_map(|t| t.effective.get(name)).map(|e| e.value.as_str()).collect();
            values.sort_unstable();
            values.dedup();
            (!values.is_empty()).then(|| values.join(" or "))
        };
        Self {
            policy: effective("policy").unwrap_or_else(|| "unknown".into()),
            load: effective("load").map_or_else(|| "without load".to_owned(), |load| format!("under load {load}")),
            environment: match series.environment.as_str() {
                "host" => "on the host".into(),
                _ => format!("in {}", series.place()),
            },
        }
    }

    fn is_real_time(&self) -> bool {
        ["fifo", "rr", "deadline"].iter().any(|policy| self.policy.starts_with(policy))
    }
}

/// Samples that were taken and are not among the figures.
fn not_recorded(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let mut said = analyses.iter().filter_map(|a| Some((a.series(), missing::sentence(a.series())?)));
    let (series, sentence) = said.next()?;
    let others = match said.count() {
        0 => String::new(),
        count => format!(" The same is true of {} more.", counted(count, "series")),
    };
    let (headline, rest) = sentence.split_once(". ").unwrap_or((sentence.trim_end_matches('.'), ""));
    Some(Finding {
        headline: format!("{}: {headline}.", series.name),
        meaning: format!("{rest}{others}"),
        weight: 10.0,
    })
}

/// A clock that stands still while time passes.
fn clock_still(analyses: &[Analysis<'_>]) -> Option<Finding> {
    // Readings may be closer together than the steps in which a clock counts.
    const IN_A_STEP: f64 = 10.0;
    let most = |series: &Series| {
        let still = series.trials.iter().filter_map(|trial| trial.facts.get("clock_still_pairs").copied());
        still.fold(0.0, f64::max)
    };
    let all = analyses.iter().map(|a| (most(a.series()), a.series()));
    let mut still: Vec<_> = all.filter(|(pairs, _)| *pairs > IN_A_STEP).collect();
    still.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let (pairs, series) = still.first()?;
    Some(Finding {
        headline: format!(
            "The clock {} stood still for {pairs:.0} pairs of readings, one after the other, before {} was measured.",
            Conditions::of(series).environment,
            series.name
        ),
        meaning: format!(
            "Shorter times than it stands still for are not known. It is so in {}. Where the clocks of two processors run apart, a \
             kernel has its clock wait for the one behind: take another clock source, or one processor.",
            counted(still.len(), "series")
        ),
        weight: 9.0,
    })
}

/// The longest time of another tool's. Under which policy and load it was taken, and how often, its file does not say.
fn imported(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let is_time = |a: &&Analysis<'_>| a.series().columns.first().is_some_and(|c| c.unit == SampleUnit::Nanoseconds);
    let all = analyses.iter().filter(|a| a.series().is_imported() && a.summary.is_some()).filter(is_time);
    let most = all.max_by(|a, b| worst(a).bound().total_cmp(&worst(b).bound()))?;
    let samples = most.summary.as_ref().map_or(0, |summary| summary.count);
    Some(Finding {
        headline: format!("{}: the longest of {samples} samples is {}.", most.series().name, up_to(worst(most))),
        meaning:
            "Under which policy and load it was measured is not known here, so nothing follows for what runs otherwise."
                .into(),
        weight: (worst(most).bound() / 50_000.0).log10().max(0.0),
    })
}

/// How late a periodic thread wakes at worst, beside one of a real-time policy under the same load.
fn wake_up(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let conditions = |a: &Analysis<'_>| Conditions::of(a.series());
    let later = |a: &&Analysis<'_>, b: &&Analysis<'_>| worst(a).bound().total_cmp(&worst(b).bound());
    let other = of(analyses, "wakeup").filter(|a| conditions(a).policy == "other").max_by(later)?;
    let (late, Conditions { load, environment, policy }) = (worst(other), conditions(other));
    let period = other.series().params.get("interval").map_or("1ms", String::as_str);
    let interval = Quantity::Time.parse(period).unwrap_or(1) as f64;
    let same = |a: &&Analysis<'_>| {
        let theirs = conditions(a);
        let same = (&theirs.load, &theirs.environment) == (&load, &environment);
        theirs.is_real_time() && same && a.series().params == other.series().params
    };
    let real_time = of(analyses, "wakeup").filter(same).max_by(later);
    let mut meaning = String::new();
    if late.bound() > interval {
        meaning.push_str("It missed whole periods, one after the other. ");
    }
    if let Some(real_time) = real_time {
        let (theirs, policy) = (worst(real_time), conditions(real_time).policy);
        meaning.push_str(&format!(
            "Under policy {policy} it was {} in the same run and under the same load.",
            up_to(theirs)
        ));
        if theirs.bound() >= late.bound() {
            meaning
                .push_str(" What holds both up may lie below the scheduler: the hypervisor, firmware or interrupts.");
        }
    }
    let less =
        real_time.map_or(0.0, |r| (late.bound() / worst(r).bound().max(1.0)).max(f64::MIN_POSITIVE).log10().abs());
    Some(Finding {
        headline: format!(
            "A thread under policy {policy} that wakes every {period} came up to {} late {load} {environment}.",
            up_to(late)
        ),
        meaning: meaning.trim().to_owned(),
        weight: (late.bound() / 50_000.0).log10().max(0.0) + less,
    })
}

/// Time that a program does not get although it never sleeps: the longest piece, and the share of the same series.
fn noise(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let longest = of(analyses, "clock-gap").max_by(|a, b| worst(a).bound().total_cmp(&worst(b).bound()))?;
    let series = longest.series();
    let fact = |name: &str| series.fact(&format!("{name}_{}", series.part));
    let share = fact("lost_ns").zip(fact("elapsed_ns")).map(|(lost, elapsed)| lost / elapsed);
    let lost = share.map_or(String::new(), |share| format!(", and lost {:.2} % of its time in all,", 100.0 * share));
    let gap = worst(longest);
    let conditions = Conditions::of(series);
    let Conditions { policy, load, environment } = &conditions;
    let place = if series.part.is_empty() { String::new() } else { format!(" ({})", series.part) };
    let mut meaning = if conditions.is_real_time() {
        format!("A thread under policy {policy} that reacts faster than that cannot be promised here {load}.")
    } else {
        "That is what an ordinary thread has to expect; of a thread with a real-time policy it says nothing.".to_owned()
    };
    let real_time = of(analyses, "wakeup").filter(|a| {
        let theirs = Conditions::of(a.series());
        theirs.is_real_time() && theirs.environment == *environment
    });
    let latest = real_time.max_by(|a, b| worst(a).bound().total_cmp(&worst(b).bound()));
    if let Some(latest) = latest.filter(|_| !conditions.is_real_time()) {
        let theirs = Conditions::of(latest.series());
        let late = up_to(worst(latest));
        meaning.push_str(&format!(
            " In the same run one under policy {} woke up to {late} late {}.",
            theirs.policy, theirs.load
        ));
    }
    meaning.push_str(" kizami doctor says who is likely to take the time.");
    Some(Finding {
        headline: format!(
            "A thread under policy {policy} that never sleeps was held up for {} in one piece{lost} {load} \
             {environment}{place}.",
            up_to(gap)
        ),
        meaning,
        weight: (gap.bound() / 20_000.0).log10().max(0.0)
            + share.map_or(0.0, |s| (s * 100.0).max(0.1).log10().max(0.0)),
    })
}

/// The Erlang VM's timer: where it was far too late, otherwise as it is.
fn erlang_sleep(analyses: &[Analysis<'_>]) -> Option<Finding> {
    // A tick of a millisecond, and the way to whoever waits.
    const EXPLAINED: f64 = 2e6;
    let asked = |a: &Analysis<'_>| a.series().params.get("n").and_then(|n| n.parse().ok()).unwrap_or(0.0) * 1e6;
    let late = |a: &Analysis<'_>| (median(a) - asked(a)).max(0.0);
    let series = || of(analyses, "sleep").filter(|a| a.series().environment == "beam");
    let latest = series().max_by(|a, b| late(a).total_cmp(&late(b))).filter(|latest| late(latest) > EXPLAINED);
    let said = latest.or_else(|| series().min_by_key(|a| a.series().requested.len()))?;
    let conditions = Conditions::of(said.series());
    let most = worst(said);
    let meaning = if latest.is_none() {
        format!(
            "The VM counts timers in ticks of a millisecond and rounds up: plan with {} more than asked.",
            time(late(said))
        )
    } else {
        let without = |a: &Analysis<'_>| waits_busily(a) == Some(false) && a.series().params == said.series().params;
        let quiet =
            series().find(|a| without(a) && Conditions::of(a.series()) == conditions && late(a) < late(said) / 2.0);
        let quiet = quiet.filter(|_| waits_busily(said) == Some(true)).map_or(String::new(), |quiet| {
            format!(
                " With vm_flags {} it takes {} in the same run and under the same load: a scheduler of the VM without work calls \
                 sched_yield again and again before it sleeps, and each lets the others of its group run first.",
                quiet.series().requested["vm_flags"],
                time(median(quiet))
            )
        });
        format!(
            "That is {} more than asked, of which the VM's timers, ticks of a millisecond rounded up, explain 1 ms.{quiet}",
            time(late(said))
        )
    };
    Some(Finding {
        headline: format!(
            "timer:sleep({:.0}) takes {} in the Erlang VM{} under policy {} {}, and up to {}.",
            asked(said) / 1e6,
            time(median(said)),
            said.series().requested.get("vm_flags").map_or(String::new(), |flags| format!(" with {flags}")),
            conditions.policy,
            conditions.load,
            up_to(most)
        ),
        meaning,
        weight: 0.4 + ((most.bound() - asked(said)) / asked(said).max(1.0)).max(0.01).log10().max(0.0),
    })
}

/// Whether the schedulers of a series' VM look for work before they sleep, as they do unless told otherwise.
fn waits_busily(analysis: &Analysis<'_>) -> Option<bool> {
    if analysis.series().refused().iter().any(|(name, ..)| *name == "vm_flags") {
        return None;
    }
    Some(!analysis.series().requested.get("vm_flags").is_some_and(|flags| flags.contains("+sbwt none")))
}

/// Settings that were asked for and had no effect.
fn ignored(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let mut seen: Vec<(String, String)> = Vec::new();
    for (name, asked, effective) in analyses.iter().flat_map(|a| a.series().refused()) {
        let words = format!("{name} = {asked} ({} was in force)", effective.value);
        if !seen.iter().any(|(w, _)| *w == words) {
            seen.push((words, effective.why.clone()));
        }
    }
    let names: Vec<&str> = seen.iter().map(|(words, _)| words.as_str()).collect();
    let (_, why) = seen.first()?;
    Some(Finding {
        headline: format!("{} did not take effect: {}.", counted(seen.len(), "setting"), names.join(", ")),
        meaning: format!("{}The series are labelled with what really ran.", sentence(why)),
        weight: 0.7 + 0.2 * seen.len() as f64,
    })
}

/// What durable writes cost.
fn fsync(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let param = |a: &Analysis<'_>, name: &str| a.series().params.get(name).cloned();
    let is = |a: &Analysis<'_>, op: &str| param(a, "op").as_deref() == Some(op);
    let durable = of(analyses, "file").find(|a| is(a, "write-fsync") && param(a, "size").as_deref() == Some("4KiB"))?;
    let conditions = Conditions::of(durable.series());
    let plain = of(analyses, "file").find(|a| {
        let same = ["size", "place", "cache"].iter().all(|name| param(a, name) == param(durable, name));
        is(a, "write") && same && Conditions::of(a.series()) == conditions
    });
    let (middle, most) = (median(durable), worst(durable));
    let times = plain.map_or(String::new(), |p| format!(", {:.0} times a write alone", middle / median(p).max(1.0)));
    let Conditions { policy, load, environment } = conditions;
    Some(Finding {
        headline: format!(
            "Making 4 KiB durable (write and fsync) takes {}{times}, and up to {}, under policy {policy} {load} {environment}.",
            time(middle),
            up_to(most)
        ),
        meaning: "A control loop must not wait for the disk: hand the data to another thread.".into(),
        weight: 0.3 + (most.bound() / middle.max(1.0)).log10() / 2.0,
    })
}

/// Where datagrams begin to be lost.
fn udp_loss(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let points = of(analyses, "udp").filter_map(|a| Some((a.series(), analysis::rate_point(a)?)));
    let losing = points.filter(|(_, p)| p.loss.value > 0.1);
    let (series, losing) = losing.min_by(|(_, a), (_, b)| a.offered.total_cmp(&b.offered))?;
    let rate = |value| Unit::BitsPerSecond.value(value);
    let Conditions { policy, load, environment } = Conditions::of(series);
    Some(Finding {
        headline: format!(
            "UDP over loopback loses {:.1} % of its datagrams at {} offered, under policy {policy} {load} {environment}.",
            losing.loss.value,
            rate(losing.offered)
        ),
        meaning:
            "The usual reason is that the receiver's socket buffer is full while the receiver does not run: a larger SO_RCVBUF, or a \
                  real-time policy for the receiver."
                .into(),
        weight: 0.3 + (losing.loss.value / 1.0).log10().max(0.0) / 2.0,
    })
}

/// The paper's OS latency, idle and under load.
fn latency_under_load(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let has_load = |a: &Analysis<'_>| a.series().requested.contains_key("load");
    let loaded = of(analyses, "os-latency").find(|a| has_load(a))?;
    let Conditions { policy, load, environment } = Conditions::of(loaded.series());
    let idle = of(analyses, "os-latency").find(|a| {
        let theirs = Conditions::of(a.series());
        let same = (&theirs.policy, &theirs.environment) == (&policy, &environment);
        !has_load(a) && same && a.series().params == loaded.series().params
    })?;
    let ratio = worst(loaded).bound() / worst(idle).bound().max(1.0);
    Some(Finding {
        headline: format!(
            "The paper's OS latency was up to {} without load and up to {} {load}, under policy {policy} {environment}.",
            up_to(worst(idle)),
            up_to(worst(loaded)),
        ),
        meaning: "The published board had 5 to 13 ms (Linux 2.6) and 21 to 47 ms (2.4) under TCP load.".into(),
        weight: 0.2 + ratio.log10().abs() / 2.0,
    })
}

/// Cold calls that a deadline must allow for.
fn first_call(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let ratio = |a: &Analysis<'_>| a.cold.map_or(0.0, |cold| a.scale(cold as f64) / median(a).max(1.0));
    let candidates = ["sum", "fib", "pipe-rtt", "ctx-ring"].iter().flat_map(|w| of(analyses, w));
    let most = candidates.max_by(|a, b| ratio(a).total_cmp(&ratio(b)))?;
    let times = ratio(most);
    let Conditions { policy, load, environment } = Conditions::of(most.series());
    (times > 2.0).then(|| Finding {
        headline: format!(
            "The first call of {} {environment} (policy {policy}, {load}) took {}, {times:.0} times the usual {}.",
            most.series().workload,
            time(most.scale(most.cold.unwrap_or(0) as f64)),
            time(median(most))
        ),
        meaning: "Warm up whatever has a deadline: call it once before it counts.".into(),
        weight: times.log10() / 2.0,
    })
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 || what.ends_with('s') { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// `why` as a sentence of its own, or nothing.
fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    match letters.next() {
        Some(first) => format!("{}{}. ", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
}

#[cfg(test)]
#[path = "findings_tests.rs"]
mod tests;
