//! Overdue timers: a process that computes sends their messages in place of the poll set's thread.
//!
//! A thread of the VM waits at the poll set. When every processor is busy, the kernel lets that thread wait for its turn: up to four
//! milliseconds were measured. So whenever a slice of a long computation is over, the process that computes looks for timers that are
//! overdue and awaited, and sends their messages itself. The receiver asks the timer how often it has gone off; a second message for
//! the same moment says 0 times and is passed over.

use std::collections::BTreeMap;
use std::ffi::c_void;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU64, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, OnceLock, PoisonError};
use std::time::{Duration, Instant};

use crate::atom;
use crate::data::Data;
use crate::nif::abi::RawPid;
use crate::nif::{Env, Term, vm};

/// So long the poll set has the message to itself.
const MARGIN: Duration = Duration::from_micros(50);

/// How many slices there are: without one nobody looks, and nothing is noted.
static SLICES: AtomicUsize = AtomicUsize::new(0);

/// A long computation is under way for as long as this lives.
#[derive(Debug)]
pub(crate) struct Computing(());

impl Computing {
    pub(crate) fn begin() -> Self {
        SLICES.fetch_add(1, Ordering::Relaxed);
        Self(())
    }
}

impl Drop for Computing {
    fn drop(&mut self) {
        SLICES.fetch_sub(1, Ordering::Relaxed);
    }
}

/// An object of the VM's, by its address.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Object(pub(super) NonNull<c_void>);

// SAFETY: an address. Only `look` has the VM look at what is there, and what is noted is there: see `note`.
unsafe impl Send for Object {}

/// Who waits for a timer.
struct Waits {
    /// In nanoseconds since the first look at the clock.
    due: u64,
    to: RawPid,
    what: Message,
}

/// The message that is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Message {
    /// `{Timer, Number}`.
    Awaited(u64),
    /// `{'$otp_tick', Timer}`.
    Tick,
}

impl Message {
    pub(super) fn term<'a>(self, env: Env<'a>, timer: Term<'a>) -> Term<'a> {
        match self {
            Self::Awaited(number) => env.tuple(&[timer.raw(), number.encode(env).raw()]),
            Self::Tick => env.tuple(&[atom!("$otp_tick").raw(env), timer.raw()]),
        }
    }
}

static TIMERS: Mutex<BTreeMap<Object, Waits>> = Mutex::new(BTreeMap::new());

/// Nothing is due before that.
static EARLIEST: AtomicU64 = AtomicU64::new(u64::MAX);

fn timers() -> MutexGuard<'static, BTreeMap<Object, Waits>> {
    TIMERS.lock().unwrap_or_else(PoisonError::into_inner)
}

fn now() -> u64 {
    static BEGAN: OnceLock<Instant> = OnceLock::new();
    BEGAN.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

/// Notes who waits for the timer, which goes off after `rest`.
///
/// # Safety
/// The object lives until `forget` was called for it, and after that this is not called.
pub(super) unsafe fn note(object: Object, rest: impl FnOnce() -> Duration, to: RawPid, what: Message) {
    if SLICES.load(Ordering::Relaxed) == 0 {
        return;
    }
    let due = now() + (rest() + MARGIN).as_nanos() as u64;
    let mut timers = timers();
    timers.insert(object, Waits { due, to, what });
    EARLIEST.fetch_min(due, Ordering::Relaxed);
}

/// The timer is over.
pub(super) fn forget(object: Object) {
    timers().remove(&object);
}

/// Sends what is overdue.
pub(crate) fn look(env: Env<'_>) {
    if EARLIEST.load(Ordering::Relaxed) > now() {
        return;
    }
    let (mut timers, now) = (timers(), now());
    timers.retain(|object, waits| {
        if waits.due > now {
            return true;
        }
        // SAFETY: it is noted, so it lives: who forgets it waits for the lock.
        let timer = env.adopt(unsafe { (vm().make_resource)(env.raw(), object.0.as_ptr()) });
        env.send(waits.to, waits.what.term(env, timer));
        false
    });
    EARLIEST.store(timers.values().map(|waits| waits.due).min().unwrap_or(u64::MAX), Ordering::Relaxed);
}
