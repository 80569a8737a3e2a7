//! The comparison: runs the pump on OTP and on actix in turn, with the same faults, and prints how available each was.
//!
//! `pump-actix [ROUNDS [SEED]]`: each round has its own plan of 20 faults, every kind in every part, and runs each half once (9 s
//! each), in fresh processes and in an order that the seed shuffles. `pump-actix actix|actix-guarded SEED FAULTS` is one run of
//! that half.

use std::collections::BTreeMap;
use std::process::{Command, ExitCode};
use std::{env, fmt, io};

use pump::faults::Plan;
use pump::world::World;
use pump_actix::actors::{Mode, run};
use pump_actix::otp_half::OtpHalf;
use pump_actix::verdict::Verdict;

const FAULTS: usize = 20;
const HALVES: [&str; 4] = ["otp", "otp-plain", "actix", "actix-guarded"];

fn main() -> ExitCode {
    let arguments: Vec<String> = env::args().skip(1).collect();
    let number = |at: usize, or: u64| arguments.get(at).map_or(Ok(or), |text| text.parse::<u64>());
    let mode = match arguments.first().map(String::as_str) {
        Some("actix") => Some(Mode::Supervised),
        Some("actix-guarded") => Some(Mode::Guarded),
        _ => None,
    };
    let result = match mode {
        Some(mode) => match (number(1, 1), number(2, FAULTS as u64)) {
            (Ok(seed), Ok(faults)) => {
                World::install(World::new(Plan::new(seed, faults as usize)));
                print!("{}", run(mode));
                // Threads that hang are not waited for.
                std::process::exit(0);
            }
            _ => Err("a seed and a number of faults are numbers".to_owned()),
        },
        None => match (number(0, 5), number(1, 1)) {
            (Ok(rounds), Ok(seed)) => compare(rounds, seed),
            _ => Err("usage: pump-actix [ROUNDS [SEED]]".to_owned()),
        },
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("pump-actix: {error}");
            ExitCode::FAILURE
        }
    }
}

fn compare(rounds: u64, seed: u64) -> Result<(), String> {
    let otp = OtpHalf::compile()?;
    let mut runs: BTreeMap<&str, Vec<Verdict>> = BTreeMap::new();
    let mut dice = dice(seed);
    for round in 0..rounds {
        let plan = seed.wrapping_mul(1000) + round;
        let mut order = HALVES;
        for place in (1..order.len()).rev() {
            order.swap(place, dice() % (place + 1));
        }
        for half in order {
            let text = match half {
                "otp" => otp.run(plan, FAULTS, "dirty")?,
                "otp-plain" => otp.run(plan, FAULTS, "plain")?,
                half => actix(half, plan).map_err(|error| format!("cannot run {half}: {error}"))?,
            };
            let verdict = Verdict::read(&text)?;
            eprintln!(
                "round {round}, {half}: {:.2} % available, longest gap {}",
                100.0 * verdict.availability(),
                verdict.longest
            );
            runs.entry(half).or_default().push(verdict);
        }
    }
    println!("{rounds} rounds of {FAULTS} faults, seed {seed}; a period is 10 ms\n");
    println!("{:<14} {:>9} {:>20} {:>14} {:>14}", "", "available", "95 % interval", "longest gap", "median of them");
    for half in HALVES {
        println!("{half:<14} {}", Row(&runs[half], seed));
    }
    println!("\nperiods missed after a fault: median, and the most");
    println!("{:<21} {}", "", HALVES.map(|half| format!("{half:>14}")).join(" "));
    let kinds = runs["otp"].first().map(|verdict| verdict.missed.clone()).unwrap_or_default();
    for (part, kind) in kinds.keys() {
        let cell = |half: &str| {
            let key = (part.clone(), kind.clone());
            let mut all: Vec<u64> = runs[half].iter().flat_map(|run| run.missed.get(&key)).flatten().copied().collect();
            all.sort_unstable();
            format!("{} {:>6}", all.get(all.len() / 2).copied().unwrap_or(0), all.last().copied().unwrap_or(0))
        };
        println!("{part:<12} {kind:<8} {}", HALVES.map(|half| format!("{:>14}", cell(half))).join(" "));
    }
    Ok(())
}

fn actix(half: &str, plan: u64) -> io::Result<String> {
    let output = Command::new(env::current_exe()?)
        .args([half, &plan.to_string(), &FAULTS.to_string()])
        .env_remove("RUST_BACKTRACE")
        .output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Availability with its interval, and gaps.
struct Row<'a>(&'a [Verdict], u64);

impl fmt::Display for Row<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let all: Vec<f64> = self.0.iter().map(Verdict::availability).collect();
        let mean = all.iter().sum::<f64>() / all.len() as f64;
        let (low, high) = interval(&all, self.1);
        let mut gaps: Vec<u64> = self.0.iter().map(|verdict| verdict.longest).collect();
        gaps.sort_unstable();
        let ms = |periods: Option<&u64>| format!("{} ms", periods.copied().unwrap_or(0) * 10);
        let between = format!("{:.2} to {:.2} %", 100.0 * low, 100.0 * high);
        write!(f, "{:>7.2} % {between:>20} {:>14} {:>14}", 100.0 * mean, ms(gaps.last()), ms(gaps.get(gaps.len() / 2)))
    }
}

/// xorshift64, which needs a state that is not 0.
fn dice(seed: u64) -> impl FnMut() -> usize {
    let mut state = seed.wrapping_mul(2) | 1;
    move || {
        state ^= state << 13;
        state ^= state >> 7;
        state ^= state << 17;
        (state >> 11) as usize
    }
}

/// Of the mean over rounds, by bootstrap: 2000 times as many rounds, drawn from them.
fn interval(all: &[f64], seed: u64) -> (f64, f64) {
    let mut random = dice(seed);
    let mut means: Vec<f64> =
        (0..2000).map(|_| (0..all.len()).map(|_| all[random() % all.len()]).sum::<f64>() / all.len() as f64).collect();
    means.sort_by(f64::total_cmp);
    (means[50], means[1949])
}
