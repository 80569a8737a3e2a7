//! Exact order statistics in bounded memory, by radix refinement.
//!
//! A [`Shape`] says in which bucket a wanted rank lies and how many samples lie below that bucket. Each further pass over
//! the samples divides only the buckets that hold a wanted rank into equal parts and counts again, until the parts hold a
//! single value. All ranks are followed in the same passes. Latencies below a millisecond need one pass, seconds need two
//! or three; 53 bits at worst need seven.
//!
//! Invariant: the open cells are disjoint, sorted, and each lies inside one bucket of the shape. The counters of a pass
//! take at most `COUNTERS` entries (or two for each rank, should somebody ask for more ranks than that).

use super::samples::Samples;
use super::shape::{BUCKETS, Shape, bounds_of, bucket_of};
use alloc::vec;
use alloc::vec::Vec;
use core::ops::Range;

/// One mebibyte of counters, so that they stay in the second-level cache.
const COUNTERS: usize = 1 << 17;

/// A range of 2^bits values that holds wanted ranks but more than one value.
struct Cell {
    low: u64,
    bits: u32,
    /// How many samples lie below `low`.
    below: u64,
    /// Which of the wanted ranks lie here.
    ranks: Range<usize>,
}

/// The samples at the given ranks, in the order of `ranks`; see [`Shape::at_ranks`].
pub fn order_statistics(samples: &dyn Samples, shape: &Shape, ranks: &[u64]) -> Vec<u64> {
    let last = shape.count() - 1;
    let mut wanted: Vec<u64> = ranks.iter().map(|&rank| rank.min(last)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut search = Search { values: vec![0; wanted.len()], wanted, open: Vec::new() };

    let buckets = shape.buckets().map(|bucket| {
        let (low, bits) = bounds_of(bucket_of(bucket.low));
        (low, bits, bucket.count)
    });
    search.place(0, 0..search.wanted.len(), buckets);
    while !search.open.is_empty() {
        let cells = core::mem::take(&mut search.open);
        let step = (COUNTERS / cells.len()).max(2).ilog2();
        let counts = count(samples, &cells, step);
        for (cell, counts) in cells.into_iter().zip(counts.chunks_exact(1 << step)) {
            let bits = cell.bits.saturating_sub(step);
            let counts = &counts[..1 << (cell.bits - bits)];
            let parts =
                counts.iter().enumerate().map(|(part, &count)| (cell.low + ((part as u64) << bits), bits, count));
            search.place(cell.below, cell.ranks, parts);
        }
    }
    ranks.iter().map(|&rank| search.values[search.wanted.partition_point(|&have| have < rank.min(last))]).collect()
}

struct Search {
    /// Sorted, without repeats, below the number of samples.
    wanted: Vec<u64>,
    /// One for each wanted rank; final once no open cell holds the rank.
    values: Vec<u64>,
    open: Vec<Cell>,
}

impl Search {
    /// Finds the part of each of the ranks in `ranks`, given consecutive parts as (low, bits, count) and the number of
    /// samples below the first.
    fn place(&mut self, mut below: u64, ranks: Range<usize>, parts: impl Iterator<Item = (u64, u32, u64)>) {
        let mut next = ranks.start;
        for (low, bits, count) in parts {
            if next == ranks.end {
                break;
            }
            let first = next;
            while next < ranks.end && self.wanted[next] < below + count {
                next += 1;
            }
            if bits == 0 {
                self.values[first..next].fill(low);
            } else if first < next {
                self.open.push(Cell { low, bits, below, ranks: first..next });
            }
            below += count;
        }
    }
}

/// Counts the samples in each of the 2^step parts of each cell (cells of fewer bits use only the first of theirs).
fn count(samples: &dyn Samples, cells: &[Cell], step: u32) -> Vec<u64> {
    // From a bucket of the shape to its cells, so that the many samples that lie in none cost one look-up.
    let mut cells_of = vec![(0u32, 0u32); BUCKETS];
    for (index, cell) in cells.iter().enumerate() {
        let (first, end) = &mut cells_of[bucket_of(cell.low)];
        if first == end {
            *first = index as u32;
        }
        *end = index as u32 + 1;
    }
    let lows: Vec<u64> = cells.iter().map(|cell| cell.low).collect();
    let mut counts = vec![0u64; cells.len() << step];
    samples.visit(0, samples.len(), &mut |piece| {
        for &sample in piece {
            let (first, end) = cells_of[bucket_of(sample)];
            if first == end {
                continue;
            }
            let (first, end) = (first as usize, end as usize);
            let Some(nearest) = lows[first..end].partition_point(|&low| low <= sample).checked_sub(1) else { continue };
            let index = first + nearest;
            let (offset, bits) = (sample - lows[index], cells[index].bits);
            if offset >> bits == 0 {
                counts[(index << step) + (offset >> bits.saturating_sub(step)) as usize] += 1;
            }
        }
    });
    counts
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::stats::testing::sorted;

    #[test]
    fn more_ranks_than_one_pass_has_counters_for_are_still_exact() {
        let mut random = fastrand::Rng::with_seed(1);
        let samples: Vec<u64> = (0..5000).map(|_| random.u64(..)).collect();
        let shape = Shape::of(&samples).unwrap();
        let ranks: Vec<u64> = (0..5000).collect();
        assert_eq!(order_statistics(&samples, &shape, &ranks), sorted(&samples));
    }

    #[test]
    fn the_number_of_passes_is_small() {
        struct Counted<'a>(&'a [u64], core::cell::Cell<u32>);
        impl Samples for Counted<'_> {
            fn len(&self) -> u64 {
                self.0.len() as u64
            }
            fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
                self.1.set(self.1.get() + 1);
                self.0.visit(start, end, see);
            }
        }
        let passes = |scale: f64| {
            let samples = crate::stats::testing::exponential(2, 20_000, scale);
            let counted = Counted(&samples, core::cell::Cell::new(0));
            let shape = Shape::of(&samples).unwrap();
            let ranks: Vec<u64> = (0..16).map(|part| part * 1250).collect();
            order_statistics(&counted, &shape, &ranks);
            counted.1.get()
        };
        assert_eq!(passes(1_000.0), 1, "microseconds");
        assert_eq!(passes(1_000_000.0), 1, "milliseconds");
        assert!(passes(1e12) <= 3, "a quarter of an hour");
        assert!(passes(1e18) <= 5, "decades");
    }
}
