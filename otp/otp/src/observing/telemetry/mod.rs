//! Telemetry: measured events, as Erlang's and Elixir's library `telemetry` has them: a name, measurements, and metadata.
//!
//! ```
//! use otp::Data;
//! use otp::telemetry::Event;
//!
//! #[derive(Data, Debug)]
//! pub struct Reading {
//!     value: f64,
//! }
//!
//! #[derive(Data, Debug)]
//! pub struct Of {
//!     device: String,
//! }
//!
//! pub static READING: Event<Reading, Of> = Event::new(&["gateway", "reading"]);
//!
//! # fn reported(device: &str, value: f64) {
//! READING.execute(|| (Reading { value }, Of { device: device.to_owned() }));
//! # }
//! ```
//!
//! Erlang sees `telemetry:execute([gateway, reading], #{value => 21.5}, #{device => <<"boiler">>})`. Measurements and metadata are
//! structs that derive [`Data`](crate::Data), so maps there; `()` is an empty map.
//!
//! **Nothing is made when nobody handles it**: the closure does not run, and what remains is two looks at variables.
//!
//! **Who may handle it**:
//!
//! - a function in Rust, [`Event::attach`], which runs where the event happens;
//! - a process, [`Event::attach_process`], which is sent [`Happened`], in Erlang `{telemetry, Name, Measurements, Metadata}`;
//! - a function in Erlang or Elixir, by `telemetry:attach/4` where that library is loaded (heard of within a second), or by the same
//!   function of the module `APP_telemetry`, which every application has (at once). It runs in the process whose callback
//!   the event happened in, when the callback returns or awaits; for events of threads and dirty schedulers, in a process
//!   that does so for others.
//!
//! A handler that fails is detached, and logger is told why, as `telemetry` does.
//!
//! [`Span`] is for work that takes time: its start, and its end or why it had none. [`PANICKED`] and [`UPGRADED`] are events of this
//! library.

mod event;
mod own;
mod span;

pub use event::{Attached, Event, Happened};
pub use own::{At, Count, PANICKED, UPGRADED, Upgrade, Where};
pub(crate) use own::{panicked, upgraded};
pub use span::{Began, Broken, Span, Took, Why};

use std::collections::HashSet;
use std::sync::atomic::{AtomicU32, Ordering};
use std::sync::{LazyLock, PoisonError, RwLock};

use crate::data::Name;

/// The names of the events that Erlang handles.
static OBSERVED: LazyLock<RwLock<HashSet<Vec<Name>>>> = LazyLock::new(RwLock::default);

/// Grows whenever somebody begins or ends to handle events, so that each event knows whether what it knows is old. Begins at 1: an
/// event begins with what was known at 0.
static KNOWN_SINCE: AtomicU32 = AtomicU32::new(1);

/// What the Erlang half says of the handlers there.
pub(crate) fn observed(names: Vec<Vec<Name>>) {
    *OBSERVED.write().unwrap_or_else(PoisonError::into_inner) = names.into_iter().collect();
    changed();
}

fn changed() {
    // Half of the numbers: the other bit says whether there is anybody.
    let next = |now: u32| Some(if now >= u32::MAX >> 1 { 1 } else { now + 1 });
    let _ = KNOWN_SINCE.fetch_update(Ordering::AcqRel, Ordering::Acquire, next);
}
