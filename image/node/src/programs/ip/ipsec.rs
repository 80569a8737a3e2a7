//! `ip xfrm`: associations and policies by hand.

use alloc::format;
use alloc::vec::Vec;
use core::net::IpAddr;

use super::address::{address, with_bits};
use crate::netlink::{self, Association, Cipher, Direction, Policy};
use crate::program::{Failure, on};
use crate::sys::{Errno, files};
use crate::{print, println};

/// Of the result of an authenticator so many bits are sent, where nothing is said (RFC 2404, and what the kernel does).
const BITS: u32 = 96;

pub fn xfrm(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["state" | "s", "add", words @ ..] => {
            let association = association(words)?;
            netlink::add_association(&association).map_err(|why| {
                told(match why {
                    Errno::ENOSYS => {
                        "this kernel does not have that cipher or authenticator, or not by that name".into()
                    }
                    Errno::EINVAL => "a key has a length, or a check bits, that the algorithm does not take".into(),
                    Errno::EEXIST => "there is one with that dst and spi already".into(),
                    Errno::EPROTONOSUPPORT => "this kernel was made without ESP (INET_ESP, INET6_ESP)".into(),
                    other => format!("{other}"),
                })
            })
        }
        ["policy" | "p", "add", words @ ..] => {
            let policy = policy(words)?;
            netlink::add_policy(&policy).map_err(on("the policy"))
        }
        ["state" | "s", ..] => show_associations(),
        ["policy" | "p", ..] => show_policies(),
        ["flush"] => netlink::flush().map_err(on("IPsec")),
        ["stat"] => {
            // What was dropped, and why; the kernel counts that where it was made with XFRM_STATISTICS.
            print!("{}", files::text("/proc/net/xfrm_stat").map_err(on("/proc/net/xfrm_stat"))?);
            Ok(())
        }
        _ => Err(Failure::Usage),
    }
}

fn told(why: impl Into<alloc::string::String>) -> Failure {
    Failure::Told(why.into())
}

/// Words, taken one after the other.
struct Words<'a>(&'a [&'a str]);

impl<'a> Words<'a> {
    fn next(&mut self) -> Option<&'a str> {
        let (first, rest) = self.0.split_first()?;
        self.0 = rest;
        Some(first)
    }

    /// The word behind `before`.
    fn value(&mut self, before: &str) -> Result<&'a str, Failure> {
        self.next().ok_or_else(|| told(format!("nothing stands behind {before}")))
    }

    fn number(&mut self, before: &str) -> Result<u32, Failure> {
        let text = self.value(before)?;
        let number = match text.strip_prefix("0x") {
            Some(digits) => u32::from_str_radix(digits, 16),
            None => text.parse(),
        };
        number.map_err(|_| told(format!("{before} {text}: that is no number")))
    }

    /// A key: `0x` and two digits a byte.
    fn key(&mut self, before: &str) -> Result<Vec<u8>, Failure> {
        let text = self.value(before)?;
        let digits = text.strip_prefix("0x").filter(|digits| digits.len() % 2 == 0 && digits.is_ascii());
        let byte = |at: usize, digits: &str| u8::from_str_radix(&digits[at..at + 2], 16).ok();
        let key = digits.and_then(|digits| (0..digits.len()).step_by(2).map(|at| byte(at, digits)).collect());
        key.ok_or_else(|| told(format!("a key of {before} is written 0x and two digits a byte")))
    }
}

/// Whether that is a tunnel.
fn is_tunnel(mode: &str) -> Result<bool, Failure> {
    match mode {
        "transport" => Ok(false),
        "tunnel" => Ok(true),
        other => Err(told(format!("mode {other}: there are transport and tunnel"))),
    }
}

fn only_esp(protocol: &str) -> Result<(), Failure> {
    if protocol == "esp" { Ok(()) } else { Err(told(format!("proto {protocol}: there is esp"))) }
}

fn association(words: &[&str]) -> Result<Association, Failure> {
    let mut words = Words(words);
    let (mut ends, mut spi, mut request, mut tunnel): ([Option<IpAddr>; 2], _, _, _) = ([None; 2], None, 0, false);
    let (mut first, mut second, mut both) = (None, None, None);
    while let Some(word) = words.next() {
        match word {
            "src" => ends[0] = Some(address(words.value(word)?)?),
            "dst" => ends[1] = Some(address(words.value(word)?)?),
            "proto" => only_esp(words.value(word)?)?,
            "spi" => spi = Some(words.number(word)?),
            "reqid" => request = words.number(word)?,
            "mode" => tunnel = is_tunnel(words.value(word)?)?,
            "enc" => first = Some((words.value(word)?, words.key("enc")?)),
            "auth" => second = Some((words.value(word)?, words.key("auth")?, BITS)),
            "auth-trunc" => second = Some((words.value(word)?, words.key("auth-trunc")?, words.number("the key")?)),
            "aead" => both = Some((words.value(word)?, words.key("aead")?, words.number("the key")?)),
            _ => return Err(Failure::Usage),
        }
    }
    let ([Some(source), Some(destination)], Some(spi)) = (ends, spi) else {
        return Err(told("an association has a src, a dst and an spi"));
    };
    let cipher = match (first, second, both) {
        (Some((cipher, key)), Some((authenticator, secret, bits)), None) => {
            Cipher::Two { cipher: cipher.into(), key, authenticator: authenticator.into(), secret, bits }
        }
        (None, None, Some((name, key, bits))) => Cipher::Aead { name: name.into(), key, bits },
        _ => {
            return Err(told(
                "an association has enc and auth, or aead: without a check anybody could change what is sent",
            ));
        }
    };
    Ok(Association { source, destination, spi, request, tunnel, cipher })
}

