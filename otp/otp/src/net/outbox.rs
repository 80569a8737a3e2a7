//! Output that waits for a peer that reads slowly, up to a limit.

use std::collections::VecDeque;
use std::fmt;
use std::io;

use super::TcpStream;
use crate::data::{Bytes, Carry, Malformed};
use crate::nif::{Env, Term};

/// Bytes that wait for room in the connection, up to a limit: what a server that must not wait writes into.
#[derive(Debug)]
pub struct Outbox {
    bytes: VecDeque<u8>,
    most: usize,
}

/// There is no room: the other side does not read as fast as it is written to.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Full {
    /// How many bytes may wait.
    pub most: usize,
}

impl fmt::Display for Full {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "more than {} bytes wait to be sent", self.most)
    }
}

impl std::error::Error for Full {}

impl Outbox {
    /// Where up to `most` bytes may wait.
    pub fn of_at_most(most: usize) -> Self {
        Self { bytes: VecDeque::new(), most }
    }

    /// Adds all of `bytes`, or nothing.
    ///
    /// # Errors
    /// When there is no room for them.
    pub fn put(&mut self, bytes: &[u8]) -> Result<(), Full> {
        if self.bytes.len() + bytes.len() > self.most {
            return Err(Full { most: self.most });
        }
        self.bytes.extend(bytes);
        Ok(())
    }

    /// Gives the connection what it has room for. When that is not all, a [`Writable`](super::Writable) is asked for.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn flush(&mut self, stream: &TcpStream) -> io::Result<()> {
        while !self.bytes.is_empty() {
            match stream.try_write(self.bytes.as_slices().0)? {
                0 => return stream.notify_writable(),
                written => drop(self.bytes.drain(..written)),
            }
        }
        Ok(())
    }

    /// How many bytes wait.
    pub fn len(&self) -> usize {
        self.bytes.len()
    }

    pub fn is_empty(&self) -> bool {
        self.bytes.is_empty()
    }
}

/// With what still waits.
impl Carry for Outbox {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        let (first, rest) = self.bytes.as_slices();
        (Bytes::from([first, rest].concat()), self.most).carry(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let (bytes, most) = <(Bytes, usize)>::carried(term)?;
        Ok(Self { bytes: bytes.0.into(), most })
    }
}
