//! 95 % intervals by block bootstrap.
//!
//! A bootstrap draws, with replacement, as many samples as there are, computes the statistic of what it drew, and repeats;
//! the middle 95 % of the results are the interval (Efron's percentile interval). Latency samples are autocorrelated (a
//! disturbance lasts longer than one period), and single samples drawn at random would lose that and promise too much, so
//! whole blocks of neighbours are drawn instead (Carlstein, "The use of subseries values for estimating the variance of a
//! general statistic from a stationary sequence", Annals of Statistics 14, 1986). The block length is
//! max(n^(1/3), n/256) rounded up, or 1 below 32 samples: n^(1/3) is the rate that is optimal for the variance of a mean,
//! and n/256 keeps the number of blocks at 256 or fewer, which errs on the side of more correlation. Blocks may cross from
//! one trial to the next; with so few blocks that one may hold a boundary, it hardly matters.
//!
//! To be fast and bounded for any n, the samples are not drawn at all. Two passes reduce each block to its sum and, for a
//! quantile, to how many of its samples do not exceed each of about 128 cut points. A resample is then only the number of
//! times that each block was drawn: its mean is a quotient of two weighted sums, and its quantile is found by bisection
//! over the cut points, with one weighted sum for each step.
//!
//! Why the cut points lose nothing: they are exact order statistics, every one of them for up to 128 samples. For more,
//! the first pass measures how much the number of samples below the quantile varies from block to block, which gives the
//! standard deviation, in ranks, of the resampled quantile, whatever the correlation; the cut points cover five of these to
//! each side, a twelfth of one apart. The ends of the interval are therefore rounded by far less than they would move
//! with another seed.

use super::quantile::Quantile;
use super::samples::Samples;
use super::shape::Shape;
use super::{CONFIDENCE, Interval, Options};
use alloc::vec;
use alloc::vec::Vec;

const MOST_BLOCKS: u64 = 256;
const CUTS: u64 = 128;

/// A statistic that an interval can be had of by resampling blocks. The maximum is none: a resample never exceeds it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Statistic {
    Mean,
    Quantile(Quantile),
}

/// Whether `count` samples are enough for an interval of the statistic. The test is that of the order statistics: the
/// extremes of the sample must bound the quantile with 97.5 % confidence on each side, p^n <= 0.025 and
/// (1-p)^n <= 0.025, which takes 6 samples for a median and 368 for a p99. The mean is held to the rule of the median.
pub fn is_enough(statistic: Statistic, count: u64) -> bool {
    let share = match statistic {
        Statistic::Mean => 0.5,
        Statistic::Quantile(quantile) => quantile.share(),
    };
    libm::pow(share.max(1.0 - share), count as f64) <= (1.0 - CONFIDENCE) / 2.0
}

/// A 95 % interval of each statistic, `None` where the samples are too few for it. `shape` is that of the samples.
pub fn intervals<const N: usize>(
    samples: &dyn Samples,
    shape: &Shape,
    statistics: [Statistic; N],
    options: &Options,
) -> [Option<Interval>; N] {
    let enough: Vec<Statistic> =
        statistics.into_iter().filter(|&statistic| is_enough(statistic, shape.count())).collect();
    let mut replicates = replicates(samples, shape, &enough, options).into_iter();
    statistics.map(
        |statistic| {
            if is_enough(statistic, shape.count()) { replicates.next().map(percentile_interval) } else { None }
        },
    )
}

/// The middle 95 % of the values: the ends are the order statistics (R + 1) 0.025 from either end.
pub fn percentile_interval(mut values: Vec<f64>) -> Interval {
    values.sort_unstable_by(f64::total_cmp);
    let cut = libm::floor((values.len() + 1) as f64 * (1.0 - CONFIDENCE) / 2.0).max(1.0) as usize;
    match (values.get(cut - 1), values.len().checked_sub(cut).and_then(|index| values.get(index))) {
        (Some(&low), Some(&high)) => Interval { low, high },
        _ => Interval { low: f64::NEG_INFINITY, high: f64::INFINITY },
    }
}

