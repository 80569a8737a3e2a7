//! The reasons for which no interval is given.

use core::fmt;

/// Why a figure has no interval.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize))]
#[cfg_attr(feature = "std", serde(rename_all = "kebab-case"))]
pub enum NoInterval {
    TooFewSamples {
        samples: u64,
        needed: u64,
    },
    /// Dependence over a time that is not short against the series.
    Dependent,
    /// The level moves.
    Drifting,
    /// A few samples, or a few bunches of them, decide.
    Few,
    /// The order is not known, and with it the dependence.
    Unordered,
    /// Samples that were taken are not among the values.
    Unrecorded,
}

impl fmt::Display for NoInterval {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::TooFewSamples { samples, needed } => {
                write!(f, "{samples} samples are too few, it takes {needed}")
            }
            Self::Dependent => f.write_str(
                "neighbouring samples resemble each other over a time that is not short against the series; a longer run helps",
            ),
            Self::Drifting => f.write_str(
                "the level moves in the course of the series, so no one value belongs to all of it; find out what changes",
            ),
            Self::Few => {
                f.write_str("it hangs on a few samples, or bunches of them, far from the rest; a longer run has more of them")
            }
            Self::Unordered => f.write_str("the order of the samples was not kept, so their dependence is not known"),
            Self::Unrecorded => f.write_str("not all samples that were taken were recorded"),
        }
    }
}

impl core::error::Error for NoInterval {}
