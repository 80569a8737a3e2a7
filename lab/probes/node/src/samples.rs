//! Times of a trial, in pieces: on a machine without an MMU there is no large piece of memory after a while.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use node::output::Output;
use plain::report;

/// Of so many times each.
const PIECE: usize = 4096;
/// Handed on at a time.
const ROWS: usize = 64;

/// Nanoseconds, of which each is less than 4.3 s.
pub struct Samples {
    pieces: Vec<Vec<u32>>,
    at: usize,
    /// One took longer than that.
    overflowed: bool,
}

impl Samples {
    /// With room for so many, there before the first is taken.
    pub fn new(count: u64) -> Result<Self, String> {
        let none = |_| format!("there is no memory for {count} samples of 4 bytes: ask for fewer");
        let (mut pieces, mut left) = (Vec::new(), usize::try_from(count).unwrap_or(usize::MAX));
        while left > 0 {
            let mut piece = Vec::new();
            piece.try_reserve_exact(left.min(PIECE)).map_err(none)?;
            pieces.try_reserve(1).map_err(none)?;
            pieces.push(piece);
            left -= left.min(PIECE);
        }
        Ok(Self { pieces, at: 0, overflowed: false })
    }

    #[inline]
    pub fn push(&mut self, ns: u64) {
        self.overflowed |= ns > u32::MAX.into();
        let Some(piece) = self.pieces.get_mut(self.at) else { return };
        piece.push(ns as u32);
        if piece.len() == piece.capacity() {
            self.at += 1;
        }
    }

    /// Tells them as those of the first part.
    pub fn say(&self, out: &mut Output) -> Result<(), String> {
        if self.overflowed {
            return Err("a sample took longer than 4 s, which finds no room here".into());
        }
        for rows in self.pieces.iter().flat_map(|piece| piece.chunks(ROWS)) {
            let mut wide = [0; ROWS];
            wide.iter_mut().zip(rows).for_each(|(wide, ns)| *wide = u64::from(*ns));
            report::samples(out, 0, &wide[..rows.len()]);
        }
        Ok(())
    }
}
