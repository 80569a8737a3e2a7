//! Which pages of the device are free.

use alloc::vec;
use alloc::vec::Vec;

use crate::pages::Piece;

/// A bit for each page: set if it is taken.
#[derive(Clone, Debug)]
pub(crate) struct Room {
    words: Vec<u64>,
    pages: u64,
    free: u64,
    /// Where the next search begins, so that what is written one after the other lies one behind the other.
    next: u64,
}

impl Room {
    /// Of a device of so many pages, of which those before `first` are taken for good.
    pub fn new(pages: u64, first: u64) -> Self {
        let mut words = vec![0; pages.div_ceil(64) as usize];
        if let Some(last) = words.last_mut()
            && !pages.is_multiple_of(64)
        {
            *last = u64::MAX << (pages % 64);
        }
        let mut room = Self { words, pages, free: pages, next: first };
        room.take(Piece { at: 0, pages: first.min(pages) });
        room
    }

    pub fn free(&self) -> u64 {
        self.free
    }

    fn is_taken(&self, page: u64) -> bool {
        self.words[(page / 64) as usize] >> (page % 64) & 1 == 1
    }

    /// Takes these pages. False, and nothing is taken, if one of them is taken or not there.
    pub fn take(&mut self, piece: Piece) -> bool {
        let fits = piece.at.checked_add(piece.pages).is_some_and(|end| end <= self.pages);
        if !fits || !self.are_all(piece, false) {
            return false;
        }
        self.set(piece, true);
        self.free -= piece.pages;
        true
    }

    /// Gives pages back that were taken.
    pub fn give(&mut self, piece: Piece) {
        self.set(piece, false);
        self.free += piece.pages;
    }

    /// Takes at most so many pages that lie behind each other, the next that are free; `None` if none is.
    pub fn find(&mut self, most: u64) -> Option<Piece> {
        let at = self.first_free(self.next, self.pages).or_else(|| self.first_free(0, self.next))?;
        let mut pages = 1;
        while pages < most && at + pages < self.pages {
            let page = at + pages;
            // Word by word where one is free as a whole.
            if page.is_multiple_of(64) && most - pages >= 64 && self.words[(page / 64) as usize] == 0 {
                pages += 64;
            } else if self.is_taken(page) {
                break;
            } else {
                pages += 1;
            }
        }
        let piece = Piece { at, pages };
        self.set(piece, true);
        self.free -= pages;
        self.next = at + pages;
        Some(piece)
    }

    fn first_free(&self, from: u64, to: u64) -> Option<u64> {
        let mut page = from;
        while page < to {
            let word = !self.words[(page / 64) as usize] >> (page % 64);
            if word != 0 {
                let found = page + u64::from(word.trailing_zeros());
                return (found < to).then_some(found);
            }
            page = (page / 64 + 1) * 64;
        }
        None
    }

    fn are_all(&self, piece: Piece, taken: bool) -> bool {
        Masks::of(piece).all(|(word, mask)| self.words[word] & mask == if taken { mask } else { 0 })
    }

    fn set(&mut self, piece: Piece, taken: bool) {
        debug_assert!(self.are_all(piece, !taken), "{piece:?} is {taken} already");
        for (word, mask) in Masks::of(piece) {
            if taken {
                self.words[word] |= mask;
            } else {
                self.words[word] &= !mask;
            }
        }
    }
}

/// The words that have bits of a piece, and which bits.
struct Masks {
    page: u64,
    end: u64,
}

impl Masks {
    fn of(piece: Piece) -> Self {
        Self { page: piece.at, end: piece.at + piece.pages }
    }
}

impl Iterator for Masks {
    type Item = (usize, u64);

    fn next(&mut self) -> Option<(usize, u64)> {
        if self.page >= self.end {
            return None;
        }
        let (word, first) = (self.page / 64, self.page % 64);
        let count = (self.end - self.page).min(64 - first);
        self.page += count;
        Some((word as usize, (u64::MAX >> (64 - count)) << first))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn it_is_what_a_list_of_single_pages_is() {
        let mut random = fastrand::Rng::with_seed(4);
        for pages in [64, 65, 127, 200, 256] {
            let (mut room, mut model) = (Room::new(pages, 5), vec![false; pages as usize]);
            model[..5].fill(true);
            let mut taken: Vec<Piece> = Vec::new();
            for _ in 0..2000 {
                if !taken.is_empty() && random.bool() {
                    let piece = taken.swap_remove(random.usize(..taken.len()));
                    room.give(piece);
                    model[piece.at as usize..(piece.at + piece.pages) as usize].fill(false);
                } else if let Some(piece) = room.find(random.u64(1..150)) {
                    for page in piece.at..piece.at + piece.pages {
                        assert!(!model[page as usize], "{page} was taken");
                        model[page as usize] = true;
                    }
                    taken.push(piece);
                } else {
                    assert!(model.iter().all(|taken| *taken));
                }
                assert_eq!(room.free(), model.iter().filter(|taken| !**taken).count() as u64);
            }
        }
    }

    #[test]
    fn what_is_not_there_or_taken_is_not_taken() {
        let mut room = Room::new(100, 5);
        for (at, pages) in [(4, 1), (0, 100), (99, 2), (u64::MAX, 2), (100, 1)] {
            assert!(!room.take(Piece { at, pages }), "{at} {pages}");
        }
        assert!(room.take(Piece { at: 5, pages: 95 }) && room.find(1).is_none() && room.free() == 0);
    }
}
