//! Figures in a sentence: three or four digits and a unit.

use kizami_recording::folder::Unit;

const TIME: &[(f64, &str)] = &[(1e9, "s"), (1e6, "ms"), (1e3, "µs"), (1.0, "ns")];
const RATE: &[(f64, &str)] = &[(1e9, "Gbit/s"), (1e6, "Mbit/s"), (1e3, "kbit/s"), (1.0, "bit/s")];
const SIZE: &[(f64, &str)] = &[(1_073_741_824.0, "GiB"), (1_048_576.0, "MiB"), (1024.0, "KiB"), (1.0, "B")];

/// A figure in its unit, such as `6.02 ms`.
pub(crate) fn value(figure: f64, unit: Unit) -> String {
    let (units, alone): (&[(f64, &str)], &str) = match unit {
        Unit::Nanoseconds => (TIME, "ns"),
        Unit::BitsPerSecond => (RATE, "bit/s"),
        Unit::Bytes => (SIZE, "B"),
        Unit::Instructions => (&[], "instructions"),
        Unit::Cycles => (&[], "cycles"),
        Unit::Words => (&[], "words"),
        Unit::Count => (&[], ""),
    };
    if units.is_empty() && figure.fract() == 0.0 {
        return format!("{figure:.0} {alone}").trim_end().to_owned();
    }
    let (factor, name) = units.iter().copied().find(|(factor, _)| figure >= *factor).unwrap_or((1.0, alone));
    format!("{} {name}", digits(figure / factor)).trim_end().to_owned()
}

/// A ratio, such as `0.97`.
pub(crate) fn ratio(ratio: f64) -> String {
    if ratio.is_finite() { digits(ratio) } else { "∞".to_owned() }
}

fn digits(figure: f64) -> String {
    let decimals = match figure.abs() {
        f if f < 0.1 => 3,
        f if f < 100.0 => 2,
        f if f < 1000.0 => 1,
        _ => 0,
    };
    format!("{figure:.decimals$}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_figure_is_shown_in_the_unit_that_suits_it() {
        assert_eq!(value(6_021_234.0, Unit::Nanoseconds), "6.02 ms");
        assert_eq!(value(0.0, Unit::Nanoseconds), "0.000 ns");
        assert_eq!(value(123.4, Unit::Nanoseconds), "123.4 ns");
        assert_eq!(value(9_500_000.0, Unit::BitsPerSecond), "9.50 Mbit/s");
        assert_eq!(value(4096.0, Unit::Bytes), "4.00 KiB");
        assert_eq!(value(17.0, Unit::Count), "17");
        assert_eq!(value(17.5, Unit::Instructions), "17.50 instructions");
        assert_eq!(ratio(0.973), "0.97");
        assert_eq!(ratio(f64::INFINITY), "∞");
    }
}
