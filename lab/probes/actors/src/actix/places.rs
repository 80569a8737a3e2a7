//! Placement of actors in actix: the arbiter on which each lives.

use std::sync::Arc;

use actix::prelude::*;

/// The arbiters of a run; none means the one that everything begins on.
#[derive(Clone)]
pub(super) struct Places(pub(super) Arc<[ArbiterHandle]>);

impl Places {
    /// Starts actor `index` of `of`.
    pub(super) fn start<A>(&self, index: usize, of: usize, make: impl FnOnce() -> A + Send + 'static) -> Addr<A>
    where
        A: Actor<Context = Context<A>>,
    {
        match self.0.get(index * self.0.len() / of) {
            Some(arbiter) => A::start_in_arbiter(arbiter, |_| make()),
            None => make().start(),
        }
    }
}
