//! Addresses, as they are typed.

use alloc::format;
use core::net::IpAddr;

use crate::program::Failure;

/// An address.
pub fn address(text: &str) -> Result<IpAddr, Failure> {
    text.parse().map_err(|_| Failure::Told(format!("{text} is no address, such as 10.0.0.1 or fd00::1")))
}

/// An address with its bits; all of them where nothing is said.
pub fn with_bits(text: &str) -> Result<(IpAddr, u8), Failure> {
    let (number, bits) = text.split_once('/').map_or((text, None), |(number, bits)| (number, Some(bits)));
    let address = address(number)?;
    let most = if address.is_ipv4() { 32 } else { 128 };
    let bits = match bits {
        None => Some(most),
        Some(bits) => bits.parse().ok().filter(|bits| *bits <= most),
    };
    let bits = bits.ok_or_else(|| Failure::Told(format!("{text}: behind the / stand 0 to {most} bits")))?;
    Ok((address, bits))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn addresses_are_read_with_and_without_bits() {
        assert_eq!(with_bits("10.0.0.1/24"), Ok((IpAddr::from([10, 0, 0, 1]), 24)));
        assert_eq!(with_bits("::1").map(|(_, bits)| bits), Ok(128));
        for (text, said) in
            [("10.0.0.1/33", "0 to 32 bits"), ("::1/129", "0 to 128"), ("10.0.0", "no address"), ("::1/", "bits")]
        {
            assert!(matches!(with_bits(text), Err(Failure::Told(why)) if why.contains(said)), "{text}");
        }
    }
}
