//! The samples file: a header of sixteen bytes, then rows of little-endian `u64` cells.
//!
//! The header is `KZSAMPLE`, the version and the number of columns (both `u32`, little-endian). Disk space is reserved
//! beyond the end of a file that is being written; the file's length covers only the rows that it holds.

use std::fs::File;
use std::io;
use std::ops::Range;

use memmap2::{Mmap, UncheckedAdvice};

use crate::stats::{Samples, Unrecorded};

const MAGIC: &[u8; 8] = b"KZSAMPLE";
const VERSION: u32 = 1;
const HEADER: u64 = 16;
/// How much of a mapped file is looked at before it is let go of.
const WINDOW: usize = 4 << 20;
/// Less than this is kept: it would be asked for more often than it is worth.
const LEAST_DROPPED: usize = 64 << 10;

pub(super) fn header(columns: usize) -> [u8; HEADER as usize] {
    let mut bytes = [0; HEADER as usize];
    bytes[..8].copy_from_slice(MAGIC);
    bytes[8..12].copy_from_slice(&VERSION.to_le_bytes());
    bytes[12..].copy_from_slice(&(columns as u32).to_le_bytes());
    bytes
}

/// Where row `row` begins.
pub(super) fn offset(columns: usize, row: u64) -> u64 {
    HEADER + row * columns as u64 * 8
}

/// Reserves disk space up to `len`, so that a write below it does not meet a full disk. The size stays, so a crash
/// leaves only rows that were written.
pub(super) fn reserve(file: &File, len: u64) -> io::Result<()> {
    use std::os::fd::AsRawFd;
    let (len, mode) = (i64::try_from(len).map_err(io::Error::other)?, libc::FALLOC_FL_KEEP_SIZE);
    loop {
        // SAFETY: a system call on a descriptor that `file` keeps open; no memory is involved.
        if unsafe { libc::fallocate(file.as_raw_fd(), mode, 0, len) } == 0 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        match error.raw_os_error() {
            Some(libc::EINTR) => continue,
            // Some file systems cannot reserve; a full disk is then met when the rows are written.
            Some(libc::EOPNOTSUPP | libc::ENOSYS) => return Ok(()),
            _ => return Err(error),
        }
    }
}

/// A samples file, mapped, whose header was checked.
#[derive(Debug)]
pub(super) struct SamplesFile {
    /// `None` for a file without rows, which cannot be mapped.
    map: Option<Mmap>,
    columns: usize,
    rows: u64,
}

impl SamplesFile {
    /// Maps `file`, which must have `columns` columns.
    pub(super) fn open(file: &File, columns: usize) -> io::Result<Self> {
        let len = file.metadata()?.len();
        if len < HEADER {
            return Err(io::Error::new(io::ErrorKind::UnexpectedEof, "it is shorter than its header"));
        }
        // SAFETY: the mapping is read-only and private to this process. Another process that cuts the file while it is
        // read makes an access fault (SIGBUS); recordings are not written to after their run, and a run in progress cuts
        // only what comes after the last whole row, which is never looked at.
        let map = unsafe { Mmap::map(file)? };
        let wrong = |why: String| Err(io::Error::new(io::ErrorKind::InvalidData, why));
        if &map[..8] != MAGIC {
            return wrong("it does not begin as a samples file".into());
        }
        let word = |at: usize| u32::from_le_bytes([map[at], map[at + 1], map[at + 2], map[at + 3]]);
        if word(8) != VERSION {
            return wrong(format!("it has version {} and this program reads {VERSION}", word(8)));
        }
        if word(12) as usize != columns {
            return wrong(format!("it has {} columns where its recording says {columns}", word(12)));
        }
        let rows = (len - HEADER) / (columns as u64 * 8);
        Ok(Self { map: Some(map), columns, rows })
    }

    /// A file without a row.
    pub(super) fn empty(columns: usize) -> Self {
        Self { map: None, columns, rows: 0 }
    }

    pub(super) fn rows(&self) -> u64 {
        self.rows
    }

    /// Calls `see` with the rows `range` as they lie in the file, in pieces of whole rows. A piece is let go of when the
    /// next one comes, so that reading a file of any length keeps a few megabytes of it in memory.
    pub(super) fn visit(&self, range: Range<u64>, see: &mut dyn FnMut(&[u8])) {
        let Some(map) = &self.map else { return };
        let step = (WINDOW / (self.columns * 8)).max(1) as u64;
        let end = range.end.min(self.rows);
        let mut row = range.start;
        while row < end {
            let next = (row + step).min(end);
            let (first, last) = (offset(self.columns, row) as usize, offset(self.columns, next) as usize);
            see(&map[first..last]);
            if last - first >= LEAST_DROPPED {
                // SAFETY: the mapping is of a file and never written to, so a page that is dropped is read again when it
                // is looked at again. That it could not be dropped changes nothing but the memory that is in use.
                let _ = unsafe { map.unchecked_advise_range(UncheckedAdvice::DontNeed, first, last - first) };
            }
            row = next;
        }
    }
}

