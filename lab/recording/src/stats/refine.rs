//! Exact order statistics in bounded memory, by radix refinement.
//!
//! A [`Shape`] says in which bucket a wanted rank lies and how many samples lie below that bucket. Each further pass over
//! the samples divides only the buckets that hold a wanted rank into equal parts and counts again, until the parts hold a
//! single value. All ranks are followed in the same passes. Latencies below a millisecond need one pass, seconds need two
//! or three; 53 bits at worst need seven.
//!
//! The cells that are divided form a tree: a bucket of the shape leads to its cell, a part of that cell to a cell of
//! the next level, and so on. A sample finds its part by one look-up for each level, and most samples end at the first.
//! Invariants: every sample that reaches a cell lies in it, and a cell starts at a multiple of its width. The counters
//! of a pass take at most `COUNTERS` entries (or two for each rank, if more ranks than that are requested).

use super::quantile::Quantile;
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

/// The cells of one pass, each divided into 2^step parts of 2^shift values. (A cell that holds fewer values than that is
/// treated as if it were wider; no sample reaches the rest of its parts.)
struct Level {
    step: u32,
    shifts: Vec<u32>,
    /// For each part of each cell, the number of its cell in the next level plus one, or 0 when it is of no interest.
    next: Vec<u32>,
}

impl Level {
    fn of(cells: &[Cell]) -> Level {
        let widest = cells.iter().map(|cell| cell.bits).max().unwrap_or(1);
        let step = (COUNTERS / cells.len()).max(2).ilog2().min(widest);
        let shifts = cells.iter().map(|cell| cell.bits.saturating_sub(step)).collect();
        Level { step, shifts, next: vec![0; cells.len() << step] }
    }

    /// The index of the part of the cell in which the sample lies.
    #[inline]
    fn part_of(&self, cell: usize, sample: u64) -> usize {
        (cell << self.step) + ((sample >> self.shifts[cell]) & ((1 << self.step) - 1)) as usize
    }
}

impl Shape {
    /// The samples at the given ranks (counted from 0 in sorted order; a rank past the end is the maximum), exactly.
    /// `samples` must be those that the shape was made of.
    pub fn at_ranks(&self, samples: &dyn Samples, ranks: &[u64]) -> Vec<u64> {
        order_statistics(samples, self, ranks)
    }

    /// Quantiles of the samples that the shape was made of, exactly, all in the same passes.
    pub fn quantiles(&self, samples: &dyn Samples, quantiles: &[Quantile]) -> Vec<f64> {
        let positions: Vec<_> = quantiles.iter().map(|quantile| quantile.position(self.count())).collect();
        let ranks: Vec<u64> = positions.iter().flat_map(|position| [position.rank, position.rank + 1]).collect();
        let values = self.at_ranks(samples, &ranks);
        positions
            .iter()
            .zip(values.chunks_exact(2))
            .map(|(position, pair)| position.between(pair[0], pair[1]))
            .collect()
    }
}

/// The samples at the given ranks, in the order of `ranks`; see [`Shape::at_ranks`].
pub fn order_statistics(samples: &dyn Samples, shape: &Shape, ranks: &[u64]) -> Vec<u64> {
    let last = shape.count() - 1;
    let mut wanted: Vec<u64> = ranks.iter().map(|&rank| rank.min(last)).collect();
    wanted.sort_unstable();
    wanted.dedup();
    let mut search = Search { values: vec![0; wanted.len()], wanted, open: Vec::new() };

    let mut roots = vec![0u32; BUCKETS];
    let buckets = shape.buckets().map(|bucket| {
        let index = bucket_of(bucket.low);
        let (low, bits) = bounds_of(index);
        (index, low, bits, bucket.count)
    });
    search.place(0, 0..search.wanted.len(), buckets, &mut roots);
    let mut levels = Vec::new();
    while !search.open.is_empty() {
        let cells = core::mem::take(&mut search.open);
        let mut level = Level::of(&cells);
        let counts = count(samples, &roots, &levels, &level);
        for (index, cell) in cells.into_iter().enumerate() {
            let (shift, first) = (level.shifts[index], index << level.step);
            let base = cell.low >> (shift + level.step) << (shift + level.step);
            let parts = counts[first..][..1 << level.step].iter().enumerate();
            let parts = parts.map(|(part, &count)| (first + part, base + ((part as u64) << shift), shift, count));
            search.place(cell.below, cell.ranks, parts, &mut level.next);
        }
        levels.push(level);
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
    /// Finds the part of each of the ranks in `ranks`, given consecutive parts as (index, low, bits, count) and the number
    /// of samples below the first. A part that is to be divided further becomes an open cell, and `next` leads to it.
    fn place(
        &mut self,
        mut below: u64,
        ranks: Range<usize>,
        parts: impl Iterator<Item = (usize, u64, u32, u64)>,
        next: &mut [u32],
    ) {
        let mut rank = ranks.start;
        for (index, low, bits, count) in parts {
            if rank == ranks.end {
                break;
            }
            let first = rank;
            while rank < ranks.end && self.wanted[rank] < below + count {
                rank += 1;
            }
            if bits == 0 {
                self.values[first..rank].fill(low);
            } else if first < rank {
                self.open.push(Cell { low, bits, below, ranks: first..rank });
                next[index] = self.open.len() as u32;
            }
            below += count;
        }
    }
}

/// Counts the samples in each part of each cell of the last level, which `roots` and the levels before it lead to.
fn count(samples: &dyn Samples, roots: &[u32], before: &[Level], last: &Level) -> Vec<u64> {
    let mut counts = vec![0u64; last.next.len()];
    samples.visit_counted(&mut |piece, times| {
        for &sample in piece {
            let mut cell = roots[bucket_of(sample)];
            for level in before {
                if cell == 0 {
                    break;
                }
                cell = level.next[level.part_of(cell as usize - 1, sample)];
            }
            if cell != 0 {
                counts[last.part_of(cell as usize - 1, sample)] += times;
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
