//! Recorders: buffers that a measurement fills with samples.
//!
//! A recorder is a window onto memory that its creator reserved and pre-faulted: an array for rows of `u64`, and a
//! [`Progress`] that counts the complete rows. Invariants:
//!
//! - Recording allocates nothing, locks nothing and makes no system call: one store a column and one store of the
//!   count.
//! - A row is complete before it is counted (release store). A process that shares the memory therefore sees whole rows
//!   only, also after the writer was killed.
//! - Nothing is overwritten. A row that finds the array full is dropped and counted as dropped.

use core::sync::atomic::{AtomicUsize, Ordering};

/// The progress of a series: its complete and its dropped rows. The counts lie in memory that the writer and its
/// observer may share, and have the width of a pointer, so that small processors without 64-bit atomics support them
/// too.
#[derive(Debug, Default)]
#[repr(C)]
pub struct Progress {
    rows: AtomicUsize,
    dropped: AtomicUsize,
}

impl Progress {
    /// Rows that are complete.
    pub fn rows(&self) -> u64 {
        self.rows.load(Ordering::Acquire) as u64
    }

    /// Rows that found the array full.
    pub fn dropped(&self) -> u64 {
        self.dropped.load(Ordering::Acquire) as u64
    }
}

/// Takes the rows of one series from one thread. The first column is the sample.
#[derive(Debug)]
pub struct Recorder<'a> {
    cells: &'a mut [u64],
    columns: usize,
    next: usize,
    rows: usize,
    progress: &'a Progress,
}

impl<'a> Recorder<'a> {
    /// A recorder for rows of `columns` cells over `cells`, which should have been written to once, so that recording
    /// meets no page fault. A remainder of `cells` that is too small for a row stays unused.
    ///
    /// # Panics
    /// When `columns` is zero.
    pub fn new(cells: &'a mut [u64], columns: usize, progress: &'a Progress) -> Self {
        assert!(columns > 0, "a series has at least one column");
        Self { cells, columns, next: 0, rows: 0, progress }
    }

    /// How many rows fit in all.
    pub fn capacity(&self) -> usize {
        self.cells.len() / self.columns
    }

    /// How many rows were recorded.
    pub fn len(&self) -> usize {
        self.rows
    }

    /// Whether nothing was recorded yet.
    pub fn is_empty(&self) -> bool {
        self.rows == 0
    }

    /// Whether the next row would be dropped.
    pub fn is_full(&self) -> bool {
        self.next + self.columns > self.cells.len()
    }

    /// Records one sample of a series with one column.
    #[inline(always)]
    pub fn push(&mut self, sample: u64) {
        self.push_row(&[sample]);
    }

    /// Records one row. Cells that `row` has too many are ignored, missing ones are zero: the series' own definition
    /// says how many there are, and a wrong length must not shift the rows after it.
    #[inline(always)]
    pub fn push_row(&mut self, row: &[u64]) {
        let Some(cells) = self.cells.get_mut(self.next..self.next + self.columns) else {
            self.progress.dropped.fetch_add(1, Ordering::Relaxed);
            return;
        };
        for (i, cell) in cells.iter_mut().enumerate() {
            *cell = row.get(i).copied().unwrap_or(0);
        }
        self.next += self.columns;
        self.rows += 1;
        self.progress.rows.store(self.rows, Ordering::Release);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn rows_lie_one_after_the_other_and_are_counted() {
        let mut cells = [0u64; 7];
        let progress = Progress::default();
        let mut recorder = Recorder::new(&mut cells, 3, &progress);
        assert_eq!(recorder.capacity(), 2);
        recorder.push_row(&[1, 2, 3]);
        recorder.push_row(&[4, 5, 6]);
        assert!(recorder.is_full());
        assert_eq!((progress.rows(), progress.dropped()), (2, 0));
        assert_eq!(cells, [1, 2, 3, 4, 5, 6, 0]);
    }

    #[test]
    fn a_full_recorder_drops_and_says_so() {
        let mut cells = [0u64; 2];
        let progress = Progress::default();
        let mut recorder = Recorder::new(&mut cells, 1, &progress);
        for sample in 10..15 {
            recorder.push(sample);
        }
        assert_eq!((progress.rows(), progress.dropped()), (2, 3));
        assert_eq!(cells, [10, 11]);
    }

    #[test]
    fn a_row_of_the_wrong_length_does_not_shift_the_next() {
        let mut cells = [9u64; 4];
        let progress = Progress::default();
        let mut recorder = Recorder::new(&mut cells, 2, &progress);
        recorder.push_row(&[1]);
        recorder.push_row(&[2, 3, 4]);
        assert_eq!(cells, [1, 0, 2, 3]);
    }
}
