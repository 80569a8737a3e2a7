//! The input of every statistic: samples in the order in which they were taken.
//!
//! The order matters, because the intervals use it (neighbouring latency samples resemble each other), and the pieces
//! matter, because a series is often a mapped file that is larger than what may be held in memory at once.

use alloc::boxed::Box;
use alloc::vec::Vec;

/// Samples in the order in which they were taken.
///
/// A source that keeps its samples apart from each other (a column of a table) may copy them into a small buffer, piece
/// by piece. Two visits of the same range must show the same samples: the statistics read a series several times.
pub trait Samples {
    /// The number of samples.
    fn len(&self) -> u64;

    /// Calls `see` with consecutive pieces that together are the samples `start..end`. Requires
    /// `start <= end <= self.len()`.
    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64]));

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl Samples for [u64] {
    fn len(&self) -> u64 {
        <[u64]>::len(self) as u64
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        // The bounds fit a usize, since they are at most the length of a slice.
        see(&self[start as usize..end as usize]);
    }
}

impl Samples for Vec<u64> {
    fn len(&self) -> u64 {
        self.as_slice().len() as u64
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        self.as_slice().visit(start, end, see);
    }
}

impl<S: Samples + ?Sized> Samples for &S {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        (**self).visit(start, end, see);
    }
}

impl<S: Samples + ?Sized> Samples for Box<S> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        (**self).visit(start, end, see);
    }
}

/// Several sample sets one after the other, as if they were one.
#[derive(Clone, Copy)]
pub struct Together<'a>(pub &'a [&'a dyn Samples]);

impl Samples for Together<'_> {
    fn len(&self) -> u64 {
        self.0.iter().map(|part| part.len()).sum()
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        let mut first = 0;
        for part in self.0 {
            let last = first + part.len();
            let (from, to) = (start.max(first), end.min(last));
            if from < to {
                part.visit(from - first, to - first, see);
            }
            first = last;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    #[test]
    fn several_sets_together_are_visited_like_one() {
        let parts: [&dyn Samples; 4] = [&vec![1, 2, 3], &vec![], &vec![4], &vec![5, 6]];
        let all = Together(&parts);
        assert_eq!(all.len(), 6);
        for start in 0..=6 {
            for end in start..=6 {
                let mut seen = vec![];
                all.visit(start, end, &mut |piece| seen.extend_from_slice(piece));
                assert_eq!(seen, (start + 1..=end).collect::<Vec<u64>>(), "{start}..{end}");
            }
        }
    }
}
