//! Datagrams that are sent by a plan, and which of them came.

/// When datagram `sequence` of so many bytes is to be sent, in nanoseconds from the start, at so many bits a second.
///
/// Small processors divide no 128 bits: that would be a fifth of what they do for a datagram.
pub fn planned_at(sequence: u64, size: u64, rate: u64) -> u64 {
    const SECOND: u64 = 1_000_000_000;
    let Some(bits) = sequence.checked_mul(size).and_then(|bytes| bytes.checked_mul(8)) else {
        return (u128::from(sequence) * u128::from(size) * 8 * u128::from(SECOND) / u128::from(rate)) as u64;
    };
    let (seconds, rest) = (bits / rate, bits % rate);
    let rest = match rest.checked_mul(SECOND) {
        Some(rest) => rest / rate,
        None => (u128::from(rest) * u128::from(SECOND) / u128::from(rate)) as u64,
    };
    seconds.saturating_mul(SECOND).saturating_add(rest)
}

/// Which sequence numbers came: a bit for each.
#[derive(Debug)]
pub struct Seen<B> {
    bits: B,
    next: u64,
}

#[derive(Debug, PartialEq, Eq)]
pub enum Arrival {
    InOrder,
    Reordered,
    Duplicate,
    /// No number that is sent.
    Foreign,
}

/// Words that hold the bits of so many datagrams.
pub fn words_for(datagrams: u64) -> usize {
    datagrams.div_ceil(64) as usize
}

impl<B: AsMut<[u64]>> Seen<B> {
    /// With [`words_for`] the datagrams that are sent, all of them zero.
    pub fn new(bits: B) -> Self {
        Self { bits, next: 0 }
    }

    /// The words.
    pub fn bits(&mut self) -> &mut [u64] {
        self.bits.as_mut()
    }

    pub fn add(&mut self, sequence: u64) -> Arrival {
        let Some(word) = usize::try_from(sequence / 64).ok().and_then(|word| self.bits.as_mut().get_mut(word)) else {
            return Arrival::Foreign;
        };
        let bit = 1 << (sequence % 64);
        if *word & bit != 0 {
            return Arrival::Duplicate;
        }
        *word |= bit;
        if sequence < self.next {
            return Arrival::Reordered;
        }
        self.next = sequence + 1;
        Arrival::InOrder
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn planned_times_do_not_drift() {
        assert_eq!(planned_at(1, 1000, 3_000_000), 2_666_666);
        assert_eq!(planned_at(3_000_000, 1000, 3_000_000), 8_000_000_000_000);
        let exactly =
            |n: u64, size: u64, rate: u64| (u128::from(n) * u128::from(size) * 8_000_000_000 / u128::from(rate)) as u64;
        for sequence in [0, 1, 7, 1 << 20, 1 << 31, 1 << 34] {
            for rate in [1_000_000, 10_000_000, 400_000_000_000] {
                for size in [24, 1024, 65_507] {
                    assert_eq!(
                        planned_at(sequence, size, rate),
                        exactly(sequence, size, rate),
                        "{sequence} {size} {rate}"
                    );
                }
            }
        }
    }

    #[test]
    fn arrivals_are_told_apart_by_their_numbers() {
        use Arrival::{Duplicate, Foreign, InOrder, Reordered};
        let mut words = [0; 2];
        assert_eq!(words_for(100), words.len());
        let mut seen = Seen::new(&mut words[..]);
        let arrivals: [_; 9] = [0, 1, 4, 2, 2, 5, 0, 99, 128].map(|sequence| seen.add(sequence));
        let expected = [InOrder, InOrder, InOrder, Reordered, Duplicate, InOrder, Duplicate, InOrder, Foreign];
        assert_eq!(arrivals, expected);
    }
}
