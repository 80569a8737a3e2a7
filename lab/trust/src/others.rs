//! Statements about two sides that are alike, and about histograms that end before their samples do.

use std::fs;
use std::path::Path;

use serde_json::{Value, json};

use crate::kinds::{KINDS, Random};
use crate::product::{Product, Trials, record};

/// How often a statement was false.
pub struct Outcome {
    pub what: String,
    pub made: u32,
    pub wrong: u32,
    /// In percent.
    pub bound: f64,
}

impl Outcome {
    pub fn percent(&self) -> f64 {
        if self.made == 0 { 0.0 } else { 100.0 * f64::from(self.wrong) / f64::from(self.made) }
    }
}

/// False differences in percent, of sides that are alike.
const FALSE: f64 = 6.0;
/// A statement about a deadline is false in so many percent at most.
const DEADLINE: f64 = 7.0;

/// Starts of one side: autoregressive samples, and a level of its own for each start, which varies by 5 %.
fn starts(random: &mut Random, number: usize) -> Trials {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == "AR 0.9") else { return Vec::new() };
    let one = |_| {
        let level = (0.05 * random.normal()).exp();
        (kind.make)(random, 300).iter().map(|&value| (value as f64 * level) as u64).collect()
    };
    (0..number).map(one).collect()
}

/// Differences that are found between two recordings, or two interleaved series of one, of the same kind.
///
/// # Errors
/// What the command did not do.
pub fn differences(
    product: &Product,
    number: usize,
    repeats: u64,
    seed: u64,
    folder: &Path,
) -> Result<Vec<Outcome>, String> {
    let of = |what: &str| Outcome {
        what: format!("difference, {number} starts a side, {what}"),
        made: 0,
        wrong: 0,
        bound: FALSE,
    };
    let (mut apart, mut rounds) = (of("two runs"), of("one run"));
    let count = |outcome: &mut Outcome, said: &[Value]| {
        for comparison in said.iter().map(|said| &said["comparison"]) {
            outcome.made += 1;
            let verdict = comparison["support"]["verdict"].as_str().unwrap_or("none");
            outcome.wrong += u32::from(matches!(verdict, "lower" | "higher"));
        }
    };
    const TOGETHER: u64 = 25;
    for first in (0..repeats).step_by(TOGETHER as usize) {
        let sides: Vec<Trials> = (2 * first..2 * repeats.min(first + TOGETHER))
            .map(|repeat| starts(&mut Random::new(seed.wrapping_add(repeat)), number))
            .collect();
        let (a, b): (Vec<_>, Vec<_>) = sides.chunks_exact(2).map(|pair| (pair[0].clone(), pair[1].clone())).unzip();
        let folder = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
        let [path_a, path_b, both] = ["a", "b", "both"].map(|name| folder.path().join(name));
        record(&path_a, &a)?;
        record(&path_b, &b)?;
        record(&both, &sides)?;
        let name = |path: &Path| path.display().to_string();
        count(&mut apart, &product.compare(&name(&path_a), &name(&path_b), folder.path())?);
        for pair in 0..a.len() {
            let series = |side: usize| format!("{}:s{}", name(&both), 2 * pair + side);
            count(&mut rounds, &product.compare(&series(0), &series(1), folder.path())?);
        }
    }
    Ok(vec![apart, rounds])
}

