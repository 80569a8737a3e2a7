//! What the Erlang half tells the library: logger's level, telemetry's handlers, the relay process, the courier.

use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
#[cfg(feature = "tracing")]
use crate::observing::log;
use crate::observing::telemetry;
use crate::process::description::Application;
use crate::process::events;
use crate::process::send;

/// What the Erlang half says or asks: the first is what, the second of whom or what.
///
/// - `teller`: the process that tells it for others;
/// - `courier`: the process that sends for threads;
/// - `told`: that many have arrived there; answered with how many were lost since the last time;
/// - `level`: the level in force, of logger;
/// - `observed`: the names of the events of `telemetry` that Erlang handles;
/// - `upgraded`: what an upgrade took;
/// - `application`: asks for its name.
pub(crate) fn control<'a>(env: Env<'a>, what: Term<'a>, content: Term<'a>) -> Option<Term<'a>> {
    if what.is(atom!("told")) {
        return Some(events::arrived(usize::decode(content).ok()?).encode(env));
    }
    if what.is(atom!("application")) {
        let mut applications = inventory::iter::<Application>();
        return Some(applications.next().map_or_else(|| atom!("undefined").term(env), |one| env.atom(one.name)));
    }
    if what.is(atom!("teller")) {
        events::relay_is(content.local_pid());
    } else if what.is(atom!("courier")) {
        send::courier_is(content.local_pid()?);
    } else if what.is(atom!("level")) {
        #[cfg(feature = "tracing")]
        log::node_has(&content.atom_name()?);
    } else if what.is(atom!("observed")) {
        telemetry::observed(Data::decode(content).ok()?);
    } else if what.is(atom!("upgraded")) {
        telemetry::upgraded(Data::decode(content).ok()?);
    } else {
        return None;
    }
    Some(atom!("ok").term(env))
}
