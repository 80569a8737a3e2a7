//! The box plot and the histogram for a terminal, in Unicode block characters, and lists in words, one string
//! without colour codes.
//!
//! They are drawn from the same figure as the SVG, so a terminal never shows other numbers than the report. Invariant:
//! no line is longer than the columns given (at least 40 are assumed), counted in characters.

use super::axis::{Axis, Extent};
use super::buckets::Histogram;
use super::spread::{BoxPlot, Row, Spread};
use super::units::Unit;

const LEAST_COLUMNS: usize = 40;
/// Lines that the bars of a histogram take, and those of one among several; each is eight steps high.
const BAR_LINES: usize = 6;
const ROW_LINES: usize = 3;

/// `text` cut to `columns` characters, control characters made visible rather than obeyed.
fn cut(text: &str, columns: usize) -> String {
    let clean: Vec<char> = text.chars().map(|c| if c.is_control() { '\u{fffd}' } else { c }).collect();
    if clean.len() <= columns {
        return clean.into_iter().collect();
    }
    clean.into_iter().take(columns.saturating_sub(1)).chain(['…']).collect()
}

/// `name` cut in its middle: names of series often differ only in their last word.
fn cut_name(name: &str, columns: usize) -> String {
    let clean: Vec<char> = cut(name, usize::MAX).chars().collect();
    if clean.len() <= columns {
        return clean.into_iter().collect();
    }
    let tail = columns.saturating_sub(1) / 2;
    let head = columns.saturating_sub(1 + tail);
    clean[..head].iter().chain(['…'].iter()).chain(&clean[clean.len() - tail..]).collect()
}

fn push_line(out: &mut String, line: &str) {
    out.push_str(line.trim_end());
    out.push('\n');
}

/// The ticks of an axis as two lines: marks, and labels under them.
fn axis_lines(axis: &Axis, columns: usize, indent: usize, limit: usize) -> [String; 2] {
    let mut marks = vec!['─'; columns];
    let mut labels = vec![' '; limit.saturating_sub(indent)];
    let mut free_from = 0;
    for tick in axis.ticks(11.0) {
        let at = tick.at.round() as usize;
        let Some(label) = tick.label else { continue };
        let label: Vec<char> = label.chars().collect();
        let start = at.saturating_sub(label.len() / 2).min(labels.len().saturating_sub(label.len()));
        if at < columns && start >= free_from && start + label.len() <= labels.len() {
            marks[at] = '┬';
            free_from = start + label.len() + 1;
            labels[start..start + label.len()].copy_from_slice(&label);
        }
    }
    let indent = " ".repeat(indent);
    [marks, labels].map(|chars| indent.clone() + &chars.into_iter().collect::<String>())
}

/// One box in `columns` characters, such as `├──[▒▒|▒▒▒]────┤ · ·`.
fn box_line(spread: &Spread, row: &Row, axis: &Axis, columns: usize) -> String {
    let at = |value: f64| (axis.at(value).round() as usize).min(columns - 1);
    let mut cells = vec![' '; columns];
    for value in &row.outliers {
        cells[at(*value as f64)] = '·';
    }
    let (low, high) = (at(spread.low_whisker.min(spread.q1)), at(spread.high_whisker.max(spread.q3)));
    cells[low..=high].fill('─');
    cells[low] = '├';
    cells[high] = '┤';
    let (left, right) = (at(spread.q1), at(spread.q3));
    if left < right {
        cells[left..=right].fill('▒');
        cells[left] = '[';
        cells[right] = ']';
    }
    cells[at(spread.median)] = '|';
    cells.into_iter().collect()
}

