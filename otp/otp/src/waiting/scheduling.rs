//! Long computations: yielding to the scheduler, and jobs on dirty schedulers.

use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};
use std::time::{Duration, Instant};

use crate::atom;
use crate::data::Data;
use crate::nif::Atom;
use crate::process::turn::turn;
use crate::waiting::order::Wait;
use crate::waiting::poll::overdue::{Computing, look};

/// Lets every other process that can run have its turn first.
pub async fn yield_now() {
    let mut came_back = false;
    std::future::poll_fn(|context| {
        if came_back {
            return Poll::Ready(());
        }
        came_back = true;
        context.waker().wake_by_ref();
        Poll::Pending
    })
    .await
}

/// How long a callback computes before it gives its scheduler back, where it asks a [`Slice`].
const SLICE: Duration = Duration::from_micros(250);

/// Gives a long computation's scheduler back in time: `slice.check().await` in its loop costs a look at the clock, and yields
/// when a quarter of a millisecond is over.
#[derive(Debug)]
pub struct Slice {
    began: Instant,
    _computing: Computing,
}

impl Slice {
    /// A slice that begins now.
    pub fn new() -> Self {
        Self { began: Instant::now(), _computing: Computing::begin() }
    }

    /// Yields when the slice is over, and begins the next one.
    #[inline]
    pub async fn check(&mut self) {
        let took = self.began.elapsed();
        if took >= SLICE {
            // The VM looks for what comes from outside after so much work, and this it would take for next to nothing.
            consume(took);
            turn(|env, _| look(env));
            yield_now().await;
            self.began = Instant::now();
        }
    }
}

impl Default for Slice {
    fn default() -> Self {
        Self::new()
    }
}

/// Has a dirty CPU scheduler do `work`, which computes for long; other processes go on meanwhile.
pub fn on_dirty_cpu<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Dirty<T> {
    Dirty::new(atom!("cpu"), work)
}

/// Has a dirty IO scheduler do `work`, which blocks; other processes go on meanwhile.
pub fn on_dirty_io<T: Send + 'static>(work: impl FnOnce() -> T + Send + 'static) -> Dirty<T> {
    Dirty::new(atom!("io"), work)
}

/// Work on a dirty scheduler. A panic in it ends the process, as one in the callback does.
#[derive(Debug)]
#[must_use = "nothing is done until it is awaited"]
pub struct Dirty<T> {
    done: Wait<()>,
    result: Arc<Mutex<Option<T>>>,
}

impl<T: Send + 'static> Dirty<T> {
    fn new(scheduler: &'static Atom, work: impl FnOnce() -> T + Send + 'static) -> Self {
        let result = Arc::new(Mutex::new(None));
        let put = result.clone();
        let job = move || {
            let value = work();
            *put.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        };
        let done = Wait::new(
            move |env, turn, number| {
                turn.waits(|waits| waits.add_job(number, Box::new(job)));
                turn.order(env, scheduler, &[number.encode(env)]);
            },
            |_| (),
        );
        Self { done, result }
    }
}

impl<T> Unpin for Dirty<T> {}

impl<T> Future for Dirty<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        let Poll::Ready(()) = Pin::new(&mut self.done).poll(context) else { return Poll::Pending };
        let result = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        Poll::Ready(result.expect("the work was done before it was said to be"))
    }
}

/// Tells the scheduler that `part` of a millisecond went by that it has not seen, of work that cannot yield.
pub fn consume(part: Duration) {
    let percent = (part.as_micros() / 10).clamp(1, 100) as i32;
    turn(|env, _| env.consume_timeslice(percent));
}
