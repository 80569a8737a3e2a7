//! Calls: a request to a gen_server or gen_statem, and its answer as a future.

use std::fmt;
use std::future::Future;
use std::pin::Pin;
use std::task::{Context, Poll};
use std::time::Duration;

use crate::atom;
use crate::data::{Data, Malformed};
use crate::nif::{Env, Term};
use crate::process::address::To;
use crate::process::reason::{CallError, Reason, milliseconds};
use crate::waiting::order::Order;

type Request = Box<dyn for<'a> FnOnce(Env<'a>) -> Term<'a> + Send>;

/// A call that is made when this is first awaited. It has five seconds unless [`Call::within`] says otherwise, as in OTP.
#[must_use = "a call is made when it is awaited"]
pub struct Call<R> {
    to: To,
    time: Option<Duration>,
    order: Order<Request, Result<R, CallError>>,
}

impl<R> fmt::Debug for Call<R> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Call").finish_non_exhaustive()
    }
}

impl<R> Call<R> {
    pub(crate) fn new(to: To, request: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static) -> Self
    where
        R: Data,
    {
        Self::reading(to, request, |event| R::decode(replied(event)?).map_err(CallError::Malformed))
    }

    /// A call whose answer is not the reply itself: `read` makes it of what came, which [`replied`] knows.
    pub(crate) fn reading(
        to: To,
        request: impl for<'a> FnOnce(Env<'a>) -> Term<'a> + Send + 'static,
        read: fn(Term<'_>) -> Result<R, CallError>,
    ) -> Self {
        Self { to, time: Some(Duration::from_secs(5)), order: Order::new(Box::new(request), read) }
    }

    /// How long to wait for the answer. One that comes later is dropped.
    pub fn within(mut self, limit: Duration) -> Self {
        self.time = Some(limit);
        self
    }

    /// Waits as long as who was asked is there.
    pub fn without_limit(mut self) -> Self {
        self.time = None;
        self
    }
}

impl<R: Send + 'static> Future for Call<R> {
    type Output = Result<R, CallError>;

    fn poll(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<Self::Output> {
        let Self { to, time, order } = &mut *self;
        let polled = order.poll(context, |request, env, turn, number| {
            let limit = time.map_or_else(|| atom!("infinity").term(env), |time| milliseconds(time).encode(env));
            let [to, request] = [to.encode(env), request(env)];
            let call = [atom!("call").raw(env), number.encode(env).raw(), to.raw(), request.raw(), limit.raw()];
            turn.order_tuple(env, &call);
        });
        polled.map_err(|error| match error {
            CallError::Timeout(_) => CallError::Timeout(time.unwrap_or_default()),
            other => other,
        })
    }
}

/// The reply in `timeout`, `{reply, Reply}` or `{down, Reason}`.
pub(crate) fn replied(event: Term<'_>) -> Result<Term<'_>, CallError> {
    if event.is(atom!("timeout")) {
        return Err(CallError::Timeout(Duration::ZERO));
    }
    let malformed = || CallError::Malformed(Malformed::expected("an answer"));
    let [what, content] = event.tuple().and_then(|event| event.array()).ok_or_else(malformed)?;
    if what.is(atom!("down")) {
        return Err(CallError::Down(Reason::decode(content).map_err(CallError::Malformed)?));
    }
    if let Some([tag, why]) = content.tuple().and_then(|tuple| tuple.array())
        && tag.is(atom!("$refused"))
    {
        return Err(CallError::Refused(String::decode(why).unwrap_or_default()));
    }
    Ok(content)
}
