//! Numbers with units: three significant digits, and one prefix for a whole axis.
//!
//! Every figure and every table writes its numbers through this module, so that the same value never appears in two
//! forms. A value is given in the base unit (nanoseconds, bytes, bits a second); the prefix is chosen here. Whole
//! base units below the first prefix are written as they are (`340 ns`), everything above with three significant
//! digits (`1.25 µs`, `6.00 ms`). The ticks of an axis share one prefix when the smallest of them is still legible in
//! it, and carry no more decimals than their step needs.

/// What a number counts. The number itself is always in the base unit that is named here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Unit {
    /// Nanoseconds; written as ns, µs, ms or s.
    Nanoseconds,
    /// Things without a unit; written with thousands separators, then as M and G.
    Count,
    /// Bytes; written with binary prefixes (KiB, MiB, GiB, TiB).
    Bytes,
    /// Bytes a second, with binary prefixes.
    BytesPerSecond,
    /// Bits a second, with decimal prefixes as networks are sold.
    BitsPerSecond,
    /// Hundredths: 1.0 is one per cent.
    Percent,
    /// Events a second.
    PerSecond,
    /// Machine instructions.
    Instructions,
    /// Cycles of a processor.
    Cycles,
    /// A ratio without a unit: 1.0 is "the same".
    Ratio,
}

/// A prefix: how many base units it stands for, and what is written after the number.
type Prefix = (f64, &'static str);

const KIB: f64 = 1024.0;

impl Unit {
    /// The prefixes from small to large; the first one is the base unit.
    fn prefixes(self) -> &'static [Prefix] {
        match self {
            Unit::Nanoseconds => &[(1.0, " ns"), (1e3, " µs"), (1e6, " ms"), (1e9, " s")],
            Unit::Count => &[(1.0, ""), (1e6, "M"), (1e9, "G")],
            Unit::Bytes => &[
                (1.0, " B"),
                (KIB, " KiB"),
                (KIB * KIB, " MiB"),
                (KIB * KIB * KIB, " GiB"),
                (KIB * KIB * KIB * KIB, " TiB"),
            ],
            Unit::BytesPerSecond => {
                &[(1.0, " B/s"), (KIB, " KiB/s"), (KIB * KIB, " MiB/s"), (KIB * KIB * KIB, " GiB/s")]
            }
            Unit::BitsPerSecond => {
                &[(1.0, " bit/s"), (1e3, " kbit/s"), (1e6, " Mbit/s"), (1e9, " Gbit/s"), (1e12, " Tbit/s")]
            }
            Unit::Percent => &[(1.0, " %")],
            Unit::PerSecond => &[(1.0, "/s"), (1e3, "k/s"), (1e6, "M/s")],
            Unit::Instructions => &[(1.0, " instr"), (1e3, "k instr"), (1e6, "M instr"), (1e9, "G instr")],
            Unit::Cycles => &[(1.0, " cycles"), (1e3, "k cycles"), (1e6, "M cycles"), (1e9, "G cycles")],
            Unit::Ratio => &[(1.0, "×")],
        }
    }

    /// Whether the prefixes are powers of 1024, so that an axis needs round binary numbers.
    pub(crate) fn is_binary(self) -> bool {
        matches!(self, Unit::Bytes | Unit::BytesPerSecond)
    }

    /// The largest prefix that leaves at least one whole unit of `value`.
    fn prefix(self, value: f64) -> Prefix {
        let prefixes = self.prefixes();
        let size = value.abs();
        prefixes.iter().rev().find(|(factor, _)| size >= *factor).copied().unwrap_or(prefixes[0])
    }

    /// How many base units the prefix stands for that `value` would be written with.
    pub(crate) fn scale_of(self, value: f64) -> f64 {
        self.prefix(value).0
    }

    /// A value with its unit, three significant digits: `340 ns`, `1.25 µs`, `9.40 Gbit/s`.
    ///
    /// What is not a finite number is written as an en dash.
    pub fn value(self, value: f64) -> String {
        if !value.is_finite() {
            return "–".to_owned();
        }
        let (factor, suffix) = self.prefix(value);
        let number = significant(value / factor, factor == 1.0 && self != Unit::Ratio);
        // Rounding can carry into the next prefix: 999.7 ns is 1.00 µs.
        if let Some(&(next, suffix)) = self.prefixes().iter().find(|(f, _)| *f > factor)
            && number.replace(',', "").parse::<f64>().is_ok_and(|n| n.abs() * factor >= next)
        {
            return format!("{}{suffix}", significant(value.signum(), false));
        }
        format!("{number}{suffix}")
    }

    /// The labels of an axis' ticks, in the order given. Zero is written without a unit.
    pub fn ticks(self, ticks: &[f64]) -> Vec<String> {
        let largest = ticks.iter().fold(0.0_f64, |a, t| a.max(t.abs()));
        let smallest = ticks.iter().map(|t| t.abs()).filter(|t| *t > 0.0).fold(f64::INFINITY, f64::min);
        let common = self.tick_prefix(largest);
        // 0.5 µs is read as easily as 500 ns; 0.005 ms is not.
        let shared = smallest / common.0 >= 0.1;
        let decimals = |factor: f64| -> usize {
            (0..6).find(|d| ticks.iter().all(|t| is_whole(t / factor * 10f64.powi(*d)))).map_or(6, |d| d as usize)
        };
        let shared_decimals = if shared { decimals(common.0) } else { 0 };
        ticks
            .iter()
            .map(|&tick| {
                if tick == 0.0 {
                    "0".to_owned()
                } else if shared {
                    format!("{}{}", grouped(tick / common.0, shared_decimals), common.1)
                } else {
                    let (factor, suffix) = self.tick_prefix(tick);
                    let number = tick / factor;
                    let decimals = (0..8).find(|d| is_whole(number * 10f64.powi(*d))).unwrap_or(8);
                    format!("{}{suffix}", grouped(number, decimals as usize))
                }
            })
            .collect()
    }

    /// Counts get a `k` on an axis, where room is scarce, though not in running text.
    fn tick_prefix(self, value: f64) -> Prefix {
        if self == Unit::Count && (1e4..1e6).contains(&value.abs()) {
            return (1e3, "k");
        }
        self.prefix(value)
    }
}

