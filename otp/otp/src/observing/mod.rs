//! Observing a running application: events for Erlang's `logger` ([`log`]) and for `telemetry` ([`telemetry`]).
//!
//! Events leave by `process/events.rs`. Nothing is made for an event that nobody listens to: the Erlang half says when that changes
//! (`control.rs`). This layer may use `behaviours` and everything below it.

pub(crate) mod control;
#[cfg(feature = "tracing")]
pub mod log;
pub mod telemetry;

/// What `application!` does where it is told nothing else.
pub fn begin() {
    #[cfg(feature = "tracing")]
    log::begin();
}
