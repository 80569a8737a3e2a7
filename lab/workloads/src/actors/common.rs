//! Definitions that several programs share: the reference to their suite, parameters, and the series of one start.

use crate::spec::{Kind, Param, Part};

pub(super) const SAVINA: &str = "Savina";

/// One figure a start: how long the whole program took.
pub(super) fn whole() -> Vec<Part> {
    vec![Part::times(1).cold(0)]
}

/// How many actors.
pub(super) const fn actors(default: &'static str) -> Param {
    Param { name: "p", about: "how many actors", kind: Kind::count(2, 10_000_000), default }
}

/// How many messages; what is counted is the program's business.
pub(super) const fn messages(about: &'static str, default: &'static str) -> Param {
    Param { name: "n", about, kind: Kind::count(1, 1_000_000_000), default }
}
