//! A question to the kernel and its answer.

use alloc::vec::Vec;

use linux_raw_sys::net::AF_NETLINK;
use linux_raw_sys::netlink::NLM_F_DUMP;

use super::message::{Reply, Request, replies};
use crate::sys::sockets::{self, Kind};
use crate::sys::{Fd, Result};

/// The parts of the network that are asked: `NETLINK_ROUTE` and `NETLINK_XFRM`.
#[derive(Debug, Clone, Copy)]
pub(super) enum Part {
    Route = 0,
    Ipsec = 6,
}

/// Long enough for what the kernel sends at once where it is asked with buffers of this size.
const PIECE: usize = 4096;

fn socket(part: Part) -> Result<Fd> {
    let socket = sockets::socket(AF_NETLINK, Kind::Raw, part as u32)?;
    // `sockaddr_nl`: the family, two bytes of nothing, a port and groups that the kernel chooses.
    let mut address = [0; 12];
    address[..2].copy_from_slice(&(AF_NETLINK as u16).to_ne_bytes());
    sockets::bind_raw(&socket, &address)?;
    Ok(socket)
}

/// Has something done.
pub(super) fn tell(part: Part, request: Request) -> Result<()> {
    ask(part, request, |_, _| {})
}

/// Lists something: each message's kind and body.
pub(super) fn list(part: Part, kind: u32, structure: &[u8], each: impl FnMut(u32, &[u8])) -> Result<()> {
    ask(part, Request::new(kind, NLM_F_DUMP, structure), each)
}

fn ask(part: Part, request: Request, mut each: impl FnMut(u32, &[u8])) -> Result<()> {
    let socket = socket(part)?;
    sockets::send(&socket, &request.bytes(), None)?;
    let mut piece: Vec<u8> = alloc::vec![0; PIECE];
    loop {
        let (received, _) = sockets::receive(&socket, &mut piece)?;
        for reply in replies(&piece[..received]) {
            match reply? {
                Reply::Done => return Ok(()),
                Reply::Message { kind, body } => each(kind, body),
            }
        }
    }
}
