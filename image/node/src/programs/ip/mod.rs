//! `ip`: the network, in the words of iproute2.

mod address;
mod ipsec;
mod show;

use address::{address, with_bits};

use crate::netlink;
use crate::program::{Failure, Program, on};

pub static PROGRAMS: &[Program] = &[Program {
    name: "ip",
    usage: "link | link set DEVICE up|down | addr | addr add ADDRESS/BITS dev DEVICE | route\n       \
            | route add DESTINATION/BITS|default [via GATEWAY] [dev DEVICE] | xfrm state | xfrm policy | xfrm flush\n       \
            | xfrm state add src A dst B proto esp spi N [reqid N] [mode transport|tunnel]\n              \
            (auth-trunc NAME KEY BITS | auth NAME KEY) enc NAME KEY | aead NAME KEY BITS\n       \
            | xfrm policy add src A[/BITS] dst B[/BITS] dir in|out|fwd tmpl [src A dst B] proto esp [reqid N] [mode M]",
    about: "the network: devices, addresses, routes, and IPsec (xfrm), in the words of iproute2",
    work: ip,
}];

fn ip(words: &[&str]) -> Result<(), Failure> {
    let [object, words @ ..] = words else { return Err(Failure::Usage) };
    match (*object, words) {
        ("link" | "l", [] | ["show"]) => show::links(),
        ("link" | "l", ["set", device, state @ ("up" | "down")] | ["set", "dev", device, state @ ("up" | "down")]) => {
            netlink::up(device, *state == "up").map_err(on(device))
        }
        ("addr" | "address" | "a", [] | ["show"]) => show::addresses(),
        ("addr" | "address" | "a", ["add", address, "dev", device]) => {
            let (address, bits) = with_bits(address)?;
            netlink::add_address(device, address, bits).map_err(on(device))
        }
        ("route" | "r", [] | ["show"]) => show::routes(),
        ("route" | "r", ["add", destination, words @ ..]) => add_route(destination, words),
        ("xfrm" | "x", words) => ipsec::xfrm(words),
        _ => Err(Failure::Usage),
    }
}

fn add_route(destination: &str, mut words: &[&str]) -> Result<(), Failure> {
    let to = if destination == "default" { None } else { Some(with_bits(destination)?) };
    let (mut gateway, mut device) = (None, None);
    while let [word, value, rest @ ..] = words {
        match *word {
            "via" => gateway = Some(address(value)?),
            "dev" => device = Some(*value),
            _ => return Err(Failure::Usage),
        }
        words = rest;
    }
    let [] = words else { return Err(Failure::Usage) };
    netlink::add_route(to, gateway, device).map_err(on(destination))
}
