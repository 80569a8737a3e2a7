//! `Server<S>`: the address of a gen_server, with the type of its callbacks, so that calls and casts are typed.

use std::marker::PhantomData;

use crate::data::Data;
use crate::nif::{Env, Term};
use crate::process::address::{Pid, To, addressed};
use crate::waiting::call::Call;

/// A gen_server of the kind `S`, or the name of one. It may not be there: a cast is lost then, and a call is an error.
pub struct Server<S> {
    to: To,
    _kind: PhantomData<fn(S)>,
}

addressed!(Server);

impl<S> Server<S> {
    /// The process, taken for one of this kind: what it is not will be seen by the answer to a call.
    pub fn of(pid: Pid) -> Self {
        Self::at(pid.0)
    }

    /// The server whose callback runs this.
    pub fn own() -> Self {
        Self::of(Pid::own())
    }
}

impl<S> Server<S> {
    /// Sends a cast; what becomes of it is not told.
    #[doc(hidden)]
    #[inline]
    pub fn cast_with(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a>) {
        self.to.cast(request);
    }

    #[doc(hidden)]
    pub fn call_with<R: Data>(&self, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static) -> Call<R> {
        Call::new(self.to.clone(), request)
    }
}
