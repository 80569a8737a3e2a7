//! Devices that anything was done to: they are refused or mounted, and whatever is done with their files then ends in a result.
//!
//! `KIZAMI_FUZZ_SECONDS` sets the duration, of which this takes a third, 5 seconds if it is not set; `KIZAMI_FUZZ_SEED` repeats the devices
//! of another run.

extern crate std;

use std::format;
use std::println;
use std::string::String;
use std::time::{Duration, Instant, SystemTime};
use std::vec;
use std::vec::Vec;

use crate::layout::{SUPERBLOCK, Superblock};
use crate::mount::{self, Found};
use crate::record::{HEADER, Header};
use crate::{Error, Files, Memory, PAGE, check, crc};

/// What numbers are changed to, beside any.
const EDGES: [u64; 14] = [0, 1, 2, 15, 16, 63, 255, 4095, 4096, 65_535, 1 << 20, 1 << 31, 1 << 32, u64::MAX];

#[test]
fn no_device_is_too_much_for_them() {
    let variable = |name| std::env::var(name).ok().and_then(|text: String| text.parse::<u64>().ok());
    let until = Instant::now() + Duration::from_secs(variable("KIZAMI_FUZZ_SECONDS").unwrap_or(15).div_ceil(3));
    let any = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let seed = variable("KIZAMI_FUZZ_SEED").unwrap_or_else(any);
    println!("KIZAMI_FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut devices, mut mounted, mut changed) = (0u64, 0u64, 0u64);
    while Instant::now() < until {
        let block_size = [512, 1024, 4096][random.usize(..3)];
        let used = used(block_size, &mut random);
        for _ in 0..50 {
            let mut bytes = used.clone();
            let forged = (0..random.usize(1..4)).filter(|_| damage(&mut bytes, block_size, &mut random)).count() > 0;
            devices += 1;
            let (was_mounted, was_changed) = live_with(block_size, bytes, forged, &mut random);
            mounted += u64::from(was_mounted);
            changed += u64::from(was_changed);
        }
    }
    println!("{devices} devices, {mounted} were mounted, {changed} of them changed");
    // It would prove nothing if none came so far.
    assert!(devices < 100 || (mounted > devices / 10 && mounted < devices && changed > 0));
}

/// A device with some files.
fn used(block_size: u32, random: &mut fastrand::Rng) -> Vec<u8> {
    let pages = random.usize(64..200);
    let mut files = Files::format(Memory::new(block_size, pages * PAGE / block_size as usize)).unwrap();
    for _ in 0..random.usize(..40) {
        let file = files.open_or_create(&format!("f{}", random.u8(..6))).unwrap();
        // It may be full.
        let _ = files.write_at(file, random.u64(..20_000), &vec![random.u8(..); random.usize(..9000)]);
        let _ = files.sync();
    }
    files.into_disk().into_bytes()
}

/// Changes something, and makes the checksums right again more often than not: what is behind them is to be seen. True if a generation
/// may be another than it was, and with it what of the logs counts.
fn damage(bytes: &mut [u8], block_size: u32, random: &mut fastrand::Rng) -> bool {
    let mut memory = Memory::from_bytes(block_size, bytes.to_vec());
    let (Ok(found), 1..) = (mount::find(&mut memory), random.u8(..8)) else {
        anywhere(bytes, random);
        return false;
    };
    let what = random.u8(..3);
    match what {
        0 => superblock(bytes, &found, random),
        1 => snapshot(bytes, &found, random),
        _ => last_record(bytes, &found, random),
    }
    what == 0
}

fn anywhere(bytes: &mut [u8], random: &mut fastrand::Rng) {
    let start = random.usize(..bytes.len());
    let len = [1, 8, 64, 512, 8192][random.usize(..5)].min(bytes.len() - start);
    let with = random.u8(..);
    bytes[start..start + len].iter_mut().for_each(|byte| *byte = if random.bool() { with } else { random.u8(..) });
}

/// One number of it.
fn number(bytes: &mut [u8], random: &mut fastrand::Rng) {
    let width = [1, 2, 4, 8][random.usize(..4)].min(bytes.len());
    let at = random.usize(..=bytes.len() - width);
    let to = if random.bool() { EDGES[random.usize(..EDGES.len())] } else { random.u64(..) };
    bytes[at..at + width].copy_from_slice(&to.to_le_bytes()[..width]);
}

fn superblock(bytes: &mut [u8], found: &Found, random: &mut fastrand::Rng) {
    let at = (found.superblock.generation % 2) as usize * PAGE;
    number(&mut bytes[at + 16..at + SUPERBLOCK], random);
    seal(bytes, at);
}

/// Makes the checksum of a superblock right.
fn seal(bytes: &mut [u8], at: usize) {
    bytes[at + 12..at + 16].fill(0);
    let crc = crc::of(&[&bytes[at..at + SUPERBLOCK]]);
    bytes[at + 12..at + 16].copy_from_slice(&crc.to_le_bytes());
}

fn snapshot(bytes: &mut [u8], found: &Found, random: &mut fastrand::Rng) {
    let Superblock { layout, generation, snapshot_bytes, .. } = found.superblock;
    let at = layout.area_start(generation) as usize * PAGE;
    let Some(snapshot) = bytes.get_mut(at..at + snapshot_bytes as usize).filter(|snapshot| !snapshot.is_empty()) else {
        return;
    };
    number(snapshot, random);
    let crc = crc::of(&[snapshot]);
    let at = (generation % 2) as usize * PAGE;
    bytes[at + 20..at + 24].copy_from_slice(&crc.to_le_bytes());
    seal(bytes, at);
}

fn last_record(bytes: &mut [u8], found: &Found, random: &mut fastrand::Rng) {
    let Superblock { layout, generation, snapshot_bytes, .. } = found.superblock;
    let start = layout.area_start(generation) as usize * PAGE;
    let (mut at, mut last) = (start + layout.padded(snapshot_bytes as usize), None);
    while let Some(header) = bytes.get(at..start + layout.area_bytes()).and_then(Header::decode)
        && header.generation == generation
        && at - start + header.record_bytes() <= layout.area_bytes()
    {
        last = Some((at, header));
        at += layout.padded(header.record_bytes());
    }
    let Some((at, header)) = last.filter(|(_, header)| header.bytes > 0) else { return };
    number(&mut bytes[at + HEADER..at + header.record_bytes()], random);
    let crc = crc::of(&[&bytes[at..at + HEADER - 4], &bytes[at + HEADER..at + header.record_bytes()]]);
    bytes[at + HEADER - 4..at + HEADER].copy_from_slice(&crc.to_le_bytes());
}

/// Whether it could be mounted, and whether its files could be changed.
fn live_with(block_size: u32, bytes: Vec<u8>, forged: bool, random: &mut fastrand::Rng) -> (bool, bool) {
    let mut memory = Memory::from_bytes(block_size, bytes);
    let report = check(&mut memory);
    let Ok(mut files) = Files::mount(memory) else {
        assert!(report.is_err(), "what cannot be mounted is found by a check");
        return (false, false);
    };
    assert!(report.is_ok(), "what is mounted is checked");
    let names: Vec<String> = files.list("").map(|(name, _)| name.into()).collect();
    let mut buffer = vec![0; 3 * PAGE];
    for name in &names {
        let file = files.open(name).unwrap();
        let size = files.size(file).unwrap();
        for offset in [0, size / 2, size.saturating_sub(5000), size, u64::MAX] {
            // What was damaged may be of another's, or lie where nothing is.
            let _ = files.read_at(file, offset, &mut buffer);
        }
        let _ = match random.u8(..6) {
            0 => files.write_at(file, random.u64(..=size), b"changed"),
            1 => files.append(file, b"changed"),
            2 => files.set_size(file, random.u64(..100_000)),
            3 => files.rename(name, "new").map(drop),
            4 => files.remove(name),
            _ => Ok(()),
        };
    }
    let file = files.open_or_create("one more");
    let written = file.is_ok_and(|file| files.append(file, &[7; 5000]).is_ok());
    let synced = files.sync().is_ok();
    if !synced {
        return (true, false);
    }
    // What they made durable they find again.
    let before: Vec<(String, u64)> = files.list("").map(|(name, size)| (name.into(), size)).collect();
    let mut files = match Files::mount(files.into_disk()) {
        Ok(files) => files,
        // What an older generation left is taken for its own.
        Err(Error::Damaged(_)) if forged => return (true, false),
        Err(why) => panic!("{why}, after {report:?}"),
    };
    assert!(files.list("").map(|(name, size)| (String::from(name), size)).eq(before));
    if let (true, Ok(file)) = (written, files.open("one more")) {
        let size = files.size(file).unwrap();
        let mut end = [0; 5000];
        assert_eq!(files.read_at(file, size - 5000, &mut end), Ok(5000));
        assert_eq!(end, [7; 5000]);
    }
    (true, written)
}

#[test]
fn geometries_that_cannot_be_are_refused() {
    for block_size in [0, 1, 3, 256, 513, 8192, 1 << 31] {
        let memory = Memory::from_bytes(block_size, vec![0; 1 << 20]);
        assert!(Files::format(memory.clone()).is_err() && Files::mount(memory).is_err(), "{block_size}");
    }
}
