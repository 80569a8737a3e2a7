//! Log levels by the targets of events: the syntax of `OTP_LOG`.

use std::fmt;
use std::str::FromStr;

use tracing_core::metadata::LevelFilter;

/// Levels for events, as `RUST_LOG` has them elsewhere: words with commas between them, each a level for all events, or one for
/// those whose target begins with what stands before the sign.
///
/// | text | told is |
/// |---|---|
/// | `info` | all up to `info`, whatever the level of logger is |
/// | `gateway::connection=trace` | all of that module; others as logger has it |
/// | `info,hyper=warn,mio=off` | up to `info`, of `hyper` up to `warn`, of `mio` nothing |
///
/// Of several that fit a target the longest counts. The levels are `off`, `error`, `warn`, `info`, `debug` and `trace`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Levels {
    all: Option<LevelFilter>,
    /// The longest first.
    targets: Vec<(String, LevelFilter)>,
}

/// A text says no levels.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BadLevels {
    word: String,
}

impl fmt::Display for BadLevels {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{:?} is neither a level (off, error, warn, info, debug, trace) nor target=level", self.word)
    }
}

impl std::error::Error for BadLevels {}

impl Levels {
    pub(super) const NONE: Self = Self { all: None, targets: Vec::new() };

    /// That of a target, where `node` is what holds if nothing is said.
    pub(super) fn of(&self, target: &str, node: LevelFilter) -> LevelFilter {
        let own = self.targets.iter().find(|(beginning, _)| target.starts_with(beginning.as_str()));
        own.map(|(_, level)| *level).or(self.all).unwrap_or(node)
    }

    /// The highest that any target has.
    pub(super) fn most(&self, node: LevelFilter) -> LevelFilter {
        self.targets.iter().map(|(_, level)| *level).fold(self.all.unwrap_or(node), LevelFilter::max)
    }
}

impl FromStr for Levels {
    type Err = BadLevels;

    fn from_str(text: &str) -> Result<Self, BadLevels> {
        let mut levels = Self::default();
        for word in text.split(',').map(str::trim).filter(|word| !word.is_empty()) {
            let bad = || BadLevels { word: word.to_owned() };
            match word.split_once('=') {
                None => levels.all = Some(level(word).ok_or_else(bad)?),
                Some((target, name)) => {
                    let found = level(name.trim()).ok_or_else(bad)?;
                    levels.targets.push((target.trim().to_owned(), found));
                }
            }
        }
        levels.targets.sort_by_key(|(target, _)| std::cmp::Reverse(target.len()));
        Ok(levels)
    }
}

fn level(name: &str) -> Option<LevelFilter> {
    // LevelFilter reads numbers and nothing too, which are more likely mistakes.
    if name.is_empty() || name.parse::<usize>().is_ok() { None } else { name.parse().ok() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_longest_target_counts_then_what_is_for_all_then_the_node() {
        let levels: Levels = "a=warn, a::b=trace,, c=off".parse().expect("levels");
        let of = |target| levels.of(target, LevelFilter::INFO);
        assert_eq!(
            [of("a"), of("a::b::d"), of("c"), of("d")],
            [LevelFilter::WARN, LevelFilter::TRACE, LevelFilter::OFF, LevelFilter::INFO]
        );
        assert_eq!(levels.most(LevelFilter::INFO), LevelFilter::TRACE);
        let levels: Levels = "error,a=info".parse().expect("levels");
        assert_eq!(
            [levels.of("d", LevelFilter::TRACE), levels.most(LevelFilter::TRACE)],
            [LevelFilter::ERROR, LevelFilter::INFO]
        );
        assert_eq!(Levels::default().of("a", LevelFilter::WARN), LevelFilter::WARN);
    }

    #[test]
    fn a_word_that_is_none_is_named() {
        for text in ["info,loud", "a=", "a=3", "5"] {
            let wrong = text.parse::<Levels>().expect_err(text);
            assert!(wrong.to_string().starts_with(&format!("{:?}", text.rsplit(',').next().unwrap_or_default())));
        }
    }
}
