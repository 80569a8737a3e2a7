//! The input of every statistic: samples in the order in which they were taken.
//!
//! The order matters because the intervals use it (neighbouring latency samples resemble each other). Samples come in
//! pieces, because a series is often a mapped file that is larger than the memory that may be used at once.

use super::unrecorded::Unrecorded;
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

    /// Calls `see` with pieces and how often each of their samples occurs, which together are all samples in any order. A
    /// series that is kept as counts shows each of its values once.
    fn visit_counted(&self, see: &mut dyn FnMut(&[u64], u64)) {
        self.visit(0, self.len(), &mut |piece| see(piece, 1));
    }

    /// What is known of samples that were taken and are not among these.
    fn unrecorded(&self) -> Unrecorded {
        Unrecorded::default()
    }

    fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

/// Samples of a series whose others were not recorded.
#[derive(Clone, Debug)]
pub struct Partial<S> {
    pub recorded: S,
    pub unrecorded: Unrecorded,
}

impl<S: Samples> Samples for Partial<S> {
    fn len(&self) -> u64 {
        self.recorded.len()
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        self.recorded.visit(start, end, see);
    }

    fn visit_counted(&self, see: &mut dyn FnMut(&[u64], u64)) {
        self.recorded.visit_counted(see);
    }

    fn unrecorded(&self) -> Unrecorded {
        self.unrecorded
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

    fn visit_counted(&self, see: &mut dyn FnMut(&[u64], u64)) {
        (**self).visit_counted(see);
    }

    fn unrecorded(&self) -> Unrecorded {
        (**self).unrecorded()
    }
}

impl<S: Samples + ?Sized> Samples for Box<S> {
    fn len(&self) -> u64 {
        (**self).len()
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        (**self).visit(start, end, see);
    }

    fn visit_counted(&self, see: &mut dyn FnMut(&[u64], u64)) {
        (**self).visit_counted(see);
    }

    fn unrecorded(&self) -> Unrecorded {
        (**self).unrecorded()
    }
}