/// The values of each statistic in all resamples; the statistics of one resample are at the same index.
pub fn replicates(samples: &dyn Samples, shape: &Shape, statistics: &[Statistic], options: &Options) -> Vec<Vec<f64>> {
    if statistics.is_empty() {
        return Vec::new();
    }
    let blocks = Blocks::of(shape.count());
    let quantiles: Vec<Quantile> = statistics
        .iter()
        .filter_map(|statistic| match statistic {
            Statistic::Quantile(quantile) => Some(*quantile),
            Statistic::Mean => None,
        })
        .collect();
    let centre = shape.mean() as u64;
    let (deviations, ranks) = spread(samples, shape, &blocks, &quantiles, centre);
    let all: Vec<u64> = ranks.concat();
    let mut values = shape.at_ranks(samples, &all).into_iter();
    let cuts = ranks.iter().map(|ranks| values.by_ref().take(ranks.len()).collect()).collect();
    let tables = tables(samples, &blocks, cuts);

    let mut replicates = vec![Vec::new(); statistics.len()];
    blocks.resample(options, &mut |drawn, total| {
        let mut tables = tables.iter().zip(&quantiles);
        for (statistic, values) in statistics.iter().zip(&mut replicates) {
            let value = match statistic {
                Statistic::Mean => {
                    let sum: f64 = drawn.iter().zip(&deviations).map(|(&times, sum)| times as f64 * sum).sum();
                    centre as f64 + sum / total as f64
                }
                Statistic::Quantile(_) => {
                    tables.next().map_or(f64::NAN, |(table, &quantile)| table.quantile(drawn, total, quantile))
                }
            };
            values.push(value);
        }
    });
    replicates
}

/// How a series is divided: into `count` blocks whose lengths differ by at most one sample.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Blocks {
    samples: u64,
    count: u64,
}

impl Blocks {
    /// The blocks of `samples > 0` samples.
    pub fn of(samples: u64) -> Blocks {
        let length = if samples < 32 {
            1
        } else {
            (libm::ceil(libm::cbrt(samples as f64)) as u64).max(samples.div_ceil(MOST_BLOCKS))
        };
        Blocks { samples, count: (samples / length).max(1) }
    }

    pub fn count(&self) -> usize {
        self.count as usize
    }

    /// Where block `index <= count` starts (for `count`, the end of the samples).
    fn start(&self, index: usize) -> u64 {
        (u128::from(self.samples) * index as u128 / u128::from(self.count)) as u64
    }

    pub fn length(&self, index: usize) -> u64 {
        self.start(index + 1) - self.start(index)
    }

    /// Calls `see` with pieces of the samples of each block in turn, small enough to stay in the first-level cache.
    pub fn visit(&self, samples: &dyn Samples, see: &mut dyn FnMut(usize, &[u64])) {
        for block in 0..self.count() {
            samples.visit(self.start(block), self.start(block + 1), &mut |piece| {
                piece.chunks(2048).for_each(|chunk| see(block, chunk));
            });
        }
    }

    /// Draws as many blocks as there are, again and again, and calls `see` with how often each was drawn and how many
    /// samples that makes.
    pub fn resample(&self, options: &Options, see: &mut dyn FnMut(&[u64], u64)) {
        let mut random = options.random();
        let lengths: Vec<u64> = (0..self.count()).map(|block| self.length(block)).collect();
        let mut drawn = vec![0u64; self.count()];
        for _ in 0..options.resamples.max(40) {
            drawn.fill(0);
            for _ in 0..self.count {
                drawn[random.u32(0..self.count as u32) as usize] += 1;
            }
            let total = drawn.iter().zip(&lengths).map(|(times, length)| times * length).sum();
            see(&drawn, total);
        }
    }
}

/// The first pass: by how much the sum of each block deviates from `centre` for each of its samples, and for each
/// quantile the ranks at which to cut.
fn spread(
    samples: &dyn Samples,
    shape: &Shape,
    blocks: &Blocks,
    quantiles: &[Quantile],
    centre: u64,
) -> (Vec<f64>, Vec<Vec<u64>>) {
    let positions: Vec<u64> = quantiles.iter().map(|quantile| quantile.position(shape.count()).rank).collect();
    let values = shape.at_ranks(samples, &positions);
    let mut sums = vec![0i128; blocks.count()];
    // For each quantile: how many samples of each block lie below it, and how many do not exceed it. The two differ
    // where samples are tied, and either may vary the more.
    let mut below = vec![vec![0u64; blocks.count()]; values.len()];
    let mut within = below.clone();
    blocks.visit(samples, &mut |block, piece| {
        sums[block] += piece.iter().map(|&sample| i128::from(sample)).sum::<i128>();
        for (index, &value) in values.iter().enumerate() {
            below[index][block] += piece.iter().map(|&sample| u64::from(sample < value)).sum::<u64>();
            within[index][block] += piece.iter().map(|&sample| u64::from(sample <= value)).sum::<u64>();
        }
    });
    let deviation =
        |(block, &sum): (usize, &i128)| (sum - i128::from(centre) * i128::from(blocks.length(block))) as f64;
    let deviations = sums.iter().enumerate().map(deviation).collect();
    let ranks = positions.iter().zip(below.iter().zip(&within)).map(|(&rank, (below, within))| {
        let deviation = libm::sqrt(variance_of_sum(below).max(variance_of_sum(within)));
        cut_ranks(rank, deviation, shape.count())
    });
    (deviations, ranks.collect())
}

