//! The vocabulary of studies: figures, statistics, sizes.

use std::fmt;

use kizami_recording::stats::{Known, Summary};

use crate::problem::suggest;
use crate::tree::{At, Source};

/// A kind of thing of which there are a few, each with a name.
pub(crate) trait Word: Copy + 'static {
    /// What it is called in messages.
    const KIND: &'static str;
    const ALL: &'static [Self];

    fn name(self) -> &'static str;

    fn find(name: &str) -> Option<Self> {
        Self::ALL.iter().copied().find(|word| word.name() == name)
    }

    /// The same, with the problem told.
    fn read(source: &Source<'_>, written: &At<String>) -> Option<Self> {
        let word = Self::find(&written.value);
        if word.is_none() {
            let names: Vec<_> = Self::ALL.iter().map(|w| w.name()).collect();
            let message = format!("unknown {} {:?}", Self::KIND, written.value);
            source.wrong_but(written.at, message, suggest(&written.value, &names));
        }
        word
    }
}

macro_rules! words {
    ($(#[$about:meta])* $type:ident, $kind:literal { $($(#[$doc:meta])* $variant:ident = $name:literal,)* }) => {
        $(#[$about])*
        #[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, serde::Serialize)]
        pub enum $type {
            $($(#[$doc])* #[serde(rename = $name)] $variant,)*
        }

        impl $type {
            /// As it is written in a study.
            pub fn name(self) -> &'static str {
                match self {
                    $(Self::$variant => $name,)*
                }
            }
        }

        impl Word for $type {
            const KIND: &'static str = $kind;
            const ALL: &'static [Self] = &[$(Self::$variant,)*];

            fn name(self) -> &'static str {
                self.name()
            }
        }

        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str(self.name())
            }
        }
    };
}

words! {
    /// How much of a study is measured.
    Size, "size" {
        /// Enough for a first look.
        Quick = "quick",
        /// As the paper did it.
        Full = "full",
    }
}

words! {
    /// What the report draws of a group.
    Figure, "figure" {
        Box = "box",
        Histogram = "histogram",
        Cumulative = "cumulative",
        /// The cumulative curve of the rare, long times.
        Tail = "tail",
        /// Every sample in the order in which it was taken.
        Trials = "trials",
        /// Where the memory of the machine is, over time.
        Memory = "memory",
        /// What arrived and what was lost, for each rate that was offered.
        Rates = "rates",
        /// The first environment as a ratio to each other, with its interval.
        Ratio = "ratio",
        /// The medians over the parameter that varies, a line for each environment.
        Sweep = "sweep",
        /// The columns that add up to the first, a bar for each series.
        Phases = "phases",
        /// Which functions took the instructions, where they were counted.
        Profile = "profile",
    }
}

words! {
    /// What becomes of a job whose system setting this machine does not have.
    Missing, "value of missing" {
        /// It is not measured, and the report says so.
        Skip = "skip",
        /// It is measured as the machine is, and the series is labelled so.
        Run = "run",
    }
}

words! {
    /// A figure of a summary.
    Statistic, "statistic" {
        Mean = "mean",
        Median = "median",
        Min = "min",
        Max = "max",
        /// With n - 1, in the square of the unit.
        Variance = "variance",
        Stdev = "stdev",
        Mode = "mode",
        /// The mean without the lowest and the highest hundredth.
        Trimmed = "trimmed-mean",
        P90 = "p90",
        P95 = "p95",
        P99 = "p99",
        P99_9 = "p99.9",
        P99_99 = "p99.99",
        P99_999 = "p99.999",
        /// The share of datagrams that did not arrive, 0 to 1.
        Loss = "loss",
        /// How often the host's disk was flushed for each sync.
        Flushes = "flushes",
        /// The memory that a task takes while all of them run.
        PerTask = "per-task",
        /// What was counted of the time, function by function, as a share of what the clock says.
        Accounted = "accounted",
    }
}

impl Statistic {
    /// That figure of `summary`, in the unit of its samples; `None` where they are too few to have it, and for what
    /// [`crate::counted`] takes from elsewhere.
    pub fn of(self, summary: &Summary) -> Option<Known<f64>> {
        let whole = |tail: Known<u64>| tail.map(|value| value as f64);
        match self {
            Self::Mean => Some(summary.mean),
            Self::Median => Some(summary.median),
            Self::Min => Some(Known::Exactly(summary.min as f64)),
            Self::Max => Some(whole(summary.max)),
            Self::Variance => summary.variance.map(Known::Exactly),
            Self::Stdev => summary.standard_deviation.map(Known::Exactly),
            Self::Mode => summary.mode.map(|mode| Known::Exactly(mode.value as f64)),
            Self::Trimmed => summary.trimmed_mean.map(Known::Exactly),
            Self::P90 => summary.p90.map(whole),
            Self::P95 => summary.p95.map(whole),
            Self::P99 => summary.p99.map(whole),
            Self::P99_9 => summary.p99_9.map(whole),
            Self::P99_99 => summary.p99_99.map(whole),
            Self::P99_999 => summary.p99_999.map(whole),
            Self::Loss | Self::Flushes | Self::PerTask | Self::Accounted => None,
        }
    }

    /// Whether it is no figure of the samples, but of what was [counted](crate::counted).
    pub(crate) fn is_counted(self) -> bool {
        matches!(self, Self::Loss | Self::Flushes | Self::PerTask | Self::Accounted)
    }

    /// The share of the samples that lies beyond it, of a percentile in the tail that a summary has no interval of.
    pub(crate) fn beyond(self) -> Option<f64> {
        match self {
            Self::P90 => Some(0.1),
            Self::P95 => Some(0.05),
            Self::P99_9 => Some(0.001),
            Self::P99_99 => Some(0.0001),
            Self::P99_999 => Some(0.00001),
            _ => None,
        }
    }
}
