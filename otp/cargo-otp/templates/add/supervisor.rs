//! {{name}}: a supervisor.

use std::time::Duration;

use otp::{Tree, one_for_one, supervisor};

/// Starts a child anew that ended, and gives up after three times in five seconds.
#[supervisor]
pub fn {{name}}() -> Tree {
    // Each child is added as .child(worker::<Type>(argument).name("name")).
    one_for_one().intensity(3, Duration::from_secs(5))
}
