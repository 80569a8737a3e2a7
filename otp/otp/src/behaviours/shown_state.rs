//! The state as `sys:get_state` and observer show it.
//!
//! A state whose type is [`Data`] is shown as its term. A state that is only `Debug` is shown as the text of that, and any other as the name of
//! its type. Rust has no test for which traits a type implements; the macros choose by the number of references that a method takes, of
//! which the compiler prefers the fewest.

use std::any::type_name;
use std::fmt::Debug;
use std::marker::PhantomData;

use crate::data::Data;
use crate::nif::{Env, Term};

/// A type whose values are shown.
#[derive(Debug)]
pub struct Shown<S>(pub PhantomData<fn(S)>);

pub trait ByData<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a>;
}

impl<S: Data> ByData<S> for &&Shown<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a> {
        state.encode(env)
    }
}

pub trait ByDebug<S> {
    fn show<'a>(&self, state: &S, env: Env<'a>) -> Term<'a>;
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
}

impl<S> ByName<S> for Shown<S> {}
