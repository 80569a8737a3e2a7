//! Everything between two machines protected by ESP in transport mode, with keys that both know: what an experiment needs, and no
//! more. The keys are no secret.

use alloc::vec::Vec;
use core::net::IpAddr;

use super::xfrm::{Association, Cipher, Direction, Policy, add_association, add_policy};
use crate::sys::Result;

/// What protects it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Suite {
    /// AES-128 in CBC mode, and HMAC-SHA1 (RFC 3602, RFC 2404).
    CbcSha1,
    /// AES-128 in GCM mode (RFC 4106).
    Gcm,
    /// ChaCha20 and Poly1305 (RFC 7634).
    ChaCha20,
}

impl Suite {
    /// By the names that the lab has for them; nothing for `none`.
    #[must_use]
    pub fn named(name: &str) -> Option<Self> {
        match name {
            "cbc-sha1" => Some(Self::CbcSha1),
            "gcm" => Some(Self::Gcm),
            "chacha20" => Some(Self::ChaCha20),
            _ => None,
        }
    }

    fn cipher(self, seed: u8) -> Cipher {
        let key = |bytes: u8| (0..bytes).map(|n| n.wrapping_mul(37) ^ seed).collect::<Vec<u8>>();
        match self {
            Self::CbcSha1 => Cipher::Two {
                cipher: "cbc(aes)".into(),
                key: key(16),
                authenticator: "hmac(sha1)".into(),
                secret: key(20),
                bits: 96,
            },
            // The last four bytes are the salt.
            Self::Gcm => Cipher::Aead { name: "rfc4106(gcm(aes))".into(), key: key(20), bits: 128 },
            Self::ChaCha20 => Cipher::Aead { name: "rfc7539esp(chacha20,poly1305)".into(), key: key(36), bits: 128 },
        }
    }
}

/// What goes from `source` to `destination`; both machines say the same.
fn one_way(source: IpAddr, destination: IpAddr, suite: Suite) -> Result<()> {
    let seed = super::address::octets(source).last().copied().unwrap_or(0);
    let cipher = suite.cipher(seed);
    add_association(&Association {
        source,
        destination,
        spi: 0x1000 + u32::from(seed),
        request: 1,
        tunnel: false,
        cipher,
    })
}

/// Protects what goes between `here` and `there`, and takes nothing else from there; they may be the same.
///
/// # Errors
/// What the kernel said, as of [`add_association`].
pub fn protect(here: IpAddr, there: IpAddr, suite: Suite) -> Result<()> {
    one_way(here, there, suite)?;
    if here != there {
        one_way(there, here, suite)?;
    }
    let bits = if here.is_ipv4() { 32 } else { 128 };
    let ways = [(here, there, Direction::Out), (there, here, Direction::In)];
    for (source, destination, direction) in ways {
        let (source, destination) = ((source, bits), (destination, bits));
        add_policy(&Policy { source, destination, direction, request: 1, tunnel: None })?;
    }
    Ok(())
}
