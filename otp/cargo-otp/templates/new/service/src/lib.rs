//! A service: stores, and a meter that counts how much is asked of them.
//!
//! `cargo test` tries the servers as plain Rust, and `cargo otp test` as processes of an Erlang VM; `cargo otp run` runs them,
//! `cargo otp console` looks at them there, and `cargo otp upgrade` takes them to changed code.

mod meter;
mod store;

use std::time::Duration;

use otp::{Tree, one_for_one, rest_for_one, supervisor, worker};

use meter::Meter;
use store::Store;

otp::application!(root);

/// The stores come after the meter that they use: when it is started anew, so are they.
#[supervisor]
pub fn root() -> Tree {
    rest_for_one()
        .child(worker::<Meter>(()).name("meter"))
        .child(supervisor::<stores>(()))
}

/// Each store stands alone: a panic in one leaves the other as it is.
#[supervisor]
pub fn stores() -> Tree {
    one_for_one()
        .intensity(5, Duration::from_secs(10))
        .child(worker::<Store>(1000_u64).name("parts"))
        .child(worker::<Store>(10_u64).name("samples"))
}
