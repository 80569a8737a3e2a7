//! What is asked of a stream.

use std::net::{IpAddr, TcpStream};

use crate::bench::Failure;
use crate::os::net::SocketBuffer;
use crate::spec::Params;

/// How far a stream goes, and how it is cut, sent and received.
pub(super) struct Plan {
    pub(super) total: u64,
    pub(super) duration: u64,
    pub(super) report: u64,
    pub(super) chunk: usize,
    /// Whether the receiver waits with poll().
    pub(super) polls: bool,
    /// Whether the measuring process sends.
    pub(super) sends: bool,
    /// Of the sockets' buffers; 0 lets TCP make them grow.
    pub(super) buffer: u64,
    /// Where a partner of this machine is.
    pub(super) on: IpAddr,
}

impl Plan {
    pub(super) fn new(params: &Params, on: IpAddr) -> Self {
        Self {
            on,
            total: params.number("total"),
            duration: params.number("duration"),
            report: params.number("report"),
            chunk: params.number("chunk") as usize,
            polls: params.choice("wait") == "poll",
            sends: params.choice("direction") == "send",
            buffer: params.number("buffer"),
        }
    }

    pub(super) fn own_buffer(&self) -> SocketBuffer {
        if self.sends { SocketBuffer::Send } else { SocketBuffer::Receive }
    }

    pub(super) fn others_buffer(&self) -> SocketBuffer {
        if self.sends { SocketBuffer::Receive } else { SocketBuffer::Send }
    }

    pub(super) fn set_buffers(&self, socket: &TcpStream) -> Result<(), Failure> {
        if self.buffer > 0 {
            SocketBuffer::Send.set(socket, self.buffer)?;
            SocketBuffer::Receive.set(socket, self.buffer)?;
        }
        Ok(())
    }
}
