//! Ranks among all samples of a series, of which some are only known to be beyond a limit: those come last.

use super::samples::Samples;
use super::shape::Shape;
use super::unrecorded::{Known, Unrecorded};

/// Ranks of recorded samples among all of a series, of which those beyond a limit come last.
pub(super) struct Ranks {
    /// All samples.
    pub(super) count: u64,
    /// From this rank on samples are only known to be greater than the limit.
    known: u64,
    limit: u64,
    pub(super) max: Known<u64>,
}

impl Ranks {
    pub(super) fn of(samples: &dyn Samples, shape: &Shape, missing: &Unrecorded) -> Ranks {
        let recorded = shape.count();
        let lost = |max| if missing.lost > 0 { Known::AtLeast(max) } else { Known::Exactly(max) };
        let Some(beyond) = missing.beyond.filter(|beyond| beyond.count > 0) else {
            return Ranks { count: recorded, known: recorded, limit: u64::MAX, max: lost(shape.max()) };
        };
        let mut known = recorded;
        if shape.max() > beyond.limit {
            // Series with different limits together: above the lower one not all samples are known.
            known = 0;
            samples.visit_counted(&mut |piece, times| {
                known += piece.iter().map(|&sample| times * u64::from(sample <= beyond.limit)).sum::<u64>();
            });
        }
        let max = match beyond.max {
            Some(max) => lost(max.max(shape.max())),
            None if shape.max() > beyond.limit => Known::AtLeast(shape.max()),
            None => Known::MoreThan(beyond.limit),
        };
        Ranks { count: recorded.saturating_add(beyond.count), known, limit: beyond.limit, max }
    }

    pub(super) fn is_known(&self, rank: u64) -> bool {
        rank < self.known
    }

    /// The sample at a rank, which is `recorded` if it was.
    pub(super) fn known(&self, rank: u64, recorded: u64) -> Known<u64> {
        if self.is_known(rank) { Known::Exactly(recorded) } else { Known::MoreThan(self.limit) }
    }
}