fn is_whole(value: f64) -> bool {
    (value - value.round()).abs() <= value.abs().max(1.0) * 1e-9
}

/// Three significant digits without exponent; whole numbers stay whole when `whole` says that they are exact.
fn significant(value: f64, whole: bool) -> String {
    if value == 0.0 {
        return "0".to_owned();
    }
    if (whole && is_whole(value)) || value.abs() >= 999.5 {
        return grouped(value, 0);
    }
    let digits = value.abs().log10().floor() as i32 + 1;
    let decimals = (3 - digits).clamp(0, 9);
    let text = format!("{value:.*}", decimals as usize);
    // 9.996 rounds to 10.00: one digit too many.
    let rounded: f64 = text.parse().unwrap_or(value);
    let digits_now = rounded.abs().max(1e-12).log10().floor() as i32 + 1;
    if digits_now > digits && decimals > 0 { format!("{value:.*}", decimals as usize - 1) } else { text }
}

/// A number with a comma between thousands.
fn grouped(value: f64, decimals: usize) -> String {
    let text = format!("{:.*}", decimals, value.abs());
    let (whole, fraction) = text.split_once('.').map_or((text.as_str(), None), |(w, f)| (w, Some(f)));
    let mut out = String::new();
    if value < 0.0 && text.bytes().any(|b| (b'1'..=b'9').contains(&b)) {
        out.push('−');
    }
    for (i, digit) in whole.chars().enumerate() {
        if i > 0 && (whole.len() - i) % 3 == 0 {
            out.push(',');
        }
        out.push(digit);
    }
    if let Some(fraction) = fraction {
        out.push('.');
        out.push_str(fraction);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn values_have_three_significant_digits_and_the_fitting_prefix() {
        let ns = Unit::Nanoseconds;
        assert_eq!(ns.value(0.0), "0 ns");
        assert_eq!(ns.value(7.0), "7 ns");
        assert_eq!(ns.value(340.0), "340 ns");
        assert_eq!(ns.value(12.34), "12.3 ns");
        assert_eq!(ns.value(1250.0), "1.25 µs");
        assert_eq!(ns.value(6e6), "6.00 ms");
        assert_eq!(ns.value(123.4e6), "123 ms");
        assert_eq!(ns.value(5400e9), "5,400 s");
        assert_eq!(Unit::Bytes.value(1.2 * 1024.0 * 1024.0), "1.20 MiB");
        assert_eq!(Unit::BitsPerSecond.value(9.4e9), "9.40 Gbit/s");
        assert_eq!(Unit::Percent.value(0.00123), "0.00123 %");
        assert_eq!(Unit::Percent.value(100.0), "100 %");
        assert_eq!(Unit::Count.value(12_345.0), "12,345");
        assert_eq!(Unit::Count.value(10_000_000.0), "10.0M");
        assert_eq!(Unit::Ratio.value(1.0), "1.00×");
        assert_eq!(Unit::Ratio.value(1.034), "1.03×");
    }

    #[test]
    fn rounding_carries_into_the_next_digit_and_the_next_prefix() {
        let ns = Unit::Nanoseconds;
        assert_eq!(ns.value(999.7), "1.00 µs");
        assert_eq!(ns.value(999_600.0), "1.00 ms");
        assert_eq!(ns.value(9.996), "10.0 ns");
        assert_eq!(ns.value(99.96e3), "100 µs");
    }

    #[test]
    fn what_is_not_a_number_is_a_dash() {
        assert_eq!(Unit::Count.value(f64::NAN), "–");
        assert_eq!(Unit::Bytes.value(f64::INFINITY), "–");
    }

    #[test]
    fn negative_values_keep_their_sign() {
        assert_eq!(Unit::Count.ticks(&[-5.0, 0.0, 5.0]), ["−5", "0", "5"]);
    }

    #[test]
    fn ticks_share_one_prefix_when_the_range_allows() {
        let ns = Unit::Nanoseconds;
        assert_eq!(ns.ticks(&[0.0, 500.0, 1000.0, 1500.0]), ["0", "0.5 µs", "1.0 µs", "1.5 µs"]);
        assert_eq!(ns.ticks(&[1e3, 1e4, 1e5, 1e6]), ["1 µs", "10 µs", "100 µs", "1 ms"]);
        assert_eq!(ns.ticks(&[500.0, 1000.0, 2000.0]), ["0.5 µs", "1.0 µs", "2.0 µs"]);
        assert_eq!(Unit::Count.ticks(&[1.0, 10.0, 1e3, 1e4, 1e6]), ["1", "10", "1,000", "10k", "1M"]);
        assert_eq!(Unit::Count.ticks(&[0.0, 2500.0, 5000.0]), ["0", "2,500", "5,000"]);
        assert_eq!(Unit::Percent.ticks(&[100.0, 1.0, 0.001]), ["100 %", "1 %", "0.001 %"]);
        assert_eq!(Unit::Bytes.ticks(&[0.0, 512.0 * 1024.0]), ["0", "512 KiB"]);
    }
}
