//! `tcp` and `udp`: streams and datagrams between two processes of the board, by its own network.

mod path;
mod tcp;
mod udp;

use node::sys::{Errno, Result};

pub use path::streams;
pub use tcp::stream;
pub use udp::datagrams;

/// Does it again and again, also where a call waited for too long; ends with what it failed by.
pub fn forever(mut once: impl FnMut() -> Result<()>) -> Result<()> {
    loop {
        match once() {
            Ok(()) | Err(Errno::EAGAIN | Errno::EINTR) => {}
            Err(why) => return Err(why),
        }
    }
}
