//! An application on several nodes. Three terminals:
//!
//! ```text
//! cargo otp run --name a -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name b -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name c -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! ```
//!
//! Each prints which nodes are there. A fourth terminal asks one node, and then another:
//!
//! ```text
//! cargo otp console --name a --eval '{{name}}_visits:visit(visits)'
//! cargo otp console --name c --eval '{{name}}_visits:total(visits)'
//! ```
//!
//! End one of the three with Ctrl-C: the others still know what it has counted, and tell it when it is started again. `cargo
//! test` tries the counting as plain Rust, and `cargo otp test` as a process of an Erlang VM.

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
