//! gen_statem: a process that is in one of several states, in each of which it takes the same events differently.
//!
//! The process is OTP's gen_statem: it keeps the state and the postponed events and runs the timers, and tools see what they
//! see of any. An event comes in with the state; what a callback returns is what gen_statem's callbacks return. The state is
//! kept as a term, by gen_statem alone, so nothing can differ from it; the data lies in a slot, as that of a gen_server.
//!
//! ```
//! use std::time::Duration;
//! use otp::{Data, Entered, Init, Step, gen_statem};
//!
//! #[derive(Data, Clone, Copy)]
//! pub enum LampState { Off, On }
//!
//! pub struct Lamp { switched: u32 }
//!
//! #[gen_statem(state = LampState)]
//! impl Lamp {
//!     fn init() -> Init<(LampState, Self)> {
//!         Ok((LampState::Off, Lamp { switched: 0 }))
//!     }
//!
//!     /// Switches it, and says how often that was done.
//!     #[call]
//!     fn switch(&mut self, state: LampState) -> Step<Self, u32> {
//!         self.switched += 1;
//!         match state {
//!             LampState::Off => Step::to(LampState::On).reply(self.switched),
//!             LampState::On => Step::to(LampState::Off).reply(self.switched),
//!         }
//!     }
//!
//!     #[enter]
//!     fn entered(&mut self, _from: LampState, to: LampState) -> Entered<Self> {
//!         match to {
//!             LampState::Off => Entered::keep(),
//!             LampState::On => Entered::keep().state_timeout(Duration::from_secs(60), LampTimeout::Burnt),
//!         }
//!     }
//!
//!     #[timeout]
//!     fn burnt(&mut self, _state: LampState) -> Step<Self> {
//!         Step::to(LampState::Off)
//!     }
//! }
//! ```
//!
//! What OTP would refuse as it runs does not compile. An enter call that goes to another state:
//!
//! ```compile_fail,E0277
//! # use otp::{Data, Init, Step, gen_statem};
//! # #[derive(Data, Clone, Copy)] pub enum LampState { Off, On }
//! # pub struct Lamp;
//! #[gen_statem(state = LampState)]
//! impl Lamp {
//! #   fn init() -> Init<(LampState, Self)> { Ok((LampState::Off, Lamp)) }
//!     #[enter]
//!     fn entered(&mut self, _from: LampState, _to: LampState) -> Step<Self> {
//!         Step::to(LampState::Off)
//!     }
//! }
//! ```
//!
//! A call that one arm forgets to answer, and a timer for what is no `#[timeout]`:
//!
//! ```compile_fail,E0308
//! # use otp::{Data, Init, Step, gen_statem};
//! # #[derive(Data, Clone, Copy)] pub enum LampState { Off, On }
//! # pub struct Lamp;
//! #[gen_statem(state = LampState)]
//! impl Lamp {
//! #   fn init() -> Init<(LampState, Self)> { Ok((LampState::Off, Lamp)) }
//!     #[call]
//!     fn switch(&mut self, state: LampState) -> Step<Self, u32> {
//!         match state {
//!             LampState::Off => Step::to(LampState::On).reply(1),
//!             LampState::On => Step::to(LampState::Off),
//!         }
//!     }
//! }
//! ```
//!
//! ```compile_fail,E0599
//! # use std::time::Duration;
//! # use otp::{Data, Init, Step, gen_statem};
//! # #[derive(Data, Clone, Copy)] pub enum LampState { Off, On }
//! # pub struct Lamp;
//! #[gen_statem(state = LampState)]
//! impl Lamp {
//! #   fn init() -> Init<(LampState, Self)> { Ok((LampState::Off, Lamp)) }
//!     #[cast]
//!     fn light(&mut self, _state: LampState) -> Step<Self> {
//!         Step::to(LampState::On).state_timeout(Duration::from_secs(60), LampTimeout::Brunt)
//!     }
//!
//!     #[timeout]
//!     fn burnt(&mut self, _state: LampState) -> Step<Self> {
//!         Step::to(LampState::Off)
//!     }
//! }
//! ```

mod actions;
mod process;
mod step;

pub use actions::When;
pub use process::{begun, begun_later, finish, finish_call, finish_entered, restore, start};
pub use step::{Entered, First, IntoAnswer, IntoEntered, IntoStep, NoReply, Step};

use crate::behaviours::host::{At, Begin, Host};
use crate::behaviours::returns::Caller;
use crate::behaviours::start::Startable;
use crate::data::{Data, Malformed};
use crate::nif::{Atom, Env, Term};
use crate::process::reason::Reason;

/// A state machine: the type of its states, and what it may send itself. The attribute `#[gen_statem]` writes this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no gen_statem",
    note = "#[gen_statem(state = …)] stands before the `impl` block with its callbacks"
)]
pub trait Machine: Sized + Send + 'static {
    type State: Data + Send + 'static;
    /// One variant for each `#[timeout]`.
    type Timeout: Own;
    /// One variant for each `#[event]`.
    type Event: Own;
}

/// What a machine sends itself.
#[doc(hidden)]
pub trait Own: Send + 'static {
    /// The name of the callback.
    fn name(&self) -> &'static Atom;
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a>;
}

/// Where there is no such callback.
#[doc(hidden)]
#[derive(Clone, Copy, Debug)]
pub enum Never {}

impl Own for Never {
    fn name(&self) -> &'static Atom {
        match *self {}
    }

    fn encode<'a>(&self, _: Env<'a>) -> Term<'a> {
        match *self {}
    }
}

/// A gen_statem. The attribute writes this. Each function has one kind of event taken, and is an error when nobody is there for
/// that one.
pub trait GenStatem: Machine + Startable {
    fn start(argument: Self::Argument) -> Begin<Self>;

    /// # Errors
    /// When there is no such call.
    fn call<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        from: From<'a>,
        request: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is no such cast.
    fn cast<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        request: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is nobody for the message.
    fn info<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        message: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// An `#[event]`, or the work after the start.
    ///
    /// # Errors
    /// When there is no such event.
    fn event<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        event: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is no such timeout.
    fn timeout<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        timeout: Term<'a>,
    ) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When a callback is under way.
    fn enter<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        from: Self::State,
        to: Self::State,
    ) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When a callback is under way.
    fn terminate<'a>(
        host: &mut Host<Self>,
        at: At<'a, '_>,
        state: Self::State,
        reason: Reason,
    ) -> Result<Term<'a>, Malformed>;

    /// The data, for who looks at the process.
    fn show<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// The data's form on the way to another build; `None` when it has none.
    fn carry<'a>(&self, env: Env<'a>) -> Option<Term<'a>>;

    /// Whether its type has such a form.
    fn goes_over() -> bool;

    /// State and data as an older build had them.
    ///
    /// # Errors
    /// When they are none.
    fn restore(state: Term<'_>, data: Term<'_>) -> Result<(Self::State, Self), Malformed>;
}

/// Who made a call.
#[expect(missing_debug_implementations, reason = "it is a term")]
pub struct From<'a> {
    term: Term<'a>,
}

impl<'a> From<'a> {
    pub(crate) fn new(term: Term<'a>) -> Self {
        Self { term }
    }

    /// What gen_statem is told to do, with the reply.
    pub fn answer<M: Machine, R: Data>(self, at: At<'a, '_>, step: Step<M, R>) -> Term<'a> {
        step.encode_answer(at.env, self.term)
    }

    /// For a reply that comes later.
    pub fn keep<R: Data>(self) -> Caller<R> {
        Caller::keep(self.term)
    }
}
