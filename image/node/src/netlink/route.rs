//! Routes: by which way a machine is reached.

use alloc::vec::Vec;
use core::net::IpAddr;

use linux_raw_sys::net::{AF_INET, AF_INET6};
use linux_raw_sys::netlink::{NLM_F_CREATE, NLM_F_EXCL, RTM_GETROUTE, RTM_NEWROUTE};

use super::address::{octets, of_octets};
use super::link::index;
use super::message::{Request, attribute, number};
use super::talk::{Part, list, tell};
use crate::sys::sockets::family;
use crate::sys::{Errno, Result};

/// `rtmsg`: family, bits of the destination and of the source, service, table, protocol, scope, kind (a byte each), flags (4 bytes).
const STRUCTURE: usize = 12;

// Kinds of attributes (rtattr_type_t).
const DESTINATION: u32 = 1;
const INTERFACE: u32 = 4;
const GATEWAY: u32 = 5;

const TABLE_MAIN: u8 = 254;
const PROTOCOL_STATIC: u8 = 4;
const SCOPE_LINK: u8 = 253;
const KIND_UNICAST: u8 = 1;

/// A route of the main table.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Route {
    /// Nothing for all that no other route leads to.
    pub destination: Option<(IpAddr, u8)>,
    pub gateway: Option<IpAddr>,
    pub interface: Option<u32>,
}

/// The routes of both kinds of addresses.
///
/// # Errors
/// What the kernel said.
pub fn routes() -> Result<Vec<Route>> {
    let mut found = Vec::new();
    for family in [AF_INET, AF_INET6] {
        let mut structure = [0; STRUCTURE];
        structure[0] = family as u8;
        match list(Part::Route, RTM_GETROUTE as u32, &structure, |_, body| found.extend(read(body))) {
            // A kernel without IPv6 has no such routes.
            Err(Errno::EOPNOTSUPP | Errno::EAFNOSUPPORT) => {}
            listed => listed?,
        }
    }
    Ok(found)
}

fn read(body: &[u8]) -> Option<Route> {
    let rest = body.get(STRUCTURE..)?;
    let is_ours = body[4] == TABLE_MAIN && body[7] == KIND_UNICAST;
    let route = Route {
        destination: attribute(rest, DESTINATION).and_then(of_octets).map(|address| (address, body[1])),
        gateway: attribute(rest, GATEWAY).and_then(of_octets),
        interface: attribute(rest, INTERFACE).and_then(|value| number(value, 0)),
    };
    is_ours.then_some(route)
}

/// Adds a route to all machines, or to some.
///
/// # Errors
/// What the kernel said; `EINVAL` for one that names neither a gateway nor an interface.
pub fn add_route(destination: Option<(IpAddr, u8)>, gateway: Option<IpAddr>, interface: Option<&str>) -> Result<()> {
    let like = gateway.or(destination.map(|(address, _)| address)).ok_or(Errno::EINVAL)?;
    let mut structure = [0; STRUCTURE];
    structure[0] = family(like) as u8;
    structure[1] = destination.map_or(0, |(_, bits)| bits);
    structure[4..8].copy_from_slice(&[
        TABLE_MAIN,
        PROTOCOL_STATIC,
        if gateway.is_some() { 0 } else { SCOPE_LINK },
        KIND_UNICAST,
    ]);
    let mut request = Request::new(RTM_NEWROUTE as u32, NLM_F_CREATE | NLM_F_EXCL, &structure);
    if let Some((address, _)) = destination {
        request = request.with(DESTINATION, &[&octets(address)]);
    }
    if let Some(gateway) = gateway {
        request = request.with(GATEWAY, &[&octets(gateway)]);
    }
    if let Some(interface) = interface {
        request = request.with(INTERFACE, &[&index(interface)?.to_ne_bytes()]);
    }
    tell(Part::Route, request)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn routes_are_listed_and_one_without_a_way_is_refused() {
        assert!(routes().is_ok());
        assert_eq!(add_route(None, None, Some("lo")), Err(Errno::EINVAL));
    }
}
