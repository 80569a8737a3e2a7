//! The other end of the stream: a forked process over loopback, or a partner outside.

use std::io::{ErrorKind, Read, Write};
use std::net::{Shutdown, SocketAddr, TcpStream};
use std::os::fd::AsRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use super::plan::Plan;
use crate::bench::Failure;
use crate::os::child::Child;
use crate::os::memory::{PageAligned, Shared};
use crate::os::net::{self, PATIENCE, SocketBuffer};
use crate::os::outside::{Outside, Task};

/// What two processes, or two threads of a partner, tell each other beside the stream.
#[derive(Debug, Default)]
pub(in crate::linux) struct Talk {
    /// Tells the partner to send no more.
    pub(in crate::linux) enough: AtomicBool,
    /// What went through the partner's end; final once `done`.
    bytes: AtomicU64,
    /// The buffer of the partner's socket at the end, 0 if that is not known; final once `done`.
    buffer: AtomicU64,
    done: AtomicBool,
}

impl Talk {
    /// What went through the partner's end is final.
    fn end(&self, bytes: u64, buffer: std::io::Result<u64>) {
        self.bytes.store(bytes, Ordering::Relaxed);
        self.buffer.store(buffer.unwrap_or(0), Ordering::Relaxed);
        self.done.store(true, Ordering::Release);
    }

    /// What went through the partner's end, and its buffer.
    pub(in crate::linux) fn counted(&self) -> (u64, u64) {
        (self.bytes.load(Ordering::Relaxed), self.buffer.load(Ordering::Relaxed))
    }
}

/// Whoever has the other end of the connection.
pub(super) enum Partner {
    Forked { child: Child, talk: Shared<Talk>, before: u64 },
    Outside(Outside),
}

impl Partner {
    /// A process of this environment, over loopback; and this process's end.
    pub(super) fn forked(plan: &Plan) -> Result<(TcpStream, Self), Failure> {
        let (own, other) = net::tcp_pair(plan.on)?;
        plan.set_buffers(&own)?;
        plan.set_buffers(&other)?;
        let before = plan.others_buffer().of(&other).unwrap_or(0);
        let talk = Shared::<Talk>::new()?;
        let mut buffer = PageAligned::new(plan.chunk, 0x5A)?;
        // SAFETY: the partner makes system calls on a socket and a buffer that exist already, and computes.
        let child = unsafe {
            Child::fork(&[other.as_raw_fd()], || {
                if plan.sends {
                    drain(&mut net::as_first(), plan.polls, &mut buffer, &talk)
                } else {
                    pour(&mut net::as_first(), &buffer, plan.total, &talk)
                }
            })
        }?;
        Ok((own, Self::Forked { child, talk, before }))
    }

    /// A partner outside of this environment, at `peer`.
    pub(super) fn outside(plan: &Plan, peer: SocketAddr) -> Result<(TcpStream, Self), Failure> {
        let &Plan { total, chunk, polls, buffer, .. } = plan;
        let task = if plan.sends { Task::Drain { chunk, polls, buffer } } else { Task::Pour { chunk, total, buffer } };
        let outside = Outside::ask(peer, task)?;
        let own = outside.stream(PATIENCE)?;
        plan.set_buffers(&own)?;
        Ok((own, Self::Outside(outside)))
    }

    /// It should send no more.
    pub(super) fn enough(&self) {
        match self {
            Self::Forked { talk, .. } => talk.enough.store(true, Ordering::Relaxed),
            Self::Outside(outside) => outside.enough(),
        }
    }

    /// How it ended, if it is a process that has.
    pub(super) fn died(&self) -> Option<String> {
        match self {
            Self::Forked { child, .. } => child.ended().map(|ending| format!("the partner process {ending}")),
            Self::Outside(_) => None,
        }
    }

    /// The bytes that went through its end, and its buffer before and after; 0 if that is not known.
    pub(super) fn counted(self) -> Result<[u64; 3], Failure> {
        match self {
            Self::Outside(outside) => {
                let counted = outside.counted(3)?;
                Ok([counted[0], counted[1], counted[2]])
            }
            Self::Forked { ref talk, before, .. } if talk.done.load(Ordering::Acquire) => {
                let (bytes, after) = talk.counted();
                Ok([bytes, before, after])
            }
            forked => {
                let why = forked.died().unwrap_or_else(|| "the partner process closed the connection".into());
                Err(Failure::Impossible(format!("the stream was cut off: {why}")))
            }
        }
    }
}

/// The partner that receives.
pub(in crate::linux) fn drain(socket: &mut TcpStream, polls: bool, buffer: &mut [u8], talk: &Talk) -> std::io::Result<()> {
    let mut bytes = 0;
    loop {
        if polls {
            net::wait_to_read(socket);
        }
        match socket.read(buffer) {
            Ok(0) => break,
            Ok(received) => bytes += received as u64,
            Err(e) if net::is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
    talk.end(bytes, SocketBuffer::Receive.of(socket));
    socket.shutdown(Shutdown::Write)
}

/// The partner that sends.
pub(in crate::linux) fn pour(socket: &mut TcpStream, buffer: &[u8], total: u64, talk: &Talk) -> std::io::Result<()> {
    loop {
        match socket.read(&mut [0]) {
            Ok(0) => return Err(ErrorKind::UnexpectedEof.into()),
            Ok(_) => break,
            Err(e) if net::is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
    let mut bytes = 0;
    while bytes < total && !talk.enough.load(Ordering::Relaxed) {
        let most = buffer.len().min((total - bytes) as usize);
        match socket.write(&buffer[..most]) {
            Ok(sent) => bytes += sent as u64,
            Err(e) if net::is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
    talk.end(bytes, SocketBuffer::Send.of(socket));
    socket.shutdown(Shutdown::Write)
}
