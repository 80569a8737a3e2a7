//! A turn: one call from the VM, with its environment, what its code has ordered, and what its future waits for.
//!
//! A native function cannot call another process, link to one, or start a timer. The code of a callback orders such things, and the
//! Erlang half does them, in the order in which they were ordered, when the native function has returned.

use std::cell::{Cell, RefCell};
use std::ptr;

use crate::nif::abi::{RawEnv, RawPid, RawTerm};
use crate::nif::{Atom, Env, OwnedEnv, Term};
use crate::process::waits::Waits;

/// What becomes of a content before it is sent.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Form {
    /// It is the message.
    Bare,
    /// It is the request of a cast.
    Cast,
}

impl Form {
    /// The whole message.
    #[inline]
    pub(crate) fn message(self, content: Term<'_>) -> Term<'_> {
        let env = content.env();
        match self {
            Self::Bare => content,
            Self::Cast => env.tuple(&[crate::atom!("$gen_cast").raw(env), content.raw()]),
        }
    }
}

/// No order has more elements beside its name.
const MOST_ELEMENTS: usize = 6;

/// One call from the VM.
#[derive(Debug)]
pub struct Turn {
    raw: *mut RawEnv,
    /// Whether it came on a scheduler that may be held up.
    pub(crate) dirty: bool,
    rest: Cell<Rest>,
    /// What was ordered, where that is more than one thing.
    orders: RefCell<Vec<RawTerm>>,
    /// The future that is polled.
    polled: Cell<Option<Polled>>,
    /// The reply that an async callback came to.
    pub(crate) answer: Cell<Option<RawTerm>>,
}

/// What is still to be done when the code has run.
#[derive(Clone, Copy, Debug)]
enum Rest {
    Nothing,
    /// This was ordered.
    Order(RawTerm),
    /// Several things were.
    Orders,
}

/// A future while it is polled.
#[derive(Clone, Copy, Debug)]
struct Polled {
    /// What it waits for.
    waits: *const RefCell<Waits>,
    /// What its waker bears as its data.
    waker: usize,
}

thread_local! {
    /// The call that this thread is in.
    static CURRENT: Cell<*const Turn> = const { Cell::new(ptr::null()) };
}

impl Turn {
    #[inline]
    pub(crate) fn new(env: Env<'_>, dirty: bool) -> Self {
        Self {
            raw: env.raw(),
            dirty,
            rest: Cell::new(Rest::Nothing),
            orders: RefCell::new(Vec::new()),
            polled: Cell::new(None),
            answer: Cell::new(None),
        }
    }

    /// Runs `body` as what this call does.
    #[inline]
    pub(crate) fn enter<R>(&self, body: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a Cell<*const Turn>, *const Turn);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        // Where the thread keeps it is looked up once: in a library that is loaded that is a call.
        CURRENT.with(|current| {
            let _leave = Leave(current, current.replace(self));
            body()
        })
    }

    /// Runs `body` while the future is polled that waits for `waits`, and whose waker bears `waker` as its data.
    pub(crate) fn polling<R>(&self, waits: &RefCell<Waits>, waker: usize, body: impl FnOnce() -> R) -> R {
        struct Leave<'a>(&'a Cell<Option<Polled>>, Option<Polled>);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.set(self.1);
            }
        }
        let _leave = Leave(&self.polled, self.polled.replace(Some(Polled { waits, waker })));
        body()
    }

    /// What the waker of the future that is polled bears as its data.
    pub(crate) fn polled(&self) -> Option<usize> {
        self.polled.get().map(|polled| polled.waker)
    }

    /// What the future that is polled waits for; `None` when none is.
    pub(crate) fn waits<R>(&self, body: impl FnOnce(&mut Waits) -> R) -> Option<R> {
        // SAFETY: `polling` borrows it for as long as its pointer is here.
        let waits = unsafe { &*self.polled.get()?.waits };
        Some(body(&mut waits.borrow_mut()))
    }

    /// Orders `{What, Element, …}` of the Erlang half.
    pub(crate) fn order<'a>(&self, env: Env<'a>, what: &Atom, elements: &[Term<'a>]) {
        let mut all = [what.raw(env); MOST_ELEMENTS + 1];
        for (place, element) in all[1..].iter_mut().zip(elements) {
            *place = element.raw();
        }
        self.order_tuple(env, &all[..=elements.len()]);
    }

    /// Orders a tuple of these.
    #[inline]
    pub(crate) fn order_tuple(&self, env: Env<'_>, elements: &[RawTerm]) {
        let order = env.tuple(elements).raw();
        match self.rest.get() {
            Rest::Nothing => self.rest.set(Rest::Order(order)),
            Rest::Order(first) => {
                self.orders.borrow_mut().extend([first, order]);
                self.rest.set(Rest::Orders);
            }
            Rest::Orders => self.orders.borrow_mut().push(order),
        }
    }

    /// How much was ordered.
    pub(crate) fn ordered(&self) -> usize {
        match self.rest.get() {
            Rest::Nothing => 0,
            Rest::Order(_) => 1,
            Rest::Orders => self.orders.borrow().len(),
        }
    }

    /// Takes away what was ordered, because nobody will do it.
    pub(crate) fn undone(&self) -> Vec<RawTerm> {
        match self.rest.get() {
            Rest::Nothing => Vec::new(),
            Rest::Order(only) => {
                self.rest.set(Rest::Nothing);
                vec![only]
            }
            Rest::Orders => {
                self.rest.set(Rest::Nothing);
                self.orders.take()
            }
        }
    }

    /// Sends what `make` makes to a process of this node, unless something was ordered before, which must not be overtaken.
    #[inline(always)]
    pub(crate) fn send<'a>(&self, env: Env<'a>, to: RawPid, make: impl FnOnce(Env<'a>) -> Term<'a>) {
        let before = env.now();
        let message = make(env);
        if self.is_done() {
            let words = env.taken_since(before);
            env.send(to, message);
            // The VM copies what it sends, so no more room is taken for it here.
            // SAFETY: nobody else has the message, and it was made in this call.
            unsafe { env.give_back(words) };
        } else {
            self.order(env, crate::atom!("send"), &[env.adopt(to.pid), message]);
        }
    }

    /// Whether nothing is still to be done.
    #[inline]
    pub(crate) fn is_done(&self) -> bool {
        matches!(self.rest.get(), Rest::Nothing)
    }

    /// `result`; `{orders, Orders, result}` when something was ordered; of one call, or one function of Erlang's, that is waited for, the
    /// order itself.
    #[inline(always)]
    pub(crate) fn with_rest<'a>(&self, env: Env<'a>, result: Term<'a>) -> Term<'a> {
        match self.rest.get() {
            Rest::Nothing => result,
            Rest::Order(order) => self.with_order(env, order, result),
            Rest::Orders => self.with_orders(env, self.orders.take(), result),
        }
    }

    #[inline(never)]
    fn with_order<'a>(&self, env: Env<'a>, order: RawTerm, result: Term<'a>) -> Term<'a> {
        if result.is(crate::atom!("wait"))
            && let Some(what) = env.adopt(order).tuple().and_then(|order| order.get(0))
            && (what.is(crate::atom!("call")) || what.is(crate::atom!("apply")))
        {
            return env.adopt(order);
        }
        self.with_orders(env, vec![order], result)
    }

    #[cold]
    fn with_orders<'a>(&self, env: Env<'a>, orders: Vec<RawTerm>, result: Term<'a>) -> Term<'a> {
        env.tuple(&[crate::atom!("orders").raw(env), env.list(&orders).raw(), result.raw()])
    }
}

