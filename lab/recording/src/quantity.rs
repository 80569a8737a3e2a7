//! The written form of quantities: how a user, a study and a recording write a time, a size or a rate.
//!
//! One spelling out, several in. Sizes follow the disk tools: `K`, `M`, `G` and `KiB`, `MiB`, `GiB` are powers of 1024,
//! `KB`, `MB`, `GB` powers of 1000. A number without a unit is refused where a unit could be meant, except zero.

use alloc::format;
use alloc::string::{String, ToString};

/// What kind of quantity a text stands for.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Quantity {
    /// A plain number; `_` may group digits.
    Count,
    /// Nanoseconds, written with `ns`, `us`, `ms`, `s` or `min`.
    Time,
    /// Bytes, written with `B`, `KiB`, …, `KB`, ….
    Size,
    /// Bits per second, written with `bit`, `kbit`, `Mbit` or `Gbit`, with or without `/s`.
    Rate,
}

/// Units of each kind: the first spellings that divide a value are the ones that are written.
const TIME: &[(&str, u64)] =
    &[("min", 60_000_000_000), ("s", 1_000_000_000), ("ms", 1_000_000), ("us", 1_000), ("µs", 1_000), ("ns", 1)];
const SIZE: &[(&str, u64)] = &[
    ("GiB", 1 << 30),
    ("MiB", 1 << 20),
    ("KiB", 1 << 10),
    ("GB", 1_000_000_000),
    ("MB", 1_000_000),
    ("KB", 1_000),
    ("kB", 1_000),
    ("G", 1 << 30),
    ("M", 1 << 20),
    ("K", 1 << 10),
    ("k", 1 << 10),
    ("B", 1),
];
const RATE: &[(&str, u64)] = &[("Gbit", 1_000_000_000), ("Mbit", 1_000_000), ("kbit", 1_000), ("bit", 1)];

impl Quantity {
    fn units(self) -> &'static [(&'static str, u64)] {
        match self {
            Self::Count => &[],
            Self::Time => TIME,
            Self::Size => SIZE,
            Self::Rate => RATE,
        }
    }

    fn example(self) -> &'static str {
        match self {
            Self::Count => "a whole number, such as 1000",
            Self::Time => "a time with its unit, such as 500us, 10ms or 1s",
            Self::Size => "a size with its unit, such as 100B, 4KiB or 1GiB",
            Self::Rate => "a rate with its unit, such as 10Mbit or 1Gbit",
        }
    }

    /// Reads `text`.
    ///
    /// # Errors
    /// A sentence that says what was expected.
    pub fn parse(self, text: &str) -> Result<u64, String> {
        let wrong = || format!("{text:?} is not {}", self.example());
        let text_of_number: String = text.trim().chars().filter(|c| *c != '_').collect();
        if self == Self::Count {
            return text_of_number.parse().map_err(|_| wrong());
        }
        let unit_at = text_of_number.find(|c: char| !c.is_ascii_digit() && c != '.').unwrap_or(text_of_number.len());
        let (number, unit) = text_of_number.split_at(unit_at);
        let unit = unit.trim();
        let unit = if self == Self::Rate { unit.trim_end_matches("/s") } else { unit };
        if unit.is_empty() && number == "0" {
            return Ok(0);
        }
        let factor = self.units().iter().find(|(name, _)| *name == unit).ok_or_else(wrong)?.1;
        scaled(number, factor).ok_or_else(wrong)
    }

    /// Writes `value` in the largest unit that divides it.
    pub fn write(self, value: u64) -> String {
        let unit = self.units().iter().find(|(_, factor)| value != 0 && value.is_multiple_of(*factor));
        match unit {
            Some((name, factor)) => format!("{}{name}", value / factor),
            None => value.to_string(),
        }
    }
}

/// `number`, which may have decimals, times `factor`; `None` when it is no number, not whole after that, or too large.
fn scaled(number: &str, factor: u64) -> Option<u64> {
    let (whole, decimals) = number.split_once('.').unwrap_or((number, ""));
    let whole: u64 = whole.parse().ok()?;
    let mut value = whole.checked_mul(factor)?;
    let mut place = factor;
    for digit in decimals.chars() {
        let digit = u64::from(digit.to_digit(10)?);
        if !place.is_multiple_of(10) && digit != 0 {
            return None;
        }
        place /= 10;
        value = value.checked_add(digit * place)?;
    }
    Some(value)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read_back_as_the_same() {
        for kind in [Quantity::Count, Quantity::Time, Quantity::Size, Quantity::Rate] {
            for value in [0, 1, 999, 1000, 1024, 1500, 4096, 60_000_000_000, 1 << 30, 3 << 20, u64::MAX] {
                assert_eq!(kind.parse(&kind.write(value)), Ok(value), "{kind:?} {value}");
            }
        }
    }

    #[test]
    fn the_usual_spellings_are_understood() {
        assert_eq!(Quantity::Time.parse("1.5ms"), Ok(1_500_000));
        assert_eq!(Quantity::Time.parse("10 µs"), Ok(10_000));
        assert_eq!(Quantity::Size.parse("4k"), Ok(4096));
        assert_eq!(Quantity::Size.parse("1GB"), Ok(1_000_000_000));
        assert_eq!(Quantity::Rate.parse("2.5Mbit/s"), Ok(2_500_000));
        assert_eq!(Quantity::Count.parse("10_000"), Ok(10_000));
    }

    #[test]
    fn what_is_ambiguous_or_impossible_is_refused_with_an_example() {
        for (kind, text) in [
            (Quantity::Time, "5"),
            (Quantity::Time, "5 parsecs"),
            (Quantity::Time, "0.1ns"),
            (Quantity::Size, "-1KiB"),
            (Quantity::Size, "99999999999GiB"),
            (Quantity::Rate, "Mbit"),
            (Quantity::Count, "many"),
            (Quantity::Time, "1.2.3ms"),
        ] {
            let error = kind.parse(text).expect_err(text);
            assert!(error.contains("such as"), "{error}");
        }
    }
}
