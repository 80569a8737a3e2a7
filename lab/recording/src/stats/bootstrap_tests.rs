//! What the bootstrap promises: the figures of a naive bootstrap that really draws the samples, and its coverage.

use super::*;
use crate::stats::testing::{exponential, sorted};
use proptest::prelude::*;

const MEDIAN: Statistic = Statistic::Quantile(Quantile::MEDIAN);
const P99: Statistic = Statistic::Quantile(Quantile::P99);

fn interval(samples: &[u64], statistic: Statistic, options: &Options) -> Option<Interval> {
    let shape = Shape::of(&samples).unwrap();
    let [interval] = intervals(&samples, &shape, [statistic], options);
    interval
}

#[test]
fn blocks_cover_the_samples_and_number_256_at_most() {
    for (samples, blocks) in
        [(1, 1), (6, 6), (31, 31), (32, 8), (1000, 100), (4096, 256), (10_000, 250), (10_000_000, 255)]
    {
        let divided = Blocks::of(samples);
        assert_eq!(divided.count(), blocks, "{samples}");
        let lengths: Vec<u64> = (0..blocks).map(|block| divided.length(block)).collect();
        assert_eq!(lengths.iter().sum::<u64>(), samples);
        assert!(lengths.iter().max().unwrap() - lengths.iter().min().unwrap() <= 1);
    }
}

#[test]
fn too_few_samples_have_no_interval() {
    let enough = |statistic| (1..1000).find(|&count| is_enough(statistic, count)).unwrap();
    assert_eq!(enough(MEDIAN), 6);
    assert_eq!(enough(P99), 368);
    assert_eq!(enough(Statistic::Mean), 6);
    assert_eq!(interval(&[1, 2, 3, 4, 5], MEDIAN, &Options::default()), None);
    assert!(interval(&[1, 2, 3, 4, 5, 6], MEDIAN, &Options::default()).is_some());
}

/// Draws the blocks for real, sorts them, and takes the statistic by its definition.
fn naive(samples: &[u64], statistic: Statistic, options: &Options) -> Vec<f64> {
    let blocks = Blocks::of(samples.len() as u64);
    let mut of_block = vec![Vec::new(); blocks.count()];
    blocks.visit(&samples, &mut |block, piece| of_block[block].extend_from_slice(piece));
    let mut values = Vec::new();
    blocks.resample(options, &mut |drawn, _| {
        let resample: Vec<u64> =
            drawn.iter().zip(&of_block).flat_map(|(&times, block)| block.repeat(times as usize)).collect();
        let resample = sorted(&resample);
        values.push(match statistic {
            Statistic::Mean => resample.iter().map(|&x| u128::from(x)).sum::<u128>() as f64 / resample.len() as f64,
            Statistic::Quantile(quantile) => {
                let position = quantile.position(resample.len() as u64);
                let next = (position.rank as usize + 1).min(resample.len() - 1);
                position.between(resample[position.rank as usize], resample[next])
            }
        });
    });
    values
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn up_to_128_samples_agree_with_drawing_them(
        samples in proptest::collection::vec(prop_oneof![0u64..20, 1000u64..100_000], 1..129),
        seed in any::<u64>(),
    ) {
        let options = Options { seed, resamples: 50, ..Options::default() };
        let shape = Shape::of(&samples).unwrap();
        let statistics = [Statistic::Mean, MEDIAN, P99];
        for (statistic, got) in statistics.iter().zip(replicates(&samples, &shape, &statistics, &options)) {
            for (got, expected) in got.iter().zip(naive(&samples, *statistic, &options)) {
                prop_assert!((got - expected).abs() <= 1e-9 * expected, "{:?}: {} {}", statistic, got, expected);
            }
        }
    }
}

/// Samples that wander slowly, so that neighbours are alike.
fn wandering(seed: u64, n: usize) -> Vec<u64> {
    let mut random = fastrand::Rng::with_seed(seed);
    let mut level = 0.0;
    let next = |_| {
        level = 0.99 * level + random.f64() - 0.5;
        (1e6 + 1e5 * level) as u64
    };
    (0..n).map(next).collect()
}

#[test]
fn the_cut_points_hardly_move_the_ends_of_an_interval() {
    let options = Options { resamples: 200, ..Options::default() };
    for samples in [exponential(5, 3000, 50_000.0), wandering(6, 3000)] {
        for statistic in [MEDIAN, P99] {
            let expected = percentile_interval(naive(&samples, statistic, &options));
            let got = interval(&samples, statistic, &options).unwrap();
            let off = (got.low - expected.low).abs().max((got.high - expected.high).abs());
            assert!(off <= 0.05 * expected.width(), "{statistic:?}: {got:?} instead of {expected:?}");
        }
    }
}

#[test]
fn samples_that_resemble_their_neighbours_get_a_wider_interval() {
    let wander = wandering(7, 20_000);
    let mut shuffled = wander.clone();
    fastrand::Rng::with_seed(8).shuffle(&mut shuffled);
    let width = |samples: &[u64]| interval(samples, MEDIAN, &Options::default()).unwrap().width();
    assert!(width(&wander) > 3.0 * width(&shuffled), "{} {}", width(&wander), width(&shuffled));
}

/// In how many of 200 trials the interval holds the truth.
fn covered(n: usize, statistic: Statistic, truth: f64) -> usize {
    let holds = |seed: u64| {
        let options = Options { seed, resamples: 200, ..Options::default() };
        interval(&exponential(1000 + seed, n, 1e6), statistic, &options).unwrap().contains(truth)
    };
    (0..200).filter(|&seed| holds(seed)).count()
}

#[test]
fn the_interval_of_the_median_holds_the_truth_as_often_as_it_says() {
    for n in [31, 1000] {
        let covered = covered(n, MEDIAN, 1e6 * core::f64::consts::LN_2);
        assert!((180..=198).contains(&covered), "{covered} of 200 with {n} samples");
    }
}

#[test]
fn the_interval_of_the_mean_holds_the_truth_as_often_as_it_says() {
    let covered = covered(1000, Statistic::Mean, 1e6);
    assert!((180..=198).contains(&covered), "{covered} of 200");
}

#[test]
fn the_interval_of_the_p99_holds_the_truth_as_often_as_it_says() {
    let covered = covered(4000, P99, -1e6 * libm::log(0.01));
    assert!((180..=198).contains(&covered), "{covered} of 200");
}
