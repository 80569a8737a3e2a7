//! Tests of the box plot.

use super::super::axis::Scale;
use super::super::svg::assert_well_formed;
use super::super::units::Unit;
use super::*;

fn spread(median: f64) -> Spread {
    Spread {
        low_whisker: median * 0.8,
        q1: median * 0.9,
        median,
        q3: median * 1.2,
        high_whisker: median * 1.5,
        mean: median * 1.1,
    }
}

fn plot(rows: Vec<Row>) -> BoxPlot {
    BoxPlot {
        title: "t".into(),
        subtitle: String::new(),
        quantity: "time".into(),
        unit: Unit::Nanoseconds,
        scale: Scale::Auto,
        groups: vec![Group { heading: String::new(), rows }],
        limit: None,
    }
}

/// The positions of all outlier dots in a drawing.
fn drawn_dots(svg: &str) -> Vec<f64> {
    let mut found: Vec<f64> = svg
        .lines()
        .filter(|l| l.starts_with("<path class=\"k-dot"))
        .filter(|l| l.contains("k-c1"))
        .flat_map(|l| l.split('M').skip(1).filter_map(|p| p.split(' ').next()?.parse().ok()))
        .collect();
    found.sort_by(f64::total_cmp);
    found
}

#[test]
fn every_outlier_has_a_dot_within_half_a_pixel() {
    let outliers: Vec<u64> = (0..5000).map(|i| 2_000 + i * i).collect();
    let figure = plot(vec![Row { spread: Some(spread(1000.0)), outliers: outliers.clone(), ..Row::default() }]);
    for width in [Width::WIDE, Width::NARROW] {
        let svg = figure.render(width);
        let found = drawn_dots(&svg);
        // The axis is that of the drawing: fitted to the same data, between the same ends.
        let extent = Extent::of(figure.rows().flat_map(Row::values));
        let max_room = text::width(&figure.unit.value(outliers[4999] as f64), SMALL) + 10.0;
        let left = 18.0;
        let axis = Axis::fit(&extent, Scale::Auto, figure.unit, left, width.0 - max_room);
        for value in &outliers {
            let at = axis.at(*value as f64);
            assert!(found.iter().any(|x| (x - at).abs() <= 0.3), "{value} at {at}");
        }
        assert!(found.len() <= 2 * width.0 as usize + 3, "half pixels are drawn once");
    }
}

#[test]
fn millions_of_outliers_make_a_small_file() {
    let outliers: Vec<u64> = (0..2_000_000).map(|i| 2_000 + (i * 7919) % 900_000).collect();
    let svg = plot(vec![Row { spread: Some(spread(1000.0)), outliers, ..Row::default() }]).render(Width::WIDE);
    assert!(svg.len() < 40_000, "{}", svg.len());
}

#[test]
fn the_largest_sample_is_named() {
    let rows = vec![
        Row { spread: Some(spread(1000.0)), outliers: vec![5_432_000], ..Row::default() },
        Row { spread: Some(spread(2000.0)), ..Row::default() },
    ];
    let svg = plot(rows).render(Width::WIDE);
    assert!(svg.contains(">5.43 ms</text>") && svg.contains(">3.00 µs</text>"));
}

#[test]
fn what_is_known_from_one_side_only_is_not_drawn_as_if_it_were_known() {
    let bound = Row { spread: Some(spread(1000.0)), outliers: vec![5_432_000], bound: "≥ ", ..Row::default() };
    let none = Row { why_none: "its box lies beyond what was recorded", ..Row::default() };
    let svg = plot(vec![bound, none.clone()]).render(Width::WIDE);
    assert!(svg.contains(">≥ 5.43 ms</text>") && svg.contains(">its box lies beyond what was recorded</text>"));
    let alone = plot(vec![none]);
    assert!(
        alone.render(Width::WIDE).contains("its box lies beyond") && !alone.render(Width::WIDE).contains("no samples")
    );
    assert!(alone.terminal(80).unwrap().contains("its box lies beyond what was recorded"));
}

#[test]
fn degenerate_and_hostile_data_still_make_a_drawing() {
    let hostile = "</title><script>&\"'".repeat(9);
    let mut rows = vec![
        Row { label: hostile.clone(), sublabel: hostile.clone(), ..Row::default() },
        Row { spread: Some(spread(0.0)), ..Row::default() },
        Row { spread: Some(spread(1e15)), outliers: vec![0, 1, u64::MAX], ..Row::default() },
        Row {
            spread: Some(spread(f64::NAN)),
            published: Some(Published { average: 5.0, maximum: 9.0, note: hostile.clone() }),
            ..Row::default()
        },
    ];
    rows.extend((0..40).map(|i| Row { label: format!("row {i}"), spread: Some(spread(7.0)), ..Row::default() }));
    for count in [0, 1, 2, 3, 4, 44] {
        let mut figure = plot(rows[..count].to_vec());
        figure.title = hostile.clone();
        for scale in [Scale::Auto, Scale::Linear, Scale::Log] {
            figure.scale = scale;
            for width in [Width::WIDE, Width::NARROW] {
                let svg = figure.render(width);
                assert_well_formed(&svg);
                assert!(svg.contains("no samples"));
            }
        }
    }
}

#[test]
fn the_numbers_come_out_with_equal_outliers_counted() {
    let row = Row { label: "a, b".into(), spread: Some(spread(10.0)), outliers: vec![99, 77, 99], ..Row::default() };
    let csv = plot(vec![row]).csv();
    assert!(csv.contains("\"a, b\",,median,10,1\n"));
    assert!(csv.contains(",outlier,77,1\n") && csv.contains(",outlier,99,2\n"));
}
