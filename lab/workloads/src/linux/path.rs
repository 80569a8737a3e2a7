//! The way between the two ends of a workload of the network: which protocol, and whether IPsec protects it.

use std::net::IpAddr;

use super::protected::protected;
use crate::bench::{Bench, Failure};
use crate::os::net::{LOOPBACK, LOOPBACK_6};
use crate::portable::losses::{FILES, Losses, NAMES};
use crate::spec::{Kind, Param, Params};

pub const IP: Param =
    Param { name: "ip", about: "the version of the Internet Protocol", kind: Kind::Choice(&["4", "6"]), default: "4" };

pub const IPSEC: Param = Param {
    name: "ipsec",
    about: "ESP in transport mode with manual keys: cbc-sha1 is AES-128-CBC with HMAC-SHA1, gcm AES-128-GCM, chacha20 ChaCha20-Poly1305",
    kind: Kind::Choice(&["none", "cbc-sha1", "gcm", "chacha20"]),
    default: "none",
};

/// Makes the way as it is asked for; gives the address that both ends on this machine have. Before the first socket.
///
/// # Errors
/// When it cannot be had.
pub(super) fn prepared(params: &Params, bench: &mut Bench<'_>) -> Result<IpAddr, Failure> {
    let on = if params.choice("ip") == "6" { LOOPBACK_6 } else { LOOPBACK };
    let suite = params.choice("ipsec");
    if bench.peer().is_some() && (suite != "none" || on.is_ipv6()) {
        let why = "over network=link there is ip=4 with ipsec=none only: the partner outside has no keys and no other address";
        return Err(Failure::Impossible(why.into()));
    }
    if suite != "none" {
        protected(on, suite)?;
    }
    Ok(on)
}

/// What the kernel has dropped so far, in the network of this thread.
pub(super) fn losses() -> Losses {
    // The process may have another.
    let texts = FILES.map(|file| std::fs::read(format!("/proc/thread-self/net/{file}")).unwrap_or_default());
    Losses::of(std::array::from_fn(|file| texts[file].as_slice()))
}

/// Says where what was `lost` was dropped since `before`, as the kernel counts it. On a machine with other work that may be of others.
pub(super) fn say_losses(bench: &mut Bench<'_>, before: &Losses, lost: u64) {
    if lost > 0 {
        for (name, count) in NAMES.into_iter().zip(losses().since(before)).filter(|(_, count)| *count > 0) {
            bench.fact(name, count as f64);
        }
    }
}
