//! The way between the two ends: the protocol, IPsec, and what the kernel drops on it. Both ends are processes of this machine, or the other is
//! one of another board at the end of a wire.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};

use kizami_workloads::portable::losses::{FILES, Losses, NAMES};
use node::netlink::{self, Suite};
use node::sys::sockets::{self, Kind};
use node::sys::{Errno, Fd, Result, files, time};

use crate::job::{Job, doing};

/// So long a call may wait before its caller looks whether it is over.
const PATIENCE: u64 = 50_000_000;
/// The other board may start later, and an address of IPv6 is looked for on the wire before it is used.
const STARTING: u64 = 60_000_000_000;

/// How long a board waits before it uses the wire, whose time it then has.
const CATCHING_UP: u64 = 1_000_000_000;

/// What says that datagrams to the machine itself need no protection, by IPv4.
const EXEMPT: [&str; 2] = ["/proc/sys/net/ipv4/conf/lo/disable_xfrm", "/proc/sys/net/ipv4/conf/lo/disable_policy"];

/// The interface at the wire, and the addresses there, of which the last byte is that of the board.
const INTERFACE: &str = "eth0";
const IPV4: Ipv4Addr = Ipv4Addr::new(10, 9, 0, 0);
const IPV6: Ipv6Addr = Ipv6Addr::new(0xfd09, 0, 0, 0, 0, 0, 0, 0);
/// The board that measures, and the other.
const OWN: u8 = 1;
const OTHER: u8 = 2;

/// Where what is sent goes, and where what tells of it.
pub const DATA: u16 = 7000;
pub const CONTROL: u16 = 7001;

/// Where the two ends are.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Ends {
    pub here: IpAddr,
    /// On another board.
    pub there: Option<IpAddr>,
}

fn on_wire(version: &str, board: u8) -> IpAddr {
    let last = u32::from(board);
    match version {
        "4" => Ipv4Addr::from_bits(IPV4.to_bits() | last).into(),
        _ => Ipv6Addr::from_bits(IPV6.to_bits() | u128::from(last)).into(),
    }
}

/// Whether this is the other board of two.
pub fn is_partner(job: &Job<'_>) -> bool {
    job.arguments.text("wire").is_ok_and(|side| side == "other")
}

/// Makes the way as the job asks for it.
pub fn prepared(job: &Job<'_>) -> core::result::Result<Ends, String> {
    let version = job.arguments.text("ip")?;
    let ends = match job.arguments.text("wire") {
        Ok(side) => {
            let (own, other) = if side == "other" { (OTHER, OWN) } else { (OWN, OTHER) };
            let here = on_wire(version, own);
            netlink::up(INTERFACE, true).map_err(doing("bring up the network interface"))?;
            let bits = if here.is_ipv4() { 24 } else { 64 };
            netlink::add_address(INTERFACE, here, bits).map_err(doing("give it an address"))?;
            // A start is more work than what follows: a board that is late after it catches up here.
            let _ = time::sleep(CATCHING_UP);
            Ends { here, there: Some(on_wire(version, other)) }
        }
        Err(_) if version == "4" => Ends { here: Ipv4Addr::LOCALHOST.into(), there: None },
        Err(_) => Ends { here: Ipv6Addr::LOCALHOST.into(), there: None },
    };
    let name = job.arguments.text("ipsec")?;
    if name == "none" {
        return Ok(ends);
    }
    let suite = Suite::named(name).ok_or_else(|| format!("this probe does not know ipsec={name}"))?;
    for file in EXEMPT.into_iter().filter(|_| ends.here.is_ipv4()) {
        write(file, b"0").map_err(doing(&format!("write {file}")))?;
    }
    let there = ends.there.unwrap_or(ends.here);
    netlink::protect(ends.here, there, suite).map_err(doing(&format!("protect {there} by {name}")))?;
    Ok(ends)
}

