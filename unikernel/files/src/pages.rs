//! Where the pages of a file lie: pieces, each of pages that lie behind each other in the file and on the device.

use alloc::collections::BTreeMap;

/// The pieces of a file, by their first page in it. No two of them have a page in common.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Pages {
    pieces: BTreeMap<u64, Piece>,
}

/// So many pages of the device from `at` on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Piece {
    pub at: u64,
    pub pages: u64,
}

/// A part of a range of pages of a file: where it lies, or nowhere.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Part {
    pub page: u64,
    pub pages: u64,
    pub at: Option<u64>,
}

impl Pages {
    pub fn pieces(&self) -> impl Iterator<Item = (u64, Piece)> + '_ {
        self.pieces.iter().map(|(page, piece)| (*page, *piece))
    }

    pub fn count(&self) -> usize {
        self.pieces.len()
    }

    /// The page behind the last one that lies somewhere.
    pub fn end(&self) -> u64 {
        self.pieces.last_key_value().map_or(0, |(page, piece)| page + piece.pages)
    }

    /// The part that begins with `page`, of at most so many pages: all of it lies in one piece, or in none.
    pub fn part(&self, page: u64, most: u64) -> Part {
        if let Some((first, piece)) = self.pieces.range(..=page).next_back()
            && page - first < piece.pages
        {
            let within = page - first;
            return Part { page, pages: most.min(piece.pages - within), at: Some(piece.at + within) };
        }
        let next = self.pieces.range(page..).next().map_or(u64::MAX, |(next, _)| *next);
        Part { page, pages: most.min(next - page), at: None }
    }

    /// Lets the pages from `page` on lie at `at`. What they lay in before is given to `freed`.
    pub fn map(&mut self, page: u64, at: u64, pages: u64, freed: impl FnMut(Piece)) {
        self.unmap(page, pages, freed);
        if let Some((first, piece)) = self.pieces.range_mut(..page).next_back()
            && first + piece.pages == page
            && piece.at + piece.pages == at
        {
            piece.pages += pages;
            return;
        }
        self.pieces.insert(page, Piece { at, pages });
    }

    /// Lets the pages from `page` on lie nowhere. What they lay in is given to `freed`.
    pub fn unmap(&mut self, page: u64, pages: u64, mut freed: impl FnMut(Piece)) {
        let end = page.saturating_add(pages);
        if let Some((first, piece)) = self.pieces.range_mut(..page).next_back()
            && *first + piece.pages > page
        {
            let (first, whole) = (*first, *piece);
            piece.pages = page - first;
            let behind = first + whole.pages;
            freed(Piece { at: whole.at + (page - first), pages: behind.min(end) - page });
            if behind > end {
                self.pieces.insert(end, Piece { at: whole.at + (end - first), pages: behind - end });
            }
        }
        while let Some((first, piece)) = self.pieces.range(page..end).next().map(|(first, piece)| (*first, *piece)) {
            self.pieces.remove(&first);
            let gone = piece.pages.min(end - first);
            freed(Piece { at: piece.at, pages: gone });
            if gone < piece.pages {
                self.pieces.insert(end, Piece { at: piece.at + gone, pages: piece.pages - gone });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;
    use alloc::vec::Vec;

    /// Against a map of single pages, and every page is given back once.
    #[test]
    fn it_is_what_a_map_of_single_pages_is() {
        let mut random = fastrand::Rng::with_seed(3);
        for _ in 0..300 {
            let (mut pages, mut model) = (Pages::default(), vec![None; 40]);
            let mut next = 100;
            for _ in 0..40 {
                let (page, count) = (random.u64(..30), random.u64(1..10));
                let range = page as usize..(page + count) as usize;
                let mut expected: Vec<u64> = model[range.clone()].iter().flatten().copied().collect();
                let mut freed = Vec::new();
                let free = |piece: Piece| freed.extend(piece.at..piece.at + piece.pages);
                if random.u8(..3) == 0 {
                    pages.unmap(page, count, free);
                    model[range].fill(None);
                } else {
                    pages.map(page, next, count, free);
                    range.for_each(|page| {
                        model[page] = Some(next);
                        next += 1;
                    });
                    next += random.u64(..2);
                }
                freed.sort_unstable();
                expected.sort_unstable();
                assert_eq!(freed, expected);
                let mut page = 0;
                while page < 40 {
                    let part = pages.part(page, 40 - page);
                    assert!(part.pages > 0);
                    for n in 0..part.pages {
                        assert_eq!(model[(page + n) as usize], part.at.map(|at| at + n));
                    }
                    page += part.pages;
                }
                assert_eq!(pages.end(), model.iter().rposition(Option::is_some).map_or(0, |last| last as u64 + 1));
            }
        }
    }

    #[test]
    fn pages_that_follow_each_other_are_one_piece() {
        let mut pages = Pages::default();
        for n in 0..1000 {
            pages.map(n, 50 + n, 1, |_| unreachable!());
        }
        assert_eq!((pages.count(), pages.part(10, 5000)), (1, Part { page: 10, pages: 990, at: Some(60) }));
    }
}
