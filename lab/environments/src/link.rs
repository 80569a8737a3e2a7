//! Links between an environment and this machine: interfaces of its kernel, each with a network of two addresses of its own.
//!
//! An interface is one that is gone with what it leads to, in whatever way that ends: nobody has to remove it.

use std::fs;
use std::io;
use std::net::Ipv4Addr;

use init::{Kernel, System};

use crate::error::Error;

/// The setting.
pub(crate) const NETWORK: &str = "network";
/// Its value where both halves of a workload are in the environment.
pub(crate) const LOOPBACK: &str = "loopback";
/// Its value where interfaces of this machine's kernel lead out of the environment.
pub(crate) const LINK: &str = "link";

/// The first address of those that are set aside for measurements (198.18.0.0/15, RFC 2544), and how many networks of four they are.
const FIRST: Ipv4Addr = Ipv4Addr::new(198, 18, 0, 0);
const NETWORKS: u32 = 1 << 15;
/// How many bits of an address name its network.
pub(crate) const BITS: u8 = 30;

/// The addresses of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Ends {
    pub here: Ipv4Addr,
    pub there: Ipv4Addr,
}

impl Ends {
    /// Those of interface number `index`: no two interfaces have the same number.
    pub(crate) fn of(index: u32) -> Self {
        let network = u32::from(FIRST) + index % NETWORKS * 4;
        Self { here: Ipv4Addr::from(network + 1), there: Ipv4Addr::from(network + 2) }
    }
}

/// Gives its address to the interface of this machine that is called `name`, and brings it up.
pub(crate) fn up(name: &str) -> Result<Ends, Error> {
    let failed = |doing: &str| Error::os(format!("{doing} {name}, a network interface of the run's own"));
    let ends = Ends::of(number(name).map_err(failed("find"))?);
    // Nobody is to be told of it, and no router asked for. Where the kernel has no such protocol there is nothing to leave off.
    let _ = fs::write(format!("/proc/sys/net/ipv6/conf/{name}/disable_ipv6"), "1");
    let mut kernel = Kernel::new();
    kernel.address(name, ends.here, BITS).map_err(failed("give an address to"))?;
    kernel.up(name).map_err(failed("bring up"))?;
    Ok(ends)
}

/// The number of an interface.
fn number(name: &str) -> io::Result<u32> {
    let text = fs::read_to_string(format!("/sys/class/net/{name}/ifindex"))?;
    text.trim().parse().map_err(io::Error::other)
}

/// What to say of a refusal: `instead` is what takes no rights.
pub(crate) fn refused(doing: &str, e: &io::Error, instead: &str) -> Error {
    let of_rights = matches!(e.raw_os_error(), Some(libc::EPERM | libc::EACCES));
    let rights = if of_rights { format!(": it takes root (CAP_NET_ADMIN); {instead}") } else { String::new() };
    Error::Unusable(format!("could not {doing}: {e}{rights}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_interface_has_a_network_of_its_own_among_those_for_measurements() {
        let ends = |here, there| Ends { here: Ipv4Addr::from(here), there: Ipv4Addr::from(there) };
        assert_eq!(Ends::of(3), ends([198, 18, 0, 13], [198, 18, 0, 14]));
        assert_eq!(Ends::of(NETWORKS - 1), ends([198, 19, 255, 253], [198, 19, 255, 254]));
        assert_eq!(Ends::of(NETWORKS + 3), Ends::of(3));
        assert!((0..1000).all(|index| Ends::of(index).here != Ends::of(index + 1).here));
    }

    #[test]
    fn a_refusal_for_want_of_rights_says_what_takes_none() {
        let said = |error| refused("do it", &io::Error::from_raw_os_error(error), "that takes none").to_string();
        assert!(said(libc::EPERM).ends_with("it takes root (CAP_NET_ADMIN); that takes none"));
        assert!(!said(libc::ENODEV).contains("root"));
    }
}