fn write(file: &str, bytes: &[u8]) -> Result<()> {
    Fd::open(file, files::O_WRONLY)?.write_all(bytes)
}

/// Tries again while the other board, or an address here, is not ready.
fn until_ready<T>(mut once: impl FnMut() -> Result<T>) -> Result<T> {
    let begun = time::now();
    loop {
        match once() {
            Err(why) if time::now() - begun > STARTING => return Err(why),
            Err(
                Errno::EADDRNOTAVAIL
                | Errno::ECONNREFUSED
                | Errno::EHOSTUNREACH
                | Errno::ENETUNREACH
                | Errno::ETIMEDOUT
                | Errno::EAGAIN,
            ) => {
                let _ = time::sleep(20_000_000);
            }
            done => return done,
        }
    }
}

/// A socket that is bound.
fn bound(at: SocketAddr, kind: Kind) -> Result<Fd> {
    let socket = sockets::socket_for(at, kind)?;
    until_ready(|| sockets::bind(&socket, at))?;
    Ok(socket)
}

/// A socket that waits at a port of the kernel's choice, and where that is.
fn waiting(on: IpAddr, kind: Kind) -> Result<(Fd, SocketAddr)> {
    let any = SocketAddr::new(on, 0);
    let socket = bound(any, kind)?;
    let there = sockets::here(&socket)?.unwrap_or(any);
    Ok((socket, there))
}

fn patient(socket: Fd) -> Result<Fd> {
    sockets::patience(&socket, PATIENCE)?;
    Ok(socket)
}

/// Both ends of a connection of this machine with itself.
pub fn streams(on: IpAddr) -> Result<(Fd, Fd)> {
    let (listener, there) = waiting(on, Kind::Stream)?;
    sockets::listen(&listener, 1)?;
    let one = sockets::socket_for(there, Kind::Stream)?;
    sockets::connect(&one, there)?;
    let other = sockets::accept(&listener)?;
    Ok((patient(one)?, patient(other)?))
}

/// Two sockets for datagrams, of which the first sends to the second.
pub fn sockets(on: IpAddr) -> Result<(Fd, Fd)> {
    let ((one, here), (other, there)) = (waiting(on, Kind::Datagram)?, waiting(on, Kind::Datagram)?);
    sockets::connect(&one, there)?;
    sockets::connect(&other, here)?;
    Ok((patient(one)?, patient(other)?))
}

/// A connection to the other board.
pub fn connected(there: IpAddr, port: u16) -> Result<Fd> {
    until_ready(|| {
        let at = SocketAddr::new(there, port);
        let socket = sockets::socket_for(at, Kind::Stream)?;
        sockets::connect(&socket, at)?;
        patient(socket)
    })
}

/// A connection from the other board.
pub fn accepted(here: IpAddr, port: u16) -> Result<Fd> {
    let listener = bound(SocketAddr::new(here, port), Kind::Stream)?;
    sockets::listen(&listener, 1)?;
    patient(sockets::accept(&listener)?)
}

/// A socket for datagrams with the other board.
pub fn joined(here: IpAddr, there: IpAddr, port: u16) -> Result<Fd> {
    let socket = bound(SocketAddr::new(here, port), Kind::Datagram)?;
    sockets::connect(&socket, SocketAddr::new(there, port))?;
    patient(socket)
}

/// What the kernel has dropped so far.
pub fn losses() -> Losses {
    let texts: Vec<Vec<u8>> =
        FILES.iter().map(|file| files::contents(&format!("/proc/net/{file}")).unwrap_or_default()).collect();
    Losses::of(core::array::from_fn(|file| texts[file].as_slice()))
}

/// Says where what was `lost` was dropped, in the order of [`NAMES`].
pub fn say_losses(job: &Job<'_>, dropped: [u64; NAMES.len()], lost: u64) {
    if lost > 0 {
        for (name, count) in NAMES.into_iter().zip(dropped).filter(|(_, count)| *count > 0) {
            job.fact(name, count);
        }
    }
}
