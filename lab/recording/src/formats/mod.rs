//! Samples of other tools, coming in and going out.
//!
//! - [`csv`]: every sample of a series with all of its columns, for whatever else is to be done with them. Out only.
//! - [`nerves`]: the rows of nerves_rt_perf, the program of the Nerves study. Both ways.
//! - [`cyclictest`]: the JSON of cyclictest (rt-tests), with its histogram. Both ways.
//!
//! What comes in is foreign bytes: every place that is not as the tool writes it is an [`Error`] that names the file, the
//! line and what was expected. What a format cannot hold is not made up: an [`Imported`] says in its notes what is known
//! less exactly than in a recording of one's own, and [`save`] makes a recording folder of it, so that everything that
//! can be done with samples can be done with these.

pub mod csv;
pub mod cyclictest;
mod error;
mod imported;
pub mod nerves;

pub use error::{Error, NotExported};
pub use imported::{ENVIRONMENT, Imported, ImportedSeries, Rows, save};

use std::io;

use crate::folder::View;
use crate::stats::Samples;

/// Rows that are looked at together.
const BLOCK: u64 = 1024;

/// Shows the rows `start..end` that lie side by side in `columns`, one by one, in memory that does not grow with them.
fn each_row(
    columns: &[View<'_>],
    start: u64,
    end: u64,
    mut see: impl FnMut(&[u64]) -> io::Result<()>,
) -> io::Result<()> {
    let mut cells = Vec::new();
    let mut at = start;
    while at < end {
        let next = end.min(at + BLOCK);
        let rows = (next - at) as usize;
        cells.clear();
        cells.resize(rows * columns.len(), 0);
        for (index, column) in columns.iter().enumerate() {
            let mut places = cells.iter_mut().skip(index).step_by(columns.len());
            column.visit(at, next, &mut |piece| {
                for (place, value) in (&mut places).zip(piece) {
                    *place = *value;
                }
            });
        }
        cells.chunks_exact(columns.len().max(1)).try_for_each(&mut see)?;
        at = next;
    }
    Ok(())
}
