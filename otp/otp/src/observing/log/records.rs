//! Records of the crate `log`, which are sent as events of `tracing` are.

use std::sync::atomic::{AtomicBool, Ordering};

use log::{LevelFilter, Log, Metadata, Record};
use tracing_core::Level;

use crate::data::brief::brief;

use super::fields::{Fields, Value};
use super::in_force::level_of;
use super::spans;
use super::subscriber::{At, log};

struct ToLogger;

/// Whether the records of this library come here.
static OURS: AtomicBool = AtomicBool::new(false);

impl Log for ToLogger {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        level(metadata.level()) <= level_of(metadata.target())
    }

    fn log(&self, record: &Record<'_>) {
        if !self.enabled(record.metadata()) {
            return;
        }
        let mut fields = Fields::default();
        fields.put("message", Value::Text(brief(record.args())));
        let at = At { target: record.target(), file: record.file(), line: record.line() };
        log(&level(record.level()), &fields, spans::current().map(|(_, span)| span), at);
    }

    fn flush(&self) {}
}

fn level(level: log::Level) -> Level {
    match level {
        log::Level::Error => Level::ERROR,
        log::Level::Warn => Level::WARN,
        log::Level::Info => Level::INFO,
        log::Level::Debug => Level::DEBUG,
        log::Level::Trace => Level::TRACE,
    }
}

pub(super) fn begin(most: tracing_core::LevelFilter) {
    if log::set_logger(&ToLogger).is_ok() {
        OURS.store(true, Ordering::Release);
        set_most(most);
    }
}

/// What is beyond that costs its caller a look at a variable.
pub(super) fn set_most(most: tracing_core::LevelFilter) {
    if !OURS.load(Ordering::Acquire) {
        return;
    }
    log::set_max_level(match most.into_level() {
        None => LevelFilter::Off,
        Some(Level::ERROR) => LevelFilter::Error,
        Some(Level::WARN) => LevelFilter::Warn,
        Some(Level::INFO) => LevelFilter::Info,
        Some(Level::DEBUG) => LevelFilter::Debug,
        Some(_) => LevelFilter::Trace,
    });
}
