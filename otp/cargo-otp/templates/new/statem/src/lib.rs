//! Valves that give as much water as they are asked for and no more, and a supervisor that has one for each place.
//!
//! ```text
//! cargo otp run
//! cargo otp console --eval '{{name}}_valve:give(garden, 10)'
//! cargo otp console --eval '{{name}}_valve:flowed(garden, 4), {{name}}_valve:state(garden)'
//! ```
//!
//! Wait for ten seconds, in which no water flows, and ask for the state again. `cargo test` tries the machine as plain Rust, and
//! `cargo otp test` as a process of an Erlang VM.

mod valve;

use std::time::Duration;

use otp::{Tree, one_for_one, supervisor, worker};

use valve::Valve;

otp::application!(root);

/// Each valve stands alone: a panic in one leaves the other as it is.
#[supervisor]
pub fn root() -> Tree {
    let patience = Duration::from_secs(10);
    one_for_one()
        .intensity(5, Duration::from_secs(10))
        .child(worker::<Valve>(patience).name("garden"))
        .child(worker::<Valve>(patience).name("greenhouse"))
}
