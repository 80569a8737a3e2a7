//! TCP connections.

use std::io::{self, Read};
use std::net::{Shutdown, SocketAddr};
use std::os::fd::{AsFd, OwnedFd};
use std::time::Duration;

use socket2::{Domain, Protocol, SockRef, Socket, TcpKeepalive, Type};

use super::readiness::{carried, carry, notify, ready};
use crate::atom;
use crate::data::{Carry, Malformed};
use crate::nif::{Env, Term};
use crate::process::number::number;
use crate::waiting::poll::descriptor::{Descriptor, Kind, Readiness};

/// A connection over TCP. It is closed when it is dropped; what was written is still sent, in order, unless the other side has sent
/// what nobody read.
#[derive(Debug)]
pub struct TcpStream {
    pub(super) socket: Descriptor,
    number: u64,
}

/// What came of taking what there is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Filled {
    /// So many bytes, at least one.
    Some(usize),
    /// Nothing until now.
    Nothing,
    /// The other side will send nothing more.
    End,
}

impl TcpStream {
    /// Connects.
    ///
    /// # Errors
    /// When nobody listens there, or the system refuses. How long that may take is the system's choice (minutes, where nobody answers):
    /// see [`within`](crate::time::within).
    pub async fn connect(address: SocketAddr) -> io::Result<Self> {
        let socket = Socket::new(Domain::for_address(address), Type::STREAM.nonblocking(), Some(Protocol::TCP))?;
        match socket.connect(&address.into()) {
            Ok(()) => return Ok(Self::of(socket)),
            Err(error) if error.raw_os_error() == Some(libc::EINPROGRESS) => {}
            Err(error) => return Err(error),
        }
        let stream = Self::of(socket);
        ready(&stream.socket, Readiness::Write).await?;
        match stream.os().take_error()? {
            Some(error) => Err(error),
            None => Ok(stream),
        }
    }

    /// A connection of the standard library.
    ///
    /// # Errors
    /// When the system cannot make it one that does not block.
    pub fn from_std(stream: std::net::TcpStream) -> io::Result<Self> {
        stream.set_nonblocking(true)?;
        Ok(Self::of(OwnedFd::from(stream)))
    }

    /// Of one that does not block.
    pub(super) fn of(socket: impl Into<OwnedFd>) -> Self {
        Self { socket: Descriptor::new(socket.into(), Kind::Socket), number: number() }
    }

    fn os(&self) -> SockRef<'_> {
        SockRef::from(&self.socket)
    }

    /// What [`Readable`](super::Readable) and [`Writable`](super::Writable) name it by.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Who is on the other side.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn peer(&self) -> io::Result<SocketAddr> {
        self.os().peer_addr()?.as_socket().ok_or_else(|| io::Error::other("its address is none of IP"))
    }

    /// The address on this side.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn local(&self) -> io::Result<SocketAddr> {
        self.os().local_addr()?.as_socket().ok_or_else(|| io::Error::other("its address is none of IP"))
    }

    /// Whether small pieces are sent at once (`TCP_NODELAY`).
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_nodelay(&self, at_once: bool) -> io::Result<()> {
        self.os().set_tcp_nodelay(at_once)
    }

    /// Has the kernel ask whether the other side is still there when nothing came for `idle`; it is taken for gone after three
    /// questions without an answer, one every `idle` (in whole seconds, at least one).
    ///
    /// # Errors
    /// When the system refuses.
    pub fn set_keepalive(&self, idle: Duration) -> io::Result<()> {
        let keepalive = TcpKeepalive::new().with_time(idle);
        #[cfg(target_os = "linux")]
        let keepalive = keepalive.with_interval(idle).with_retries(3);
        self.os().set_tcp_keepalive(&keepalive)
    }

    /// Sends nothing more: the other side reads to its end.
    ///
    /// # Errors
    /// When the connection is gone.
    pub fn shutdown_write(&self) -> io::Result<()> {
        self.os().shutdown(Shutdown::Write)
    }

    /// Takes what there is and does not wait.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn try_read(&self, room: &mut [u8]) -> io::Result<Filled> {
        loop {
            match (&*self.os()).read(room) {
                Ok(0) if !room.is_empty() => return Ok(Filled::End),
                Ok(read) => return Ok(Filled::Some(read)),
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(Filled::Nothing),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(error),
            }
        }
    }

    /// Gives away as many bytes as there is room for, and does not wait; 0 when there is none.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn try_write(&self, bytes: &[u8]) -> io::Result<usize> {
        loop {
            // The VM ignores SIGPIPE; another program that loads this may not.
            match self.os().send_with_flags(bytes, libc::MSG_NOSIGNAL) {
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(0),
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                result => return result,
            }
        }
    }

    /// Has one [`Readable`](super::Readable) sent to this process as soon as [`TcpStream::try_read`] would not come to nothing.
    ///
    /// # Errors
    /// When the system cannot wait for it.
    pub fn notify_readable(&self) -> io::Result<()> {
        notify(&self.socket, Readiness::Read, self.number)
    }

    /// Has one [`Writable`](super::Writable) sent to this process as soon as there is room.
    ///
    /// # Errors
    /// When the system cannot wait for it.
    pub fn notify_writable(&self) -> io::Result<()> {
        notify(&self.socket, Readiness::Write, self.number)
    }

    /// Waits for bytes: how many came into `room`, 0 at the end.
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn read(&mut self, room: &mut [u8]) -> io::Result<usize> {
        loop {
            match self.try_read(room)? {
                Filled::Some(read) => return Ok(read),
                Filled::End => return Ok(0),
                Filled::Nothing => ready(&self.socket, Readiness::Read).await?,
            }
        }
    }

    /// Waits until all of `bytes` was given to the system. When it is dropped before, some of them may have been.
    ///
    /// # Errors
    /// When the connection is broken.
    pub async fn write_all(&mut self, mut bytes: &[u8]) -> io::Result<()> {
        while !bytes.is_empty() {
            match self.try_write(bytes)? {
                0 => ready(&self.socket, Readiness::Write).await?,
                written => bytes = &bytes[written..],
            }
        }
        Ok(())
    }
}

/// The connection goes on, and what was asked for by [`TcpStream::notify_readable`] or [`TcpStream::notify_writable`] comes in the next build.
impl Carry for TcpStream {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        carry(atom!("$otp_stream"), &self.socket, self.number, env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let (socket, number) = carried(atom!("$otp_stream"), term)?;
        Ok(Self { socket, number })
    }
}

impl AsFd for TcpStream {
    fn as_fd(&self) -> std::os::fd::BorrowedFd<'_> {
        self.socket.as_fd()
    }
}
