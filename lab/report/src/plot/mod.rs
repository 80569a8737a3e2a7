//! The figures of a report, as SVG without scripts.
//!
//! A figure is plain data: quartiles, counts, fractions and intervals come in as numbers, and no statistic is computed
//! here. The drawing only chooses an axis, places and a form. Every figure can be rendered at any width; a page holds
//! it twice, [`Width::WIDE`] and [`Width::NARROW`], and its style sheet shows the one that fits, so that the type keeps
//! its size on a telephone. Every figure also gives the numbers that it draws, as CSV.
//!
//! Invariants: the text of a figure is text, escaped; no drawing holds a colour, an `id` or a script; the same data
//! give the same bytes; empty data give a drawing that says so.

pub mod boxes;
pub mod composition;
pub mod cumulative;
pub mod flame;
pub mod histogram;
pub mod limit;
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
mod buckets;
mod csv;
mod figure;
mod frame;
mod key;
mod labels;
pub mod palette;
mod spread;
mod svg;
mod text;
mod tone;

pub use axis::Scale;
pub use figure::{Figure, Width};
pub(crate) use text::{escape, width as text_width};
pub use tone::Tone;
pub use units::Unit;
