//! Orders as futures: an order is given when its future is first polled, and its answer completes the future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll, Waker};

use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::number::number;
use crate::process::turn::{Turn, try_turn, turn};
use crate::process::waits::{Came, Waiting};

/// The number of no order.
const NONE: u64 = 0;

/// What makes a value of what came.
type Read<T> = fn(Term<'_>) -> T;

/// An order that is given when it is first polled, and whose answer comes later.
pub(crate) struct Order<Q, T> {
    /// What is ordered, until it is.
    request: Option<Q>,
    /// [`NONE`] before it is ordered and once the answer was taken.
    number: u64,
    read: Read<T>,
}

impl<Q, T> Order<Q, T> {
    /// `read` makes a value of what came.
    pub(crate) fn new(request: Q, read: Read<T>) -> Self {
        Self { request: Some(request), number: NONE, read }
    }

    /// What is to be ordered, while it can be changed still.
    pub(crate) fn request(&mut self) -> Option<&mut Q> {
        self.request.as_mut()
    }

    /// `ask` orders it, with the number that it is given.
    ///
    /// # Panics
    /// Where no future is polled whose process would wait, in another callback than it was ordered in, and after the end.
    #[inline]
    pub(crate) fn poll(&mut self, context: &Context<'_>, ask: impl FnOnce(Q, Env<'_>, &Turn, u64)) -> Poll<T> {
        turn(|env, turn| match self.request.take() {
            Some(request) => {
                let (number, waker) = (number(), others_waker(context, turn));
                let waits = turn.waits(|waits| waits.put(Waiting { number, came: Came::Nothing, waker }));
                waits.expect("this is awaited in an async callback or a task, and nowhere else");
                ask(request, env, turn, number);
                self.number = number;
                Poll::Pending
            }
            None => self.look(context, env, turn),
        })
    }

    #[inline]
    fn look(&mut self, context: &Context<'_>, env: Env<'_>, turn: &Turn) -> Poll<T> {
        assert!(self.number != NONE, "this future was polled after it had come to its end");
        // A waker is somebody else's code, and is made and dropped while nothing is borrowed.
        let mut waker = others_waker(context, turn);
        let came = turn.waits(|waits| waits.look(self.number, &mut waker)).flatten();
        let result = match came.expect("this future was begun in another callback, which has ended") {
            Came::Nothing => return Poll::Pending,
            Came::Now(event) => (self.read)(env.adopt(event)),
            Came::Before(event) => event.read(self.read),
        };
        self.number = NONE;
        Poll::Ready(result)
    }
}

impl<Q, T> Drop for Order<Q, T> {
    #[inline]
    fn drop(&mut self) {
        if self.number == NONE {
            return;
        }
        // Outside of a call the process is gone, and what it waited for with it.
        try_turn(|env, turn| {
            // A job is somebody else's code, and is dropped while nothing is borrowed.
            let (_job, waiting) =
                turn.waits(|waits| (waits.take_job(self.number), waits.take(self.number))).unwrap_or_default();
            if waiting.is_some_and(|waiting| matches!(waiting.came, Came::Nothing)) {
                turn.order(env, atom!("cancel"), &[self.number.encode(env)]);
            }
        });
    }
}

/// The waker, unless it is that of the future of the process, which is polled whenever something came.
fn others_waker(context: &Context<'_>, turn: &Turn) -> Option<Waker> {
    let root = turn.polled() == Some(context.waker().data().addr());
    (!root).then(|| context.waker().clone())
}

type Ask = Box<dyn for<'a> FnOnce(Env<'a>, &Turn, u64) + Send>;

/// Something that the Erlang half is asked for when this is first polled, and that comes later.
#[must_use = "nothing happens until it is awaited"]
pub struct Wait<T>(Order<Ask, T>);

impl<T> fmt::Debug for Wait<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Wait").finish_non_exhaustive()
    }
}

impl<T> Wait<T> {
    /// `ask` orders it, with the number that it is given; `read` makes a value of what came.
    pub(crate) fn new(ask: impl for<'a> FnOnce(Env<'a>, &Turn, u64) + Send + 'static, read: Read<T>) -> Self {
        Self(Order::new(Box::new(ask), read))
    }
}

impl<T> Future for Wait<T> {
    type Output = T;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<T> {
        self.0.poll(context, |ask, env, turn, number| ask(env, turn, number))
    }
}
