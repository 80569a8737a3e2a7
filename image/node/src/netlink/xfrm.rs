//! IPsec by hand: security associations (which key between which machines) and policies (which traffic has to use one).
//!
//! ESP in transport mode and tunnel mode, with a cipher and an authenticator or with both in one (RFC 4303, RFC 4106). The structures are
//! those of `linux/xfrm.h`, whose lengths stand beside them; a number without a word is in the order of this processor.

use alloc::string::String;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::address::{octets, of_octets};
use super::message::{Request, attribute, number};
use super::talk::{Part, list, tell};
use crate::sys::sockets::family;
use crate::sys::{Errno, Result};

// Kinds of messages.
const NEW_ASSOCIATION: u32 = 0x10;
const GET_ASSOCIATION: u32 = 0x12;
const NEW_POLICY: u32 = 0x13;
const GET_POLICY: u32 = 0x15;
const FLUSH_ASSOCIATIONS: u32 = 0x1c;
const FLUSH_POLICIES: u32 = 0x1d;

// Kinds of attributes.
const CIPHER: u32 = 2;
const TEMPLATES: u32 = 5;
const AEAD: u32 = 18;
const AUTHENTICATOR: u32 = 20;

/// `xfrm_usersa_info`.
const OF_ASSOCIATION: usize = 224;
/// `xfrm_userpolicy_info`.
const OF_POLICY: usize = 168;
/// `xfrm_user_tmpl`.
const OF_TEMPLATE: usize = 64;
/// The name of an algorithm, with zeroes behind.
const OF_NAME: usize = 64;

/// The protocol that all of this is for.
const ESP: u8 = 50;

/// How many datagrams an attacker may send again before one is taken for new.
const REPLAY_WINDOW: u8 = 32;

/// What a datagram is protected by.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Cipher {
    /// A cipher and an authenticator, by the kernel's names, such as `cbc(aes)` and `hmac(sha1)`, of whose result that many bits are sent.
    Two { cipher: String, key: Vec<u8>, authenticator: String, secret: Vec<u8>, bits: u32 },
    /// Both in one, such as `rfc4106(gcm(aes))`, whose check has that many bits.
    Aead { name: String, key: Vec<u8>, bits: u32 },
}

/// A security association: how datagrams from one machine to another are protected.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Association {
    pub source: IpAddr,
    pub destination: IpAddr,
    /// The number that stands in each datagram.
    pub spi: u32,
    /// By which a policy finds it; 0 for any.
    pub request: u32,
    /// Whole datagrams are put into new ones, and not what is in them.
    pub tunnel: bool,
    pub cipher: Cipher,
}

/// To which datagrams a policy applies.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Direction {
    In = 0,
    Out = 1,
    Forward = 2,
}

/// A policy: datagrams between these have to be protected by ESP.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Policy {
    pub source: (IpAddr, u8),
    pub destination: (IpAddr, u8),
    pub direction: Direction,
    pub request: u32,
    /// From which machine to which the protected datagrams go, where that is not between the ends.
    pub tunnel: Option<(IpAddr, IpAddr)>,
}

/// An association in the kernel, and what it has done.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct InForce {
    pub source: IpAddr,
    pub destination: IpAddr,
    pub spi: u32,
    pub tunnel: bool,
    /// The name of the cipher.
    pub cipher: String,
    pub bytes: u64,
    pub packets: u64,
    /// Datagrams whose check was wrong: another key, or somebody in between.
    pub failed: u32,
}

/// A structure while it is filled.
struct Structure(Vec<u8>);

impl Structure {
    fn new(bytes: usize) -> Self {
        Self(alloc::vec![0; bytes])
    }

    fn put(&mut self, at: usize, part: &[u8]) {
        self.0[at..at + part.len()].copy_from_slice(part);
    }

    fn address(&mut self, at: usize, address: IpAddr) {
        self.put(at, &octets(address));
    }

    /// `xfrm_selector`: the datagrams from there to there.
    fn selector(&mut self, (source, of_source): (IpAddr, u8), (destination, of_destination): (IpAddr, u8)) {
        self.address(0, destination);
        self.address(16, source);
        self.put(40, &(family(destination) as u16).to_ne_bytes());
        self.put(42, &[of_destination, of_source]);
    }

