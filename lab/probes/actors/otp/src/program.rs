//! Parameters and samples of a program, and checks of its result.

use std::collections::BTreeMap;
use std::fmt::Debug;
use std::time::Instant;

use otp::{Any, Name};

/// The samples of each part of a workload.
pub type Parts = Vec<Vec<u64>>;

/// The parameters of a workload.
#[derive(Debug)]
pub struct Params(BTreeMap<Name, Any>);

impl Params {
    pub(crate) fn of(given: BTreeMap<Name, Any>) -> Self {
        Self(given)
    }

    pub(crate) fn number(&self, name: &str) -> Result<u64, String> {
        let value = self.0.iter().find(|(key, _)| key.as_str() == name).map(|(_, value)| value);
        let value = value.ok_or_else(|| format!("the parameter {name} is missing"))?;
        value.get().map_err(|wrong| format!("the parameter {name}: {wrong}"))
    }
}

/// The one sample of a program that began then.
pub(crate) fn whole(began: Instant) -> Parts {
    vec![vec![nanoseconds(began)]]
}

pub(crate) fn nanoseconds(began: Instant) -> u64 {
    u64::try_from(began.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

/// # Errors
/// When the program came to something else than it must.
pub(crate) fn check<T: PartialEq + Debug>(what: &str, got: &T, wanted: &T) -> Result<(), String> {
    if got == wanted { Ok(()) } else { Err(format!("{what} is {got:?} and must be {wanted:?}")) }
}

/// Whatever kept the program from coming to its end.
pub(crate) fn failed(error: impl std::fmt::Display) -> String {
    error.to_string()
}
