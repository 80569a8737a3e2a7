//! Blocks whose content says where they belong: the first 8 bytes are the place in a file or on a device, the next 8 the number of
//! the sample that wrote it (0 for the preparation), the rest a fixed pattern.

/// The least block that can be checked: it has room for its place and the number of its sample.
pub const LEAST: usize = 16;

/// Puts the pattern there, once for all blocks that are made of it.
pub fn fill(bytes: &mut [u8]) {
    bytes.iter_mut().enumerate().for_each(|(i, byte)| *byte = pattern(i));
}

/// Makes of a filled buffer the block at `offset` that the sample number `sample` wrote.
#[inline]
pub fn stamp(bytes: &mut [u8], offset: u64, sample: u64) {
    match bytes.first_chunk_mut() {
        Some(place) => *place = head(offset, sample),
        None => bytes.iter_mut().zip(head(offset, sample)).for_each(|(place, byte)| *place = byte),
    }
}

/// Whether it is that block.
pub fn is_right(bytes: &[u8], offset: u64, sample: u64) -> bool {
    let (start, rest) = bytes.split_at(bytes.len().min(LEAST));
    start.iter().zip(head(offset, sample)).all(|(is, should)| *is == should)
        && rest.iter().enumerate().all(|(i, byte)| *byte == pattern(i + start.len()))
}

#[inline]
fn head(offset: u64, sample: u64) -> [u8; LEAST] {
    (u128::from(offset) | u128::from(sample) << 64).to_le_bytes()
}

fn pattern(i: usize) -> u8 {
    (i as u8).wrapping_mul(31) ^ (i >> 8) as u8
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_block_of_another_place_sample_or_content_is_not_right() {
        let mut block = [0; 600];
        fill(&mut block);
        stamp(&mut block, 4096, 7);
        assert!(is_right(&block, 4096, 7));
        assert!(!is_right(&block, 4608, 7) && !is_right(&block, 4096, 8));
        for at in [0, 15, 16, 599] {
            block[at] ^= 1;
            assert!(!is_right(&block, 4096, 7), "{at}");
            block[at] ^= 1;
        }
    }
}
