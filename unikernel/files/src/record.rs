//! A record of the log: a header, and entries.
//!
//! A record names the checksum of the one before it (the first: of the snapshot), so that it counts only behind the very one that
//! it was written behind: what an earlier use of the area left is not taken for a part of this one.

use alloc::vec::Vec;

use crate::crc;

const MAGIC: [u8; 4] = *b"KZRC";
pub(crate) const HEADER: usize = 32;
/// What would be longer is told by a snapshot instead, so that one knows where to look for the next record behind one that has
/// changed.
pub(crate) const LONGEST_RECORD: usize = 64 << 10;

/// What a record begins with.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Header {
    /// The bytes of the entries.
    pub bytes: u32,
    pub generation: u64,
    /// Its place in the log, counted from 0.
    pub number: u64,
    /// The checksum of the record before it.
    pub before: u32,
    /// Of all of the record but itself.
    pub crc: u32,
}

impl Header {
    /// A record of these entries, and its checksum.
    pub fn encode(generation: u64, number: u64, before: u32, entries: &[u8]) -> (Vec<u8>, u32) {
        let mut out = Vec::with_capacity(HEADER + entries.len());
        out.extend(MAGIC);
        out.extend((entries.len() as u32).to_le_bytes());
        out.extend(generation.to_le_bytes());
        out.extend(number.to_le_bytes());
        out.extend(before.to_le_bytes());
        let crc = crc::of(&[&out, entries]);
        out.extend(crc.to_le_bytes());
        out.extend(entries);
        (out, crc)
    }

    /// The header at the beginning of `bytes`, if there is one; [`Header::is_whole`] says whether its record is there.
    pub fn decode(bytes: &[u8]) -> Option<Self> {
        let (head, _) = bytes.split_first_chunk::<HEADER>()?;
        let u32_at = |at: usize| u32::from_le_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        let u64_at = |at: usize| u64::from(u32_at(at)) | u64::from(u32_at(at + 4)) << 32;
        (head[..4] == MAGIC).then(|| Self {
            bytes: u32_at(4),
            generation: u64_at(8),
            number: u64_at(16),
            before: u32_at(24),
            crc: u32_at(28),
        })
    }

    /// The bytes of the whole record.
    pub fn record_bytes(&self) -> usize {
        HEADER + self.bytes as usize
    }

    /// Whether `bytes`, which begin with this header, have the record that was written.
    pub fn is_whole(&self, bytes: &[u8]) -> bool {
        let entries = bytes.get(HEADER..self.record_bytes());
        entries.is_some_and(|entries| self.crc == crc::of(&[&bytes[..HEADER - 4], entries]))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_bit_of_it_is_guarded() {
        let (written, crc) = Header::encode(3, 4, 77, b"entries");
        let header = Header::decode(&written).unwrap();
        assert_eq!(header, Header { bytes: 7, generation: 3, number: 4, before: 77, crc });
        assert!(header.is_whole(&written) && !header.is_whole(&written[..38]));
        for bit in 0..written.len() * 8 {
            let mut changed = written.clone();
            changed[bit / 8] ^= 1 << (bit % 8);
            assert!(!Header::decode(&changed).is_some_and(|header| header.is_whole(&changed)), "bit {bit}");
        }
    }
}
