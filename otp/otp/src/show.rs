//! How a state is shown to who looks at its process (`sys:get_state`, observer), and restored from that.
//!
//! A state that is [`Data`] is shown as its term, and can be restored; one that is only `Debug` as the text of that; any other
//! as the name of its type. The macros choose among the three by the number of references that a method takes (the compiler
//! looks for the method with the fewest first), as what a type implements cannot be asked for otherwise.

use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

use crate::data::{Data, Malformed};
use crate::vm::{Env, Term};

/// A type whose values are shown.
#[derive(Debug)]
pub struct Shown<S>(pub PhantomData<fn(S)>);

pub trait ByData<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a>;

    /// # Errors
    /// When it is no such state.
    fn restore(&self, term: Term<'_>) -> Result<S, Malformed>;

    /// The type in Erlang, if it can be restored.
    fn form(&self) -> Option<String>;
}

impl<S: Data> ByData<S> for &&Shown<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a> {
        state.encode(env)
    }

    fn restore(&self, term: Term<'_>) -> Result<S, Malformed> {
        S::decode(term).map_err(|wrong| if is_text(term) { only_text("a state with a form in Erlang") } else { wrong })
    }

    fn form(&self) -> Option<String> {
        Some(S::erlang_type())
    }
}

pub trait ByDebug<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a>;

    /// # Errors
    /// Always.
    fn restore(&self, term: Term<'_>) -> Result<S, Malformed> {
        Err(no_form::<S>(term))
    }

    fn form(&self) -> Option<String> {
        None
    }
}

impl<S: Debug> ByDebug<S> for &Shown<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a> {
        format!("{state:?}").encode(env)
    }
}

pub trait ByName<S> {
    fn show<'a>(&self, _: &S, env: Env<'a>) -> Term<'a> {
        type_name::<S>().to_owned().encode(env)
    }

    /// # Errors
    /// Always.
    fn restore(&self, term: Term<'_>) -> Result<S, Malformed> {
        Err(no_form::<S>(term))
    }

    fn form(&self) -> Option<String> {
        None
    }
}

impl<S> ByName<S> for Shown<S> {}

fn no_form<S>(term: Term<'_>) -> Malformed {
    let wanted = format!("a state that has a form in Erlang, and {} has none: derive otp::Data", type_name::<S>());
    if is_text(term) { only_text(&wanted) } else { Malformed::expected(wanted) }
}

/// Whether it may be what a state without a form is shown as.
fn is_text(term: Term<'_>) -> bool {
    String::decode(term).is_ok()
}

fn only_text(wanted: &str) -> Malformed {
    Malformed::expected(format!(
        "{wanted}; the running one is shown as a text, because its type has not derived otp::Data: an #[upgrade] whose old state \
         is a String gets that text, or stop the application and run it anew"
    ))
}
