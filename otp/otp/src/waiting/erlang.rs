//! Calling a function of Erlang from a callback, and awaiting its result.

use std::fmt;

use crate::atom;
use crate::data::{Any, Data, Elements, Malformed};
use crate::nif::Term;
use crate::waiting::order::Wait;

/// A function of Erlang did not return a value.
#[derive(Clone, Debug, PartialEq)]
pub enum Raised {
    /// It raised `Class:Reason`.
    Raised { class: String, reason: Any },
    /// What it returned is not of the type that was to come.
    Malformed(Malformed),
}

impl fmt::Display for Raised {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Raised { class, reason } => write!(f, "it raised {class}:{reason:?}"),
            Self::Malformed(wrong) => write!(f, "its result is not of its type: {wrong}"),
        }
    }
}

impl std::error::Error for Raised {}

/// Calls `module:function(arguments…)` in this process: `apply::<bool>("lists", "member", (5, vec![1, 5])).await`. What it raises
/// is an error value. `module` and `function` become atoms, which are never freed: name them in the code.
///
/// # Errors
/// When it raises something, or returns something else.
pub async fn apply<R: Data + Send + 'static>(
    module: &str,
    function: &str,
    arguments: impl Elements + Send + 'static,
) -> Result<R, Raised> {
    let (module, function) = (module.to_owned(), function.to_owned());
    let wait = Wait::new(
        move |env, turn, number| {
            let arguments = env.list(&arguments.encode_all(env));
            turn.order(env, atom!("apply"), &[number.encode(env), env.atom(&module), env.atom(&function), arguments]);
        },
        read::<R>,
    );
    wait.await
}

/// `{ok, Value}` or `{raised, Class, Reason}`.
fn read<R: Data>(event: Term<'_>) -> Result<R, Raised> {
    let malformed = || Raised::Malformed(Malformed::expected("a result"));
    let tuple = event.tuple().ok_or_else(malformed)?;
    if let Some([tag, value]) = tuple.array()
        && tag.is(atom!("ok"))
    {
        return R::decode(value).map_err(Raised::Malformed);
    }
    let [_, class, reason] = tuple.array().ok_or_else(malformed)?;
    Err(Raised::Raised { class: class.atom_name().unwrap_or_default(), reason: Any::keep(reason) })
}
