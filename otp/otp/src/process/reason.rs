//! Exit reasons, and the errors of calls.

use std::any::type_name;
use std::fmt;
use std::time::Duration;

use crate::atom;
use crate::data::{Any, Data, Malformed, types};
use crate::nif::{Env, Term};

/// Why a process ended, or is to end.
#[derive(Clone, Debug, PartialEq)]
pub enum Reason {
    /// It had done its work.
    Normal,
    /// It was told to end, by its supervisor or with the whole application.
    Shutdown,
    /// It was ended without being asked.
    Killed,
    /// There was no such process.
    NoProcess,
    /// The node that it is on cannot be reached.
    NoConnection,
    /// A panic.
    Panic { message: String, file: String, line: u32 },
    /// Anything else that a program gave as its reason.
    Other(Any),
}

impl Reason {
    /// A reason of one's own, in whatever form.
    pub fn other(value: &impl Data) -> Self {
        Self::Other(Any::of(value))
    }

    /// Whether a supervisor takes it for the end that was to come.
    pub fn is_orderly(&self) -> bool {
        matches!(self, Self::Normal | Self::Shutdown)
    }
}

impl<T: Into<String>> From<T> for Reason {
    fn from(text: T) -> Self {
        Self::other(&text.into())
    }
}

impl fmt::Display for Reason {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Normal => f.write_str("it had done its work"),
            Self::Shutdown => f.write_str("it was shut down"),
            Self::Killed => f.write_str("it was killed"),
            Self::NoProcess => f.write_str("there is no such process"),
            Self::NoConnection => f.write_str("its node cannot be reached"),
            Self::Panic { message, file, line } => write!(f, "a panic: {message} ({file}:{line})"),
            Self::Other(reason) => write!(f, "{reason:?}"),
        }
    }
}

/// `normal`, `shutdown`, `killed`, `noproc`, `noconnection`, `{panic, Message, File, Line}`, or any term.
impl Data for Reason {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let word = match self {
            Self::Normal => atom!("normal"),
            Self::Shutdown => atom!("shutdown"),
            Self::Killed => atom!("killed"),
            Self::NoProcess => atom!("noproc"),
            Self::NoConnection => atom!("noconnection"),
            Self::Panic { message, file, line } => {
                let (message, file, line) = (message.encode(env), file.encode(env), line.encode(env));
                return env.tuple(&[atom!("panic").raw(env), message.raw(), file.raw(), line.raw()]);
            }
            Self::Other(reason) => return reason.encode(env),
        };
        word.term(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        let words = [
            (atom!("normal"), Self::Normal),
            (atom!("shutdown"), Self::Shutdown),
            (atom!("killed"), Self::Killed),
            (atom!("noproc"), Self::NoProcess),
            (atom!("noconnection"), Self::NoConnection),
        ];
        if let Some((_, word)) = words.into_iter().find(|(word, _)| term.is(word)) {
            return Ok(word);
        }
        Ok(Self::panic(term).unwrap_or_else(|| Self::Other(Any::keep(term))))
    }

    fn erlang_type() -> String {
        "term()".into()
    }
}

impl Reason {
    /// `{panic, Message, File, Line}`, with or without a backtrace, and with or without Erlang's stack.
    fn panic(term: Term<'_>) -> Option<Self> {
        let mut tuple = term.tuple()?;
        // Once, as Erlang adds its stack once; who wraps one a million times says nothing that could be followed.
        if tuple.len() == 2 && tuple.get(1)?.list_length().is_some() {
            tuple = tuple.get(0)?.tuple()?;
        }
        if !matches!(tuple.len(), 4 | 5) || !tuple.get(0)?.is(atom!("panic")) {
            return None;
        }
        let (message, file) = (tuple.element(1).ok()?, tuple.element(2).ok()?);
        Some(Self::Panic { message, file, line: tuple.element(3).ok()? })
    }
}

/// Why a call has no answer.
#[derive(Clone, Debug, PartialEq)]
pub enum CallError {
    /// None came in time.
    Timeout(Duration),
    /// Who was asked is not there, or ended before it answered.
    Down(Reason),
    /// Who was asked has no such call, or not with such arguments.
    Refused(String),
    /// What came is not of the type that was to come.
    Malformed(Malformed),
}

impl fmt::Display for CallError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Timeout(after) => write!(f, "no answer came within {after:?}"),
            Self::Down(reason) => write!(f, "who was asked did not answer: {reason}"),
            Self::Refused(why) => write!(f, "the call was refused: {why}"),
            Self::Malformed(wrong) => write!(f, "the answer is not of its type: {wrong}"),
        }
    }
}

impl std::error::Error for CallError {}

crate::carry_as_data!(Reason, CallError);

/// `{timeout, Milliseconds}`, `{down, Reason}`, `{refused, Why}`, `{malformed, Why}`.
impl Data for CallError {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (tag, content) = match self {
            Self::Timeout(after) => (atom!("timeout"), after.encode(env)),
            Self::Down(reason) => (atom!("down"), reason.encode(env)),
            Self::Refused(why) => (atom!("refused"), why.encode(env)),
            Self::Malformed(wrong) => (atom!("malformed"), wrong.to_string().encode(env)),
        };
        env.tuple(&[tag.raw(env), content.raw()])
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tuple().and_then(|tuple| tuple.array()) {
            Some([tag, after]) if tag.is(atom!("timeout")) => Duration::decode(after).map(Self::Timeout),
            Some([tag, reason]) if tag.is(atom!("down")) => Reason::decode(reason).map(Self::Down),
            Some([tag, why]) if tag.is(atom!("refused")) => String::decode(why).map(Self::Refused),
            Some([tag, why]) if tag.is(atom!("malformed")) => {
                String::decode(why).map(|why| Self::Malformed(Malformed::told(why)))
            }
            _ => Err(Malformed::expected("an error of a call")),
        }
    }

    fn erlang_type() -> String {
        types::named(type_name::<Self>(), "call_error", "Why a call has no answer.", || {
            "{timeout, non_neg_integer()} | {down, term()} | {refused, binary()} | {malformed, binary()}".into()
        })
    }
}

/// A time as OTP counts it. What is more than OTP can count waits as long as it can: 49 days.
pub(crate) fn milliseconds(time: Duration) -> u64 {
    // A wait is never shorter than was said.
    time.as_nanos().div_ceil(1_000_000).min(u128::from(u32::MAX)) as u64
}
