//! CRC-32C (Castagnoli), as iSCSI, ext4 and btrfs have it: it finds every error of up to 32 bits in a row.

use crc::{CRC_32_ISCSI, Crc, Table};

static CRC: Crc<u32, Table<16>> = Crc::<u32, Table<16>>::new(&CRC_32_ISCSI);

/// The checksum of these pieces, one behind the other.
pub(crate) fn of(pieces: &[&[u8]]) -> u32 {
    let mut digest = CRC.digest();
    for piece in pieces {
        digest.update(piece);
    }
    digest.finalize()
}
