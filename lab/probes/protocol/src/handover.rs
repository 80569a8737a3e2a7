//! Handing an arena over a socket, to a probe that is no child of the lab, such as one in a container.
//!
//! The lab sends the arena's descriptor with one byte (`SCM_RIGHTS`, see unix(7)), then the request, and then ends its
//! direction of the socket. Reports come back on the same socket.

use std::io;
use std::mem;
use std::os::fd::{AsRawFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::os::unix::net::UnixStream;

/// Room for the header of a control message and one descriptor, aligned as the kernel's headers are.
#[repr(C, align(8))]
struct Control([u8; 64]);

/// The bytes of one descriptor in a control message.
const DESCRIPTOR: libc::c_uint = size_of::<RawFd>() as libc::c_uint;

/// Calls `with` with a message of one byte and room for one descriptor.
fn with_message<T>(with: impl FnOnce(&mut libc::msghdr) -> T) -> T {
    let (mut byte, mut control) = ([0u8], Control([0; 64]));
    let mut piece = libc::iovec { iov_base: byte.as_mut_ptr().cast(), iov_len: byte.len() };
    // SAFETY: an all-zero header is a valid one, of no message.
    let mut message: libc::msghdr = unsafe { mem::zeroed() };
    message.msg_iov = &raw mut piece;
    message.msg_iovlen = 1;
    message.msg_control = control.0.as_mut_ptr().cast();
    // SAFETY: computes a number, which is at most 24.
    message.msg_controllen = unsafe { libc::CMSG_SPACE(DESCRIPTOR) } as _;
    with(&mut message)
}

/// Sends `descriptor`; the sender keeps its own.
///
/// # Errors
/// When the other side is gone.
pub fn give(socket: &UnixStream, descriptor: BorrowedFd<'_>) -> io::Result<()> {
    with_message(|message| {
        // SAFETY: the message has room for one header, to which this points; the descriptor's place behind it may not be
        // aligned, and is written as such.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            (*header).cmsg_level = libc::SOL_SOCKET;
            (*header).cmsg_type = libc::SCM_RIGHTS;
            (*header).cmsg_len = libc::CMSG_LEN(DESCRIPTOR) as _;
            libc::CMSG_DATA(header).cast::<RawFd>().write_unaligned(descriptor.as_raw_fd());
        }
        // SAFETY: an open socket, and a message whose parts live until the call returns.
        match unsafe { libc::sendmsg(socket.as_raw_fd(), message, libc::MSG_NOSIGNAL) } {
            1.. => Ok(()),
            _ => Err(io::Error::last_os_error()),
        }
    })
}

/// Receives what [`give`] sent.
///
/// # Errors
/// When the other side ended, or sent no descriptor.
pub fn take(socket: &UnixStream) -> io::Result<OwnedFd> {
    with_message(|message| {
        // SAFETY: an open socket, and a message whose parts the kernel fills.
        match unsafe { libc::recvmsg(socket.as_raw_fd(), message, libc::MSG_CMSG_CLOEXEC) } {
            1.. => {}
            0 => return Err(io::ErrorKind::UnexpectedEof.into()),
            _ => return Err(io::Error::last_os_error()),
        }
        // SAFETY: the kernel filled the message; the header is looked at only where there is one, and the descriptor
        // behind it read only if the header says that it is one.
        unsafe {
            let header = libc::CMSG_FIRSTHDR(message);
            let is_descriptor = !header.is_null()
                && (*header).cmsg_level == libc::SOL_SOCKET
                && (*header).cmsg_type == libc::SCM_RIGHTS
                && (*header).cmsg_len as usize == libc::CMSG_LEN(DESCRIPTOR) as usize;
            if !is_descriptor {
                return Err(io::Error::new(io::ErrorKind::InvalidData, "no descriptor came with it"));
            }
            Ok(OwnedFd::from_raw_fd(libc::CMSG_DATA(header).cast::<RawFd>().read_unaligned()))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::{Arena, PartSize};
    use std::io::{Read, Write};
    use std::os::fd::IntoRawFd;

    #[test]
    fn an_arena_that_is_handed_over_is_the_same_memory() {
        let lab = Arena::create(&[PartSize { columns: 1, rows: 3 }]).expect("an arena");
        let (here, mut there) = UnixStream::pair().expect("a socket");
        give(&here, lab.descriptor()).expect("handed over");
        (&here).write_all(b"and a request").expect("sent");
        drop(here);
        let probe = Arena::attach(take(&there).expect("taken").into_raw_fd()).expect("an arena");
        probe.recorder(0).expect("a recorder").push(42);
        assert_eq!(lab.copy_rows(0, 0, 3), [42]);
        let mut rest = String::new();
        there.read_to_string(&mut rest).expect("text");
        assert_eq!(rest, "and a request");
    }

    #[test]
    fn nothing_and_something_else_are_refused() {
        let (mut here, there) = UnixStream::pair().expect("a socket");
        here.write_all(b"x").expect("sent");
        assert_eq!(take(&there).expect_err("a byte alone").kind(), io::ErrorKind::InvalidData);
        drop(here);
        assert_eq!(take(&there).expect_err("the end").kind(), io::ErrorKind::UnexpectedEof);
    }
}
