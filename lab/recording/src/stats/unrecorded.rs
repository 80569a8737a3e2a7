//! Samples that were taken and are not among those of a series, and what is known all the same.
//!
//! Two things happen to samples. One that is greater than a limit of its instrument (the last bin of a histogram) is
//! *censored*: it is known to exist and to be greater, so it counts in every quantile and every deadline. One that found no
//! room is *lost*: nothing is known of it. Either way a figure may be known only from one side, which [`Known`] says.

use core::fmt;

/// What is known of samples that are not among those of a series. The default is a series that is complete.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Unrecorded {
    /// Samples that found no room. Nothing is known of them.
    pub lost: u64,
    pub beyond: Option<Beyond>,
    /// Whether the order was lost in which the samples were taken, as in a histogram.
    pub unordered: bool,
}

/// Censored samples: `count` of them are greater than `limit`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[cfg_attr(feature = "std", derive(serde::Serialize, serde::Deserialize))]
pub struct Beyond {
    pub limit: u64,
    pub count: u64,
    /// The greatest of them, where the instrument said it.
    pub max: Option<u64>,
}

/// A figure, or a bound of it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Known<T> {
    Exactly(T),
    AtLeast(T),
    MoreThan(T),
}

impl Unrecorded {
    /// That of two series together. Above the lower of two limits not all samples are known.
    pub fn and(self, other: Unrecorded) -> Unrecorded {
        let beyond = match (self.beyond, other.beyond) {
            (Some(a), Some(b)) => Some(Beyond {
                limit: a.limit.min(b.limit),
                count: a.count.saturating_add(b.count),
                max: a.max.zip(b.max).map(|(a, b)| a.max(b)),
            }),
            (one, other) => one.or(other),
        };
        Unrecorded { lost: self.lost.saturating_add(other.lost), beyond, unordered: self.unordered || other.unordered }
    }

    /// How many samples are known to be greater than the limit only.
    pub fn beyond(&self) -> u64 {
        self.beyond.map_or(0, |beyond| beyond.count)
    }

    pub fn is_complete(&self) -> bool {
        self.lost == 0 && self.beyond() == 0
    }
}

impl<T> Known<T> {
    /// The figure, if it is known.
    pub fn exactly(self) -> Option<T> {
        match self {
            Known::Exactly(value) => Some(value),
            Known::AtLeast(_) | Known::MoreThan(_) => None,
        }
    }

    /// The figure or the bound of it.
    pub fn bound(self) -> T {
        match self {
            Known::Exactly(value) | Known::AtLeast(value) | Known::MoreThan(value) => value,
        }
    }

    pub fn map<U>(self, change: impl FnOnce(T) -> U) -> Known<U> {
        match self {
            Known::Exactly(value) => Known::Exactly(change(value)),
            Known::AtLeast(value) => Known::AtLeast(change(value)),
            Known::MoreThan(value) => Known::MoreThan(change(value)),
        }
    }

    /// What stands before the figure: nothing, `≥ ` or `> `.
    pub fn sign(&self) -> &'static str {
        match self {
            Known::Exactly(_) => "",
            Known::AtLeast(_) => "≥ ",
            Known::MoreThan(_) => "> ",
        }
    }
}

impl<T: fmt::Display> fmt::Display for Known<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.sign())?;
        match self {
            Known::Exactly(value) | Known::AtLeast(value) | Known::MoreThan(value) => value.fmt(f),
        }
    }
}

/// A number if it is known, else `{"at_least": …}` or `{"more_than": …}`.
#[cfg(feature = "std")]
impl<T: serde::Serialize> serde::Serialize for Known<T> {
    fn serialize<S: serde::Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        match self {
            Known::Exactly(value) => value.serialize(to),
            Known::AtLeast(value) => to.collect_map([("at_least", value)]),
            Known::MoreThan(value) => to.collect_map([("more_than", value)]),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn two_series_together_are_known_up_to_the_lower_limit() {
        let one = Unrecorded { lost: 1, beyond: Some(Beyond { limit: 10, count: 2, max: Some(50) }), unordered: false };
        let other = Unrecorded { lost: 2, beyond: Some(Beyond { limit: 7, count: 3, max: None }), unordered: true };
        let both = Unrecorded { lost: 3, beyond: Some(Beyond { limit: 7, count: 5, max: None }), unordered: true };
        assert_eq!(one.and(other), both);
        assert_eq!(one.and(Unrecorded::default()), one);
        assert!(Unrecorded::default().is_complete() && !one.is_complete());
    }
}