/// Figures and deadlines of histograms of cyclictest that end at the 95th percentile.
///
/// # Errors
/// What the command did not do.
pub fn censored(product: &Product, repeats: u64, seed: u64, folder: &Path) -> Result<Vec<Outcome>, String> {
    let Some(kind) = KINDS.iter().find(|kind| kind.name == "exponential") else { return Ok(Vec::new()) };
    let truth = kind.truth;
    let bins = truth.quantile(0.95) / 1000;
    let of = |what: &str, bound| Outcome {
        what: format!("histogram that ends at its p95, {what}"),
        made: 0,
        wrong: 0,
        bound,
    };
    let mut figures = of("figures and bounds", 0.0);
    let deadlines: Vec<u64> = [0.9, 0.99, 0.999].map(|share| truth.quantile(share)).to_vec();
    let mut shares = of("deadlines below and above", DEADLINE);
    let folder = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
    let mut series = Vec::new();
    let mut files = Vec::new();
    for repeat in 0..repeats {
        let samples = (kind.make)(&mut Random::new(seed.wrapping_add(repeat)), 2000);
        let mut counts = vec![0u64; bins as usize];
        for bin in samples.iter().map(|sample| (sample / 1000) as usize) {
            if let Some(count) = counts.get_mut(bin) {
                *count += 1;
            }
        }
        let max = samples.iter().max().map_or(0, |max| max / 1000);
        // By hand, because its keys must ascend as numbers and not as text.
        let filled = counts.iter().enumerate().filter(|(_, count)| **count > 0);
        let histogram: Vec<String> = filled.map(|(bin, count)| format!("\"{bin}\": {count}")).collect();
        let text = json!({
            "file_version": 1, "cmdline:": format!("cyclictest -h {bins}"), "num_threads": 1, "resolution_in_ns": 0,
            "thread": { "0": { "histogram": "HERE", "cycles": samples.len(), "min": 0, "max": max, "avg": 0 } },
        });
        let text = text.to_string().replace("\"HERE\"", &format!("{{ {} }}", histogram.join(", ")));
        let file = folder.path().join(format!("h{repeat}.json"));
        fs::write(&file, text).map_err(|e| e.to_string())?;
        files.push(file);
        series.push(samples);
    }
    let recording = product.import(&files, folder.path())?;
    for deadline in deadlines {
        for said in product.show(&recording, deadline)? {
            let name = said["series"]["name"].as_str().and_then(|name| name.rsplit('h').next());
            let Some(samples) = name.and_then(|n| n.parse::<usize>().ok()).and_then(|n| series.get(n)) else {
                return Err(format!("an imported series is called {}", said["series"]["name"]));
            };
            shares.made += 1;
            let interval = &said["deadline"]["interval"];
            let (low, high) = (interval["low"].as_f64().unwrap_or(0.0), interval["high"].as_f64().unwrap_or(1.0));
            shares.wrong += u32::from(!(low..=high).contains(&truth.misses(deadline)));
            figures.made += 1;
            figures.wrong += u32::from(!holds(&said, samples, deadline));
        }
    }
    Ok(vec![figures, shares])
}

/// Whether what is said of a histogram holds of the samples that it was made of, which were rounded down to microseconds.
fn holds(said: &Value, samples: &[u64], deadline: u64) -> bool {
    let mut sorted: Vec<u64> = samples.iter().map(|sample| sample / 1000 * 1000).collect();
    sorted.sort_unstable();
    let rank = |share: f64| sorted[((share * sorted.len() as f64).ceil() as usize).clamp(1, sorted.len()) - 1] as f64;
    let known = |said: &Value, truth: f64| match (said["more_than"].as_f64(), said["at_least"].as_f64()) {
        (Some(bound), _) => truth > bound,
        (_, Some(bound)) => truth >= bound,
        _ => said.as_f64() == Some(truth),
    };
    let summary = &said["summary"];
    let figures = [("p90", 0.9), ("p95", 0.95), ("p99", 0.99), ("p99_9", 0.999), ("max", 1.0)];
    let deadline_said = &said["deadline"];
    let (misses, possible) = (deadline_said["misses"].as_u64(), deadline_said["possible"].as_u64());
    let late = sorted.iter().filter(|&&sample| sample > deadline).count() as u64;
    summary["count"] == sorted.len()
        && figures.iter().all(|(name, share)| known(&summary[*name], rank(*share)))
        && misses.zip(possible).is_some_and(|(misses, possible)| (misses..=misses + possible).contains(&late))
}