/// The variance of the sum of as many of these numbers, drawn with replacement, as there are.
fn variance_of_sum(counts: &[u64]) -> f64 {
    let mean = counts.iter().sum::<u64>() as f64 / counts.len() as f64;
    counts.iter().map(|&count| (count as f64 - mean) * (count as f64 - mean)).sum()
}

/// The ranks to cut at, rising: all of them when they are few, else evenly over five standard deviations to each side, and
/// the last, so that every quantile of a resample lies at or below a cut.
fn cut_ranks(rank: u64, deviation: f64, count: u64) -> Vec<u64> {
    if count <= CUTS {
        return (0..count).collect();
    }
    let half = ((5.0 * deviation) as u64).max(CUTS / 2);
    let first = rank.saturating_sub(half);
    let last = rank.saturating_add(half).min(count - 1);
    let span = u128::from(last - first);
    let mut ranks: Vec<u64> =
        (0..CUTS).map(|step| first + (span * u128::from(step) / u128::from(CUTS - 1)) as u64).collect();
    ranks.push(count - 1);
    ranks.dedup();
    ranks
}

/// For the cut points of one quantile, how many samples of each block do not exceed them.
struct Table {
    /// Rising and without repeats; the last is the maximum of all samples.
    cuts: Vec<u64>,
    /// The counts of all blocks for the first cut point, then for the second, and so on.
    counts: Vec<u64>,
}

/// The second pass: counts the samples of each block between the cut points.
fn tables(samples: &dyn Samples, blocks: &Blocks, cuts: Vec<Vec<u64>>) -> Vec<Table> {
    let mut tables: Vec<Table> = cuts
        .into_iter()
        .map(|mut cuts| {
            cuts.dedup();
            let counts = vec![0; cuts.len() * blocks.count()];
            Table { cuts, counts }
        })
        .collect();
    blocks.visit(samples, &mut |block, piece| {
        tables.iter_mut().for_each(|table| table.add(block, blocks.count(), piece))
    });
    for table in &mut tables {
        for index in blocks.count()..table.counts.len() {
            table.counts[index] += table.counts[index - blocks.count()];
        }
    }
    tables
}

impl Table {
    /// Counts each sample at the first cut point that is not below it.
    fn add(&mut self, block: usize, blocks: usize, piece: &[u64]) {
        // Nearly all samples lie outside the narrow range of the cut points (the maximum apart): they are only compared.
        let first = self.cuts[0];
        let inner = self.cuts[self.cuts.len().saturating_sub(2)];
        let mut low = 0;
        for &sample in piece {
            if sample <= first {
                low += 1;
            } else if sample <= inner {
                let cut = self.cuts.partition_point(|&cut| cut < sample);
                self.counts[cut * blocks + block] += 1;
            }
        }
        self.counts[block] += low;
        if self.cuts.len() > 1 {
            let inside: u64 = piece.iter().map(|&sample| u64::from(sample <= inner)).sum();
            let last = (self.cuts.len() - 1) * blocks + block;
            self.counts[last] += piece.len() as u64 - inside;
        }
    }

    /// The quantile of a resample of `total` samples in which each block was drawn so many times.
    fn quantile(&self, drawn: &[u64], total: u64, quantile: Quantile) -> f64 {
        let position = quantile.position(total);
        let at = self.cut_of(drawn, position.rank, 0);
        let next = if position.fraction > 0.0 { self.cut_of(drawn, position.rank + 1, at) } else { at };
        position.between(self.cuts[at], self.cuts[next])
    }

    /// The first cut point from `from` on that more than `rank` samples of the resample do not exceed.
    fn cut_of(&self, drawn: &[u64], rank: u64, from: usize) -> usize {
        let (mut low, mut high) = (from, self.cuts.len() - 1);
        // The next rank is nearly always at the same cut point.
        let mut middle = if from > 0 { from } else { usize::midpoint(low, high) };
        while low < high {
            let counts = &self.counts[middle * drawn.len()..][..drawn.len()];
            let within: u64 = drawn.iter().zip(counts).map(|(times, count)| times * count).sum();
            if within > rank {
                high = middle
            } else {
                low = middle + 1
            }
            middle = usize::midpoint(low, high);
        }
        low
    }
}

#[cfg(test)]
#[path = "bootstrap_tests.rs"]
mod tests;
