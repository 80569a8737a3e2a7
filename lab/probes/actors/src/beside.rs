//! Wake-up latency while others compute: for threads, which the kernel preempts, and for tasks, which yield by
//! themselves.

use std::hint::black_box;
use std::thread;
use std::time::{Duration, Instant};

use tokio::time::{MissedTickBehavior, interval_at};

use crate::program::{Outcome, Wakeups, nanoseconds};

/// What a task computes before it lets others have their turn.
const SLICE: Duration = Duration::from_micros(250);

/// When a wake-up is due, and how late each was.
struct Lateness {
    began: Instant,
    period: Duration,
    samples: Vec<u64>,
    wanted: usize,
}

impl Lateness {
    fn of(asked: Wakeups) -> Self {
        Self { began: Instant::now(), period: asked.period, samples: Vec::new(), wanted: asked.wakeups }
    }

    fn due(&self) -> Instant {
        self.began + self.period * (self.samples.len() as u32 + 1)
    }

    /// A sample for every wake-up that is due by now, also for those that were slept through.
    fn woken(&mut self) {
        let now = Instant::now();
        while self.due() <= now && !self.is_done() {
            self.samples.push(nanoseconds(now - self.due()));
        }
    }

    fn is_done(&self) -> bool {
        self.samples.len() >= self.wanted
    }
}

/// A few microseconds of work.
fn compute(x: u64) -> u64 {
    (0..1000).fold(x, |x, _| black_box(x.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1)))
}

pub fn threads(asked: Wakeups) -> Result<Outcome, String> {
    for _ in 0..asked.computing {
        let endless = || {
            let mut x = 1;
            loop {
                x = compute(x);
            }
        };
        thread::Builder::new().spawn(endless).map_err(|e| format!("could not start a thread: {e}"))?;
    }
    let mut lateness = Lateness::of(asked);
    while !lateness.is_done() {
        thread::sleep(lateness.due().saturating_duration_since(Instant::now()));
        lateness.woken();
    }
    Ok(Outcome::samples(lateness.samples))
}

pub async fn tasks(asked: Wakeups) -> Result<Outcome, String> {
    for _ in 0..asked.computing {
        tokio::spawn(async {
            let (mut x, mut began) = (1, Instant::now());
            loop {
                x = compute(x);
                if began.elapsed() >= SLICE {
                    tokio::task::yield_now().await;
                    began = Instant::now();
                }
            }
        });
    }
    let mut lateness = Lateness::of(asked);
    let mut interval = interval_at(lateness.due().into(), asked.period);
    interval.set_missed_tick_behavior(MissedTickBehavior::Skip);
    while !lateness.is_done() {
        interval.tick().await;
        lateness.woken();
    }
    Ok(Outcome::samples(lateness.samples))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_period_has_its_sample() {
        let asked = Wakeups { wakeups: 3, period: Duration::from_millis(1), computing: 0 };
        let mut lateness = Lateness::of(asked);
        lateness.woken();
        assert_eq!(lateness.samples.len(), 0);
        thread::sleep(Duration::from_millis(4));
        lateness.woken();
        assert_eq!(lateness.samples.len(), 3);
        assert!(lateness.samples[0] >= lateness.samples[1] + 1_000_000, "{:?}", lateness.samples);
        let outcome = threads(asked).expect("three wake-ups");
        assert_eq!(outcome.parts[0].len(), 3);
    }
}
