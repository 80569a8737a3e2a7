//! Whether a board kept to the clock of this machine. Its instructions are held to that where it has a wire to another board; one that is
//! emulated too slowly falls behind, and the wire is faster for it than it should be. One that catches up goes faster for a while.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::Instant;

/// What a board writes of its clock, in nanoseconds, where what it does for the trial begins and where it ends.
const CLOCK: &str = "clock ";
/// So far from this machine's its time may be: what a wire carries is told with two digits.
const TOLERATED: f64 = 0.03;

/// The clock of a board beside that of this machine, as it was told.
#[derive(Debug, Default, Clone)]
pub(super) struct Pace(Arc<Mutex<Vec<(u64, Instant)>>>);

impl Pace {
    /// Whether the line tells of the clock.
    pub(super) fn takes(&self, line: &str) -> bool {
        let Some(clock) = line.strip_prefix(CLOCK).and_then(|word| word.trim().parse().ok()) else { return false };
        self.told().push((clock, Instant::now()));
        true
    }

    /// How much of this machine's time went by for the board. `None` where it has not told both ends.
    pub(super) fn share(&self) -> Option<f64> {
        let told = self.told();
        let (first, last) = (told.first()?, told.last()?);
        let here = last.1.duration_since(first.1).as_secs_f64();
        (here > 0.0).then(|| last.0.saturating_sub(first.0) as f64 / 1e9 / here)
    }

    fn told(&self) -> std::sync::MutexGuard<'_, Vec<(u64, Instant)>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Why what depends on the clock was not as it should be, where boards had these shares of this machine's time.
pub(super) fn trouble(shares: impl Iterator<Item = f64>) -> Option<String> {
    let furthest = shares.max_by(|a, b| (a - 1.0).abs().total_cmp(&(b - 1.0).abs()))?;
    ((furthest - 1.0).abs() > TOLERATED).then(|| {
        format!(
            "a board could not be held to the time of this machine and had {:.0} % of it, so that the wire was {:.2} times as fast for it: a lower rate, a \
             slower board (icount=6) or a machine with less to do may be kept to",
            furthest * 100.0,
            1.0 / furthest
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::Duration;

    #[test]
    fn a_board_that_falls_behind_is_told() {
        let pace = Pace::default();
        assert!(!pace.takes("{\"ready\":{}}") && !pace.takes("clock of the town"));
        assert_eq!(pace.share(), None);
        let now = Instant::now();
        pace.told().extend([(5_000_000_000, now), (12_500_000_000, now + Duration::from_secs(10))]);
        assert_eq!(pace.share(), Some(0.75));
        assert!(trouble([1.0, 0.75].into_iter()).is_some_and(|why| why.contains("75 %") && why.contains("1.33 times")));
        assert!(trouble([1.05, 0.99].into_iter()).is_some_and(|why| why.contains("105 %")));
        assert_eq!(trouble([0.98, 1.0].into_iter()), None);
        assert_eq!(trouble(std::iter::empty()), None);
    }
}
