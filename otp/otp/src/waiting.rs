//! Futures that a process of the VM drives.
//!
//! A callback that awaits is polled until it cannot go on; the native function then returns, and the Erlang half waits for
//! exactly what was ordered, in a selective receive: other messages stay in the queue, as in a callback of OTP that calls
//! somebody. What comes is handed to the one that waits for it, and the future is polled again.
//!
//! Any other future can be awaited too: its waker, used on whatever thread, sends the process a message.

use std::collections::BTreeMap;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering, fence};
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll, Wake, Waker};

use crate::atom;
use crate::data::Data;
use crate::vm::abi::RawPid;
use crate::vm::{Env, Term, Turn, send_from_anywhere, try_turn, turn};

/// A future of a callback.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

/// What a future waits for, by the numbers of its orders. A process that waits for nothing has nothing here.
#[derive(Default)]
pub(crate) struct Waits(Option<Box<Inner>>);

#[derive(Default)]
struct Inner {
    places: BTreeMap<u64, Arc<dyn Arrive>>,
    /// What is to be done on a scheduler that may be held up.
    jobs: BTreeMap<u64, Job>,
}

/// Work for a scheduler that may be held up; it puts its result where it is waited for.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

impl Waits {
    pub(crate) fn add_job(&mut self, number: u64, job: Job) {
        self.0.get_or_insert_default().jobs.insert(number, job);
    }

    fn take_job(&mut self, number: u64) -> Option<Job> {
        self.0.as_mut()?.jobs.remove(&number)
    }

    fn add(&mut self, number: u64, place: Arc<dyn Arrive>) {
        self.0.get_or_insert_default().places.insert(number, place);
    }

    fn take(&mut self, number: u64) -> Option<Arc<dyn Arrive>> {
        self.0.as_mut()?.places.remove(&number)
    }

    fn has(&self, number: u64) -> bool {
        self.0.as_ref().is_some_and(|inner| inner.places.contains_key(&number))
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_set().entries(self.0.iter().flat_map(|inner| inner.places.keys())).finish()
    }
}

/// Takes what came for an order.
trait Arrive: Send + Sync {
    fn arrive(&self, event: Term<'_>);
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// A number that no other order of this library bears.
pub(crate) fn number() -> u64 {
    NEXT.fetch_add(1, Ordering::Relaxed)
}

/// Numbers of this build are far from those of others: a process that has gone over to another build still has timers and
/// monitors from before. They stay small enough to be small integers of the VM.
pub(crate) fn number_from(build: &str) {
    let hash = build.bytes().fold(0x811c_9dc5_u32, |hash, byte| (hash ^ u32::from(byte)).wrapping_mul(0x0100_0193));
    NEXT.fetch_max((u64::from(hash) >> 5 << 32) + 1, Ordering::Relaxed);
}

/// Where what was waited for is put.
struct Place<T> {
    read: fn(Term<'_>) -> T,
    inside: Mutex<Inside<T>>,
}

struct Inside<T> {
    value: Option<T>,
    /// Who is to be woken, unless it is the future that is polled anyway.
    waker: Option<Waker>,
}

impl<T: Send> Arrive for Place<T> {
    fn arrive(&self, event: Term<'_>) {
        let value = (self.read)(event);
        let mut inside = self.inside.lock().unwrap_or_else(PoisonError::into_inner);
        inside.value = Some(value);
        let waker = inside.waker.take();
        drop(inside);
        if let Some(waker) = waker {
            waker.wake();
        }
    }
}

/// Something that the Erlang half is asked for when this is first polled, and that comes later.
#[must_use = "nothing happens until it is awaited"]
pub struct Wait<T> {
    state: State<T>,
}

type Ask = Box<dyn for<'a> FnOnce(Env<'a>, &Turn, u64) + Send>;

enum State<T> {
    /// What asks for it, given the number that the answer is to bear.
    Asked(Ask, fn(Term<'_>) -> T),
    Waiting(u64, Arc<Place<T>>),
    Over,
}

impl<T> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").finish_non_exhaustive()
    }
}

impl<T: Send + 'static> Wait<T> {
    /// `ask` orders it, with the number that it is given; `read` makes a value of what came.
    pub(crate) fn new(ask: impl for<'a> FnOnce(Env<'a>, &Turn, u64) + Send + 'static, read: fn(Term<'_>) -> T) -> Self {
        Self { state: State::Asked(Box::new(ask), read) }
    }
}

