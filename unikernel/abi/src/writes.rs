//! A log of what was written to a disk and when it was flushed, as Linux's dm-log-writes has it (Documentation/admin-guide/device-mapper/
//! log-writes.rst), so that its tools read it: a sector that says how many entries follow, then each entry, in a sector of its own, with its
//! data behind it. Numbers are little endian.

/// Bytes of a sector.
pub const SECTOR: usize = 512;
const MAGIC: u64 = 0x6a_7366_7773_6872;
const VERSION: u64 = 1;

/// A flush, before what it comes with.
pub const FLUSH: u64 = 1;
/// What is durable when it is done.
pub const FUA: u64 = 1 << 1;

/// The first sector of a log with so many entries.
pub fn first(entries: u64) -> [u8; SECTOR] {
    let mut out = [0; SECTOR];
    out[..8].copy_from_slice(&MAGIC.to_le_bytes());
    out[8..16].copy_from_slice(&VERSION.to_le_bytes());
    out[16..24].copy_from_slice(&entries.to_le_bytes());
    out[24..28].copy_from_slice(&(SECTOR as u32).to_le_bytes());
    out
}

/// The number of entries that a first sector tells of; `None` if it is none.
pub fn entries(first: &[u8]) -> Option<u64> {
    let right = word(first, 0)? == MAGIC && word(first, 1)? == VERSION && word(first, 3)? as u32 == SECTOR as u32;
    right.then(|| word(first, 2)).flatten()
}

/// What an entry says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The first of its sectors.
    pub sector: u64,
    /// How many there are.
    pub sectors: u64,
    pub flags: u64,
}

impl Entry {
    /// Its sector, behind which its data goes.
    pub fn encode(&self) -> [u8; SECTOR] {
        let mut out = [0; SECTOR];
        for (n, number) in [self.sector, self.sectors, self.flags, 0].into_iter().enumerate() {
            out[8 * n..8 * n + 8].copy_from_slice(&number.to_le_bytes());
        }
        out
    }

    /// What a sector says.
    pub fn decode(sector: &[u8]) -> Option<Self> {
        Some(Self { sector: word(sector, 0)?, sectors: word(sector, 1)?, flags: word(sector, 2)? })
    }
}

fn word(bytes: &[u8], n: usize) -> Option<u64> {
    Some(u64::from_le_bytes(*bytes.get(8 * n..8 * n + 8)?.first_chunk()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_written_is_read() {
        assert_eq!(entries(&first(7)), Some(7));
        assert_eq!(first(0)[..8], *b"rhswfsj\0");
        let entry = Entry { sector: 1 << 40, sectors: 3, flags: FUA };
        assert_eq!(Entry::decode(&entry.encode()), Some(entry));
        assert_eq!((entries(&[0; SECTOR]), Entry::decode(&[0; 20])), (None, None));
    }
}
