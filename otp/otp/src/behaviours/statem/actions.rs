//! Actions of a gen_statem besides its transitions: timers, events to itself, replies.

use std::time::{Duration, Instant};

use super::{Machine, Own};
use crate::atom;
use crate::data::{Any, Data};
use crate::nif::abi::RawTerm;
use crate::nif::{Env, Term};
use crate::process::reason::milliseconds;

/// When a timeout comes: after a [`Duration`], or at an [`Instant`], in whole milliseconds and never too early.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum When {
    After(Duration),
    At(Instant),
}

impl std::convert::From<Duration> for When {
    fn from(time: Duration) -> Self {
        Self::After(time)
    }
}

impl std::convert::From<Instant> for When {
    fn from(time: Instant) -> Self {
        Self::At(time)
    }
}

impl When {
    fn milliseconds(self) -> u64 {
        milliseconds(match self {
            Self::After(time) => time,
            Self::At(time) => time.saturating_duration_since(Instant::now()),
        })
    }
}

/// Which of the timers.
pub(super) enum Timer {
    /// Ends with the state.
    State,
    /// Ends with the next event.
    Event,
    /// Goes on until it is told otherwise; one for each `#[timeout]`, and for each key.
    Named(Option<Any>),
}

impl Timer {
    /// `state_timeout`, `timeout`, `{timeout, Name}` or `{timeout, {Name, Key}}`.
    fn encode<'a>(&self, env: Env<'a>, name: Term<'a>) -> Term<'a> {
        let name = match self {
            Self::State => return atom!("state_timeout").term(env),
            Self::Event => return atom!("timeout").term(env),
            Self::Named(None) => name,
            Self::Named(Some(key)) => env.tuple(&[name.raw(), key.encode(env).raw()]),
        };
        env.tuple(&[atom!("timeout").raw(env), name.raw()])
    }
}

/// One of gen_statem's actions.
pub(super) enum Action<M: Machine> {
    Event(M::Event),
    Begin(Timer, When, M::Timeout),
    Update(Timer, M::Timeout),
    CancelStateTimeout,
    Cancel(Timer, M::Timeout),
    Reply { from: Any, reply: Any },
    Hibernate,
}

impl<M: Machine> Action<M> {
    pub(super) fn is_reply(&self) -> bool {
        matches!(self, Self::Reply { .. })
    }

    pub(super) fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let timer = |timer: &Timer, timeout: &M::Timeout| timer.encode(env, timeout.name().term(env)).raw();
        let cancel = || atom!("cancel").raw(env);
        let parts: &[RawTerm] = match self {
            Self::Event(event) => &[atom!("next_event").raw(env), atom!("internal").raw(env), event.encode(env).raw()],
            Self::Begin(which, when, timeout) => {
                &[timer(which, timeout), when.milliseconds().encode(env).raw(), timeout.encode(env).raw()]
            }
            Self::Update(which, timeout) => {
                &[timer(which, timeout), atom!("update").raw(env), timeout.encode(env).raw()]
            }
            Self::CancelStateTimeout => &[atom!("state_timeout").raw(env), cancel()],
            Self::Cancel(which, timeout) => &[timer(which, timeout), cancel()],
            Self::Reply { from, reply } => &[atom!("reply").raw(env), from.encode(env).raw(), reply.encode(env).raw()],
            Self::Hibernate => return atom!("hibernate").term(env),
        };
        env.tuple(parts)
    }
}

/// The methods that say what is done, for a type whose field `actions` they go to. Of several about one timer gen_statem does
/// the last.
macro_rules! actions {
    ($machine:ident) => {
        /// Sends the machine this `#[timeout]`, unless it is in another state by then. There is one such timer: a second one
        /// takes the place of the first.
        pub fn state_timeout(mut self, when: impl Into<When>, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Begin(Timer::State, when.into(), timeout));
            self
        }

        /// Has the timeout of the state, when its time comes, be this one.
        pub fn update_state_timeout(mut self, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Update(Timer::State, timeout));
            self
        }

        /// There is no timeout of the state after this.
        pub fn cancel_state_timeout(mut self) -> Self {
            self.actions.push(Action::CancelStateTimeout);
            self
        }

        /// Sends the machine this `#[timeout]`, unless any event comes before.
        pub fn event_timeout(mut self, when: impl Into<When>, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Begin(Timer::Event, when.into(), timeout));
            self
        }

        /// Sends the machine this `#[timeout]`, whatever happens in between. Each `#[timeout]` has one such timer: a second
        /// one takes the place of the first.
        pub fn timeout(mut self, when: impl Into<When>, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Begin(Timer::Named(None), when.into(), timeout));
            self
        }

        /// The same with a timer for each key, such as the number of what is waited for.
        pub fn timeout_for(mut self, key: &impl Data, when: impl Into<When>, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Begin(Timer::Named(Some(Any::of(key))), when.into(), timeout));
            self
        }

        /// Has this `#[timeout]`, when its time comes, come with these arguments.
        pub fn update_timeout(mut self, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Update(Timer::Named(None), timeout));
            self
        }

        /// The same for the timer of this key.
        pub fn update_timeout_for(mut self, key: &impl Data, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Update(Timer::Named(Some(Any::of(key))), timeout));
            self
        }

        /// No such `#[timeout]` comes after this; with what arguments it would have come does not matter.
        pub fn cancel_timeout(mut self, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Cancel(Timer::Named(None), timeout));
            self
        }

        /// The same for the timer of this key.
        pub fn cancel_timeout_for(mut self, key: &impl Data, timeout: $machine::Timeout) -> Self {
            self.actions.push(Action::Cancel(Timer::Named(Some(Any::of(key))), timeout));
            self
        }

        /// Answers a call that came before.
        pub fn reply_to<T: Data>(mut self, caller: Caller<T>, reply: T) -> Self {
            self.actions.push(Action::Reply { from: caller.from(), reply: Any::of(&reply) });
            self
        }

        /// Lies in as little memory as can be until the next event.
        pub fn hibernate(mut self) -> Self {
            self.actions.push(Action::Hibernate);
            self
        }
    };
}
pub(super) use actions;
