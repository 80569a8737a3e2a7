//! The pages that tell a guest of its world.

use unikernel_abi::boot::{Clock, MAGIC, Range};
use unikernel_abi::{BOOT, BOOT_END, Boot, Device, Kind, PAGE, VERSION};

use crate::guest::Guest;

/// What a guest is told does not fit.
#[derive(Debug, thiserror::Error)]
#[error("the arguments and variables of the program are {0} bytes, and {most} is the most", most = BOOT_END - BOOT - PAGE)]
pub struct TooMuch(u64);

/// The bytes from [`BOOT`] on.
pub(crate) fn pages(
    guest: &Guest,
    kind: Kind,
    clock: Clock,
    devices: &[Device],
    counts: Range,
) -> Result<Vec<u8>, TooMuch> {
    let mut out = vec![0; size_of::<Boot>()];
    let devices_at = put(&mut out, &devices.iter().flat_map(device_bytes).collect::<Vec<_>>());
    let strings = |texts: &[String]| -> Vec<u8> { texts.iter().flat_map(|text| text.bytes().chain([0])).collect() };
    let arguments = put(&mut out, &strings(guest.arguments()));
    let environment = put(&mut out, &strings(guest.environment()));
    if out.len() as u64 > BOOT_END - BOOT {
        return Err(TooMuch(arguments.len + environment.len));
    }
    let (heap, stack) = (guest.heap(), guest.stack());
    let words = [
        MAGIC,
        u64::from(VERSION) | (kind as u64) << 32,
        heap.start,
        heap.len,
        stack.start,
        stack.len,
        arguments.start,
        arguments.len,
        environment.start,
        environment.len,
        clock.function,
        clock.tsc_hz,
        clock.tsc_then,
        clock.wall_then,
        devices_at.start,
        devices_at.len,
        counts.start,
        counts.len,
    ];
    for (n, word) in words.into_iter().enumerate() {
        out[8 * n..8 * n + 8].copy_from_slice(&word.to_le_bytes());
    }
    Ok(out)
}

/// Puts bytes where the next ones go, and says where that is for the guest.
fn put(out: &mut Vec<u8>, bytes: &[u8]) -> Range {
    out.resize(out.len().next_multiple_of(8), 0);
    let start = BOOT + out.len() as u64;
    out.extend(bytes);
    Range { start, len: bytes.len() as u64 }
}

fn device_bytes(device: &Device) -> Vec<u8> {
    let Device {
        name,
        handle,
        durable_handle,
        durability,
        block_size,
        read_only,
        alignment,
        blocks,
        most_bytes,
        rings,
        poll_ns,
    } = *device;
    let small = [handle, durable_handle, durability, block_size, read_only, alignment];
    let mut out = name.to_vec();
    out.extend(small.iter().flat_map(|number| number.to_le_bytes()));
    out.extend([blocks, most_bytes, rings, poll_ns].iter().flat_map(|number| number.to_le_bytes()));
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_device_is_told_as_it_is() {
        let mut name = [0; 24];
        name[..4].copy_from_slice(b"data");
        let device = Device {
            name,
            handle: 3,
            durable_handle: 4,
            durability: 1,
            block_size: 512,
            read_only: 0,
            alignment: 1,
            blocks: 1 << 40,
            most_bytes: 1 << 20,
            rings: 0,
            poll_ns: 0,
        };
        let bytes = device_bytes(&device);
        assert_eq!(bytes.len(), size_of::<Device>());
        assert_eq!((bytes[24], bytes[28], bytes[32], bytes[53], bytes[58]), (3, 4, 1, 1, 16));
    }
}
