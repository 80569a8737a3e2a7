//! Times, as they are typed.

/// Nanoseconds of a text such as `1.5`.
pub fn seconds(text: &str) -> Option<u64> {
    let (whole, part) = text.split_once('.').unwrap_or((text, ""));
    let places = u32::try_from(part.len()).ok().filter(|places| *places <= 9)?;
    let part: u64 = if part.is_empty() { 0 } else { part.parse().ok()? };
    whole.parse::<u64>().ok()?.checked_mul(1_000_000_000)?.checked_add(part * 10u64.pow(9 - places))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn seconds_are_read_to_the_nanosecond() {
        for (text, ns) in [("1", Some(1_000_000_000)), ("0.5", Some(500_000_000)), ("1.000000001", Some(1_000_000_001))]
        {
            assert_eq!(seconds(text), ns);
        }
        for text in ["", "x", "1.x", "-1", "1.0000000001", "99999999999999"] {
            assert_eq!(seconds(text), None, "{text}");
        }
    }
}
