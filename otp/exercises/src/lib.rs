//! The promises of `otp`, as tests that run in an Erlang VM, which `tests/in_the_vm.rs` starts.

mod calls;
mod cluster;
mod dirty;
mod ends;
mod links;
mod logging;
mod mailboxes;
mod measuring;
mod panics;
mod pools;
mod returns;
mod sends;
mod sockets;
mod tasks;
mod threads;
mod times;
mod trees;
mod waiting;

use otp::{Tree, one_for_one, pool, supervisor, worker};

otp::application!(root);

/// What the tests of clusters find on other nodes, where the application runs; all others start what they need.
#[supervisor]
pub fn root() -> Tree {
    tracing::info!("the tree is made");
    one_for_one()
        .child(worker::<cluster::Ledger>(0_i64).name("ledger"))
        .child(worker::<cluster::Observer>(()).name("observer"))
        .child(pool::<cluster::Ledger>().name("ledgers"))
}
