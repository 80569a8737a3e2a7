//! Durations, and points in time.

use std::time::{Duration, SystemTime, UNIX_EPOCH};

use super::{Data, Malformed};
use crate::nif::{Env, Term};

/// A time in whole milliseconds, as OTP counts its timeouts. What is sent is rounded up, so that nobody waits too short.
impl Data for Duration {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        u64::try_from(self.as_nanos().div_ceil(1_000_000)).unwrap_or(u64::MAX).encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        u64::decode(term).map(Self::from_millis).map_err(|_| Malformed::expected("a time in milliseconds"))
    }

    fn erlang_type() -> String {
        "non_neg_integer()".into()
    }
}

/// Nanoseconds since 1970, as `os:system_time(nanosecond)` gives them; below 0 before.
impl Data for SystemTime {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        let nanoseconds = match self.duration_since(UNIX_EPOCH) {
            Ok(since) => i128::try_from(since.as_nanos()).unwrap_or(i128::MAX),
            Err(before) => i128::try_from(before.duration().as_nanos()).map_or(i128::MIN, |time| -time),
        };
        nanoseconds.encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        const SECOND: u128 = 1_000_000_000;
        let read = || {
            let nanoseconds = i128::decode(term).ok()?;
            let size = nanoseconds.unsigned_abs();
            // Less than a second, which fits.
            let time = Duration::new(u64::try_from(size / SECOND).ok()?, (size % SECOND) as u32);
            if nanoseconds < 0 { UNIX_EPOCH.checked_sub(time) } else { UNIX_EPOCH.checked_add(time) }
        };
        read().ok_or_else(|| Malformed::expected("a time in nanoseconds since 1970"))
    }

    fn erlang_type() -> String {
        "integer()".into()
    }
}
