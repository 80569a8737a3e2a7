//! Logging: events of `tracing` and records of the crate `log`, sent to Erlang's `logger`.
//!
//! ```
//! use tracing::{info, info_span, warn};
//!
//! # let (port, error) = (7070, "the line is cut");
//! let _span = info_span!("connection", port).entered();
//! info!(device = "boiler", "it said hello");
//! warn!(error, "reading failed");
//! ```
//!
//! A node writes, with OTP's own handler and formatter:
//!
//! ```text
//! 2026-11-22T09:14:03.211512+00:00 info: connection{port=7070}: it said hello device=boiler
//! 2026-11-22T09:14:03.211534+00:00 warning: connection{port=7070}: reading failed error="the line is cut"
//! ```
//!
//! [`application!`](crate::application) sees to it; an application adds the crate `tracing`, or `log`, and nothing else. Who wants
//! another subscriber names what makes it, and says there too what becomes of records of `log`:
//!
//! ```
//! use otp::{Tree, one_for_one, supervisor};
//! use tracing::Subscriber;
//!
//! otp::application!(root, subscriber = mine);
//!
//! fn mine() -> impl Subscriber {
//!     otp::log::ToLogger::new()
//! }
//!
//! #[supervisor]
//! pub fn root() -> Tree {
//!     one_for_one()
//! }
//! # fn main() {}
//! ```
//!
//! **What a handler gets** is a report: `#{message => <<"reading failed">>, error => <<"the line is cut">>}`, with a key for each field
//! and, in a span, `span => <<"connection{port=7070}">>`. Numbers, booleans and texts are such in Erlang too; what is told by
//! `Debug` or `Display` is a text. The metadata have what Erlang's own events have (`time`, `pid`, `gl`, `file`, `line`), `target`, and
//! `spans`, the spans from the outermost, each as a map of its fields and its `name`. There is no `mfa`, as Rust tells no function, and
//! no `domain`: that is what applications have, and OTP's handler drops domains that it does not know.
//!
//! **Levels**: `error`, `warn`, `info` and `debug` are those of logger, and `trace` is its `debug`. An event is told if the level of
//! logger lets it through: that of the application (`logger:set_application_level/2`), else the primary one, which is `notice` unless
//! something else is said (`-kernel logger_level info`), so that `info` needs that. `trace` needs the level `all`. The variable
//! `OTP_LOG`, or [`set_levels`], goes before that, by the targets of events: see [`Levels`].
//!
//! A level that is off costs what it costs in any program with `tracing`, a look at a variable: the Erlang half looks at
//! logger's levels once a second and says so when they have changed.
//!
//! **When and by whom** it is told is said in `docs/otp-observing.md`: in a process by itself, when the callback returns
//! or awaits; elsewhere at once, by a process that does it for others.

mod fields;
mod in_force;
mod levels;
#[cfg(feature = "log")]
mod records;
mod spans;
mod subscriber;

pub use levels::{BadLevels, Levels};
pub use subscriber::ToLogger;

use tracing_core::metadata::LevelFilter;
use tracing_core::{Dispatch, Subscriber, dispatcher};

use crate::process::panic::caught;
use in_force::{InForce, most};

const VARIABLE: &str = "OTP_LOG";

fn change(change: impl FnOnce(&mut InForce)) {
    in_force::change(change);
    // Each place in the code that tells something knows whether it may.
    tracing_core::callsite::rebuild_interest_cache();
    #[cfg(feature = "log")]
    records::set_most(most());
}

/// Sets the levels, from now on and instead of those of the variable `OTP_LOG`; `Levels::default()` leaves all to logger.
///
/// ```
/// otp::log::set_levels("info,gateway::connection=debug".parse()?);
/// # Ok::<(), otp::log::BadLevels>(())
/// ```
pub fn set_levels(levels: Levels) {
    change(|in_force| in_force.levels = levels);
}

/// The level of logger, as the Erlang half has seen it.
pub(crate) fn node_has(level: &str) {
    let level = match level {
        "all" => LevelFilter::TRACE,
        "debug" => LevelFilter::DEBUG,
        "info" => LevelFilter::INFO,
        "notice" | "warning" => LevelFilter::WARN,
        "error" => LevelFilter::ERROR,
        // Nothing here is worse than an error.
        _ => LevelFilter::OFF,
    };
    change(|in_force| in_force.node = level);
}

/// Events of `tracing` and records of `log` go to logger.
pub(crate) fn begin() {
    begin_with(ToLogger::new);
    #[cfg(feature = "log")]
    records::begin(most());
}

/// What `application!` does where it is told of another subscriber. Records of `log` go where that sends them.
#[doc(hidden)]
pub fn begin_with<S: Subscriber + Send + Sync + 'static>(make: impl FnOnce() -> S) {
    match std::env::var(VARIABLE).map(|text| text.parse()) {
        Ok(Ok(levels)) => set_levels(levels),
        Ok(Err(wrong)) => eprintln!("{VARIABLE} is passed over: {wrong}"),
        Err(_) => {}
    }
    // It is called by the VM, through which nothing may unwind.
    let Ok(subscriber) = caught(make) else { return };
    // A library has one: another was set before only by code that runs when a library is loaded.
    let _ = dispatcher::set_global_default(Dispatch::new(subscriber));
}
