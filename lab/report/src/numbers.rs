//! Numbers in tables: one unit for a whole column, as in the papers, and three significant digits.

use crate::plot::Unit;

/// A unit for all times of a table.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Scale {
    pub name: &'static str,
    pub factor: f64,
}

impl Scale {
    /// The largest unit in which `smallest` is still at least one.
    pub fn for_values(unit: Unit, smallest: f64) -> Self {
        let units: &[(&str, f64)] = match unit {
            Unit::BitsPerSecond => &[("bit/s", 1.0), ("kbit/s", 1e3), ("Mbit/s", 1e6), ("Gbit/s", 1e9)],
            Unit::Nanoseconds => &[("ns", 1.0), ("µs", 1e3), ("ms", 1e6), ("s", 1e9)],
            Unit::Bytes => &[("B", 1.0), ("KiB", 1024.0), ("MiB", 1024.0 * 1024.0), ("GiB", 1024.0 * 1024.0 * 1024.0)],
            _ => &[("", 1.0)],
        };
        let fitting = units.iter().rev().find(|(_, factor)| smallest >= *factor);
        let (name, factor) = fitting.copied().unwrap_or(units[0]);
        Self { name, factor }
    }

    /// `value`, which is in the base unit.
    pub fn write(&self, value: f64) -> String {
        plain(value / self.factor)
    }

    /// A variance, whose unit is the square.
    pub fn write_square(&self, value: f64) -> String {
        plain(value / (self.factor * self.factor))
    }
}

/// A whole number, its digits in groups of three.
pub fn whole(count: u64) -> String {
    group(&count.to_string())
}

/// At least three significant digits, all digits before the point, in groups of three; powers of ten from ten millions.
pub fn plain(value: f64) -> String {
    if !value.is_finite() {
        return "–".to_owned();
    }
    let size = value.abs();
    if size >= 1e7 {
        return format!("{value:.2e}");
    }
    let decimals = if size >= 99.95 || value == 0.0 {
        0
    } else if size >= 9.995 {
        1
    } else if size >= 0.9995 {
        2
    } else if size >= 0.0005 {
        (-size.log10().floor()) as usize + 2
    } else {
        return format!("{value:.1e}");
    };
    let text = format!("{value:.decimals$}");
    let (sign, digits) = text.strip_prefix('-').map_or(("", text.as_str()), |rest| ("-", rest));
    let (whole, rest) = digits.find('.').map_or((digits, ""), |point| digits.split_at(point));
    format!("{sign}{}{rest}", group(whole))
}

fn group(digits: &str) -> String {
    let mut grouped = String::new();
    for (index, digit) in digits.chars().enumerate() {
        // A thin space: it groups and cannot be taken for a decimal sign anywhere.
        if index > 0 && (digits.len() - index).is_multiple_of(3) && digits.len() > 4 {
            grouped.push('\u{2009}');
        }
        grouped.push(digit);
    }
    grouped
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn numbers_keep_three_digits_and_those_before_the_point() {
        for (value, text) in [
            (0.0, "0"),
            (1.0, "1.00"),
            (9.999, "10.0"),
            (52.34, "52.3"),
            (123.4, "123"),
            (5715.0, "5715"),
            (10_619.0, "10\u{2009}619"),
            (1_234_567.0, "1\u{2009}234\u{2009}567"),
            (0.0123, "0.0123"),
            (-2.5, "-2.50"),
            (9_797_778_496.0, "9.80e9"),
            (0.00001, "1.0e-5"),
            (f64::NAN, "–"),
        ] {
            assert_eq!(plain(value), text);
        }
    }

    #[test]
    fn a_table_has_the_unit_in_which_its_smallest_figure_is_readable() {
        assert_eq!(Scale::for_values(Unit::Nanoseconds, 5_999_000.0).name, "ms");
        assert_eq!(Scale::for_values(Unit::Nanoseconds, 26_000.0).name, "µs");
        assert_eq!(Scale::for_values(Unit::Nanoseconds, 0.4).name, "ns");
        assert_eq!(Scale::for_values(Unit::BitsPerSecond, 9.4e9).write(9.4e9), "9.40");
    }
}
