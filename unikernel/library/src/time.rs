//! What time it is.

use core::time::Duration;

use crate::system;

/// The time since the system was started on which the program runs: it never goes back.
pub fn since_start() -> Duration {
    Duration::from_nanos(system::monotonic())
}

/// The time since 1970, as far as the host knows.
pub fn now() -> Duration {
    Duration::from_nanos(system::wall())
}