/// The box plot, at most `columns` wide, with its axis beneath and each row's maximum at its end.
pub fn box_plot(plot: &BoxPlot, columns: usize) -> String {
    let columns = columns.max(LEAST_COLUMNS);
    let rows: Vec<&Row> = plot.groups.iter().flat_map(|g| &g.rows).collect();
    let mut out = String::new();
    push_line(&mut out, &cut(&plot.title, columns));
    if rows.iter().all(|row| row.spread.is_none()) {
        push_line(&mut out, &format!("  {}", rows.first().map_or("no samples", |row| row.without_box())));
        return out;
    }
    let name = |row: &Row| {
        if row.sublabel.is_empty() { row.label.clone() } else { format!("{} {}", row.label, row.sublabel) }
    };
    let maxima = rows.iter().filter_map(|r| r.written_max(plot.unit).map(|max| max.chars().count()));
    let max_room = maxima.max().unwrap_or(0);
    let longest = rows.iter().map(|r| name(r).chars().count()).max().unwrap_or(0);
    let label_room = longest.min(columns / 3).min(columns.saturating_sub(max_room + 4 + 10));
    let width = columns.saturating_sub(label_room + max_room + 4).max(10);
    let mut extent = Extent::new();
    for row in &rows {
        extent.extend(row.spread.iter().flat_map(|s| [s.low_whisker, s.q1, s.median, s.q3, s.high_whisker]));
        extent.extend(row.outliers.iter().map(|v| *v as f64));
    }
    let axis = Axis::fit(&extent, plot.scale, plot.unit, 0.0, (width - 1) as f64);
    for group in &plot.groups {
        if !group.heading.is_empty() {
            push_line(&mut out, &cut(&group.heading, columns));
        }
        for row in &group.rows {
            let label = cut_name(&name(row), label_room);
            let cells =
                row.spread.as_ref().map_or_else(|| row.without_box().to_owned(), |s| box_line(s, row, &axis, width));
            let end = row.written_max(plot.unit).unwrap_or_default();
            push_line(&mut out, &format!("{label:<label_room$}  {cells:<width$}  {end:>max_room$}"));
        }
    }
    for line in axis_lines(&axis, width, label_room + 2, columns) {
        push_line(&mut out, &line);
    }
    out
}

/// The histogram, a row for each series over one axis, at most `columns` wide, with a logarithmic count axis at the left.
pub fn histogram(figure: &Histogram, columns: usize) -> String {
    const BLOCKS: [char; 9] = [' ', '▁', '▂', '▃', '▄', '▅', '▆', '▇', '█'];
    let columns = columns.max(LEAST_COLUMNS);
    let mut out = String::new();
    push_line(&mut out, &cut(&figure.title, columns));
    let series: Vec<_> = figure.series.iter().filter(|s| s.buckets.iter().any(|b| b.count > 0)).collect();
    if series.is_empty() {
        push_line(&mut out, "  no samples");
        return out;
    }
    let mut extent = Extent::new();
    for s in &series {
        let filled = s.buckets.iter().filter(|b| b.count > 0);
        extent.extend(filled.map(|b| b.low as f64).chain([s.max as f64]));
    }
    let indent = 7;
    let width = columns - indent - 1;
    let axis = Axis::fit(&extent, figure.scale, figure.unit, 0.0, (width - 1) as f64);
    let binned: Vec<Vec<u64>> = series
        .iter()
        .map(|s| {
            let mut counts = vec![0; width];
            for bucket in &s.buckets {
                counts[(axis.at(bucket.low as f64).round() as usize).min(width - 1)] += bucket.count;
            }
            counts
        })
        .collect();
    let highest = binned.iter().flatten().copied().max().unwrap_or(1).max(10) as f64;
    let lines = if series.len() == 1 { BAR_LINES } else { ROW_LINES };
    let steps = (lines * 8) as f64;
    // A single sample is one step high; the highest bin fills all lines.
    let height = |count: u64| match count {
        0 => 0,
        n => (1.0 + (n as f64).ln() / highest.ln() * (steps - 1.0)).round() as usize,
    };
    for (s, counts) in series.iter().zip(&binned) {
        let total = s.count();
        let worst = s.worst(figure.unit);
        let caption = format!("{} · {} samples · {worst}", s.label, Unit::Count.value(total as f64));
        push_line(&mut out, &cut_name(caption.trim_start_matches(" · "), columns));
        for line in (0..lines).rev() {
            let label = match line {
                0 => "1".to_owned(),
                n if n == lines - 1 => Unit::Count.ticks(&[rounded(highest)])[0].clone(),
                _ => String::new(),
            };
            let bar = |count: &u64| BLOCKS[height(*count).saturating_sub(line * 8).min(8)];
            let cells: String = counts.iter().map(bar).collect();
            push_line(&mut out, &format!("{label:>6} {cells}"));
        }
    }
    for line in axis_lines(&axis, width, indent, columns) {
        push_line(&mut out, &line);
    }
    out
}

/// Names with items below each, flowing over as many lines as they need, at most `columns` wide.
pub fn list(title: &str, named: &[(String, Vec<String>)], columns: usize) -> String {
    let columns = columns.max(LEAST_COLUMNS);
    let mut out = String::new();
    push_line(&mut out, &cut(title, columns));
    for (label, items) in named {
        if !label.is_empty() {
            push_line(&mut out, &cut_name(label, columns));
        }
        let mut line = String::new();
        for item in items {
            if !line.is_empty() && line.chars().count() + 3 + item.chars().count() + 2 > columns {
                push_line(&mut out, &cut(&format!("  {line}"), columns));
                line.clear();
            }
            let separator = if line.is_empty() { "" } else { " · " };
            line = format!("{line}{separator}{item}");
        }
        push_line(&mut out, &cut(&format!("  {line}"), columns));
    }
    out
}

