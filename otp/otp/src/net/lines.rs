//! Lines: bytes that arrive in pieces, cut at line ends.

use std::fmt;
use std::io;

use super::readiness::ready;
use super::{Filled, TcpStream};
use crate::data::{Bytes, Carry, Malformed};
use crate::nif::{Env, Term};
use crate::waiting::poll::descriptor::Readiness;

/// How much is read at a time.
const PIECE: usize = 4096;

/// Lines of a connection: bytes go in as they come, lines come out. It never holds more than the longest line and one piece of 4 KiB,
/// whatever the other side sends.
#[derive(Debug)]
pub struct Lines {
    bytes: Vec<u8>,
    /// Where the next line begins.
    start: usize,
    /// Up to where no end of a line was found.
    searched: usize,
    most: usize,
    /// Whether what comes up to the next end of a line is the rest of one that was too long.
    skipping: bool,
}

/// A line is longer than allowed. The rest of it is passed over.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TooLong {
    /// How many bytes are allowed.
    pub most: usize,
}

impl fmt::Display for TooLong {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "the line is longer than {} bytes", self.most)
    }
}

impl std::error::Error for TooLong {}

impl Lines {
    /// For lines of up to `most` bytes, without their end.
    pub fn of_at_most(most: usize) -> Self {
        Self { bytes: Vec::new(), start: 0, searched: 0, most, skipping: false }
    }

    /// Takes what the connection has, up to one piece. Take the lines out before more is taken in.
    ///
    /// # Errors
    /// When the connection is broken.
    pub fn fill(&mut self, stream: &TcpStream) -> io::Result<Filled> {
        let mut piece = [0; PIECE];
        let filled = stream.try_read(&mut piece)?;
        if let Filled::Some(read) = filled {
            self.put(&piece[..read]);
        }
        Ok(filled)
    }

    /// The same for bytes that came in another way.
    pub fn put(&mut self, bytes: &[u8]) {
        self.bytes.drain(..self.start);
        self.searched -= self.start;
        self.start = 0;
        self.bytes.extend_from_slice(bytes);
    }

    /// The next whole line, without `\n` or `\r\n`.
    pub fn next_line(&mut self) -> Option<Result<Vec<u8>, TooLong>> {
        loop {
            let end = self.bytes[self.searched..].iter().position(|byte| *byte == b'\n').map(|at| self.searched + at);
            let Some(end) = end else {
                self.searched = self.bytes.len();
                let too_long = self.bytes.len() - self.start > self.most + 1;
                let told = self.skipping;
                if told || too_long {
                    self.bytes.clear();
                    (self.start, self.searched, self.skipping) = (0, 0, true);
                }
                return (too_long && !told).then_some(Err(TooLong { most: self.most }));
            };
            let line = &self.bytes[self.start..end];
            let line = line.strip_suffix(b"\r").unwrap_or(line);
            let result = if line.len() > self.most { Err(TooLong { most: self.most }) } else { Ok(line.to_vec()) };
            (self.start, self.searched) = (end + 1, end + 1);
            if !std::mem::take(&mut self.skipping) {
                return Some(result);
            }
        }
    }
}

/// With the bytes of the line that has not ended.
impl Carry for Lines {
    fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        (Bytes::from(self.bytes[self.start..].to_vec()), self.most, self.skipping).carry(env)
    }

    fn carried(term: Term<'_>) -> Result<Self, Malformed> {
        let (bytes, most, skipping) = <(Bytes, usize, bool)>::carried(term)?;
        Ok(Self { bytes: bytes.0, start: 0, searched: 0, most, skipping })
    }
}

impl TcpStream {
    /// Waits for the next line, without its end; `None` when there is no other. What came of an unfinished one stays in `lines`.
    ///
    /// # Errors
    /// When the connection is broken, and `InvalidData` for a line that is too long, after which the next one can be read.
    pub async fn read_line(&mut self, lines: &mut Lines) -> io::Result<Option<Vec<u8>>> {
        loop {
            if let Some(line) = lines.next_line() {
                return line.map(Some).map_err(|wrong| io::Error::new(io::ErrorKind::InvalidData, wrong));
            }
            match lines.fill(self)? {
                Filled::Some(_) => {}
                Filled::End => return Ok(None),
                Filled::Nothing => ready(&self.socket, Readiness::Read).await?,
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn all(pieces: &[&[u8]], most: usize) -> (Vec<Result<Vec<u8>, TooLong>>, usize) {
        let (mut lines, mut found, mut held) = (Lines::of_at_most(most), Vec::new(), 0);
        for piece in pieces {
            lines.put(piece);
            while let Some(line) = lines.next_line() {
                found.push(line);
            }
            held = held.max(lines.bytes.len() - lines.start);
        }
        (found, held)
    }

    #[test]
    fn lines_are_the_same_however_the_bytes_are_cut() {
        let text: &[u8] = b"one\r\n\ntoo long a line\n\xff\xfe\nexact\nexact\r\nexacts\nlast\nunfinished";
        let too_long = Err(TooLong { most: 5 });
        let ok = |text: &[u8]| Ok(text.to_vec());
        let expected = [
            ok(b"one"),
            ok(b""),
            too_long.clone(),
            ok(b"\xff\xfe"),
            ok(b"exact"),
            ok(b"exact"),
            too_long.clone(),
            ok(b"last"),
            too_long,
        ];
        for size in 1..=text.len() {
            let pieces: Vec<&[u8]> = text.chunks(size).collect();
            assert_eq!(all(&pieces, 5).0, expected, "in pieces of {size}");
        }
    }

    #[test]
    fn a_line_without_an_end_takes_no_room_and_is_told_once() {
        let piece = [b'x'; 100];
        let (found, held) = all(&vec![&piece[..]; 1000], 150);
        assert_eq!((found, held <= 251), (vec![Err(TooLong { most: 150 })], true));
    }
}
