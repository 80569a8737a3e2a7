//! What is told to whoever observes: events of the log and of `telemetry`, on their way to the Erlang half.
//!
//! Code in a process orders it, like all that native code cannot do: the process itself tells it when the callback returns or
//! awaits, so it is in the order of the messages that the callback sends, and logger's protection against overload
//! slows down whoever tells too much. Where there is no process, or one that is away for long (on a thread of the user's,
//! on a dirty scheduler), it goes at once to a process of the Erlang half that tells it for others (`otp_observe.erl`). That
//! one has no way to slow them down, so no more than [`MOST_UNDER_WAY`] are under way to it; the others are lost, and how
//! many is told.
//!
//! Whether anybody observes is asked of nobody while the program runs: the Erlang half says so when it changes.

use std::sync::atomic::{AtomicUsize, Ordering};

use crate::atom;
use crate::data::Data;
use crate::generate::Application;
use crate::vm::abi::RawPid;
use crate::vm::{Atom, Env, Term, Turn, send_from_anywhere, try_turn};

/// What may be on its way to the process that tells it for others.
const MOST_UNDER_WAY: usize = 1000;

/// What one callback may have told before it returns; what is more goes the way of threads.
const MOST_ORDERED: usize = 1000;

/// The process that tells it for others, or 0.
static TELLER: AtomicUsize = AtomicUsize::new(0);
static UNDER_WAY: AtomicUsize = AtomicUsize::new(0);
static LOST: AtomicUsize = AtomicUsize::new(0);

/// Who runs the code that tells something.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Teller {
    /// The process that will tell it itself.
    Own,
    /// A process, but another one tells it.
    Process(RawPid),
    /// A thread of the user's; or one of the VM's that drops what no process has any more.
    Thread,
}

/// Has the Erlang half do `{what, …}`, with what `make` makes.
pub(crate) fn tell<const N: usize>(what: &Atom, make: impl for<'m> FnOnce(Env<'m>, Teller) -> [Term<'m>; N]) {
    let mut make = Some(make);
    let elsewhere = try_turn(|env, turn| {
        if turn.dirty || turn.ordered() >= MOST_ORDERED {
            return env.running().map_or(Teller::Thread, Teller::Process);
        }
        if let Some(make) = make.take() {
            turn.order(env, what, &make(env, Teller::Own));
        }
        Teller::Own
    });
    let teller = elsewhere.unwrap_or(Teller::Thread);
    if let Some(make) = make {
        depart(|to| {
            send_from_anywhere(to, |env| {
                let mut all = vec![what.raw(env)];
                all.extend(make(env, teller).iter().map(|element| element.raw()));
                env.tuple(&all)
            })
        });
    }
}

/// Tells what was ordered in a call after which nobody does what it ordered: it panicked, or has started nothing.
pub(crate) fn rescue(env: Env<'_>, turn: &Turn) {
    for order in turn.undone() {
        let order = env.adopt(order);
        let what = order.tuple().and_then(|order| order.get(0));
        if what.is_some_and(|what| what.is(atom!("log")) || what.is(atom!("telemetry"))) {
            depart(|to| env.send(to, order));
        }
    }
}

/// Sends something to the process that tells it for others, unless too much is under way.
fn depart(send: impl FnOnce(RawPid) -> bool) {
    let to = RawPid { pid: TELLER.load(Ordering::Acquire) };
    if to.pid != 0 {
        if UNDER_WAY.fetch_add(1, Ordering::Relaxed) < MOST_UNDER_WAY && send(to) {
            return;
        }
        UNDER_WAY.fetch_sub(1, Ordering::Relaxed);
    }
    LOST.fetch_add(1, Ordering::Relaxed);
}

/// What the Erlang half says or asks: the first is what, the second of whom or what.
///
/// - `teller`: the process that tells it for others;
/// - `told`: that many have arrived there; answered with how many were lost since the last time;
/// - `level`: the level in force, of logger;
/// - `observed`: the names of the events of `telemetry` that Erlang handles;
/// - `upgraded`: what an upgrade took;
/// - `application`: asks for its name.
pub(crate) fn asked<'a>(env: Env<'a>, what: Term<'a>, content: Term<'a>) -> Option<Term<'a>> {
    if what.is(atom!("told")) {
        let told = usize::decode(content).ok()?;
        // What came from a build before counts nothing here.
        let _ = UNDER_WAY.fetch_update(Ordering::Relaxed, Ordering::Relaxed, |count| Some(count.saturating_sub(told)));
        return Some(LOST.swap(0, Ordering::Relaxed).encode(env));
    }
    if what.is(atom!("application")) {
        let mut applications = inventory::iter::<Application>();
        return Some(applications.next().map_or_else(|| atom!("undefined").term(env), |one| env.atom(one.name)));
    }
    if what.is(atom!("teller")) {
        UNDER_WAY.store(0, Ordering::Relaxed);
        TELLER.store(content.local_pid().map_or(0, |process| process.pid), Ordering::Release);
    } else if what.is(atom!("level")) {
        #[cfg(feature = "tracing")]
        crate::log::node_has(&content.atom_name()?);
    } else if what.is(atom!("observed")) {
        crate::telemetry::observed(Data::decode(content).ok()?);
    } else if what.is(atom!("upgraded")) {
        crate::telemetry::upgraded(Data::decode(content).ok()?);
    } else {
        return None;
    }
    Some(atom!("ok").term(env))
}

/// What `application!` does where it is told nothing else.
pub fn begin() {
    #[cfg(feature = "tracing")]
    crate::log::begin();
}
