//! Decisions about deadlines: of series that miss theirs more often, and less often, than is allowed; of series that are too
//! short to show it; and what is said to help, of sides that are alike.

use std::path::Path;

use crate::kinds::{KINDS, Kind, Random};
use crate::others::Outcome;
use crate::product::{Product, Trials, record, record_with};

/// A decision is false in so many percent of all tries at most.
const FALSE: f64 = 5.0;
/// The share that is allowed to be late.
const ALLOWED: f64 = 0.01;
/// Independent and skewed, with a heavy tail, dependent, and late in bunches.
const OF: [&str; 5] = ["exponential", "log-normal", "AR 0.9", "many stalls", "two modes"];
const TOGETHER: u64 = 50;

/// How often decisions are false.
///
/// # Errors
/// What the command did not do.
pub fn decisions(
    product: &Product,
    (repeats, seed): (u64, u64),
    largest: usize,
    folder: &Path,
) -> Result<Vec<Outcome>, String> {
    let many = 10_000.min(largest);
    // Too few to show that one in a hundred is late at most: it takes 300 that are all in time.
    let few = 280;
    let all = [
        ("late a quarter more often than allowed", 1.25, many, "meets", FALSE),
        ("late twice as often as allowed", 2.0, many, "meets", FALSE),
        ("late a fifth less often than allowed", 0.8, many, "does-not", FALSE),
        ("late half as often as allowed", 0.5, many, "does-not", FALSE),
        ("never late, of too few samples to show it", 0.0, few, "meets", 0.0),
    ];
    let decided = all.iter().map(|&(what, times, n, wrong, bound)| {
        let mut outcome = Outcome { what: format!("decision, {what}"), made: 0, wrong: 0, bound };
        for kind in KINDS.iter().filter(|kind| OF.contains(&kind.name)) {
            of_kind(product, (repeats, seed), folder, kind, (times, n, wrong), &mut outcome)?;
        }
        Ok(outcome)
    });
    decided.chain([help(product, (repeats, seed), many, folder)]).collect()
}

/// Starts of each of two sides that are alike but for their policy, and how much their levels vary.
const STARTS: usize = 5;
const LEVELS: f64 = 0.05;
/// They are late so many times as often as is allowed.
const TIMES: f64 = 5.0;

/// How often one of two sides that are alike is said to help the other.
fn help(product: &Product, (repeats, seed): (u64, u64), n: usize, folder: &Path) -> Result<Outcome, String> {
    let what = format!("what would help, {STARTS} starts a side, of sides that are alike");
    let mut outcome = Outcome { what, made: 0, wrong: 0, bound: FALSE };
    for kind in KINDS.iter().filter(|kind| OF.contains(&kind.name)) {
        let deadline = kind.truth.quantile(1.0 - TIMES * ALLOWED);
        for first in (0..repeats).step_by(TOGETHER as usize) {
            let sides: Vec<Trials> = (first..repeats.min(first + TOGETHER))
                .flat_map(|repeat| {
                    let mut random = Random::new(seed.wrapping_add(repeat));
                    [(); 2].map(|()| starts(kind, &mut random, n))
                })
                .collect();
            let recording = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
            let path = recording.path().join("r");
            record_with(&path, &sides, &|number, series| {
                series.params.insert("pair".to_owned(), (number / 2).to_string());
                series.requested.insert("policy".to_owned(), ["fifo:80", "rr:80"][number % 2].to_owned());
            })?;
            for said in product.decide(&path, deadline, ALLOWED)? {
                outcome.made += 1;
                outcome.wrong += u32::from(!said["helps"].is_null());
            }
        }
    }
    Ok(outcome)
}

/// Starts of `kind`, `n` samples in all, each with a level of its own.
fn starts(kind: &Kind, random: &mut Random, n: usize) -> Trials {
    let one = |_| {
        let level = (LEVELS * random.normal()).exp();
        (kind.make)(random, n / STARTS).iter().map(|&value| (value as f64 * level) as u64).collect()
    };
    (0..STARTS).map(one).collect()
}

/// Series of `kind` with `n` samples, whose share of late ones is `times` what is allowed: counts those that are decided
/// `wrong`.
fn of_kind(
    product: &Product,
    (repeats, seed): (u64, u64),
    folder: &Path,
    kind: &Kind,
    (times, n, wrong): (f64, usize, &str),
    outcome: &mut Outcome,
) -> Result<(), String> {
    let deadline = kind.truth.quantile(1.0 - times * ALLOWED);
    for first in (0..repeats).step_by(TOGETHER as usize) {
        let seeds = first..repeats.min(first + TOGETHER);
        let make = |repeat| vec![(kind.make)(&mut Random::new(seed.wrapping_add(repeat)), n)];
        let recording = tempfile::tempdir_in(folder).map_err(|e| e.to_string())?;
        let path = recording.path().join("r");
        record(&path, &seeds.map(make).collect::<Vec<_>>())?;
        for said in product.decide(&path, deadline, ALLOWED)? {
            outcome.made += 1;
            outcome.wrong += u32::from(said["decision"] == wrong);
        }
    }
    Ok(())
}
