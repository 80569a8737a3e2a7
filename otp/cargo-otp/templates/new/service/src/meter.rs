//! The meter: counts how much is asked of the stores.

use otp::{Data, Init, gen_server};

/// Counts what it is told of.
#[derive(Data)]
pub struct Meter {
    total: u64,
}

#[gen_server]
impl Meter {
    fn init() -> Init<Self> {
        Ok(Meter { total: 0 })
    }

    /// `number` more were asked for.
    #[cast]
    fn asked(&mut self, number: u64) {
        self.total += number;
    }

    /// All that was asked for since the start.
    #[call]
    fn total(&mut self) -> u64 {
        self.total
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_adds_up() {
        let mut meter = Meter { total: 0 };
        meter.asked(2);
        meter.asked(3);
        assert_eq!(meter.total(), 5);
    }
}
