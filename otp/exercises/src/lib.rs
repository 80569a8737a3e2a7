//! What `otp` promises, told by tests that run inside of a VM. `tests/in_the_vm.rs` starts it.

mod dirty;
mod links;
mod mailboxes;
mod panics;
mod pools;
mod returns;
mod sockets;
mod tasks;
mod times;
mod waiting;

use otp::{Tree, one_for_one, supervisor};

otp::application!(root);

/// Nothing: the tests start what they need.
#[supervisor]
pub fn root() -> Tree {
    one_for_one()
}
