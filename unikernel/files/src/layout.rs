//! Where what lies on the device, and its beginning: the superblock.
//!
//! There are two superblocks, in pages 0 and 1, and two areas. A superblock of generation n lies in page n mod 2 and speaks of the area n mod 2:
//! the newer one counts, and the older one and its area are left alone until the newer one is durable.

use crate::crc;
use crate::disk::Geometry;
use crate::error::Error;

/// Bytes of a page, in which room is given to files.
pub const PAGE: usize = 4096;

const MAGIC: [u8; 8] = *b"KZFILES\n";
const VERSION: u32 = 1;
/// A device smaller than this has no room for two areas and anything else.
const FEWEST_PAGES: u64 = 64;
/// An area has at most these: 64 MiB. Whoever mounts a device keeps what is in it in memory.
const MOST_OF_AN_AREA: u64 = 16384;
/// The same in bytes.
pub const LEAST_BYTES: u64 = FEWEST_PAGES * PAGE as u64;
/// What is read and written of a superblock.
pub(crate) const SUPERBLOCK: usize = 64;

/// The parts of a device, in pages.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Layout {
    pub pages: u64,
    pub area: u64,
    pub block_size: u32,
}

impl Layout {
    /// Of a device that is to be formatted: an area has the 128th part of it, 64 KiB to 64 MiB.
    pub fn of(geometry: Geometry) -> Result<Self, Error> {
        if !geometry.is_sound() {
            return Err(Error::BlockSize(geometry.block_size));
        }
        let pages = pages_of(geometry);
        if pages < FEWEST_PAGES {
            return Err(Error::TooSmall { needed: LEAST_BYTES });
        }
        Ok(Self { pages, area: (pages / 128).clamp(16, MOST_OF_AN_AREA), block_size: geometry.block_size })
    }

    /// The first page of the area of that generation.
    pub fn area_start(self, generation: u64) -> u64 {
        2 + generation % 2 * self.area
    }

    pub fn area_bytes(self) -> usize {
        self.area as usize * PAGE
    }

    pub fn data_start(self) -> u64 {
        2 + 2 * self.area
    }

    pub fn blocks_per_page(self) -> u64 {
        PAGE as u64 / u64::from(self.block_size)
    }

    /// The first block of a page.
    pub fn block(self, page: u64) -> u64 {
        page * self.blocks_per_page()
    }

    /// So many bytes, in whole blocks.
    pub fn padded(self, bytes: usize) -> usize {
        bytes.next_multiple_of(self.block_size as usize)
    }
}

pub(crate) fn pages_of(geometry: Geometry) -> u64 {
    geometry.blocks / (PAGE as u64 / u64::from(geometry.block_size))
}

/// The beginning of one generation of the files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Superblock {
    pub layout: Layout,
    pub generation: u64,
    /// The bytes of the snapshot, from the beginning of the area on; the log begins with the next block.
    pub snapshot_bytes: u64,
    /// The checksum of the snapshot, from which that of the first record of the log goes on.
    pub snapshot_crc: u32,
}

impl Superblock {
    pub fn encode(&self) -> [u8; SUPERBLOCK] {
        let mut out = [0; SUPERBLOCK];
        out[..8].copy_from_slice(&MAGIC);
        out[8..12].copy_from_slice(&VERSION.to_le_bytes());
        out[16..20].copy_from_slice(&self.layout.block_size.to_le_bytes());
        out[20..24].copy_from_slice(&self.snapshot_crc.to_le_bytes());
        for (at, value) in
            [(24, self.generation), (32, self.layout.pages), (40, self.layout.area), (48, self.snapshot_bytes)]
        {
            out[at..at + 8].copy_from_slice(&value.to_le_bytes());
        }
        let crc = crc::of(&[&out]);
        out[12..16].copy_from_slice(&crc.to_le_bytes());
        out
    }

    /// What these bytes say; `None` if they are no superblock, or one that was not written whole.
    ///
    /// # Errors
    /// Of a superblock that is whole, and of another version, or of a device of another shape.
    pub fn decode(bytes: &[u8; SUPERBLOCK], geometry: Geometry) -> Result<Option<Self>, Error> {
        let mut blank = *bytes;
        blank[12..16].fill(0);
        if bytes[..8] != MAGIC || u32_at(bytes, 12) != crc::of(&[&blank]) {
            return Ok(None);
        }
        match u32_at(bytes, 8) {
            VERSION => {}
            other => return Err(Error::Version(other)),
        }
        let layout = Layout { pages: u64_at(bytes, 32), area: u64_at(bytes, 40), block_size: u32_at(bytes, 16) };
        let (generation, snapshot_bytes) = (u64_at(bytes, 24), u64_at(bytes, 48));
        if layout.block_size != geometry.block_size {
            return Err(Error::Damaged("it was formatted for blocks of another size"));
        }
        if layout.pages > pages_of(geometry) {
            return Err(Error::Damaged("it was formatted larger than it is: its end is gone"));
        }
        let sound = layout.pages >= FEWEST_PAGES
            && (1..=MOST_OF_AN_AREA.min(layout.pages / 4)).contains(&layout.area)
            && generation < u64::MAX
            && snapshot_bytes <= layout.area * PAGE as u64;
        if !sound {
            return Err(Error::Damaged("the sizes in its superblock cannot be"));
        }
        Ok(Some(Self { layout, generation, snapshot_bytes, snapshot_crc: u32_at(bytes, 20) }))
    }
}

fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

#[cfg(test)]
mod tests {
    use super::*;

    const GEOMETRY: Geometry = Geometry { block_size: 512, blocks: 8192 };

    fn superblock() -> Superblock {
        let layout = Layout::of(GEOMETRY).unwrap();
        Superblock { layout, generation: 7, snapshot_bytes: 100, snapshot_crc: 0xdead_beef }
    }

    #[test]
    fn it_is_read_as_it_was_written() {
        assert_eq!(Superblock::decode(&superblock().encode(), GEOMETRY), Ok(Some(superblock())));
    }

    #[test]
    fn every_bit_of_it_is_guarded() {
        let written = superblock().encode();
        for bit in 0..SUPERBLOCK * 8 {
            let mut changed = written;
            changed[bit / 8] ^= 1 << (bit % 8);
            assert_eq!(Superblock::decode(&changed, GEOMETRY), Ok(None), "bit {bit}");
        }
    }

    #[test]
    fn another_shape_is_told() {
        let written = superblock().encode();
        let smaller = Superblock::decode(&written, Geometry { blocks: 8184, ..GEOMETRY });
        assert!(matches!(smaller, Err(Error::Damaged(_))), "{smaller:?}");
        let coarser = Superblock::decode(&written, Geometry { block_size: 4096, blocks: 1024 });
        assert!(matches!(coarser, Err(Error::Damaged(_))), "{coarser:?}");
        assert_eq!(Layout::of(Geometry { block_size: 500, blocks: 8192 }), Err(Error::BlockSize(500)));
        assert_eq!(Layout::of(Geometry { block_size: 512, blocks: 511 }), Err(Error::TooSmall { needed: 262_144 }));
    }
}
