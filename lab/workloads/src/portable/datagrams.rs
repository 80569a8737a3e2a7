//! Datagrams that are sent by a plan, and which of them came.

/// When datagram `sequence` of so many bytes is to be sent, in nanoseconds from the start, at so many bits a second.
pub fn planned_at(sequence: u64, size: u64, rate: u64) -> u64 {
    (u128::from(sequence) * u128::from(size) * 8_000_000_000 / u128::from(rate)) as u64
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
