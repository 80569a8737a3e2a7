//! Row-by-row reading of a series, for formats that write rows: the columns are read side by side, in blocks.

use std::io;

use crate::folder::View;
use crate::stats::Samples;

/// Rows that are looked at together.
const BLOCK: u64 = 1024;

/// Shows the rows `start..end` that lie side by side in `columns`, one by one, in memory that does not grow with them.
pub(super) fn each_row(
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
