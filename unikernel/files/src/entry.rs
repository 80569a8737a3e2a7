//! What a record says: changes of the files, as bytes.

use alloc::borrow::ToOwned;
use alloc::string::String;
use alloc::vec::Vec;

/// The most bytes of a name.
pub(crate) const LONGEST_NAME: usize = 255;

/// One change. Applied in order they make the state of all files.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Entry {
    /// An empty file.
    Create {
        id: u32,
        name: String,
    },
    Remove {
        id: u32,
    },
    /// A new name of a file. There is none of that name then.
    Rename {
        id: u32,
        name: String,
    },
    Size {
        id: u32,
        size: u64,
    },
    /// Pages of the file from `page` on lie at `at` and behind it.
    Map {
        id: u32,
        page: u64,
        at: u64,
        pages: u32,
    },
    /// Pages of the file from `page` on lie nowhere: they are zeros.
    Unmap {
        id: u32,
        page: u64,
        pages: u64,
    },
    /// The checksum of the checksums of so many pages at `at`, which were written together with this record.
    Verify {
        at: u64,
        pages: u32,
        crc: u32,
    },
}

impl Entry {
    pub fn encode(&self, out: &mut Vec<u8>) {
        match self {
            Self::Create { id, name } => Self::named(out, 1, *id, name),
            Self::Remove { id } => {
                out.push(2);
                out.extend(id.to_le_bytes());
            }
            Self::Rename { id, name } => Self::named(out, 3, *id, name),
            Self::Size { id, size } => {
                out.push(4);
                out.extend(id.to_le_bytes());
                out.extend(size.to_le_bytes());
            }
            Self::Map { id, page, at, pages } => {
                out.push(5);
                out.extend(id.to_le_bytes());
                out.extend(page.to_le_bytes());
                out.extend(at.to_le_bytes());
                out.extend(pages.to_le_bytes());
            }
            Self::Unmap { id, page, pages } => {
                out.push(6);
                out.extend(id.to_le_bytes());
                out.extend(page.to_le_bytes());
                out.extend(pages.to_le_bytes());
            }
            Self::Verify { at, pages, crc } => {
                out.push(7);
                out.extend(at.to_le_bytes());
                out.extend(pages.to_le_bytes());
                out.extend(crc.to_le_bytes());
            }
        }
    }

    fn named(out: &mut Vec<u8>, kind: u8, id: u32, name: &str) {
        out.push(kind);
        out.extend(id.to_le_bytes());
        out.push(name.len() as u8);
        out.extend(name.as_bytes());
    }

    /// The bytes of a file in a snapshot: its name, its size, and where its pieces lie.
    pub fn bytes_of_file(name: &str, pieces: usize) -> usize {
        (6 + name.len()) + 13 + Self::PIECE_BYTES * pieces
    }

    pub const PIECE_BYTES: usize = 25;
    pub const VERIFY_BYTES: usize = 17;
}

/// Reads entries. It ends at what is none, and [`Entries::is_whole`] says whether that was the end.
pub(crate) struct Entries<'a> {
    rest: &'a [u8],
    whole: bool,
}

impl<'a> Entries<'a> {
    pub fn of(bytes: &'a [u8]) -> Self {
        Self { rest: bytes, whole: true }
    }

    pub fn is_whole(&self) -> bool {
        self.whole
    }

    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.rest.split_first_chunk()?;
        self.rest = rest;
        Some(*first)
    }

    fn u32(&mut self) -> Option<u32> {
        self.take().map(u32::from_le_bytes)
    }

    fn u64(&mut self) -> Option<u64> {
        self.take().map(u64::from_le_bytes)
    }

    fn name(&mut self) -> Option<String> {
        let [len] = self.take()?;
        let (name, rest) = self.rest.split_at_checked(usize::from(len))?;
        self.rest = rest;
        core::str::from_utf8(name).ok().filter(|name| is_name(name)).map(ToOwned::to_owned)
    }

    fn entry(&mut self) -> Option<Entry> {
        let [kind] = self.take()?;
        Some(match kind {
            1 => Entry::Create { id: self.u32()?, name: self.name()? },
            2 => Entry::Remove { id: self.u32()? },
            3 => Entry::Rename { id: self.u32()?, name: self.name()? },
            4 => Entry::Size { id: self.u32()?, size: self.u64()? },
            5 => Entry::Map { id: self.u32()?, page: self.u64()?, at: self.u64()?, pages: self.u32()? },
            6 => Entry::Unmap { id: self.u32()?, page: self.u64()?, pages: self.u64()? },
            7 => Entry::Verify { at: self.u64()?, pages: self.u32()?, crc: self.u32()? },
            _ => return None,
        })
    }
}

impl Iterator for Entries<'_> {
    type Item = Entry;

    fn next(&mut self) -> Option<Entry> {
        if self.rest.is_empty() || !self.whole {
            return None;
        }
        let entry = self.entry();
        self.whole = entry.is_some();
        entry
    }
}

pub(crate) fn is_name(name: &str) -> bool {
    (1..=LONGEST_NAME).contains(&name.len()) && !name.contains('\0')
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::vec;

    fn all() -> Vec<Entry> {
        vec![
            Entry::Create { id: 1, name: "a".into() },
            Entry::Rename { id: 1, name: "ä/".repeat(85) },
            Entry::Size { id: 1, size: u64::MAX },
            Entry::Map { id: 1, page: 2, at: 3, pages: 4 },
            Entry::Unmap { id: 1, page: 5, pages: 6 },
            Entry::Verify { at: 7, pages: 8, crc: 9 },
            Entry::Remove { id: 1 },
        ]
    }

    fn encoded(entries: &[Entry]) -> Vec<u8> {
        let mut out = Vec::new();
        entries.iter().for_each(|entry| entry.encode(&mut out));
        out
    }

    #[test]
    fn they_are_read_as_they_were_written() {
        let bytes = encoded(&all());
        let mut entries = Entries::of(&bytes);
        assert_eq!(entries.by_ref().collect::<Vec<_>>(), all());
        assert!(entries.is_whole());
    }

    #[test]
    fn a_part_of_one_is_no_entry() {
        let bytes = encoded(&all());
        let ends: Vec<_> = (0..=all().len()).map(|n| encoded(&all()[..n]).len()).collect();
        for len in 0..bytes.len() {
            let mut entries = Entries::of(&bytes[..len]);
            let read = entries.by_ref().count();
            assert_eq!(entries.is_whole(), ends.contains(&len), "{len}");
            assert_eq!(read, ends.iter().filter(|end| **end <= len).count() - 1);
        }
    }

    #[test]
    fn the_room_that_a_file_takes_is_what_its_entries_take() {
        let entries = [
            Entry::Create { id: 1, name: "door".into() },
            Entry::Size { id: 1, size: 9000 },
            Entry::Map { id: 1, page: 0, at: 90, pages: 2 },
            Entry::Map { id: 1, page: 2, at: 80, pages: 1 },
        ];
        assert_eq!(encoded(&entries).len(), Entry::bytes_of_file("door", 2));
        assert_eq!(encoded(&all()[5..6]).len(), Entry::VERIFY_BYTES);
    }
}
