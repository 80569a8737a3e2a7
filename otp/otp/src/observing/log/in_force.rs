//! The log levels in force: those asked for in `OTP_LOG`, and logger's.

use std::sync::{PoisonError, RwLock};

use tracing_core::Level;
use tracing_core::metadata::LevelFilter;

use super::levels::Levels;
use crate::atom;
use crate::nif::Atom;

/// What lets events through.
pub(super) struct InForce {
    /// What was asked for here.
    pub(super) levels: Levels,
    /// That of logger.
    pub(super) node: LevelFilter,
}

/// That of OTP is `notice`, until the Erlang half has looked.
static IN_FORCE: RwLock<InForce> = RwLock::new(InForce { levels: Levels::NONE, node: LevelFilter::WARN });

/// Changes them.
pub(super) fn change(change: impl FnOnce(&mut InForce)) {
    change(&mut IN_FORCE.write().unwrap_or_else(PoisonError::into_inner));
}

/// The level up to which events of this target are told.
pub(super) fn level_of(target: &str) -> LevelFilter {
    let in_force = IN_FORCE.read().unwrap_or_else(PoisonError::into_inner);
    in_force.levels.of(target, in_force.node)
}

/// The level up to which anything is told.
pub(super) fn most() -> LevelFilter {
    let in_force = IN_FORCE.read().unwrap_or_else(PoisonError::into_inner);
    in_force.levels.most(in_force.node)
}

/// The name of a level in logger.
pub(super) fn name(level: &Level) -> &'static Atom {
    match *level {
        Level::ERROR => atom!("error"),
        Level::WARN => atom!("warning"),
        Level::INFO => atom!("info"),
        _ => atom!("debug"),
    }
}
