//! Sockets, and addresses as the kernel takes them.

use core::mem::MaybeUninit;
use core::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV6};

use linux_raw_sys::general::{
    __NR_accept4, __NR_bind, __NR_connect, __NR_getsockname, __NR_getsockopt, __NR_listen, __NR_recvfrom, __NR_sendto,
    __NR_setsockopt, __NR_shutdown, __NR_socket, O_CLOEXEC,
};
use linux_raw_sys::net::{AF_INET, AF_INET6, SOL_SOCKET};

use super::call::call;
use super::errno::{Errno, Result};
use super::files::Fd;

pub use linux_raw_sys::net::{IPPROTO_ICMP, IPPROTO_ICMPV6, IPPROTO_TCP, IPPROTO_UDP};

/// What is sent over a socket.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Kind {
    Stream = 1,
    Datagram = 2,
    Raw = 3,
}

/// An address of a socket, as long as the longest.
#[repr(C, align(8))]
#[derive(Clone, Copy)]
struct Address {
    bytes: [u8; LONGEST],
    length: u32,
}

/// `sockaddr_in6`: family, port, flow, address, scope.
const LONGEST: usize = 28;

/// `sockaddr_in`: family, port, address, eight zeroes.
const OF_IPV4: usize = 16;

impl Address {
    fn of(address: SocketAddr) -> Self {
        let mut bytes = [0; LONGEST];
        let mut put = |at: usize, part: &[u8]| bytes[at..at + part.len()].copy_from_slice(part);
        put(2, &address.port().to_be_bytes());
        let length = match address {
            SocketAddr::V4(v4) => {
                put(0, &(AF_INET as u16).to_ne_bytes());
                put(4, &v4.ip().octets());
                OF_IPV4
            }
            SocketAddr::V6(v6) => {
                put(0, &(AF_INET6 as u16).to_ne_bytes());
                put(4, &v6.flowinfo().to_be_bytes());
                put(8, &v6.ip().octets());
                put(24, &v6.scope_id().to_ne_bytes());
                LONGEST
            }
        };
        Self { bytes, length: length as u32 }
    }

    /// What the kernel wrote; nothing for another kind of address.
    fn read(&self) -> Option<SocketAddr> {
        let bytes = &self.bytes;
        let number = |at: usize| u32::from_ne_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        let (family, port) = (u16::from_ne_bytes([bytes[0], bytes[1]]), u16::from_be_bytes([bytes[2], bytes[3]]));
        match (u32::from(family), self.length as usize) {
            (AF_INET, OF_IPV4..) => Some(SocketAddr::from((Ipv4Addr::from(number(4).to_ne_bytes()), port))),
            (AF_INET6, LONGEST..) => {
                let octets: [u8; 16] = bytes[8..24].try_into().ok()?;
                Some(SocketAddr::V6(SocketAddrV6::new(Ipv6Addr::from(octets), port, number(4).to_be(), number(24))))
            }
            _ => None,
        }
    }
}

/// A socket.
///
/// # Errors
/// What the kernel said.
pub fn socket(family: u32, kind: Kind, protocol: u32) -> Result<Fd> {
    let kind = kind as usize | O_CLOEXEC as usize;
    // SAFETY: numbers.
    unsafe { call(__NR_socket, [family as usize, kind, protocol as usize, 0, 0, 0]) }.map(Fd::of)
}

/// The family that an address is of.
pub fn family(address: IpAddr) -> u32 {
    if address.is_ipv4() { AF_INET } else { AF_INET6 }
}

/// A socket for that address.
///
/// # Errors
/// What the kernel said.
pub fn socket_for(address: SocketAddr, kind: Kind) -> Result<Fd> {
    socket(family(address.ip()), kind, 0)
}

/// # Errors
/// What the kernel said.
pub fn bind(socket: &Fd, address: SocketAddr) -> Result<()> {
    let address = Address::of(address);
    bind_raw(socket, &address.bytes[..address.length as usize])
}

/// Binds to an address of any family, as the kernel takes it.
///
/// # Errors
/// What the kernel said.
pub fn bind_raw(socket: &Fd, address: &[u8]) -> Result<()> {
    // SAFETY: the address is ours, and as long as we say.
    unsafe { call(__NR_bind, [socket.number(), address.as_ptr() as usize, address.len(), 0, 0, 0]) }.map(drop)
}

/// # Errors
/// What the kernel said.
pub fn connect(socket: &Fd, address: SocketAddr) -> Result<()> {
    let address = Address::of(address);
    let (at, length) = (address.bytes.as_ptr() as usize, address.length as usize);
    // SAFETY: as above.
    unsafe { call(__NR_connect, [socket.number(), at, length, 0, 0, 0]) }.map(drop)
}

/// # Errors
/// What the kernel said.
pub fn listen(socket: &Fd, waiting: usize) -> Result<()> {
    // SAFETY: numbers.
    unsafe { call(__NR_listen, [socket.number(), waiting, 0, 0, 0, 0]) }.map(drop)
}

/// The next connection.
///
/// # Errors
/// What the kernel said.
pub fn accept(socket: &Fd) -> Result<Fd> {
    // SAFETY: numbers; who it is is not asked for.
    unsafe { call(__NR_accept4, [socket.number(), 0, 0, O_CLOEXEC as usize, 0, 0]) }.map(Fd::of)
}

/// Says that nothing more is sent.
///
/// # Errors
/// What the kernel said.
pub fn finish(socket: &Fd) -> Result<()> {
    const SENDING: usize = 1;
    // SAFETY: numbers.
    unsafe { call(__NR_shutdown, [socket.number(), SENDING, 0, 0, 0, 0]) }.map(drop)
}

