//! What was written since the last sync, with its checksums.

use alloc::collections::BTreeMap;
use alloc::vec::Vec;

use crate::crc;
use crate::entry::Entry;
use crate::layout::PAGE;
use crate::pages::Piece;

/// Of more pages than this, or in more pieces, a record has no checksums: they are flushed before it. Whoever mounts the device
/// reads no more than these.
const MOST_PAGES: usize = 4096;
pub(crate) const MOST_PIECES: usize = 128;

/// Pages that no durable state knows.
#[derive(Debug, Default)]
pub(crate) struct Fresh {
    /// The checksums of pages that lie behind each other, by the first of them.
    runs: BTreeMap<u64, Vec<u32>>,
    pages: usize,
    /// There were more than are kept here.
    more: bool,
}

impl Fresh {
    /// These pages were written from `at` on.
    pub fn wrote(&mut self, at: u64, data: &[u8]) {
        if self.more || self.pages + data.len() / PAGE > MOST_PAGES {
            self.more = true;
            return;
        }
        let sums = data.chunks(PAGE).map(|page| crc::of(&[page]));
        self.pages += data.len() / PAGE;
        if let Some((first, run)) = self.runs.range_mut(..at).next_back()
            && first + run.len() as u64 == at
        {
            run.extend(sums);
        } else {
            self.runs.insert(at, sums.collect());
        }
    }

    /// Forgets the pages of a piece that are here, and gives each part of it to `here` or to `elsewhere`.
    pub fn forget(&mut self, piece: Piece, mut here: impl FnMut(Piece), mut elsewhere: impl FnMut(Piece)) {
        let end = piece.at + piece.pages;
        let mut at = piece.at;
        while at < end {
            let around = self.runs.range(..=at).next_back().map(|(first, run)| (*first, run.len() as u64));
            if let Some((first, len)) = around.filter(|(first, len)| at < first + len) {
                let until = end.min(first + len);
                let run = self.runs.remove(&first).unwrap_or_default();
                let (within, behind) = ((at - first) as usize, (until - first) as usize);
                if behind < run.len() {
                    self.runs.insert(until, run[behind..].to_vec());
                }
                if within > 0 {
                    self.runs.insert(first, run[..within].to_vec());
                }
                self.pages -= behind - within;
                here(Piece { at, pages: until - at });
                at = until;
            } else {
                let until = self.runs.range(at..end).next().map_or(end, |(next, _)| *next);
                elsewhere(Piece { at, pages: until - at });
                at = until;
            }
        }
    }

    /// The entries by which it is told whether all of it was written; `None` if it has to be flushed before the record.
    pub fn verify(&self) -> Option<Vec<Entry>> {
        if self.more || self.runs.len() > MOST_PIECES {
            return None;
        }
        let entry =
            |(at, run): (&u64, &Vec<u32>)| Entry::Verify { at: *at, pages: run.len() as u32, crc: of_sums(run) };
        Some(self.runs.iter().map(entry).collect())
    }

    pub fn is_empty(&self) -> bool {
        self.runs.is_empty() && !self.more
    }

    pub fn clear(&mut self) {
        *self = Self::default();
    }
}

/// The checksum of the pages in `data`, as an [`Entry::Verify`] has it.
pub(crate) fn checksum(data: &[u8]) -> u32 {
    of_sums(&data.chunks(PAGE).map(|page| crc::of(&[page])).collect::<Vec<_>>())
}

fn of_sums(sums: &[u32]) -> u32 {
    let bytes: Vec<u8> = sums.iter().flat_map(|sum| sum.to_le_bytes()).collect();
    crc::of(&[&bytes])
}

/// No record asks for more to be read than this.
pub(crate) fn is_bearable(pages: u64) -> bool {
    pages <= MOST_PAGES as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn piece(at: u64, pages: u64) -> Piece {
        Piece { at, pages }
    }

    #[test]
    fn what_is_forgotten_is_told_apart_from_what_was_never_here() {
        let mut fresh = Fresh::default();
        let data: Vec<u8> = (0..10 * PAGE).map(|n| (n / PAGE) as u8).collect();
        fresh.wrote(100, &data[..4 * PAGE]);
        fresh.wrote(104, &data[4 * PAGE..6 * PAGE]);
        fresh.wrote(200, &data[6 * PAGE..]);
        assert_eq!(fresh.verify().unwrap().len(), 2);
        let (mut here, mut elsewhere) = (Vec::new(), Vec::new());
        fresh.forget(piece(102, 99), |piece| here.push(piece), |piece| elsewhere.push(piece));
        assert_eq!((here, elsewhere), (vec![piece(102, 4), piece(200, 1)], vec![piece(106, 94)]));
        let left = fresh.verify().unwrap();
        let entry = |at, data: &[u8]| Entry::Verify { at, pages: (data.len() / PAGE) as u32, crc: checksum(data) };
        assert_eq!(left, [entry(100, &data[..2 * PAGE]), entry(201, &data[7 * PAGE..])]);
        assert_eq!(fresh.pages, 5);
    }

    #[test]
    fn what_is_much_or_in_many_pieces_is_to_be_flushed() {
        let page = [7; PAGE];
        let mut fresh = Fresh::default();
        (0..129).for_each(|n| fresh.wrote(2 * n, &page));
        assert_eq!(fresh.verify(), None);
        fresh.forget(piece(0, 1), |_| {}, |_| unreachable!());
        assert!(fresh.verify().is_some());
        fresh.clear();
        (0..MOST_PAGES as u64).for_each(|n| fresh.wrote(n, &page));
        assert_eq!(fresh.verify().map(|entries| entries.len()), Some(1));
        fresh.wrote(MOST_PAGES as u64, &page);
        assert_eq!(fresh.verify(), None);
    }
}
