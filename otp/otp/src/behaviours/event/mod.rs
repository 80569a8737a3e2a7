//! gen_event: a process that hands each event to the handlers that were added to it.
//!
//! The process is OTP's gen_event; a handler is one of its callback modules, and its state lies in a slot. A handler that panics
//! is removed, and the others and the manager go on: that is gen_event's rule.
//!
//! ```
//! use otp::{EventManager, Init, gen_event};
//!
//! pub struct Tally { sum: i64 }
//!
//! #[gen_event]
//! impl Tally {
//!     fn init(sum: i64) -> Init<Self> {
//!         Ok(Tally { sum })
//!     }
//!
//!     #[event]
//!     fn number(&mut self, n: i64) {
//!         self.sum += n;
//!     }
//!
//!     #[call]
//!     fn sum(&mut self) -> i64 {
//!         self.sum
//!     }
//! }
//!
//! // In a callback that awaits.
//! async fn counted() -> Result<i64, Box<dyn std::error::Error>> {
//!     let manager = EventManager::<i64>::start_link().named("numbers").await?;
//!     let tally = manager.add_handler::<Tally>(0).await?;
//!     manager.notify(3);
//!     Ok(tally.sum().await?)
//! }
//! ```
//!
//! A handler that is not for the events of a manager cannot be added to it:
//!
//! ```compile_fail,E0277
//! # use otp::{EventManager, Init, gen_event};
//! # pub struct Tally { sum: i64 }
//! # #[gen_event] impl Tally {
//! #     fn init(sum: i64) -> Init<Self> { Ok(Tally { sum }) }
//! #     #[event] fn number(&mut self, n: i64) { self.sum += n; }
//! # }
//! async fn wrong(manager: EventManager<String>) {
//!     let _ = manager.add_handler::<Tally>(0).await;
//! }
//! ```

mod handler;
mod manager;
mod names;
mod process;
mod returns;

pub use handler::{Handler, HandlerError};
pub use manager::{EventManager, StartManager, events};
pub use names::{HandlerEnd, HandlerExit, HandlerName, Leaving};
pub use process::{decode_take_over, finish, finish_farewell, finish_reply, restore, start};
pub use returns::{Handled, IntoHandled, IntoHandledReply};

use crate::atom;
use crate::behaviours::host::{At, Begin, Host};
use crate::data::{Data, Elements, Malformed};
use crate::nif::{Atom, Env, Term};

/// A handler of events. The attribute `#[gen_event]` writes this.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no handler of events",
    note = "#[gen_event] stands before the `impl` block with its callbacks"
)]
pub trait EventHandler: Sized + Send + 'static {
    /// The name of its module in Erlang.
    fn module() -> &'static Atom;
    type Argument: Elements + Send + 'static;
    /// What its `#[terminate]` returns: to whoever removes it, or to the handler that takes its place.
    type Farewell: Data + Send + 'static;
}

/// A handler that has an `#[event]` for `E`.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no #[event] that takes `{E}`",
    label = "this handler cannot be added to a manager of `{E}`"
)]
pub trait Handles<E>: EventHandler {}

/// A handler that can take the place of another, which leaves `Old`: `None` where the other was not there.
#[diagnostic::on_unimplemented(
    message = "`{Self}` has no #[take_over] for what the other handler leaves, `{Old}`",
    note = "`#[take_over] fn name(old: Option<…>, argument) -> Init<Self>` makes one from what the #[terminate] of the other \
            returns"
)]
pub trait TakesOver<Old>: EventHandler {
    type Argument: Elements + Send + 'static;
}

/// A handler in a gen_event. The attribute writes this. Each function is an error when nobody is there for what came.
pub trait GenEvent: EventHandler {
    fn start(argument: Self::Argument) -> Begin<Self>;

    /// # Errors
    /// When it can take no handler's place, or not with these.
    fn take_over(old: Term<'_>, argument: Term<'_>) -> Result<Begin<Self>, Malformed>;

    /// # Errors
    /// When there is no such event.
    fn event<'a>(host: &mut Host<Self>, at: At<'a, '_>, event: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is no such call.
    fn call<'a>(host: &mut Host<Self>, at: At<'a, '_>, request: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When there is nobody for the message.
    fn info<'a>(host: &mut Host<Self>, at: At<'a, '_>, message: Term<'a>) -> Result<Term<'a>, Malformed>;

    /// # Errors
    /// When a callback is under way.
    fn terminate<'a>(host: &mut Host<Self>, at: At<'a, '_>, leaving: Leaving) -> Result<Term<'a>, Malformed>;

    /// The state, for who looks at the process.
    fn show<'a>(&self, env: Env<'a>) -> Term<'a>;

    /// The state's form on the way to another build; `None` when it has none.
    fn carry<'a>(&self, env: Env<'a>) -> Option<Term<'a>>;

    /// Whether its type has such a form.
    fn goes_over() -> bool;

    /// A state as it was shown, or as an older build had it.
    ///
    /// # Errors
    /// When it is none.
    fn restore(state: Term<'_>) -> Result<Self, Malformed>;
}

/// What a handler leaves to the next one.
#[doc(hidden)]
#[diagnostic::on_unimplemented(
    message = "a #[take_over] takes an Option first: there is nothing where the other handler was not there"
)]
pub trait Left: Sized {
    /// # Errors
    /// When it is of another form.
    fn read(term: Term<'_>) -> Result<Self, Malformed>;
}

impl<T: Data> Left for Option<T> {
    fn read(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("error")) { Ok(None) } else { T::decode(term).map(Some) }
    }
}
