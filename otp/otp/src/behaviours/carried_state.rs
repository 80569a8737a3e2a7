//! The state on its way to another build.
//!
//! The build before gives a state as the term that [`Carry`] makes of it, and the next build makes its own state of that. A state whose type is
//! only [`Data`] goes over in that form. Any other has none: it is given as the text that tools see, in `{'$otp_no_form', Text}`,
//! so that an `#[upgrade]` can make something of the text; without one the process stays in its build. What a type is the macros find out
//! as for [`Shown`](super::shown_state::Shown).

use std::any::type_name;
use std::marker::PhantomData;

use crate::atom;
use crate::data::{Carry, Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::NotRestored;

/// A type whose values may go over.
#[derive(Debug)]
pub struct Carried<S>(pub PhantomData<fn(S)>);

pub trait ByCarry<S> {
    /// Whether its type has a form on the way.
    fn goes_over(&self) -> bool {
        true
    }

    fn carry<'a>(&self, state: &S, env: Env<'a>) -> Option<Term<'a>>;

    /// # Errors
    /// When it is no such state.
    fn carried(&self, term: Term<'_>) -> Result<S, Malformed>;
}

impl<S: Carry> ByCarry<S> for &&Carried<S> {
    fn carry<'a>(&self, state: &S, env: Env<'a>) -> Option<Term<'a>> {
        Some(state.carry(env))
    }

    fn carried(&self, term: Term<'_>) -> Result<S, Malformed> {
        S::carried(term)
    }
}

pub trait ByItsData<S> {
    fn goes_over(&self) -> bool {
        true
    }

    fn carry<'a>(&self, state: &S, env: Env<'a>) -> Option<Term<'a>>;

    /// # Errors
    /// When it is no such state.
    fn carried(&self, term: Term<'_>) -> Result<S, Malformed>;
}

impl<S: Data> ByItsData<S> for &Carried<S> {
    fn carry<'a>(&self, state: &S, env: Env<'a>) -> Option<Term<'a>> {
        Some(state.encode(env))
    }

    fn carried(&self, term: Term<'_>) -> Result<S, Malformed> {
        S::decode(term)
    }
}

pub trait ByNothing<S> {
    fn goes_over(&self) -> bool {
        false
    }

    fn carry<'a>(&self, _: &S, _: Env<'a>) -> Option<Term<'a>> {
        None
    }

    /// # Errors
    /// Always.
    fn carried(&self, _: Term<'_>) -> Result<S, Malformed> {
        let name = type_name::<S>();
        Err(Malformed::told(format!("{name} has no form to go over in: derive otp::Carry, or otp::Data")))
    }
}

impl<S> ByNothing<S> for Carried<S> {}

/// A state as the process gives it to another build: its form, or `{'$otp_no_form', Text}`.
pub(crate) fn given<'a>(env: Env<'a>, form: Option<Term<'a>>, shown: impl FnOnce() -> Term<'a>) -> Term<'a> {
    form.unwrap_or_else(|| env.tuple(&[atom!("$otp_no_form").raw(env), shown().raw()]))
}

/// What `make` makes of a state that another build gave, where it may be that there can be none: of a state that has no form there, or
/// whose type has none here (`goes_over`).
pub(crate) fn taken<'a, S>(
    state: Term<'a>,
    goes_over: bool,
    make: impl FnOnce(Term<'a>) -> Result<S, Malformed>,
) -> Result<S, NotRestored> {
    let text = state.tagged(atom!("$otp_no_form")).map(|[_, text]| text);
    make(text.unwrap_or(state)).map_err(|wrong| match text {
        Some(_) => NotRestored::NoForm(
            "its state has no form to go over in: derive otp::Carry, or let an #[upgrade] whose old state is a String make a \
             new state of the text that tools see"
                .to_owned(),
        ),
        None if !goes_over => NotRestored::NoForm(wrong.to_string()),
        None => NotRestored::Malformed(wrong),
    })
}
