//! An application on several nodes. Three terminals:
//!
//! ```text
//! cargo otp run --name a -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name b -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name c -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! ```
//!
//! Each says who is there. A fourth asks one of them, and then another:
//!
//! ```text
//! cargo otp console --name a --eval 'visits:visit(visits)'
//! cargo otp console --name c --eval 'visits:total(visits)'
//! ```
//!
//! Ctrl-C in one of the three, and what it counted is still known to the others; started again, it hears of it.
//! `cargo test` tries the counting as plain Rust, and `cargo otp test` as a process of an Erlang VM.

mod links;
mod visits;

use std::time::Duration;

use otp::{Args, Tree, one_for_one, supervisor, worker};

use links::Links;
use visits::Visits;

otp::application!(root);

/// What this node does, and who keeps it connected with those that the command line names.
#[supervisor]
pub fn root(args: Args) -> Tree {
    one_for_one()
        .intensity(5, Duration::from_secs(10))
        .child(worker::<Visits>(()).name("visits"))
        .child(worker::<Links>(args.0).name("links"))
}