    /// `xfrm_lifetime_cfg`: no end by bytes and packets, nor, where a zero says that, by time.
    fn lasts(&mut self, at: usize) {
        self.put(at, &[0xff; 32]);
    }
}

impl Association {
    fn structure(&self) -> Vec<u8> {
        let mut s = Structure::new(OF_ASSOCIATION);
        // In transport mode the selector is the ends themselves, and that is what all zeroes mean, but for their family.
        s.put(40, &(family(self.destination) as u16).to_ne_bytes());
        s.address(56, self.destination);
        s.put(72, &self.spi.to_be_bytes());
        s.put(76, &[ESP]);
        s.address(80, self.source);
        s.lasts(96);
        s.put(208, &self.request.to_ne_bytes());
        s.put(212, &(family(self.destination) as u16).to_ne_bytes());
        s.put(214, &[u8::from(self.tunnel), REPLAY_WINDOW]);
        s.0
    }
}

fn name(text: &str) -> Result<[u8; OF_NAME]> {
    let mut bytes = [0; OF_NAME];
    // The last has to stay zero.
    bytes[..OF_NAME - 1].get_mut(..text.len()).ok_or(Errno::EINVAL)?.copy_from_slice(text.as_bytes());
    Ok(bytes)
}

fn bits(key: &[u8]) -> [u8; 4] {
    (key.len() as u32 * 8).to_ne_bytes()
}

/// Adds an association.
///
/// # Errors
/// What the kernel said: `EEXIST` for one that is there, `ENOSYS` where it does not have the cipher, `EINVAL` where a key is too long or too
/// short, `EPROTONOSUPPORT` without ESP.
pub fn add_association(association: &Association) -> Result<()> {
    let request = Request::new(NEW_ASSOCIATION, 0x600, &association.structure());
    let request = match &association.cipher {
        Cipher::Two { cipher, key, authenticator, secret, bits: sent } => request
            .with(AUTHENTICATOR, &[&name(authenticator)?, &bits(secret), &sent.to_ne_bytes(), secret])
            .with(CIPHER, &[&name(cipher)?, &bits(key), key]),
        Cipher::Aead { name: aead, key, bits: sent } => {
            request.with(AEAD, &[&name(aead)?, &bits(key), &sent.to_ne_bytes(), key])
        }
    };
    tell(Part::Ipsec, request)
}

/// Adds a policy.
///
/// # Errors
/// What the kernel said; `EEXIST` for one that is there.
pub fn add_policy(policy: &Policy) -> Result<()> {
    let mut s = Structure::new(OF_POLICY);
    s.selector(policy.source, policy.destination);
    s.lasts(56);
    s.put(160, &[policy.direction as u8]);
    let mut template = Structure::new(OF_TEMPLATE);
    if let Some((source, destination)) = policy.tunnel {
        template.address(0, destination);
        template.address(28, source);
    }
    template.put(20, &[ESP]);
    template.put(24, &(family(policy.destination.0) as u16).to_ne_bytes());
    template.put(44, &policy.request.to_ne_bytes());
    template.put(48, &[u8::from(policy.tunnel.is_some())]);
    // Any algorithm.
    template.put(52, &[0xff; 12]);
    tell(Part::Ipsec, Request::new(NEW_POLICY, 0x600, &s.0).with(TEMPLATES, &[&template.0]))
}

/// The associations in force.
///
/// # Errors
/// What the kernel said.
pub fn associations() -> Result<Vec<InForce>> {
    let mut found = Vec::new();
    list(Part::Ipsec, GET_ASSOCIATION, &[0; 24], |_, body| found.extend(read(body)))?;
    Ok(found)
}

/// An address in a structure of that family.
fn address(body: &[u8], at: usize, is_ipv6: bool) -> Option<IpAddr> {
    of_octets(body.get(at..at + if is_ipv6 { 16 } else { 4 })?)
}

fn is_ipv6(body: &[u8], at: usize) -> Option<bool> {
    let family = u16::from_ne_bytes(body.get(at..at + 2)?.try_into().ok()?);
    Some(u32::from(family) == linux_raw_sys::net::AF_INET6)
}

