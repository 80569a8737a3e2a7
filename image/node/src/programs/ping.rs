//! `ping`: whether a machine answers, and how soon (RFC 792, RFC 4443).

use alloc::format;
use core::net::SocketAddr;

use linux_raw_sys::net::{AF_INET, AF_INET6};

use super::seconds::seconds;
use crate::println;
use crate::program::{Failure, Program, on};
use crate::sys::sockets::{self, IPPROTO_ICMP, IPPROTO_ICMPV6, Kind};
use crate::sys::{Errno, Fd, Result, process, signals, time};

pub static PROGRAMS: &[Program] = &[Program {
    name: "ping",
    usage: "[-c COUNT] [-i SECONDS] [-s BYTES] ADDRESS",
    about: "asks a machine whether it is there, and says how soon it answers",
    work: ping,
}];

/// How long an answer is waited for.
const PATIENCE: u64 = 1_000_000_000;

/// Kind, code, checksum (2 bytes), which process asks (2), which question (2).
const HEAD: usize = 8;

const LARGEST: usize = 1400;

struct Asked {
    there: SocketAddr,
    count: u32,
    every: u64,
    bytes: usize,
}

fn asked(mut words: &[&str]) -> core::result::Result<Asked, Failure> {
    let (mut count, mut every, mut bytes) = (4, PATIENCE, 56);
    while let [flag @ ("-c" | "-i" | "-s"), value, rest @ ..] = words {
        let wrong = || format!("{flag} {value}: that is no number that it takes");
        match *flag {
            "-c" => count = value.parse().map_err(|_| wrong())?,
            "-i" => every = seconds(value).ok_or_else(wrong)?,
            _ => bytes = value.parse().ok().filter(|bytes| *bytes <= LARGEST).ok_or_else(wrong)?,
        }
        words = rest;
    }
    let [address] = words else { return Err(Failure::Usage) };
    let there =
        sockets::address(address, 0).map_err(|_| format!("{address} is no address, such as 10.0.0.1 or fd00::1"))?;
    Ok(Asked { there, count, every, bytes })
}

fn ping(words: &[&str]) -> core::result::Result<(), Failure> {
    let asked = asked(words)?;
    let protocol = if asked.there.is_ipv4() { (AF_INET, IPPROTO_ICMP as u32) } else { (AF_INET6, IPPROTO_ICMPV6) };
    let socket = sockets::socket(protocol.0, Kind::Raw, protocol.1).map_err(on("a raw socket"))?;
    let (mut answered, mut sent) = (0, 0);
    let begun = time::now();
    for number in 0..asked.count {
        if number > 0 && time::sleep_until(begun + u64::from(number) * asked.every).is_err() || signals::interrupted() {
            break;
        }
        sent += 1;
        match once(&socket, &asked, number as u16) {
            Ok(Some(ns)) => {
                answered += 1;
                println!(
                    "{} bytes from {}: number {number}, {}.{:03} ms",
                    asked.bytes,
                    asked.there.ip(),
                    ns / 1_000_000,
                    ns / 1000 % 1000
                );
            }
            Ok(None) => println!("no answer from {}: number {number}", asked.there.ip()),
            Err(Errno::EINTR) => break,
            Err(why) => println!("number {number}: {why}"),
        }
    }
    println!("{answered} answers to {sent} questions");
    if answered > 0 { Ok(()) } else { Err(Failure::Status(1)) }
}

/// Asks once: how long the answer took, if it came.
fn once(socket: &Fd, asked: &Asked, number: u16) -> Result<Option<u64>> {
    let (question, answer) = if asked.there.is_ipv4() { (8, 0) } else { (128, 129) };
    let mut message = [0u8; HEAD + LARGEST];
    let message = &mut message[..HEAD + asked.bytes];
    let id = process::id() as u16;
    message[0] = question;
    message[4..6].copy_from_slice(&id.to_be_bytes());
    message[6..8].copy_from_slice(&number.to_be_bytes());
    if asked.there.is_ipv4() {
        // Of IPv6 the kernel computes it, since the addresses count.
        let sum = checksum(message);
        message[2..4].copy_from_slice(&sum.to_be_bytes());
    }
    let begun = time::now();
    sockets::send(socket, message, Some(asked.there))?;
    let mut came = [0u8; HEAD + LARGEST + 60];
    loop {
        let left = (begun + PATIENCE).saturating_sub(time::now());
        sockets::patience(socket, left.max(1000))?;
        let (received, from) = match sockets::receive(socket, &mut came) {
            Err(Errno::EAGAIN) => return Ok(None),
            received => received?,
        };
        let ns = time::now() - begun;
        // Of IPv4 the head of the packet comes with it, whose length stands in it in words.
        let head = if asked.there.is_ipv4() { usize::from(came[0] & 15) * 4 } else { 0 };
        let Some(reply) = came[..received].get(head..head + HEAD) else { continue };
        let ours = reply[0] == answer && reply[4..6] == id.to_be_bytes() && reply[6..8] == number.to_be_bytes();
        if ours && from.is_some_and(|from| from.ip() == asked.there.ip()) {
            return Ok(Some(ns));
        }
        if left == 0 {
            return Ok(None);
        }
    }
}

/// The sum of the internet (RFC 1071).
fn checksum(bytes: &[u8]) -> u16 {
    let words = bytes.chunks(2).map(|pair| u32::from(u16::from_be_bytes([pair[0], pair.get(1).copied().unwrap_or(0)])));
    let mut sum: u32 = words.sum();
    while sum > 0xffff {
        sum = (sum & 0xffff) + (sum >> 16);
    }
    !(sum as u16)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_sum_of_an_example() {
        // RFC 1071, section 3.
        assert_eq!(checksum(&[0x00, 0x01, 0xf2, 0x03, 0xf4, 0xf5, 0xf6, 0xf7]), !0xddf2);
        assert_eq!(checksum(&[0xff]), !0xff00);
    }

    #[test]
    fn the_words_of_ping() {
        let read =
            asked(&["-c", "2", "-i", "0.1", "-s", "1000", "::1"]).map(|asked| (asked.count, asked.every, asked.bytes));
        assert_eq!(read, Ok((2, 100_000_000, 1000)));
        for words in [&["-s", "1401", "::1"][..], &["-c", "x", "::1"], &["here"]] {
            assert!(matches!(asked(words), Err(Failure::Told(_))), "{words:?}");
        }
        assert!(matches!(asked(&[]), Err(Failure::Usage)));
    }
}
