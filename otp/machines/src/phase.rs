//! The states of a job.

use otp::vm::{Env, Term};
use otp::{Data, Malformed, atom};

/// What a job is doing.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    Idle,
    Busy { round: u32 },
}

/// `idle` or `{busy, Round}`.
impl Data for Phase {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::Idle => atom!("idle").term(env),
            Self::Busy { round } => env.tuple(&[atom!("busy").term(env).raw(), round.encode(env).raw()]),
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        if term.is(atom!("idle")) {
            return Ok(Self::Idle);
        }
        match term.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, round]) if tag.is(atom!("busy")) => Ok(Self::Busy { round: u32::decode(round)? }),
            _ => Err(Malformed::expected("idle or {busy, Round}")),
        }
    }

    fn erlang_type() -> String {
        "idle | {busy, non_neg_integer()}".into()
    }
}