fn read(body: &[u8]) -> Option<InForce> {
    let rest = body.get(OF_ASSOCIATION..)?;
    let ipv6 = is_ipv6(body, 212)?;
    let figure = |at: usize| Some(u64::from_ne_bytes(body.get(at..at + 8)?.try_into().ok()?));
    let algorithm = [AEAD, CIPHER].into_iter().find_map(|kind| attribute(rest, kind)).unwrap_or(&[]);
    let name = algorithm.split(|byte| *byte == 0).next().unwrap_or(&[]);
    Some(InForce {
        source: address(body, 80, ipv6)?,
        destination: address(body, 56, ipv6)?,
        spi: number(body, 72)?.to_be(),
        tunnel: body[214] == 1,
        cipher: String::from_utf8_lossy(name).into_owned(),
        bytes: figure(160)?,
        packets: figure(168)?,
        failed: number(body, 200)?,
    })
}

/// The policies in force.
///
/// # Errors
/// What the kernel said.
pub fn policies() -> Result<Vec<Policy>> {
    let mut found = Vec::new();
    list(Part::Ipsec, GET_POLICY, &[0; 64], |_, body| found.extend(read_policy(body)))?;
    Ok(found)
}

fn read_policy(body: &[u8]) -> Option<Policy> {
    let (ipv6, rest) = (is_ipv6(body, 40)?, body.get(OF_POLICY..)?);
    let template = attribute(rest, TEMPLATES).filter(|template| template.len() >= OF_TEMPLATE)?;
    let direction = match body[160] {
        0 => Direction::In,
        1 => Direction::Out,
        2 => Direction::Forward,
        // A socket's own.
        _ => return None,
    };
    let through = template[48] == 1;
    let of_tunnel = is_ipv6(template, 24)?;
    let ends = || Some((address(template, 28, of_tunnel)?, address(template, 0, of_tunnel)?));
    Some(Policy {
        source: (address(body, 16, ipv6)?, body[43]),
        destination: (address(body, 0, ipv6)?, body[42]),
        direction,
        request: number(template, 44)?,
        tunnel: through.then(ends).flatten(),
    })
}

/// Removes all associations and all policies.
///
/// # Errors
/// What the kernel said.
pub fn flush() -> Result<()> {
    // `xfrm_usersa_flush`: 0 is every protocol.
    for request in [Request::new(FLUSH_ASSOCIATIONS, 0, &[0; 4]), Request::new(FLUSH_POLICIES, 0, &[])] {
        match tell(Part::Ipsec, request) {
            // There was nothing.
            Err(Errno::ESRCH) => {}
            done => done?,
        }
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::string::ToString;

    fn between(ends: [&str; 2]) -> Association {
        let [source, destination] = ends.map(|end| end.parse().expect("an address"));
        let cipher = Cipher::Aead { name: "rfc4106(gcm(aes))".into(), key: alloc::vec![7; 20], bits: 128 };
        Association { source, destination, spi: 0x1234_5678, request: 3, tunnel: false, cipher }
    }

    #[test]
    fn an_association_is_read_as_it_was_written() {
        for ends in [["10.0.0.1", "10.0.0.2"], ["fd00::1", "fd00::2"]] {
            let mut body = between(ends).structure();
            assert_eq!(body.len(), OF_ASSOCIATION);
            body[168..176].copy_from_slice(&9u64.to_ne_bytes());
            body[200..204].copy_from_slice(&2u32.to_ne_bytes());
            let read = read(&body).expect("an association");
            assert_eq!([read.source, read.destination].map(|end| end.to_string()), ends);
            assert_eq!((read.spi, read.packets, read.failed, read.tunnel), (0x1234_5678, 9, 2, false));
            assert!((0..OF_ASSOCIATION).all(|length| super::read(&body[..length]).is_none()), "a shorter one is none");
        }
    }

    #[test]
    fn a_name_that_is_too_long_is_refused() {
        assert!(name(&"a".repeat(63)).is_ok_and(|name| name[63] == 0));
        assert_eq!(name(&"a".repeat(64)), Err(Errno::EINVAL));
    }
}