fn policy(words: &[&str]) -> Result<Policy, Failure> {
    let mut words = Words(words);
    let (mut source, mut destination, mut direction, mut request, mut tunnel) = (None, None, None, 0, false);
    let mut through = [None; 2];
    let mut in_template = false;
    while let Some(word) = words.next() {
        match (word, in_template) {
            ("src", false) => source = Some(with_bits(words.value(word)?)?),
            ("dst", false) => destination = Some(with_bits(words.value(word)?)?),
            ("dir", false) => {
                direction = Some(match words.value(word)? {
                    "in" => Direction::In,
                    "out" => Direction::Out,
                    "fwd" => Direction::Forward,
                    other => return Err(told(format!("dir {other}: there are in, out and fwd"))),
                });
            }
            ("tmpl", false) => in_template = true,
            ("src", true) => through[0] = Some(address(words.value(word)?)?),
            ("dst", true) => through[1] = Some(address(words.value(word)?)?),
            ("proto", true) => only_esp(words.value(word)?)?,
            ("reqid", true) => request = words.number(word)?,
            ("mode", true) => tunnel = is_tunnel(words.value(word)?)?,
            _ => return Err(Failure::Usage),
        }
    }
    let (Some(source), Some(destination), Some(direction), true) = (source, destination, direction, in_template) else {
        return Err(told("a policy has a src, a dst, a dir and a tmpl"));
    };
    let tunnel = match (tunnel, through) {
        (false, _) => None,
        (true, [Some(source), Some(destination)]) => Some((source, destination)),
        (true, _) => return Err(told("the tmpl of a tunnel has a src and a dst")),
    };
    Ok(Policy { source, destination, direction, request, tunnel })
}

fn mode(tunnel: bool) -> &'static str {
    if tunnel { "tunnel" } else { "transport" }
}

fn show_associations() -> Result<(), Failure> {
    for found in netlink::associations().map_err(on("the list of associations"))? {
        println!(
            "src {} dst {} proto esp spi 0x{:08x} mode {} {}: {} packets, {} bytes, {} with a wrong check",
            found.source,
            found.destination,
            found.spi,
            mode(found.tunnel),
            found.cipher,
            found.packets,
            found.bytes,
            found.failed
        );
    }
    Ok(())
}

fn show_policies() -> Result<(), Failure> {
    for found in netlink::policies().map_err(on("the list of policies"))? {
        let ((source, from), (destination, to)) = (found.source, found.destination);
        let direction = match found.direction {
            Direction::In => "in",
            Direction::Out => "out",
            Direction::Forward => "fwd",
        };
        let mode = mode(found.tunnel.is_some());
        println!(
            "src {source}/{from} dst {destination}/{to} dir {direction} tmpl proto esp reqid {} mode {mode}",
            found.request
        );
    }
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(text: &str) -> Vec<&str> {
        text.split_whitespace().collect()
    }

    #[test]
    fn an_association_is_read_in_the_words_of_iproute2() {
        let read = association(&words(
            "src 10.0.0.1 dst 10.0.0.2 proto esp spi 0x100 reqid 1 mode transport auth hmac(sha1) 0x0102 enc cbc(aes) 0xff00ff00",
        ));
        let read = read.expect("an association");
        assert_eq!((read.spi, read.request, read.tunnel), (0x100, 1, false));
        let Cipher::Two { key, secret, bits, .. } = read.cipher else { panic!("two") };
        assert_eq!((key, secret, bits), (alloc::vec![0xff, 0, 0xff, 0], alloc::vec![1, 2], 96));
        let read =
            association(&words("src ::1 dst ::2 spi 7 aead rfc4106(gcm(aes)) 0x00 128")).expect("an association");
        assert_eq!(read.cipher, Cipher::Aead { name: "rfc4106(gcm(aes))".into(), key: alloc::vec![0], bits: 128 });
    }

    #[test]
    fn what_is_missing_or_wrong_is_told() {
        for (text, said) in [
            ("src ::1 dst ::2 spi 7", "enc and auth, or aead"),
            ("src ::1 dst ::2 spi 7 enc cbc(aes) 0x00", "enc and auth, or aead"),
            ("src ::1 dst ::2 enc a 0x00 auth b 0x00", "a src, a dst and an spi"),
            ("src ::1 dst ::2 spi x", "no number"),
            ("src ::1 dst ::2 spi 7 enc cbc(aes) 1234", "0x and two digits"),
            ("src ::1 dst ::2 spi 7 enc cbc(aes) 0x123", "0x and two digits"),
            ("src ::1 dst ::2 spi 7 enc cbc(aes) 0xzz", "0x and two digits"),
            ("src ::1 dst ::2 spi 7 enc cbc(aes) 0xäö", "0x and two digits"),
            ("src ::1 dst", "nothing stands behind dst"),
            ("src ::1 dst ::2 proto ah", "there is esp"),
            ("src ::1 dst ::2 mode beet", "transport and tunnel"),
        ] {
            assert!(matches!(association(&words(text)), Err(Failure::Told(why)) if why.contains(said)), "{text}");
        }
        for (text, said) in [
            ("src ::1 dst ::2 dir out", "and a tmpl"),
            ("src ::1 dst ::2 dir up tmpl proto esp", "in, out and fwd"),
            ("src ::1 dst ::2 dir in tmpl proto esp mode tunnel", "has a src and a dst"),
        ] {
            assert!(matches!(policy(&words(text)), Err(Failure::Told(why)) if why.contains(said)), "{text}");
        }
        let read =
            policy(&words("src fd00::1 dst fd00::/64 dir fwd tmpl src ::1 dst ::2 proto esp reqid 3 mode tunnel"));
        assert!(read.is_ok_and(|policy| policy.destination.1 == 64 && policy.tunnel.is_some() && policy.request == 3));
    }
}
