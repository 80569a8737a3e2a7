//! A key-value store on several nodes: each node has all of it, answers by itself, and sends its writes to the others.
//!
//! Three terminals, in this folder:
//!
//! ```text
//! cargo otp run --name a -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name b -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! cargo otp run --name c -- a@127.0.0.1 b@127.0.0.1 c@127.0.0.1
//! ```
//!
//! and a fourth:
//!
//! ```text
//! cargo otp console --name a --eval 'kv_store:put(store, <<"colour">>, <<"red">>)'
//! cargo otp console --name c --eval 'kv_store:get(store, <<"colour">>)'
//! ```
//!
//! The store guarantees:
//!
//! - **It always answers.** A node that reaches no other node takes writes, and answers reads from what it knows.
//! - **The nodes come to agree.** When all are connected again and nobody writes, all have the same after a moment: of each key
//!   the write with the highest version. That holds whatever the order in which writes arrive, and however often.
//! - **A client that writes after having seen a value overwrites it**, on whatever node.
//!
//! It does not guarantee:
//!
//! - **A write is not safe when it is acknowledged.** The write is on one node then, and on its way to as many as the answer
//!   says. If that node dies just then, the write is lost.
//! - **A read may be old**, on a node that has not heard of a write yet, was just started, or is cut off.
//! - **Of two writes of one key that know nothing of each other, one is lost**, that of the node whose clock is behind. No client
//!   is told.
//! - **All data is in memory.** A write exists as long as one node lives that has it.
//! - **A deleted key is remembered** for ever, as otherwise a node that comes back would bring the key back too.
//!
//! An application that needs more than this must ask a majority of nodes for each write and each read, and a node that cannot
//! reach a majority must refuse.

mod links;
mod replica;
mod store;

use std::time::Duration;

use otp::{Args, Tree, one_for_one, supervisor, worker};

pub use links::Links;
pub use replica::{Entry, Replica, Version};
pub use store::Store;

otp::application!(root);

/// The store of this node, and who keeps it connected with those that the command line names.
#[supervisor]
pub fn root(args: Args) -> Tree {
    one_for_one()
        .intensity(5, Duration::from_secs(10))
        .child(worker::<Store>(()).name("store"))
        .child(worker::<Links>(args.0).name("links"))
}
