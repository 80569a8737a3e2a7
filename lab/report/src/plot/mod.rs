//! The figures of a report, as SVG without scripts.
//!
//! A figure is plain data that was decided elsewhere: quartiles, counts, fractions and intervals come in as numbers, and
//! nothing here is a statistic. The drawing only chooses an axis, a place and a form. Every figure can be rendered at
//! any width; a page holds it twice, [`Width::WIDE`] and [`Width::NARROW`], and its style sheet shows the one that fits,
//! so that the type keeps its size on a telephone. Every figure also gives the numbers that it draws, as CSV.
//!
//! Invariants: the text of a figure is text, escaped; no drawing holds a colour, an `id` or a script; the same data give
//! the same bytes; no data gives a drawing that says so.

pub mod areas;
pub mod boxes;
pub mod cumulative;
pub mod histogram;
pub mod lines;
pub mod rates;
pub mod ratios;
pub mod steps;
pub mod strip;
pub mod terminal;
pub mod theme;
pub mod trials;
pub mod units;

mod axis;
mod frame;
mod key;
mod labels;
mod spread;
mod svg;
mod text;

pub use axis::Scale;
pub(crate) use text::escape;
pub use units::Unit;

/// The width that a figure is laid out for, in CSS pixels.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Width(pub f64);

impl Width {
    /// For a page on a desk.
    pub const WIDE: Width = Width(760.0);
    /// For a telephone.
    pub const NARROW: Width = Width(360.0);

    /// Whether there is no room for columns of text beside the plot.
    pub(crate) fn is_narrow(self) -> bool {
        self.0 < 520.0
    }
}

/// A drawing with the numbers behind it.
pub trait Figure {
    /// What it shows, in one line.
    fn title(&self) -> &str;

    /// A complete `<svg>` element whose colours come from [`theme::css`]; see [`theme::standalone`] for a file.
    fn render(&self, width: Width) -> String;

    /// The numbers that are drawn, in base units, with a header line.
    fn csv(&self) -> String;

    /// The same for a terminal `columns` wide, for those figures that have such a form; see [`terminal`].
    fn terminal(&self, _columns: usize) -> Option<String> {
        None
    }

    /// Both widths, for a page that embeds [`theme::css`] and [`theme::page_css`].
    fn both_widths(&self) -> String {
        format!(
            "<div class=\"k-wide\">{}</div><div class=\"k-narrow\">{}</div>",
            self.render(Width::WIDE),
            self.render(Width::NARROW)
        )
    }
}

/// Rows of CSV. Every figure writes its numbers through this, so that texts are quoted in one way.
pub(crate) struct Table(csv::Writer<Vec<u8>>);

impl Table {
    pub fn new(header: &[&str]) -> Self {
        let mut table = Self(csv::Writer::from_writer(Vec::new()));
        table.row(header.iter().map(|s| (*s).to_owned()));
        table
    }

    pub fn row(&mut self, cells: impl IntoIterator<Item = String>) {
        // Writing to memory fails only for rows of unequal length, which each caller's tests would show as missing.
        let _ = self.0.write_record(cells);
    }

    pub fn finish(self) -> String {
        self.0.into_inner().ok().and_then(|bytes| String::from_utf8(bytes).ok()).unwrap_or_default()
    }
}

/// A position in half pixels, the resolution at which two marks are the same mark.
pub(crate) fn half_pixel(position: f64) -> i64 {
    (position * 2.0).round() as i64
}
