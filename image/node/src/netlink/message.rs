//! The form of messages to and from the kernel's network: a head, a structure, and attributes (man 7 netlink).

use alloc::vec::Vec;

use linux_raw_sys::netlink::{NLM_F_ACK, NLM_F_REQUEST, NLMSG_DONE, NLMSG_ERROR};

use crate::sys::{Errno, Result};

/// `nlmsghdr`: length (4 bytes), kind (2), flags (2), number (4), port (4).
const HEAD: usize = 16;

/// `nlattr`: length with this head (2 bytes), kind (2).
const OF_ATTRIBUTE: usize = 4;

/// The bits of an attribute's kind that are none of it.
const FLAGS_OF_KIND: u16 = 0xc000;

/// A request, while it is written.
#[derive(Debug)]
pub struct Request(Vec<u8>);

impl Request {
    /// One of that kind, with a structure of bytes.
    pub fn new(kind: u32, flags: u32, structure: &[u8]) -> Self {
        let mut bytes = Vec::with_capacity(256);
        bytes.extend_from_slice(&0u32.to_ne_bytes());
        bytes.extend_from_slice(&(kind as u16).to_ne_bytes());
        bytes.extend_from_slice(&((flags | NLM_F_REQUEST | NLM_F_ACK) as u16).to_ne_bytes());
        bytes.extend_from_slice(&[0; 8]);
        bytes.extend_from_slice(structure);
        Self(bytes).aligned()
    }

    fn aligned(mut self) -> Self {
        self.0.resize(self.0.len().next_multiple_of(4), 0);
        self
    }

    /// With an attribute whose value is these parts, one behind the other.
    pub fn with(mut self, kind: u32, parts: &[&[u8]]) -> Self {
        let length = OF_ATTRIBUTE + parts.iter().map(|part| part.len()).sum::<usize>();
        self.0.extend_from_slice(&(length as u16).to_ne_bytes());
        self.0.extend_from_slice(&(kind as u16).to_ne_bytes());
        for part in parts {
            self.0.extend_from_slice(part);
        }
        self.aligned()
    }

    /// As it is sent.
    pub fn bytes(mut self) -> Vec<u8> {
        let length = self.0.len() as u32;
        self.0[..4].copy_from_slice(&length.to_ne_bytes());
        self.0
    }
}

/// What came from the kernel.
#[derive(Debug, PartialEq, Eq)]
pub enum Reply<'a> {
    /// A message of that kind: a structure, then attributes.
    Message { kind: u32, body: &'a [u8] },
    /// It was done, or all of a list was sent.
    Done,
}

/// The messages in what was received.
///
/// # Errors
/// The error that the kernel tells, and `EPROTO` for what is no message.
pub fn replies(mut bytes: &[u8]) -> impl Iterator<Item = Result<Reply<'_>>> {
    core::iter::from_fn(move || {
        if bytes.is_empty() {
            return None;
        }
        let (reply, rest) = one(bytes).unwrap_or((Err(Errno::EPROTO), &[]));
        bytes = rest;
        Some(reply)
    })
}

fn one(bytes: &[u8]) -> Option<(Result<Reply<'_>>, &[u8])> {
    let length = u32::from_ne_bytes(bytes.get(..4)?.try_into().ok()?) as usize;
    let kind = u32::from(u16::from_ne_bytes(bytes.get(4..6)?.try_into().ok()?));
    let body = bytes.get(HEAD..length)?;
    let rest = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
    let reply = match kind {
        NLMSG_DONE => Ok(Reply::Done),
        NLMSG_ERROR => match i32::from_ne_bytes(body.get(..4)?.try_into().ok()?) {
            0 => Ok(Reply::Done),
            error => Err(Errno(error.unsigned_abs())),
        },
        kind => Ok(Reply::Message { kind, body }),
    };
    Some((reply, rest))
}

/// The attributes behind a structure: kinds and values.
pub fn attributes(mut bytes: &[u8]) -> impl Iterator<Item = (u32, &[u8])> {
    core::iter::from_fn(move || {
        let length = usize::from(u16::from_ne_bytes(bytes.get(..2)?.try_into().ok()?));
        let kind = u16::from_ne_bytes(bytes.get(2..4)?.try_into().ok()?) & !FLAGS_OF_KIND;
        let value = bytes.get(OF_ATTRIBUTE..length)?;
        bytes = bytes.get(length.next_multiple_of(4)..).unwrap_or(&[]);
        Some((u32::from(kind), value))
    })
}

/// The value of the attribute of that kind.
pub fn attribute(bytes: &[u8], kind: u32) -> Option<&[u8]> {
    attributes(bytes).find(|(other, _)| *other == kind).map(|(_, value)| value)
}

/// A number of 32 bits there, of a structure or an attribute.
pub fn number(bytes: &[u8], at: usize) -> Option<u32> {
    Some(u32::from_ne_bytes(bytes.get(at..at.checked_add(4)?)?.try_into().ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_request_is_read_as_it_was_written() {
        let sent =
            Request::new(18, 0x300, &[1, 2, 3]).with(3, &[b"eth0", &[0]]).with(5, &[]).with(6, &[&[9; 4]]).bytes();
        assert_eq!(sent.len() % 4, 0);
        let Some(Ok(Reply::Message { kind: 18, body })) = replies(&sent).next() else { panic!("a message") };
        assert_eq!(&body[..4], [1, 2, 3, 0]);
        let found: Vec<_> = attributes(&body[4..]).collect();
        assert_eq!(found, [(3, &b"eth0\0"[..]), (5, &[]), (6, &[9; 4])]);
        assert_eq!(number(attribute(&body[4..], 6).expect("there"), 0), Some(0x0909_0909));
        assert_eq!(replies(&sent).count(), 1);
    }

    #[test]
    fn errors_and_ends_are_told_and_nonsense_is_none_of_them() {
        let said = |error: i32| {
            let mut bytes = Request::new(NLMSG_ERROR, 0, &error.to_ne_bytes()).bytes();
            bytes.extend(Request::new(NLMSG_DONE, 0, &[]).bytes());
            replies(&bytes).map(|reply| reply.map(|reply| reply == Reply::Done)).collect::<Vec<_>>()
        };
        assert_eq!(said(0), [Ok(true), Ok(true)]);
        assert_eq!(said(-17), [Err(Errno::EEXIST), Ok(true)]);
        for nonsense in [&[1u8][..], &[0; 16], &[255; 40], &[17, 0, 0, 0, 2, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0, 1]] {
            assert_eq!(replies(nonsense).collect::<Vec<_>>(), [Err(Errno::EPROTO)]);
        }
        for nonsense in [&[1u8][..], &[0; 4], &[3, 0, 0, 0], &[255; 8]] {
            assert_eq!(attributes(nonsense).count(), 0);
        }
    }
}
