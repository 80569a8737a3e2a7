//! Interfaces of the network.

use alloc::string::String;
use alloc::vec::Vec;

use linux_raw_sys::netlink::{IFLA_ADDRESS, IFLA_IFNAME, IFLA_MTU, IFLA_STATS64, RTM_GETLINK, RTM_NEWLINK};

use super::message::{Request, attribute, attributes, number};
use super::talk::{Part, list, tell};
use crate::sys::{Errno, Result};

/// `ifinfomsg`: family and nothing (2 bytes), kind (2), index (4), flags (4), which flags change (4).
const STRUCTURE: usize = 16;

// What an interface says of itself (`linux/if.h`).
const IFF_UP: u32 = 1;
const IFF_LOWER_UP: u32 = 1 << 16;

/// An interface.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    pub index: u32,
    pub name: String,
    pub is_up: bool,
    /// Whether there is something at the other end of its cable.
    pub carries: bool,
    pub mtu: u32,
    pub address: Vec<u8>,
    pub received: Traffic,
    pub sent: Traffic,
}

/// What went through an interface in one direction.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Traffic {
    pub packets: u64,
    pub bytes: u64,
    pub errors: u64,
    pub dropped: u64,
}

/// All of them.
///
/// # Errors
/// What the kernel said.
pub fn links() -> Result<Vec<Link>> {
    let mut found = Vec::new();
    list(Part::Route, RTM_GETLINK as u32, &[0; STRUCTURE], |_, body| found.extend(read(body)))?;
    Ok(found)
}

fn read(body: &[u8]) -> Option<Link> {
    let (index, flags) = (number(body, 4)?, number(body, 8)?);
    let rest = body.get(STRUCTURE..)?;
    let mut link = Link {
        index,
        name: String::new(),
        is_up: flags & IFF_UP != 0,
        carries: flags & IFF_LOWER_UP != 0,
        mtu: 0,
        address: Vec::new(),
        received: Traffic::default(),
        sent: Traffic::default(),
    };
    for (kind, value) in attributes(rest) {
        match kind {
            kind if kind == IFLA_IFNAME as u32 => link.name = text(value),
            kind if kind == IFLA_MTU as u32 => link.mtu = number(value, 0)?,
            kind if kind == IFLA_ADDRESS as u32 => link.address = value.to_vec(),
            kind if kind == IFLA_STATS64 as u32 => (link.received, link.sent) = traffic(value)?,
            _ => {}
        }
    }
    Some(link)
}

/// `rtnl_link_stats64`: packets received and sent, bytes, errors, dropped, each of 64 bits.
fn traffic(value: &[u8]) -> Option<(Traffic, Traffic)> {
    let figure = |at: usize| Some(u64::from_ne_bytes(value.get(at * 8..at * 8 + 8)?.try_into().ok()?));
    let of = |direction: usize| {
        let [packets, bytes, errors, dropped] = [0, 2, 4, 6].map(|pair| figure(pair + direction));
        Some(Traffic { packets: packets?, bytes: bytes?, errors: errors?, dropped: dropped? })
    };
    Some((of(0)?, of(1)?))
}

/// A text that ends with a zero.
fn text(value: &[u8]) -> String {
    let end = value.iter().position(|byte| *byte == 0).unwrap_or(value.len());
    String::from_utf8_lossy(&value[..end]).into_owned()
}

/// The number of the interface of that name.
pub(super) fn index(name: &str) -> Result<u32> {
    let mut found = None;
    list(Part::Route, RTM_GETLINK as u32, &[0; STRUCTURE], |_, body| {
        let this = body.get(STRUCTURE..).and_then(|rest| attribute(rest, IFLA_IFNAME as u32)).map(text);
        if this.is_some_and(|this| this == name) {
            found = number(body, 4);
        }
    })?;
    found.ok_or(Errno::ENODEV)
}

/// Switches an interface on or off.
///
/// # Errors
/// What the kernel said; `ENODEV` when there is none of that name.
pub fn up(name: &str, on: bool) -> Result<()> {
    let mut structure = [0; STRUCTURE];
    structure[4..8].copy_from_slice(&index(name)?.to_ne_bytes());
    structure[8..12].copy_from_slice(&(if on { IFF_UP } else { 0 }).to_ne_bytes());
    structure[12..].copy_from_slice(&(IFF_UP).to_ne_bytes());
    tell(Part::Route, Request::new(RTM_NEWLINK as u32, 0, &structure))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_a_loopback_device() {
        let links = links().expect("a list");
        let lo = links.iter().find(|link| link.name == "lo").expect("it is everywhere");
        assert_eq!(index("lo"), Ok(lo.index));
        assert_eq!(index("nowhere0"), Err(Errno::ENODEV));
        assert!(lo.mtu >= 1280 && lo.received.packets == lo.sent.packets, "{lo:?}");
    }
}
