//! The network of a virtual machine: a link out of it to this machine, where the partner of a network workload is.
//!
//! `link` is an interface of this machine's kernel (tap): what the guest sends comes out of it. It is there as long as a process has its
//! descriptor, and is gone with the machine, however that ended. `user` is a network within QEMU's process, which makes calls of
//! its own for what the guest sends; it takes no rights.

use std::fs::{self, File};
use std::io;
use std::net::{IpAddr, Ipv4Addr};
use std::os::fd::{AsFd, AsRawFd, BorrowedFd};

use kizami_settings::Settings;

use super::board::Board;
use crate::error::Error;
use crate::link::{self, BITS, Ends, LINK, LOOPBACK, NETWORK};

/// The value of the setting that takes no rights.
const USER: &str = "user";
const TUN: &str = "/dev/net/tun";
/// What leads to it in the guest.
pub(super) const MODULE: &str = "virtio_net";

/// The two ends of a link.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Link {
    /// The address of the guest's interface, and how many bits of it name the network.
    pub guest: (Ipv4Addr, u8),
    /// Where a partner on this machine listens, and where the guest finds that.
    pub host: IpAddr,
    pub seen_as: IpAddr,
}

/// See the module.
#[derive(Debug)]
pub(super) enum Network {
    User,
    Tap { file: File, ends: Ends },
}

/// Whether a machine with these settings has one.
pub(super) fn wanted(asked: &Settings) -> bool {
    asked.get(NETWORK).is_some_and(|kind| kind != LOOPBACK)
}

/// Whether interfaces can be made here.
pub(super) fn possible() -> Result<(), String> {
    tap().map(drop).map_err(|e| e.to_string())
}

impl Network {
    /// What the settings ask for.
    pub(super) fn make(asked: &Settings) -> Result<Self, Error> {
        if asked.get(NETWORK) != Some(LINK) {
            return Ok(Self::User);
        }
        let (file, name) = tap()?;
        Ok(Self::Tap { file, ends: link::up(&name)? })
    }

    /// For the child.
    pub(super) fn descriptor(&self) -> Option<BorrowedFd<'_>> {
        match self {
            Self::User => None,
            Self::Tap { file, .. } => Some(file.as_fd()),
        }
    }

    pub(super) fn link(&self) -> Link {
        match *self {
            // These addresses are QEMU's own.
            Self::User => Link {
                guest: (Ipv4Addr::new(10, 0, 2, 15), 24),
                host: Ipv4Addr::LOCALHOST.into(),
                seen_as: Ipv4Addr::new(10, 0, 2, 2).into(),
            },
            Self::Tap { ends: Ends { here, there }, .. } => {
                Link { guest: (there, BITS), host: here.into(), seen_as: here.into() }
            }
        }
    }

    /// The part of QEMU's command line. The child has the interface as its descriptor `number`.
    pub(super) fn arguments(&self, number: usize, board: &Board) -> [String; 4] {
        let netdev = match self {
            Self::User => "user,id=link".to_owned(),
            Self::Tap { .. } => format!("tap,id=link,fd={number}"),
        };
        ["-netdev".into(), netdev, "-device".into(), format!("{},netdev=link", board.network)]
    }
}

/// A new interface, and its name.
fn tap() -> Result<(File, String), Error> {
    let refused = |doing: &str, e: &io::Error| link::refused(doing, e, "network=user takes no rights");
    let file = File::options().read(true).write(true).open(TUN).map_err(|e| refused(&format!("open {TUN}"), &e))?;
    // SAFETY: an all-zero request is a valid one.
    let mut request: libc::ifreq = unsafe { std::mem::zeroed() };
    for (place, byte) in request.ifr_name.iter_mut().zip(b"kizami%d") {
        *place = *byte as libc::c_char;
    }
    request.ifr_ifru.ifru_flags = (libc::IFF_TAP | libc::IFF_NO_PI | libc::IFF_VNET_HDR) as libc::c_short;
    // SAFETY: an open descriptor and a request that the kernel reads, and writes the name to.
    let made = unsafe { libc::ioctl(file.as_raw_fd(), libc::TUNSETIFF as _, &raw mut request) };
    if made < 0 {
        return Err(refused("make a network interface (TUNSETIFF)", &io::Error::last_os_error()));
    }
    let name = request.ifr_name.iter().take_while(|byte| **byte != 0).map(|byte| char::from(*byte as u8)).collect();
    Ok((file, name))
}

/// What is in force: the guest says which driver its interface has, and the kernel whether the monitor has an interface of this
/// machine.
pub(super) fn observed(monitor: u32, driver: &str) -> String {
    let descriptors = fs::read_dir(format!("/proc/{monitor}/fdinfo")).into_iter().flatten().flatten();
    let mut about = descriptors.filter_map(|one| fs::read_to_string(one.path()).ok());
    let has_interface = about.any(|text| text.lines().any(|line| line.starts_with("iff:")));
    match (driver, has_interface) {
        ("", _) => LOOPBACK,
        (_, true) => LINK,
        (_, false) => USER,
    }
    .to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interface_is_there_as_long_as_its_descriptor_is_open() {
        let (file, name) = match tap() {
            Ok(made) => made,
            // Without root it is told how to do without.
            Err(why) => return assert!(why.to_string().contains("network=user") || !fs::exists(TUN).unwrap_or(false), "{why}"),
        };
        let there = || fs::exists(format!("/sys/class/net/{name}")).unwrap_or(false);
        assert!(name.starts_with("kizami") && there(), "{name}");
        drop(file);
        assert!(!there(), "{name}");
    }
}