/// Where this side of a socket is.
///
/// # Errors
/// What the kernel said.
pub fn here(socket: &Fd) -> Result<Option<SocketAddr>> {
    let mut address = Address { bytes: [0; LONGEST], length: LONGEST as u32 };
    let (at, length) = (address.bytes.as_mut_ptr() as usize, (&raw mut address.length) as usize);
    // SAFETY: room for an address, as long as we say, and for its length.
    unsafe { call(__NR_getsockname, [socket.number(), at, length, 0, 0, 0]) }?;
    Ok(address.read())
}

/// Sends bytes, to an address or where it is connected: how many were taken.
///
/// # Errors
/// What the kernel said.
pub fn send(socket: &Fd, bytes: &[u8], to: Option<SocketAddr>) -> Result<usize> {
    let to = to.map(Address::of);
    let (at, length) = to.as_ref().map_or((0, 0), |to| (to.bytes.as_ptr() as usize, to.length as usize));
    // SAFETY: bytes and an address of ours, as long as we say.
    unsafe { call(__NR_sendto, [socket.number(), bytes.as_ptr() as usize, bytes.len(), 0, at, length]) }
}

/// Receives what there is: how many bytes, and from where.
///
/// # Errors
/// What the kernel said.
pub fn receive(socket: &Fd, bytes: &mut [u8]) -> Result<(usize, Option<SocketAddr>)> {
    let mut from = Address { bytes: [0; LONGEST], length: LONGEST as u32 };
    let (at, length) = (from.bytes.as_mut_ptr() as usize, (&raw mut from.length) as usize);
    // SAFETY: room for bytes and for an address, as long as we say.
    let received =
        unsafe { call(__NR_recvfrom, [socket.number(), bytes.as_mut_ptr() as usize, bytes.len(), 0, at, length]) }?;
    Ok((received, from.read()))
}

/// Sets an option that is a number, of the socket itself or of one of its protocols.
///
/// # Errors
/// What the kernel said.
pub fn set(socket: &Fd, level: u32, option: u32, value: u32) -> Result<()> {
    let at = (&raw const value) as usize;
    // SAFETY: a number of ours.
    unsafe { call(__NR_setsockopt, [socket.number(), level as usize, option as usize, at, size_of::<u32>(), 0]) }
        .map(drop)
}

/// The value of such an option.
///
/// # Errors
/// What the kernel said.
pub fn get(socket: &Fd, level: u32, option: u32) -> Result<u32> {
    let (mut value, mut length) = (MaybeUninit::<u32>::zeroed(), size_of::<u32>() as u32);
    let (at, length) = (value.as_mut_ptr() as usize, (&raw mut length) as usize);
    // SAFETY: room for the number and its length.
    unsafe { call(__NR_getsockopt, [socket.number(), level as usize, option as usize, at, length, 0]) }?;
    // SAFETY: zeroes are a number.
    Ok(unsafe { value.assume_init() })
}

/// Lets calls that receive or send wait so long, at most.
///
/// # Errors
/// What the kernel said.
pub fn patience(socket: &Fd, ns: u64) -> Result<()> {
    // SO_RCVTIMEO_NEW and SO_SNDTIMEO_NEW: two numbers of 64 bits on every processor.
    const OPTIONS: [usize; 2] = [66, 67];
    let time = [(ns / 1_000_000_000) as i64, (ns % 1_000_000_000 / 1000) as i64];
    OPTIONS.into_iter().try_for_each(|option| {
        let arguments = [socket.number(), SOL_SOCKET as usize, option, time.as_ptr() as usize, size_of_val(&time), 0];
        // SAFETY: two numbers of ours.
        unsafe { call(__NR_setsockopt, arguments) }.map(drop)
    })
}

/// An address without a port, or with one: `10.0.0.1`, `10.0.0.1:7`, `::1`, `[::1]:7`.
///
/// # Errors
/// `EINVAL` for what is none.
pub fn address(text: &str, port: u16) -> Result<SocketAddr> {
    let alone = text.parse::<IpAddr>().map(|ip| SocketAddr::new(ip, port));
    alone.or_else(|_| text.parse()).map_err(|_| Errno::EINVAL)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn datagrams_go_there_and_back() {
        for text in ["127.0.0.1", "::1"] {
            let server = socket_for(address(text, 0).expect("an address"), Kind::Datagram).expect("a socket");
            bind(&server, address(text, 0).expect("an address")).expect("bound");
            let there = here(&server).expect("asked").expect("an address of IP");
            let client = socket_for(there, Kind::Datagram).expect("a socket");
            assert_eq!(send(&client, b"hello", Some(there)), Ok(5));
            let mut bytes = [0; 10];
            let (received, from) = receive(&server, &mut bytes).expect("received");
            assert_eq!(&bytes[..received], b"hello");
            assert_eq!(from.map(|from| from.ip()), Some(there.ip()));
            patience(&server, 1_000_000).expect("set");
            assert_eq!(receive(&server, &mut bytes), Err(Errno::EAGAIN));
        }
    }

    #[test]
    fn addresses_are_read_with_and_without_a_port() {
        let written = |text| address(text, 9).map(|address| std::format!("{address}"));
        assert_eq!(written("10.0.0.1"), Ok("10.0.0.1:9".into()));
        assert_eq!(written("10.0.0.1:7"), Ok("10.0.0.1:7".into()));
        assert_eq!(written("fe80::1"), Ok("[fe80::1]:9".into()));
        assert_eq!(written("[fe80::1]:7"), Ok("[fe80::1]:7".into()));
        assert_eq!(written("10.0.0"), Err(Errno::EINVAL));
    }
}