impl<T: Send + 'static> Future for Wait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        turn(|env, turn| {
            let root = context.waker().data().addr() == turn.polled.get();
            let waker = || (!root).then(|| context.waker().clone());
            match std::mem::replace(&mut self.state, State::Over) {
                State::Asked(ask, read) => {
                    assert!(turn.polled.get() != 0, "this is awaited in an async callback or a task, and nowhere else");
                    let number = number();
                    let place = Arc::new(Place { read, inside: Mutex::new(Inside { value: None, waker: waker() }) });
                    turn.waits.borrow_mut().add(number, place.clone());
                    ask(env, turn, number);
                    self.state = State::Waiting(number, place);
                    Poll::Pending
                }
                State::Waiting(number, place) => {
                    let mut inside = place.inside.lock().unwrap_or_else(PoisonError::into_inner);
                    if let Some(value) = inside.value.take() {
                        return Poll::Ready(value);
                    }
                    assert!(
                        turn.waits.borrow().has(number),
                        "this future was begun in another callback, which has ended"
                    );
                    inside.waker = waker();
                    drop(inside);
                    self.state = State::Waiting(number, place);
                    Poll::Pending
                }
                State::Over => panic!("this future was polled after it had come to its end"),
            }
        })
    }
}

impl<T> Unpin for Wait<T> {}

impl<T> Drop for Wait<T> {
    fn drop(&mut self) {
        let State::Waiting(number, _) = self.state else { return };
        // Outside of a call the process is gone, and what it waited for with it.
        try_turn(|env, turn| {
            let mut waits = turn.waits.borrow_mut();
            waits.take_job(number);
            if waits.take(number).is_some() {
                turn.order(env, atom!("cancel"), &[number.encode(env)]);
            }
        });
    }
}

/// Wakes the process whose future is polled.
struct Signal {
    process: RawPid,
    /// Whether it was used since the future was last polled.
    used: AtomicBool,
}

impl Wake for Signal {
    fn wake(self: Arc<Self>) {
        self.wake_by_ref();
    }

    fn wake_by_ref(self: &Arc<Self>) {
        if self.used.swap(true, Ordering::AcqRel) {
            return;
        }
        // Whoever polls looks at `used` afterwards.
        let own = try_turn(|_, turn| turn.polled.get() == Arc::as_ptr(self).addr()).unwrap_or(false);
        if !own {
            send_from_anywhere(self.process, |env| atom!("$otp_wake").term(env));
        }
    }
}

/// A future under way, with what it waits for.
pub(crate) struct Running<T> {
    future: Boxed<T>,
    waits: Waits,
    signal: Arc<Signal>,
}

impl<T> fmt::Debug for Running<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Running").field("waits", &self.waits).finish_non_exhaustive()
    }
}

impl<T: 'static> Running<T> {
    pub(crate) fn new(env: Env<'_>, future: Boxed<T>) -> Self {
        let signal = Arc::new(Signal { process: env.own_pid(), used: AtomicBool::new(false) });
        Self { future, waits: Waits::default(), signal }
    }

    /// Hands out what came, `[{Number, Event}, …]`.
    pub(crate) fn arrived(&mut self, events: Term<'_>) {
        let mut rest = events;
        while let Some((event, others)) = rest.cell() {
            rest = others;
            let Some([number, event]) = event.tuple().and_then(|event| event.array()) else { continue };
            let place = u64::decode(number).ok().and_then(|number| self.waits.take(number));
            if let Some(place) = place {
                place.arrive(event);
            }
        }
    }

    /// Does a job that was ordered for a scheduler like this one.
    pub(crate) fn work(&mut self, number: u64) -> Option<()> {
        let job = self.waits.take_job(number)?;
        job();
        Some(())
    }

    /// Goes on until the end, or until it must wait: then what the Erlang half is to do is given back.
    ///
    /// - `wait`: for what was ordered;
    /// - `listen`: for that, or for a waker that somebody has;
    /// - `yield`: for its next turn.
    pub(crate) fn poll<'a>(&mut self, env: Env<'a>, turn: &Turn) -> Result<T, Term<'a>> {
        turn.waits.replace(std::mem::take(&mut self.waits));
        self.signal.used.store(false, Ordering::Release);
        let polled = {
            let waker = Waker::from(self.signal.clone());
            turn.polled.set(Arc::as_ptr(&self.signal).addr());
            self.future.as_mut().poll(&mut Context::from_waker(&waker))
        };
        if let Poll::Ready(value) = polled {
            // What is dropped with the future cancels what it waited for, so it is dropped within this call.
            self.future = Box::pin(Never(PhantomData));
            turn.polled.set(0);
            turn.waits.take();
            return Ok(value);
        }
        turn.polled.set(0);
        self.waits = turn.waits.take();
        let shared = Arc::strong_count(&self.signal) > 1;
        // Who let go of the last other waker may have used it just before.
        fence(Ordering::Acquire);
        let what = if self.signal.used.load(Ordering::Acquire) {
            atom!("yield")
        } else if shared {
            atom!("listen")
        } else {
            atom!("wait")
        };
        Err(what.term(env))
    }
}

/// What stands where a future was that has ended.
struct Never<T>(PhantomData<fn() -> T>);

impl<T> Future for Never<T> {
    type Output = T;

    fn poll(self: Pin<&mut Self>, _: &mut Context<'_>) -> Poll<T> {
        Poll::Pending
    }
}
