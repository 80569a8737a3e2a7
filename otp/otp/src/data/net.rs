//! Addresses of networks, as OTP's `inet` and `gen_tcp` have them.

use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr, SocketAddrV4, SocketAddrV6};

use super::{Data, Malformed};
use crate::nif::{Env, Term};

/// `{127, 0, 0, 1}`: an `inet:ip4_address()`.
impl Data for Ipv4Addr {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.octets().encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        <[u8; 4]>::decode(term).map(Self::from)
    }

    fn erlang_type() -> String {
        "inet:ip4_address()".into()
    }
}

/// `{0, 0, 0, 0, 0, 0, 0, 1}`: an `inet:ip6_address()`.
impl Data for Ipv6Addr {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.segments().encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        <[u16; 8]>::decode(term).map(Self::from)
    }

    fn erlang_type() -> String {
        "inet:ip6_address()".into()
    }
}

/// One of the two: an `inet:ip_address()`.
impl Data for IpAddr {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        match self {
            Self::V4(address) => address.encode(env),
            Self::V6(address) => address.encode(env),
        }
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        match term.tuple().map(|tuple| tuple.len()) {
            Some(4) => Ipv4Addr::decode(term).map(Self::V4),
            Some(8) => Ipv6Addr::decode(term).map(Self::V6),
            _ => Err(Malformed::expected("an address of IP: a tuple of 4 or of 8")),
        }
    }

    fn erlang_type() -> String {
        "inet:ip_address()".into()
    }
}

/// `{Address, Port}`, as `inet:sockname/1` gives it: without the scope and the flow label that an IPv6 one may have.
macro_rules! sockets {
    ($($socket:ty: $address:ty, $made:expr;)*) => {$(
        impl Data for $socket {
            fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
                (*self.ip(), self.port()).encode(env)
            }

            fn decode(term: Term<'_>) -> Result<Self, Malformed> {
                <($address, u16)>::decode(term).map($made)
            }

            fn erlang_type() -> String {
                format!("{{{}, inet:port_number()}}", <$address>::erlang_type())
            }
        }
    )*};
}

sockets! {
    SocketAddrV4: Ipv4Addr, |(address, port)| Self::new(address, port);
    SocketAddrV6: Ipv6Addr, |(address, port)| Self::new(address, port, 0, 0);
}

impl Data for SocketAddr {
    fn encode<'a>(&self, env: Env<'a>) -> Term<'a> {
        (self.ip(), self.port()).encode(env)
    }

    fn decode(term: Term<'_>) -> Result<Self, Malformed> {
        <(IpAddr, u16)>::decode(term).map(Self::from)
    }

    fn erlang_type() -> String {
        "{inet:ip_address(), inet:port_number()}".into()
    }
}
