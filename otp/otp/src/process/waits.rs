//! Outstanding orders of a process, and the answers that have arrived for them.

use std::fmt;
use std::mem;
use std::task::Waker;

use crate::data::{Any, Data};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};

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

pub(crate) struct Waiting {
    pub(crate) number: u64,
    pub(crate) came: Came,
    /// Who is to be woken, unless it is the future that is polled anyway.
    pub(crate) waker: Option<Waker>,
}

pub(crate) enum Came {
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

    pub(crate) fn take_job(&mut self, number: u64) -> Option<Job> {
        let jobs = &mut self.others.as_mut()?.jobs;
        let at = jobs.iter().position(|job| job.0 == number)?;
        Some(jobs.swap_remove(at).1)
    }

    #[inline]
    pub(crate) fn put(&mut self, waiting: Waiting) {
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
    pub(crate) fn take(&mut self, number: u64) -> Option<Waiting> {
        if let Some(waiting) = self.first.take_if(|first| first.number == number) {
            return Some(waiting);
        }
        let waiting = &mut self.others.as_mut()?.waiting;
        let at = waiting.iter().position(|waiting| waiting.number == number)?;
        Some(waiting.swap_remove(at))
    }

    /// What came for this number, which then is waited for no longer; or `Nothing`, and then `waker` takes the place of the one before.
    #[inline]
    pub(crate) fn look(&mut self, number: u64, waker: &mut Option<Waker>) -> Option<Came> {
        let waiting = self.find(number)?;
        if let Came::Nothing = waiting.came {
            mem::swap(&mut waiting.waker, waker);
            return Some(Came::Nothing);
        }
        self.take(number).map(|waiting| waiting.came)
    }

    /// Notes what came, `[{Number, Event}, …]` or `[Number | Event]`, and wakes who is to be woken.
    #[inline]
    pub(crate) fn arrived(&mut self, events: Term<'_>) {
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
    pub(crate) fn keep(&mut self, env: Env<'_>) {
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
