//! Tasks: work in a process of its own, whose result is awaited.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::sync::{Arc, Mutex, PoisonError};
use std::task::{Context, Poll};

use crate::atom;
use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::Process;
use crate::process::number::number;
use crate::process::reason::Reason;
use crate::process::slot::slot;
use crate::process::turn::{Turn, try_turn, turn};
use crate::waiting::future::{Boxed, Running};
use crate::waiting::order::Wait;

/// Work that a process of its own does. Dropped without being awaited, it goes on.
#[must_use = "a task whose result nobody wants is detached: `drop(task)`"]
pub struct Task<T> {
    number: u64,
    result: Arc<Mutex<Option<T>>>,
    end: Option<Wait<Reason>>,
}

impl<T> fmt::Debug for Task<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("Task").field(&self.number).finish()
    }
}

impl<T: Send + 'static> Task<T> {
    /// A process for `work`, linked to this one: an error in one ends both.
    pub fn spawn(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::begin(work, true)
    }

    /// A process for `work` that may fail without the end of this one; awaiting it tells why.
    pub fn spawn_unlinked(work: impl Future<Output = T> + Send + 'static) -> Self {
        Self::begin(work, false)
    }

    fn begin(work: impl Future<Output = T> + Send + 'static, linked: bool) -> Self {
        let result = Arc::new(Mutex::new(None));
        let put = result.clone();
        let work = async move {
            let value = work.await;
            *put.lock().unwrap_or_else(PoisonError::into_inner) = Some(value);
        };
        let number = number();
        turn(|env, turn| {
            let parts = [number.encode(env), Worker::slot(env, Box::pin(work)), linked.encode(env)];
            turn.order(env, atom!("spawn"), &parts);
        });
        Self { number, result, end: None }
    }
}

impl<T> Unpin for Task<T> {}

/// The value that the work came to, or why it ended without one.
impl<T: Send + 'static> Future for Task<T> {
    type Output = Result<T, Reason>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let task = self.number;
        let end = self.end.get_or_insert_with(|| {
            let ask = move |env: Env<'_>, turn: &Turn, number: u64| {
                turn.order(env, atom!("join"), &[number.encode(env), task.encode(env)]);
            };
            Wait::new(ask, ended)
        });
        let Poll::Ready(reason) = Pin::new(end).poll(context) else { return Poll::Pending };
        let value = self.result.lock().unwrap_or_else(PoisonError::into_inner).take();
        Poll::Ready(value.ok_or(reason))
    }
}

impl<T> Drop for Task<T> {
    fn drop(&mut self) {
        try_turn(|env, turn| turn.order(env, atom!("forget"), &[self.number.encode(env)]));
    }
}

/// `{down, Reason}`.
fn ended(event: Term<'_>) -> Reason {
    let reason = event.tuple().and_then(|event| event.get(1)).and_then(|reason| Reason::decode(reason).ok());
    reason.unwrap_or(Reason::Normal)
}

/// The process of a task.
pub(crate) struct Worker {
    work: Option<Boxed<()>>,
    running: Option<Running<()>>,
}

impl Worker {
    /// The slot of a process that is to do `work`.
    pub(crate) fn slot<'a>(env: Env<'a>, work: Boxed<()>) -> Term<'a> {
        slot(env, Self { work: Some(work), running: None })
    }

    fn poll<'a>(&mut self, env: Env<'a>, turn: &Turn) -> Option<Term<'a>> {
        Some(match self.running.as_mut()?.poll(env, turn) {
            Ok(()) => atom!("ok").term(env),
            Err(wait) => wait,
        })
    }
}

impl Process for Worker {
    fn receive<'a>(&mut self, _: Env<'a>, _: &Turn, _: Term<'a>) -> Option<Term<'a>> {
        None
    }

    /// `started`: in the process that does the work.
    fn on<'a>(&mut self, env: Env<'a>, turn: &Turn, _: Term<'a>) -> Option<Term<'a>> {
        self.running = Some(Running::new(env, self.work.take()?));
        self.poll(env, turn)
    }

    fn resume<'a>(&mut self, env: Env<'a>, turn: &Turn, events: Term<'a>) -> Option<Term<'a>> {
        self.running.as_mut()?.arrived(events);
        self.poll(env, turn)
    }

    fn is_light(&self) -> bool {
        self.work.is_none() && self.running.as_ref().is_none_or(Running::is_over)
    }

    fn work(&mut self, number: u64) -> Option<()> {
        self.running.as_mut()?.work(number)
    }
}
