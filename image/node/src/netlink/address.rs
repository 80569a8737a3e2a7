//! Addresses of interfaces.

use alloc::vec::Vec;
use core::net::IpAddr;

use linux_raw_sys::netlink::{IFA_ADDRESS, IFA_LOCAL, NLM_F_CREATE, NLM_F_EXCL, RTM_GETADDR, RTM_NEWADDR};

use super::link::index;
use super::message::{Request, attribute, number};
use super::talk::{Part, list, tell};
use crate::sys::Result;
use crate::sys::sockets::family;

/// `ifaddrmsg`: family, bits, flags, scope (a byte each), index (4 bytes).
const STRUCTURE: usize = 8;

/// An address that an interface has.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Assigned {
    pub interface: u32,
    pub address: IpAddr,
    pub bits: u8,
}

/// The bytes of an address, as they go over the wire.
pub(super) fn octets(address: IpAddr) -> Vec<u8> {
    match address {
        IpAddr::V4(v4) => v4.octets().to_vec(),
        IpAddr::V6(v6) => v6.octets().to_vec(),
    }
}

/// The address of these bytes.
pub(super) fn of_octets(bytes: &[u8]) -> Option<IpAddr> {
    let v4 = <[u8; 4]>::try_from(bytes).map(IpAddr::from);
    v4.or_else(|_| <[u8; 16]>::try_from(bytes).map(IpAddr::from)).ok()
}

/// All addresses of all interfaces.
///
/// # Errors
/// What the kernel said.
pub fn addresses() -> Result<Vec<Assigned>> {
    let mut found = Vec::new();
    list(Part::Route, RTM_GETADDR as u32, &[0; STRUCTURE], |_, body| found.extend(read(body)))?;
    Ok(found)
}

fn read(body: &[u8]) -> Option<Assigned> {
    let (interface, rest) = (number(body, 4)?, body.get(STRUCTURE..)?);
    let own = attribute(rest, IFA_LOCAL as u32).or_else(|| attribute(rest, IFA_ADDRESS as u32))?;
    Some(Assigned { interface, address: of_octets(own)?, bits: body[1] })
}

/// Gives an interface an address.
///
/// # Errors
/// What the kernel said; `ENODEV` when there is no such interface.
pub fn add_address(interface: &str, address: IpAddr, bits: u8) -> Result<()> {
    // No other machine is asked whether it has the address of IPv6: who configures it by hand knows.
    const NO_QUESTIONS: u8 = 2;
    let mut structure = [0; STRUCTURE];
    structure[..3].copy_from_slice(&[family(address) as u8, bits, if address.is_ipv6() { NO_QUESTIONS } else { 0 }]);
    structure[4..].copy_from_slice(&index(interface)?.to_ne_bytes());
    let octets = octets(address);
    let request = Request::new(RTM_NEWADDR as u32, NLM_F_CREATE | NLM_F_EXCL, &structure);
    tell(Part::Route, request.with(IFA_LOCAL as u32, &[&octets]).with(IFA_ADDRESS as u32, &[&octets]))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn this_machine_has_an_address_of_its_own() {
        let addresses = addresses().expect("a list");
        assert!(
            addresses.iter().any(|own| own.address == IpAddr::from([127, 0, 0, 1]) && own.bits == 8),
            "{addresses:?}"
        );
    }
}