/// Runs `body` with the call that this thread is in.
///
/// # Panics
/// On a thread that no process runs on.
#[inline(always)]
pub(crate) fn turn<R>(body: impl for<'a> FnOnce(Env<'a>, &'a Turn) -> R) -> R {
    try_turn(body).expect(OUTSIDE)
}

/// The same, or `None` on a thread that no process runs on.
#[inline(always)]
pub(crate) fn try_turn<R>(body: impl for<'a> FnOnce(Env<'a>, &'a Turn) -> R) -> Option<R> {
    within(some(body), |_| None)
}

/// Lets `body` have the environment of the call that this thread is in, or one that belongs to no process. The VM takes none at all for
/// what its documentation says so of, and nothing else.
pub(crate) fn anywhere<R>(body: impl for<'a> FnOnce(Env<'a>) -> R) -> R {
    let turn = CURRENT.get();
    if turn.is_null() {
        return body(OwnedEnv::new().env());
    }
    // SAFETY: as in `within`.
    body(unsafe { Env::new((*turn).raw) })
}

#[inline(always)]
fn some<R>(body: impl for<'a> FnOnce(Env<'a>, &'a Turn) -> R) -> impl for<'a> FnOnce(Env<'a>, &'a Turn) -> Option<R> {
    |env, turn| Some(body(env, turn))
}

/// The same of what is more than a closure; on a thread that no process runs on, `outside`.
#[inline(always)]
pub(crate) fn within<R, B: Within<R>>(body: B, outside: impl FnOnce(B) -> R) -> R {
    let turn = CURRENT.get();
    if turn.is_null() {
        return outside(body);
    }
    // SAFETY: `enter` put it there and takes it away before the call ends that it is of; so its environment is valid too.
    let (env, turn) = unsafe { (Env::new((*turn).raw), &*turn) };
    body.run(env, turn)
}

/// What went wrong where there must be a call.
pub(crate) const OUTSIDE: &str = "only a process can do this, and this code runs outside of one: a thread of its own can send and cast, and that is all";

/// What is done in a call: a closure, or where it must become part of its caller, a type, as only a method can be told so.
pub(crate) trait Within<R> {
    fn run<'a>(self, env: Env<'a>, turn: &'a Turn) -> R;
}

impl<R, F: for<'a> FnOnce(Env<'a>, &'a Turn) -> R> Within<R> for F {
    #[inline(always)]
    fn run<'a>(self, env: Env<'a>, turn: &'a Turn) -> R {
        self(env, turn)
    }
}

/// Runs `body` with the environment of the process that runs this code.
///
/// # Panics
/// On a thread that no process runs on.
#[inline]
pub fn current<R>(body: impl for<'a> FnOnce(Env<'a>) -> R) -> R {
    turn(|env, _| body(env))
}

/// Whether this thread is in a call from the VM.
pub(crate) fn in_call() -> bool {
    !CURRENT.get().is_null()
}
