//! The line of text that a machine of somebody else's gives a program when it starts it: what a boot page says elsewhere.
//!
//! Words, one space between two. A monitor may add some of its own, of which devices are understood. What is the user's has every byte
//! written as `%` and two digits that is not a letter, a digit or one of `/_.,:=+-`.
//!
//! ```text
//! now=1700000000000000000 tsc_hz=2000000000 unsafe=data env=NAME=value arg=first arg=the%20second virtio_mmio.device=512@0xfeb00e00:12
//! ```

use core::fmt;

/// A word that is understood.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Word<'a> {
    /// The time when the machine was started, in nanoseconds since 1970.
    Now(u64),
    /// Ticks of the time stamp counter in a second.
    TscHz(u64),
    /// The device of that name is never flushed, whatever it says.
    Unsafe(&'a str),
    /// `NAME=value`.
    Variable(Encoded<'a>),
    Argument(Encoded<'a>),
    /// There may be a virtio device at that address.
    Device {
        address: u64,
        len: u64,
    },
}

/// The words of a line that are understood.
pub fn words(line: &str) -> impl Iterator<Item = Word<'_>> {
    line.split_ascii_whitespace().filter_map(word)
}

fn word(text: &str) -> Option<Word<'_>> {
    let (name, value) = text.split_once('=')?;
    Some(match name {
        "now" => Word::Now(value.parse().ok()?),
        "tsc_hz" => Word::TscHz(value.parse().ok()?),
        "unsafe" => Word::Unsafe(value),
        "env" => Word::Variable(Encoded(value)),
        "arg" => Word::Argument(Encoded(value)),
        "virtio_mmio.device" => {
            // As Linux has it: SIZE@ADDRESS:INTERRUPT.
            let (len, rest) = value.split_once('@')?;
            let address = rest.split(':').next()?;
            Word::Device { address: number(address)?, len: size(len)? }
        }
        _ => return None,
    })
}

fn number(text: &str) -> Option<u64> {
    match text.strip_prefix("0x") {
        Some(digits) => u64::from_str_radix(digits, 16).ok(),
        None => text.parse().ok(),
    }
}

fn size(text: &str) -> Option<u64> {
    match text.strip_suffix(['K', 'k']) {
        Some(number) => number.parse::<u64>().ok()?.checked_mul(1024),
        None => number(text),
    }
}

/// A text as it stands in a line.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Encoded<'a>(&'a str);

impl<'a> Encoded<'a> {
    /// The bytes that are meant. What is no encoding stands for itself.
    pub fn bytes(self) -> impl Iterator<Item = u8> + use<'a> {
        let text = self.0.as_bytes();
        let mut at = 0;
        core::iter::from_fn(move || {
            let byte = *text.get(at)?;
            let digit = |n: usize| (*text.get(at + n)? as char).to_digit(16);
            match (byte, digit(1), digit(2)) {
                (b'%', Some(high), Some(low)) => {
                    at += 3;
                    Some((high << 4 | low) as u8)
                }
                _ => {
                    at += 1;
                    Some(byte)
                }
            }
        })
    }
}

/// A text as it is put into a line.
#[derive(Clone, Copy, Debug)]
pub struct Encode<'a>(pub &'a str);

impl fmt::Display for Encode<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.bytes().try_for_each(|byte| match byte {
            b'a'..=b'z' | b'A'..=b'Z' | b'0'..=b'9' | b'/' | b'_' | b'.' | b',' | b':' | b'=' | b'+' | b'-' => {
                write!(f, "{}", byte as char)
            }
            _ => write!(f, "%{byte:02x}"),
        })
    }
}

#[cfg(test)]
mod tests {
    extern crate std;

    use super::*;
    use std::format;
    use std::string::String;
    use std::vec::Vec;

    fn decoded(text: Encoded<'_>) -> String {
        String::from_utf8(text.bytes().collect()).unwrap()
    }

    #[test]
    fn what_is_put_into_a_line_is_found_in_it() {
        for text in ["", "a", "two words", "100 %", "%41", "virtio_mmio.device=1@2:3", "ümlaut\n\"'\\"] {
            let line = format!("now=7 arg={} env=A={} tsc_hz=9", Encode(text), Encode(text));
            let all: Vec<_> = words(&line).collect();
            let [Word::Now(7), Word::Argument(argument), Word::Variable(variable), Word::TscHz(9)] = all[..] else {
                panic!("{line}: {all:?}")
            };
            assert_eq!((decoded(argument), decoded(variable)), (text.into(), format!("A={text}")));
        }
    }

    #[test]
    fn devices_of_monitors_are_understood_and_other_words_left_out() {
        let line = "console=ttyS0 reboot=k quiet virtio_mmio.device=512@0xfeb00e00:12 virtio_mmio.device=4K@0xd0000000:5 arg=x";
        let all: Vec<_> = words(line).collect();
        assert_eq!(all[0], Word::Device { address: 0xfeb0_0e00, len: 512 });
        assert_eq!(all[1], Word::Device { address: 0xd000_0000, len: 4096 });
        assert_eq!(all[2..], [Word::Argument(Encoded("x"))]);
        for wrong in ["virtio_mmio.device=512", "virtio_mmio.device=x@y:z", "now=", "now=soon", "arg"] {
            assert_eq!(words(wrong).count(), 0, "{wrong}");
        }
        // Half an encoding is none.
        assert_eq!(decoded(Encoded("50%")) + &decoded(Encoded("%zz%4")), "50%%zz%4");
    }
}
