//! Measured events of the gateway. A listener attaches a handler, in Erlang by `gateway_telemetry:attach/4` or by the library
//! telemetry.

use otp::Data;
use otp::telemetry::{Event, Span};

/// What a device reported.
#[derive(Data, Debug)]
pub(crate) struct Reading {
    pub(crate) value: f64,
}

/// Which device, and which of its readings.
#[derive(Data, Debug)]
pub(crate) struct Of {
    pub(crate) device: String,
    pub(crate) key: String,
}

/// `[gateway, reading]`.
pub(crate) static READING: Event<Reading, Of> = Event::new(&["gateway", "reading"]);

/// The device that asks; `undefined` for one that has not said who it is.
#[derive(Clone, Data, Debug)]
pub(crate) struct Asks {
    pub(crate) device: Option<String>,
}

/// `[gateway, request, start]`, `stop` and `exception`: from a line of a device to its answer.
pub(crate) static REQUEST: Span<Asks> = Span::new(&["gateway", "request"]);
