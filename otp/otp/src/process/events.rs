//! Events for logger and for telemetry, on their way to the Erlang half.
//!
//! In a process an event is an order: the process itself hands it to logger or telemetry when its callback returns or awaits. Events
//! so keep their order among the messages that the callback sends, and logger's protection against overload slows down the process
//! that logs too much. On a thread of the user's and on a dirty scheduler there is no such process; there the event is sent at once to
//! the *relay*, a process of the Erlang half (`otp_observe.erl`). The relay cannot slow senders down, so at most
//! [`MOST_UNDER_WAY`] events are on their way to it; further events are lost, and their number is reported.
//!
//! While the program runs nobody is asked whether there are listeners: the Erlang half reports when that changes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::atom;
use crate::nif::abi::RawPid;
use crate::nif::{Atom, Env, Term};
use crate::process::send::{courier, send_from_anywhere};
use crate::process::turn::{Turn, try_turn};

/// What may be on its way to the process that tells it for others.
const MOST_UNDER_WAY: usize = 1000;

/// What one callback may have told before it returns; what is more goes the way of threads.
const MOST_ORDERED: usize = 1000;

/// The process that tells it for others, or 0.
static RELAY: AtomicUsize = AtomicUsize::new(0);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicUsize = AtomicUsize::new(0);

/// Who runs the code that tells something.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Emitter {
    /// The process that will tell it itself.
    Own,
    /// A process, but another one tells it.
    Process(RawPid),
    /// A thread of the user's; or one of the VM's that drops what no process has any more.
    Thread,
}

/// Has the Erlang half do `{what, …}`, with what `make` makes.
pub(crate) fn emit<const N: usize>(what: &Atom, make: impl for<'m> FnOnce(Env<'m>, Emitter) -> [Term<'m>; N]) {
    let mut make = Some(make);
    let elsewhere = try_turn(|env, turn| {
        if turn.dirty || turn.ordered() >= MOST_ORDERED {
            return env.running().map_or(Emitter::Thread, Emitter::Process);
        }
        if let Some(make) = make.take() {
            turn.order(env, what, &make(env, Emitter::Own));
        }
        Emitter::Own
    });
    let emitter = elsewhere.unwrap_or(Emitter::Thread);
    if let Some(make) = make {
        depart(|to| {
            send_from_anywhere(to, |env| {
                let mut all = vec![what.raw(env)];
                all.extend(make(env, emitter).iter().map(|element| element.raw()));
                env.tuple(&all)
            })
        });
    }
}

/// Tells and sends what was ordered in a call after which nobody does what it ordered: it panicked, has started nothing, or dropped what no
/// process has any more.
pub(crate) fn emit_undone(env: Env<'_>, turn: &Turn) {
    for order in turn.undone() {
        let order = env.adopt(order);
        let what = order.tuple().and_then(|order| order.get(0));
        if what.is_some_and(|what| what.is(atom!("log")) || what.is(atom!("telemetry"))) {
            depart(|to| env.send(to, order));
        } else if what.is_some_and(|what| what.is(atom!("send")))
            && let Some(courier) = courier()
        {
            // What was sent before it has gone, too.
            env.send(courier, order);
        }
    }
}

/// Sends something to the process that tells it for others, unless too much is under way.
fn depart(send: impl FnOnce(RawPid) -> bool) {
    let to = RawPid { pid: RELAY.load(Ordering::Acquire) };
    if to.pid != 0 {
        if UNDER_WAY.fetch_add(1, Ordering::Relaxed) < MOST_UNDER_WAY && send(to) {
            return;
        }
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
    LOST.fetch_add(1, Ordering::Relaxed);
}

/// That many have arrived at the process that tells it for others. Gives how many were lost since this was last asked.
pub(crate) fn arrived(count: usize) -> usize {
    // What came from a build before counts nothing here.
    let less = |under_way: usize| Some(under_way.saturating_sub(count));
    let _ = UNDER_WAY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, less);
    LOST.swap(0, Ordering::Relaxed)
}

/// The process that tells it for others, if there is one now.
pub(crate) fn relay_is(process: Option<RawPid>) {
    UNDER_WAY.store(0, Ordering::Relaxed);
    RELAY.store(process.map_or(0, |process| process.pid), Ordering::Release);
}
