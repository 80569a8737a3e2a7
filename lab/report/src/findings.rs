//! What is most worth knowing about this machine, said in a sentence each.
//!
//! Every candidate looks at the analysed series, and gives a weight: about how many powers of ten the thing is away from
//! what a user would assume. The heaviest three end a run. Nothing is said that was not measured in it.

use kizami_recording::folder::Series;
use kizami_recording::quantity::Quantity;
use serde::Serialize;

use crate::analysis::Analysis;
use crate::plot::Unit;

/// See the module.
#[derive(Debug, Clone, Serialize)]
pub struct Finding {
    /// One sentence with the figure.
    pub headline: String,
    /// What it means for who builds on this machine.
    pub meaning: String,
    pub weight: f64,
}

/// All findings, the heaviest first.
pub fn find(analyses: &[Analysis<'_>]) -> Vec<Finding> {
    let candidates = [wake_up, noise, erlang_sleep, ignored, fsync, udp_loss, latency_under_load, first_call];
    let mut findings: Vec<Finding> = candidates.iter().filter_map(|candidate| candidate(analyses)).collect();
    findings.sort_by(|a, b| b.weight.total_cmp(&a.weight));
    findings
}

fn time(value: f64) -> String {
    Unit::Nanoseconds.value(value)
}

fn of<'r, 'a>(analyses: &'r [Analysis<'a>], workload: &'static str) -> impl Iterator<Item = &'r Analysis<'a>> {
    analyses.iter().filter(move |a| a.series().workload == workload && a.summary.is_some())
}

fn worst(analysis: &Analysis<'_>) -> f64 {
    analysis.summary.as_ref().map_or(0.0, |s| analysis.scale(s.max as f64))
}

fn median(analysis: &Analysis<'_>) -> f64 {
    analysis.summary.as_ref().map_or(0.0, |s| analysis.scale(s.median))
}

/// The policy that really ran, and the load.
fn conditions(series: &Series) -> (String, String) {
    let effective = |name: &str| series.trials.iter().find_map(|t| t.effective.get(name)).map(|e| e.value.clone());
    let load = effective("load").map_or_else(|| "without load".to_owned(), |load| format!("under load ({load})"));
    (effective("policy").unwrap_or_else(|| "other".into()), load)
}

/// How late a periodic thread wakes at worst, and what a real-time policy changes.
fn wake_up(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let by_policy = |wanted: fn(&str) -> bool| {
        let mine = of(analyses, "wakeup").filter(|a| a.series().environment == "host");
        mine.filter(|a| wanted(&conditions(a.series()).0)).max_by(|a, b| worst(a).total_cmp(&worst(b)))
    };
    let other = by_policy(|p| p == "other")?;
    let (late, (_, load)) = (worst(other), conditions(other.series()));
    let period = other.series().params.get("interval").map_or("1ms", String::as_str);
    let interval = Quantity::Time.parse(period).unwrap_or(1) as f64;
    let real_time = by_policy(|p| p.starts_with("fifo") || p.starts_with("rr"));
    let mut meaning = match real_time {
        Some(fifo) if worst(fifo) < late => {
            let (policy, load) = conditions(fifo.series());
            format!("Under {policy} the worst was {} {load}: {:.0} times less.", time(worst(fifo)), late / worst(fifo))
        }
        Some(fifo) => {
            let (policy, load) = conditions(fifo.series());
            format!(
                "A real-time policy does not help here: under {policy} the worst was {} {load}, so the delay comes from \
                 below the scheduler (hypervisor, firmware or interrupts).",
                time(worst(fifo))
            )
        }
        None => String::new(),
    };
    if late > interval {
        meaning = format!("It missed whole periods, one after the other. {meaning}");
    }
    Some(Finding {
        headline: format!("An ordinary thread that wakes every {period} came up to {} late {load}.", time(late)),
        meaning: meaning.trim().to_owned(),
        weight: (late / 50_000.0).log10().max(0.0) + real_time.map_or(0.0, |f| (late / worst(f)).log10().abs()),
    })
}

