//! TCP listeners.

use std::io;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;

use socket2::SockRef;

use super::TcpStream;
use super::readiness::{carried, carry, notify, ready};
use crate::atom;
use crate::data::{Carry, Malformed};
use crate::nif::{Env, Term};
use crate::process::number::number;
use crate::waiting::poll::descriptor::{Descriptor, Kind, Readiness};

/// A socket that connections come in at.
#[derive(Debug)]
pub struct TcpListener {
    socket: Descriptor,
    number: u64,
}

impl TcpListener {
    /// Listens at `address`; port 0 is one that is free. A process that is started anew may have to try it again for a moment: the socket
    /// of the one before is closed with its memory, which is after its supervisor has heard of its end.
    ///
    /// # Errors
    /// When somebody else does, or may not.
    pub fn bind(address: SocketAddr) -> io::Result<Self> {
        let listener = std::net::TcpListener::bind(address)?;
        listener.set_nonblocking(true)?;
        Ok(Self { socket: Descriptor::new(OwnedFd::from(listener), Kind::Socket), number: number() })
    }

    /// What [`Readable`](super::Readable) names it by.
    pub fn number(&self) -> u64 {
        self.number
    }

    /// Where it listens.
    ///
    /// # Errors
    /// When the system refuses.
    pub fn local(&self) -> io::Result<SocketAddr> {
        SockRef::from(&self.socket)
            .local_addr()?
            .as_socket()
            .ok_or_else(|| io::Error::other("its address is none of IP"))
    }

    /// A connection that is waiting, if there is one.
    ///
    /// # Errors
    /// When the system has no descriptor or no memory for it: then it stays where it is, and one should wait before trying again.
    pub fn try_accept(&self) -> io::Result<Option<TcpStream>> {
        loop {
            match SockRef::from(&self.socket).accept() {
                Ok((socket, _)) => {
                    socket.set_nonblocking(true)?;
                    return Ok(Some(TcpStream::of(socket)));
                }
                Err(error) if error.kind() == io::ErrorKind::WouldBlock => return Ok(None),
                // One that was gone before it was accepted says nothing of the next.
                Err(error) if matches!(error.kind(), io::ErrorKind::Interrupted | io::ErrorKind::ConnectionAborted) => {
                }
                Err(error) => return Err(error),
            }
        }
    }

    /// Waits for a connection.
    ///
    /// # Errors
    /// As those of [`TcpListener::try_accept`].
    pub async fn accept(&mut self) -> io::Result<TcpStream> {
        loop {
            match self.try_accept()? {
                Some(stream) => return Ok(stream),
                None => ready(&self.socket, Readiness::Read).await?,
            }
        }
    }

    /// Has one [`Readable`](super::Readable) sent to this process as soon as a connection is waiting.
    ///
    /// # Errors
    /// When the system cannot wait for it.
    pub fn notify_readable(&self) -> io::Result<()> {
        notify(&self.socket, Readiness::Read, self.number)
    }
}

/// It listens on, and who connects meanwhile waits; what was asked for by [`TcpListener::notify_readable`] comes in the next build.
impl Carry for TcpListener {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        carry(atom!("$otp_listener"), &self.socket, self.number, env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let (socket, number) = carried(atom!("$otp_listener"), term)?;
        Ok(Self { socket, number })
    }
}
