//! TCP for processes: no thread waits for a socket, the VM's own poll set does.
//!
//! This layer stands on `waiting` and its poll set; it knows no behaviour, so any process can have a socket.
//!
//! There are two ways to wait, which a process may mix:
//!
//! - **a callback awaits**: `listener.accept().await`, `stream.read(&mut bytes).await`, `stream.read_line(&mut lines).await`. The process
//!   takes no other message meanwhile. What is dropped before its end ([`within`](crate::time::within)) waits no longer, and no byte is
//!   lost by that.
//! - **a message says so**: after `stream.notify_readable()` one [`Readable`] comes to an `#[info]`, which takes what is there
//!   by [`TcpStream::try_read`] and asks again. So a server with a socket answers calls while it waits for bytes.
//!
//! A socket belongs to the process that holds it, and is closed when it is dropped, so with the process at the latest, however that
//! ends. [`TcpStream::hand_over`] makes it the argument of another process, for instance of a child of a [`pool`](crate::pool()).
//!
//! Addresses are numbers: looking up a name blocks, so do that on a dirty scheduler
//! (`on_dirty_io(|| "localhost:80".to_socket_addrs())`).

mod handover;
mod lines;
mod listener;
mod outbox;
mod readiness;
mod stream;

pub use handover::Handed;
pub use lines::{Lines, TooLong};
pub use listener::TcpListener;
pub use outbox::{Full, Outbox};
pub use readiness::{Readable, Writable};
pub use stream::{Filled, TcpStream};

pub(crate) use handover::open;