/// Time that programs do not get although nothing else seems to run.
fn noise(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let fact = |a: &Analysis<'_>, name: &str| a.series().fact(&format!("{name}_{}", a.series().part));
    let longest = of(analyses, "clock-gap").max_by(|a, b| worst(a).total_cmp(&worst(b)))?;
    let share = |a: &Analysis<'_>| Some(fact(a, "lost_ns")? / fact(a, "elapsed_ns")?);
    let lost = of(analyses, "clock-gap").filter_map(share).fold(0.0, f64::max);
    let gap = worst(longest);
    Some(Finding {
        headline: format!(
            "A program that never sleeps was held up for {} in one piece, and loses {:.2} % of its time in all.",
            time(gap),
            100.0 * lost
        ),
        meaning:
            "No program on this machine can promise to react faster than that, whatever its priority; kizami doctor \
                  says who is likely to take the time."
                .into(),
        weight: (gap / 20_000.0).log10().max(0.0) + (lost * 100.0).max(0.1).log10().max(0.0),
    })
}

/// The Erlang VM's timer.
fn erlang_sleep(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let series = of(analyses, "sleep").filter(|a| a.series().environment == "beam");
    let plain = series.min_by_key(|a| a.series().requested.len())?;
    let asked = plain.series().params.get("n")?.parse::<f64>().ok()? * 1e6;
    let (middle, most) = (median(plain), worst(plain));
    Some(Finding {
        headline: format!(
            "timer:sleep({:.0}) takes {} in the Erlang VM, and up to {}.",
            asked / 1e6,
            time(middle),
            time(most)
        ),
        meaning: format!(
            "The VM counts timers in ticks of a millisecond and rounds up: plan with {} more than asked.",
            time((middle - asked).max(0.0))
        ),
        weight: 0.4 + ((most - asked) / asked).max(0.01).log10().max(0.0),
    })
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
    let op = |wanted: &'static str| {
        of(analyses, "file").find(|a| {
            let param = |name: &str| a.series().params.get(name).map(String::as_str);
            param("op") == Some(wanted) && param("size") == Some("4KiB")
        })
    };
    let (durable, plain) = (op("write-fsync")?, op("write"));
    let (middle, most) = (median(durable), worst(durable));
    let times = plain.map_or(String::new(), |p| format!(", {:.0} times a write alone", middle / median(p).max(1.0)));
    Some(Finding {
        headline: format!(
            "Making 4 KiB durable (write and fsync) takes {}{times}, and up to {}.",
            time(middle),
            time(most)
        ),
        meaning: "A control loop must not wait for the disk: hand the data to another thread.".into(),
        weight: 0.3 + (most / middle.max(1.0)).log10() / 2.0,
    })
}

/// Where datagrams begin to be lost.
fn udp_loss(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let points: Vec<_> = of(analyses, "udp").filter_map(crate::figures::rate_point).collect();
    let losing = points.iter().filter(|p| p.loss.value > 0.1).min_by(|a, b| a.offered.total_cmp(&b.offered))?;
    let rate = |value| Unit::BitsPerSecond.value(value);
    Some(Finding {
        headline: format!(
            "UDP over loopback loses {:.1} % of its datagrams at {} offered.",
            losing.loss.value,
            rate(losing.offered)
        ),
        meaning:
            "The receiver's socket buffer overflows while it does not run: a larger SO_RCVBUF or a real-time policy \
                  for the receiver helps."
                .into(),
        weight: 0.3 + (losing.loss.value / 1.0).log10().max(0.0) / 2.0,
    })
}

/// The paper's OS latency, idle and under load.
fn latency_under_load(analyses: &[Analysis<'_>]) -> Option<Finding> {
    let with =
        |loaded: bool| of(analyses, "os-latency").find(move |a| a.series().requested.contains_key("load") == loaded);
    let (idle, loaded) = (with(false)?, with(true)?);
    let ratio = worst(loaded) / worst(idle).max(1.0);
    Some(Finding {
        headline: format!(
            "The paper's OS latency is at most {} without load and {} {}.",
            time(worst(idle)),
            time(worst(loaded)),
            conditions(loaded.series()).1
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
    (times > 2.0).then(|| Finding {
        headline: format!(
            "The first call of {} ({}) took {}, {times:.0} times the usual {}.",
            most.series().workload,
            most.series().environment,
            time(most.scale(most.cold.unwrap_or(0) as f64)),
            time(median(most))
        ),
        meaning: "Warm up whatever has a deadline: call it once before it counts.".into(),
        weight: times.log10() / 2.0,
    })
}

fn counted(count: usize, what: &str) -> String {
    if count == 1 { format!("{count} {what}") } else { format!("{count} {what}s") }
}

/// `why` as a sentence of its own, or nothing.
fn sentence(why: &str) -> String {
    let mut letters = why.chars();
    match letters.next() {
        Some(first) => format!("{}{}. ", first.to_uppercase(), letters.as_str().trim_end_matches('.')),
        None => String::new(),
    }
}
