//! What a future waits for: an order that the Erlang half was given, and what came of it.

use std::fmt;
use std::future::Future;
use std::mem;
use std::pin::Pin;
use std::sync::atomic::{AtomicU64, Ordering};
use std::task::{Context, Poll, Waker};

use crate::atom;
use crate::data::{Any, Data};
use crate::vm::abi::RawTerm;
use crate::vm::{Env, Term, Turn, try_turn, turn};

/// What a process waits for, by the numbers of its orders.
#[derive(Default)]
pub(crate) struct Waits {
    /// Nearly always there is no other.
    first: Option<Waiting>,
    others: Option<Box<Others>>,
}

#[derive(Default)]
struct Others {
    /// Hardly ever more than a few.
    waiting: Vec<Waiting>,
    /// What is to be done on a scheduler that may be held up.
    jobs: Vec<(u64, Job)>,
}

/// Work for a scheduler that may be held up; it puts its result where it is waited for.
pub(crate) type Job = Box<dyn FnOnce() + Send>;

struct Waiting {
    number: u64,
    came: Came,
    /// Who is to be woken, unless it is the future that is polled anyway.
    waker: Option<Waker>,
}

enum Came {
    Nothing,
    /// In the call that is under way.
    Now(RawTerm),
    /// In an earlier one.
    Before(Any),
}

impl Waits {
    pub(crate) fn add_job(&mut self, number: u64, job: Job) {
        self.others.get_or_insert_default().jobs.push((number, job));
    }

    pub(super) fn take_job(&mut self, number: u64) -> Option<Job> {
        let jobs = &mut self.others.as_mut()?.jobs;
        let at = jobs.iter().position(|job| job.0 == number)?;
        Some(jobs.swap_remove(at).1)
    }

    #[inline]
    fn put(&mut self, waiting: Waiting) {
        match &mut self.first {
            first @ None => *first = Some(waiting),
            Some(_) => self.others.get_or_insert_default().waiting.push(waiting),
        }
    }

    #[inline]
    fn all(&mut self) -> impl Iterator<Item = &mut Waiting> {
        self.first.iter_mut().chain(self.others.iter_mut().flat_map(|others| &mut others.waiting))
    }

    #[inline]
    fn find(&mut self, number: u64) -> Option<&mut Waiting> {
        self.all().find(|waiting| waiting.number == number)
    }

    #[inline]
    fn take(&mut self, number: u64) -> Option<Waiting> {
        if let Some(waiting) = self.first.take_if(|first| first.number == number) {
            return Some(waiting);
        }
        let waiting = &mut self.others.as_mut()?.waiting;
        let at = waiting.iter().position(|waiting| waiting.number == number)?;
        Some(waiting.swap_remove(at))
    }

    /// What came for this number, which then is waited for no longer; or `Nothing`, and then `waker` takes the place of the one before.
    #[inline]
    fn look(&mut self, number: u64, waker: &mut Option<Waker>) -> Option<Came> {
        let waiting = self.find(number)?;
        if let Came::Nothing = waiting.came {
            mem::swap(&mut waiting.waker, waker);
            return Some(Came::Nothing);
        }
        self.take(number).map(|waiting| waiting.came)
    }

    /// Notes what came, `[{Number, Event}, …]` or `[Number | Event]`, and wakes who is to be woken.
    #[inline]
    pub(super) fn arrived(&mut self, events: Term<'_>) {
        let mut rest = events;
        while let Some((event, others)) = rest.cell() {
            match event.tuple().and_then(|event| event.array()) {
                Some([number, event]) => self.came(number, event),
                None => return self.came(event, others),
            }
            rest = others;
        }
    }

    #[inline]
    fn came(&mut self, number: Term<'_>, event: Term<'_>) {
        let Some(waiting) = u64::decode(number).ok().and_then(|number| self.find(number)) else { return };
        if let Came::Nothing = waiting.came {
            waiting.came = Came::Now(event.raw());
            if let Some(waker) = waiting.waker.take() {
                waker.wake();
            }
        }
    }

    /// Keeps what came in this call and was not taken in it.
    #[inline]
    pub(super) fn keep(&mut self, env: Env<'_>) {
        for waiting in self.all() {
            if let Came::Now(event) = waiting.came {
                waiting.came = Came::Before(Any::keep(env.adopt(event)));
            }
        }
    }
}

impl fmt::Debug for Waits {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let waiting = self.first.iter().chain(self.others.iter().flat_map(|others| &others.waiting));
        f.debug_set().entries(waiting.map(|waiting| waiting.number)).finish()
    }
}

static NEXT: AtomicU64 = AtomicU64::new(1);

/// The number of no order.
const NONE: u64 = 0;

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
