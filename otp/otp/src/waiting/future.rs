//! The future of a callback, polled by the process that it belongs to.
//!
//! A callback that awaits is polled until it cannot go on. Then the native function returns, and the Erlang half waits for exactly what
//! was ordered, in a selective receive: other messages stay in the queue, as they do in an OTP callback that calls another process.
//! The answer goes to the order that it belongs to, and the future is polled again.
//!
//! Any other future can be awaited too: its waker, on whatever thread it is used, sends the process a message.

use std::cell::RefCell;
use std::fmt;
use std::future::Future;
use std::marker::PhantomData;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::task::{Context, Poll, Wake, Waker};

use crate::atom;
use crate::nif::abi::RawPid;
use crate::nif::{Env, Term};
use crate::process::send::send_from_anywhere;
use crate::process::turn::{Turn, try_turn};
use crate::process::waits::Waits;

/// A future of a callback.
pub(crate) type Boxed<T> = Pin<Box<dyn Future<Output = T> + Send>>;

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
        let own = try_turn(|_, turn| turn.polled() == Some(Arc::as_ptr(self).addr()));
        if own != Some(true) {
            send_from_anywhere(self.process, |env| atom!("$otp_wake").term(env));
        }
    }
}

/// A future under way, with what it waits for.
pub(crate) struct Running<T> {
    future: Boxed<T>,
    is_over: bool,
    waits: RefCell<Waits>,
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
        Self { future, is_over: false, waits: RefCell::default(), signal }
    }

    /// Hands out what came, `[{Number, Event}, …]`.
    pub(crate) fn arrived(&mut self, events: Term<'_>) {
        self.waits.get_mut().arrived(events);
    }

    /// Whether the future has come to its end, and is gone.
    pub(crate) fn is_over(&self) -> bool {
        self.is_over
    }

    /// Does a job that was ordered for a scheduler like this one.
    pub(crate) fn work(&mut self, number: u64) -> Option<()> {
        let job = self.waits.get_mut().take_job(number)?;
        job();
        Some(())
    }

    /// Goes on until the end, or until it must wait: then what the Erlang half is to do is given back.
    ///
    /// - `wait`: for what was ordered;
    /// - `listen`: for that, or for a waker that somebody has;
    /// - `yield`: for its next turn.
    pub(crate) fn poll<'a>(&mut self, env: Env<'a>, turn: &Turn) -> Result<T, Term<'a>> {
        self.signal.used.store(false, Ordering::Release);
        let waker = Arc::as_ptr(&self.signal).addr();
        let polled = turn.polling(&self.waits, waker, || {
            let polled = self.future.as_mut().poll(&mut Context::from_waker(&Waker::from(self.signal.clone())));
            if polled.is_ready() {
                // What is dropped with the future cancels what it waited for.
                self.future = Box::pin(Never(PhantomData));
                self.is_over = true;
            }
            polled
        });
        if let Poll::Ready(value) = polled {
            return Ok(value);
        }
        self.waits.get_mut().keep(env);
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