/// Two significant digits, as the label of the top of a bar chart needs no more.
fn rounded(value: f64) -> f64 {
    let power = 10f64.powf(value.log10().floor() - 1.0).max(1.0);
    (value / power).round() * power
}

#[cfg(test)]
mod tests {
    use super::super::axis::Scale;
    use super::super::buckets::{Bucket, Series};
    use super::super::spread::Group;
    use super::*;

    fn spread() -> Spread {
        Spread { low_whisker: 10.0, q1: 20.0, median: 25.0, q3: 40.0, high_whisker: 60.0, mean: 30.0 }
    }

    fn boxes(rows: Vec<Row>) -> BoxPlot {
        BoxPlot {
            title: "Wake-up".into(),
            subtitle: String::new(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            groups: vec![Group { heading: "idle".into(), rows }],
            limit: None,
        }
    }

    fn bars(series: Vec<Series>) -> Histogram {
        Histogram {
            title: "Wake-up".into(),
            subtitle: String::new(),
            quantity: "latency".into(),
            unit: Unit::Nanoseconds,
            scale: Scale::Auto,
            series,
            limit: None,
        }
    }

    #[test]
    fn a_row_shows_whiskers_box_median_and_outliers_in_this_order() {
        let row = Row { label: "fifo".into(), spread: Some(spread()), outliers: vec![80, 100], ..Row::default() };
        let out = box_plot(&boxes(vec![row]), 80);
        let line = out.lines().find(|l| l.starts_with("fifo")).unwrap();
        let places: Vec<usize> = ["├", "[", "|", "]", "┤", "·"].iter().map(|c| line.find(c).unwrap()).collect();
        assert!(places.windows(2).all(|p| p[0] < p[1]), "{line}");
        assert!(line.ends_with("100 ns"));
        assert_eq!(line.matches('·').count(), 2);
    }

    #[test]
    fn a_single_sample_is_visible_beside_a_million() {
        let buckets =
            vec![Bucket { low: 1000, high: 1010, count: 1_000_000 }, Bucket { low: 90_000, high: 90_100, count: 1 }];
        let out = histogram(&bars(vec![Series { label: "a".into(), buckets, max: 90_050, ..Series::default() }]), 80);
        assert!(out.contains('█') && out.contains('▁'), "{out}");
        assert!(out.contains("worst 90.1 µs") || out.contains("worst 90.0 µs"));
    }

    #[test]
    fn several_histograms_stand_in_rows_over_one_axis() {
        let one = |i: u64| Series {
            label: format!("wakeup, all that is the same in every one of them, with a long end, cpu{i}"),
            buckets: vec![Bucket { low: 1000, high: 1010, count: 900 }, Bucket { low: 90_000, high: 90_100, count: 1 }],
            max: 90_050,
            ..Series::default()
        };
        let out = histogram(&bars((0..8).map(one).collect()), 80);
        assert_eq!(out.lines().filter(|line| line.contains('┬')).count(), 1, "{out}");
        assert!((0..8).all(|i| out.contains(&format!("cpu{i} · 901 samples"))), "{out}");
        assert!(out.lines().count() <= 1 + 8 * (1 + ROW_LINES) + 2, "{out}");
    }

    #[test]
    fn no_line_is_longer_than_the_terminal() {
        let long = "a label that is much too long for any terminal \u{1b}[31m".repeat(3);
        let equal = Spread { low_whisker: 5.0, q1: 5.0, median: 5.0, q3: 5.0, high_whisker: 5.0, mean: 5.0 };
        let rows = [
            Row { label: long.clone(), ..Row::default() },
            Row { label: long.clone(), spread: Some(equal), outliers: vec![0, u64::MAX], ..Row::default() },
            Row { label: "b".into(), spread: Some(spread()), ..Row::default() },
        ];
        let buckets = vec![Bucket { low: 0, high: 1, count: 3 }, Bucket { low: 1 << 60, high: 1 << 61, count: 1 }];
        let series = [Series { label: long, buckets, max: 1 << 60, ..Series::default() }, Series::default()];
        for columns in [0, 40, 57, 80, 200] {
            for count in 0..=3 {
                let text = box_plot(&boxes(rows[..count].to_vec()), columns);
                let text = text + &histogram(&bars(series[..count.min(2)].to_vec()), columns);
                assert!(text.lines().all(|l| l.chars().count() <= columns.max(LEAST_COLUMNS)), "{columns}\n{text}");
                assert!(!text.contains('\u{1b}'));
            }
        }
    }
}