/// One column of some row ranges of a series, as samples in the order in which they were taken.
#[derive(Debug, Clone)]
pub struct View<'a> {
    file: &'a SamplesFile,
    column: usize,
    ranges: Vec<Range<u64>>,
    /// The column that says how often each value was measured.
    counts: Option<usize>,
    len: u64,
    unrecorded: Unrecorded,
}

impl<'a> View<'a> {
    pub(super) fn new(file: &'a SamplesFile, column: usize, ranges: Vec<Range<u64>>) -> Self {
        // A column that the series does not have is an empty one.
        let rows = if column < file.columns { file.rows } else { 0 };
        let ranges: Vec<_> = ranges.into_iter().map(|r| r.start.min(rows)..r.end.min(rows)).collect();
        let len = ranges.iter().map(|r| r.end - r.start).sum();
        Self { file, column, ranges, counts: None, len, unrecorded: Unrecorded::default() }
    }

    /// The same with what is known of samples that are not in it.
    pub(super) fn without(self, unrecorded: Unrecorded) -> Self {
        Self { unrecorded, ..self }
    }

    /// The same of rows that each stand for as many samples as column `counts` says.
    pub(super) fn counted_by(self, counts: usize) -> Self {
        let rows = Self::new(self.file, counts, self.ranges.clone());
        let mut len = 0u64;
        rows.visit(0, rows.len, &mut |piece| len = piece.iter().fold(len, |sum, &count| sum.saturating_add(count)));
        Self { counts: Some(counts), len, ..self }
    }

    /// All values. For series that are known to be short, such as one row a step.
    pub fn to_vec(&self) -> Vec<u64> {
        let mut all = Vec::with_capacity(self.len() as usize);
        self.visit(0, self.len(), &mut |piece| all.extend_from_slice(piece));
        all
    }

    /// The values of the rows `start..end` of those in view.
    fn visit_rows(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        let mut buffer = [0u64; 1024];
        let mut before = 0;
        for range in &self.ranges {
            let len = range.end - range.start;
            let (from, to) = (start.clamp(before, before + len), end.clamp(before, before + len));
            self.file.visit(range.start + (from - before)..range.start + (to - before), &mut |bytes| {
                // Copied, because the mapping is bytes: that costs nothing beside the memory that is read (measured).
                for rows in bytes.as_chunks::<8>().0.chunks(buffer.len() * self.file.columns) {
                    let cells = rows.iter().skip(self.column).step_by(self.file.columns);
                    let mut count = 0;
                    for (sample, cell) in buffer.iter_mut().zip(cells) {
                        *sample = u64::from_le_bytes(*cell);
                        count += 1;
                    }
                    see(&buffer[..count]);
                }
            });
            before += len;
        }
    }

    /// Each value with the number of times that it was measured.
    fn visit_pairs(&self, counts: usize, see: &mut dyn FnMut(u64, u64)) {
        for range in &self.ranges {
            self.file.visit(range.clone(), &mut |bytes| {
                for row in bytes.as_chunks::<8>().0.chunks(self.file.columns) {
                    see(u64::from_le_bytes(row[self.column]), u64::from_le_bytes(row[counts]));
                }
            });
        }
    }
}

impl Samples for View<'_> {
    fn len(&self) -> u64 {
        self.len
    }

    fn visit(&self, start: u64, end: u64, see: &mut dyn FnMut(&[u64])) {
        let Some(counts) = self.counts else { return self.visit_rows(start, end, see) };
        let mut before = 0u64;
        self.visit_pairs(counts, &mut |value, count| {
            let (from, to) = (start.max(before), end.min(before.saturating_add(count)));
            let piece = [value; 1024];
            let mut left = to.saturating_sub(from);
            while left > 0 {
                let next = left.min(piece.len() as u64);
                see(&piece[..next as usize]);
                left -= next;
            }
            before = before.saturating_add(count);
        });
    }

    fn visit_counted(&self, see: &mut dyn FnMut(&[u64], u64)) {
        match self.counts {
            Some(counts) => self.visit_pairs(counts, &mut |value, count| {
                if count > 0 {
                    see(&[value], count);
                }
            }),
            None => self.visit_rows(0, self.len, &mut |piece| see(piece, 1)),
        }
    }

    fn unrecorded(&self) -> Unrecorded {
        self.unrecorded
    }
}
