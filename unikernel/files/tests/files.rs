//! What a program sees of its files, against a model in memory, over mounts.

use std::collections::BTreeMap;

use unikernel_files::{Disk, DiskError, Error, Files, Geometry, Memory, PAGE, check};

const BLOCKS: usize = 8192;

fn new() -> Files<Memory> {
    Files::format(Memory::new(512, BLOCKS)).unwrap()
}

fn again(files: Files<Memory>) -> Files<Memory> {
    Files::mount(files.into_disk()).unwrap()
}

#[test]
fn what_was_synced_is_there_and_what_was_not_is_not() {
    let mut files = new();
    let log = files.create("log").unwrap();
    files.append(log, b"one\n").unwrap();
    files.sync().unwrap();
    files.append(log, b"two\n").unwrap();
    assert_eq!(files.read(log).unwrap(), b"one\ntwo\n");
    let mut files = again(files);
    let log = files.open("log").unwrap();
    assert_eq!(files.read(log).unwrap(), b"one\n");
    assert_eq!(files.list("").collect::<Vec<_>>(), [("log", 4)]);
}

/// The same operations on files and on vectors.
#[test]
fn they_are_what_vectors_are() {
    for (seed, block_size) in [(1, 512), (2, 4096), (3, 1024), (4, 512)] {
        let mut random = fastrand::Rng::with_seed(seed);
        let mut files = Files::format(Memory::new(block_size, 4 << 20 >> block_size.trailing_zeros())).unwrap();
        let (mut now, mut synced) = (BTreeMap::<String, Vec<u8>>::new(), BTreeMap::new());
        for step in 0..3000 {
            let name = format!("file {}", random.u8(..6));
            let spread = if random.bool() { 100 } else { 5 * PAGE };
            match random.u8(..20) {
                0 => assert_eq!(files.remove(&name).is_ok(), now.remove(&name).is_some()),
                1 => {
                    let to = format!("file {}", random.u8(..6));
                    let moved = now.contains_key(&name);
                    assert_eq!(files.rename(&name, &to).is_ok(), moved);
                    if moved {
                        let content = now.remove(&name).unwrap();
                        now.insert(to, content);
                    }
                }
                2 | 3 => {
                    let size = random.usize(..4 * spread);
                    if let (Ok(file), Some(content)) = (files.open(&name), now.get_mut(&name)) {
                        files.set_size(file, size as u64).unwrap();
                        content.resize(size, 0);
                    }
                }
                4 => {
                    files.sync().unwrap();
                    synced = now.clone();
                }
                5 => {
                    files = again(files);
                    now = synced.clone();
                }
                6..=12 => {
                    let data: Vec<u8> = (0..random.usize(..spread)).map(|_| random.u8(..)).collect();
                    let at = random.usize(..4 * spread);
                    let file = files.open_or_create(&name).unwrap();
                    files.write_at(file, at as u64, &data).unwrap();
                    let content = now.entry(name).or_default();
                    if !data.is_empty() {
                        content.resize(content.len().max(at + data.len()), 0);
                        content[at..at + data.len()].copy_from_slice(&data);
                    }
                }
                13..=15 => {
                    let data = vec![step as u8; random.usize(..spread)];
                    let file = files.open_or_create(&name).unwrap();
                    files.append(file, &data).unwrap();
                    now.entry(name).or_default().extend(&data);
                }
                _ => {
                    let (at, len) = (random.usize(..4 * spread), random.usize(..spread));
                    let Ok(file) = files.open(&name) else { continue };
                    let content = &now[&name];
                    let mut read = vec![0xee; len];
                    let got = files.read_at(file, at as u64, &mut read).unwrap();
                    let expected = content.get(at..(at + len).min(content.len())).unwrap_or_default();
                    assert_eq!(&read[..got], expected);
                }
            }
            if step % 50 == 0 {
                let names: Vec<_> = now.iter().map(|(name, content)| (name.as_str(), content.len() as u64)).collect();
                assert_eq!(files.list("").collect::<Vec<_>>(), names);
                for (name, content) in &now {
                    let file = files.open(name).unwrap();
                    assert!(files.read(file).unwrap() == *content, "{name} in step {step}");
                }
            }
        }
        files.sync().unwrap();
        let free = files.space().free;
        let mut disk = files.into_disk();
        let report = check(&mut disk).unwrap();
        assert_eq!((report.problems, report.interrupted, report.free), (vec![], None, free));
    }
}

/// A device that counts what is asked of it, and refuses what it is told to.
#[derive(Debug)]
struct Counting {
    memory: Memory,
    writes: usize,
    flushes: usize,
    refuse_write: Option<usize>,
    /// What is refused is done.
    lies: bool,
    refuse_flush: bool,
    /// One of eight writes is refused by this.
    moody: Option<fastrand::Rng>,
    refusals: u32,
}

impl Counting {
    fn new() -> Self {
        Self::with_blocks(BLOCKS)
    }

    fn with_blocks(blocks: usize) -> Self {
        let memory = Files::format(Memory::new(512, blocks)).unwrap().into_disk();
        let (refuse_write, moody, lies, refuse_flush) = (None, None, false, false);
        Self { memory, writes: 0, flushes: 0, refuse_write, lies, refuse_flush, moody, refusals: 0 }
    }
}

impl Disk for Counting {
    fn geometry(&self) -> Geometry {
        self.memory.geometry()
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        self.memory.read(block, into)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        self.writes += 1;
        let by_mood = self.moody.as_mut().is_some_and(|random| random.u8(..8) == 0);
        let refused = by_mood || self.refuse_write == Some(self.writes);
        self.refusals += u32::from(refused);
        if !refused || self.lies {
            self.memory.write(block, from)?;
        }
        if refused { Err(DiskError::Io) } else { Ok(()) }
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        self.flushes += 1;
        if self.refuse_flush { Err(DiskError::Io) } else { Ok(()) }
    }
}

#[test]
fn a_sync_is_one_flush_and_two_of_much() {
    let mut files = Files::mount(Counting::new()).unwrap();
    let log = files.create("log").unwrap();
    let mut flushes = 1;
    for n in 0..1000 {
        files.append(log, &vec![n as u8; n % 5000]).unwrap();
        files.sync().unwrap();
        flushes += 1;
        // Nothing is left to be flushed.
        files.sync().unwrap();
        files.set_size(log, 0).unwrap();
    }
    files.sync().unwrap();
    files.append(log, &vec![1; 3 << 20]).unwrap();
    files.sync().unwrap();
    assert_eq!(files.into_disk().flushes, flushes + 2);
}

#[test]
fn a_full_device_says_so_and_what_it_has_is_there() {
    let mut files = new();
    let file = files.create("a").unwrap();
    let total = files.space().total;
    files.write_at(file, 0, &vec![1; total as usize - 4 * PAGE]).unwrap();
    files.sync().unwrap();
    let refused = files.write_at(file, 0, &vec![2; 100 * PAGE]);
    assert_eq!(refused, Err(Error::NoSpace { needed: 102, free: 4 }));
    assert_eq!(files.read(file).unwrap(), vec![1; total as usize - 4 * PAGE]);
    files.remove("a").unwrap();
    assert_eq!(files.space().free, 4 * PAGE as u64);
    files.sync().unwrap();
    assert_eq!(files.space().free, total);
}

#[test]
fn names_that_fill_their_part_of_the_device_are_refused_and_the_rest_goes_on() {
    let mut files = new();
    let (mut count, why) = (0, loop_until_refused(&mut files));
    assert_eq!(why, Error::NoRoomForNames);
    files.sync().unwrap();
    let mut files = again(files);
    files.list("").for_each(|_| count += 1);
    assert!(count > 150, "{count}");
    files.remove("00000").unwrap();
    files.create("another").unwrap();
    files.sync().unwrap();
}

fn loop_until_refused(files: &mut Files<Memory>) -> Error {
    for n in 0.. {
        let name = if n == 0 { "00000".to_owned() } else { format!("{n:05}{}", "x".repeat(200)) };
        if let Err(why) = files.create(&name) {
            return why;
        }
        if n % 7 == 0 {
            files.sync().unwrap();
        }
    }
    unreachable!()
}

#[test]
fn a_refused_write_loses_nothing_and_may_be_tried_again() {
    for refused in 1..60 {
        let mut files = Files::mount(Counting { refuse_write: Some(refused), ..Counting::new() }).unwrap();
        let mut content = Vec::new();
        let mut refusals = 0;
        let file = files.create("a").unwrap();
        for n in 0..20 {
            let data = vec![n; 3000];
            while let Err(why) = files.write_at(file, content.len() as u64, &data) {
                assert_eq!(why, Error::Disk(DiskError::Io));
                refusals += 1;
            }
            content.extend(data);
            while let Err(why) = files.sync() {
                assert_eq!(why, Error::Disk(DiskError::Io));
                refusals += 1;
            }
        }
        assert!(refusals == 1 || files.into_disk().writes < refused, "{refusals} of {refused}");
    }
}

/// Beside vectors: what is refused changes nothing, but that of a write a first part may be there.
#[test]
fn whatever_is_refused_every_byte_is_the_old_one_or_the_new_one() {
    let mut refusals = 0;
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        // Not much larger than what is on it, so that it is free in pieces.
        let disk = Counting { moody: Some(random.fork()), ..Counting::with_blocks(1400) };
        let mut files = Files::mount(disk).unwrap();
        let mut now = BTreeMap::<String, Vec<u8>>::new();
        for step in 0..300 {
            let name = format!("file {}", random.u8(..5));
            let file = files.open_or_create(&name).unwrap();
            let content = now.entry(name.clone()).or_default();
            match random.u8(..10) {
                0 => {
                    files.remove(&name).unwrap();
                    now.remove(&name);
                }
                1 => {
                    let size = random.usize(..12 * PAGE);
                    if files.set_size(file, size as u64).is_ok() {
                        content.resize(size, 0);
                    }
                }
                2 => drop(files.sync()),
                _ => {
                    let data = vec![step as u8; random.usize(1..8 * PAGE)];
                    let at = if random.bool() { content.len() } else { random.usize(..12 * PAGE) };
                    let mut new = content.clone();
                    new.resize(new.len().max(at + data.len()), 0);
                    new[at..at + data.len()].copy_from_slice(&data);
                    let written = files.write_at(file, at as u64, &data);
                    let found = files.read(file).unwrap();
                    assert!(found.len() >= content.len() && found.len() <= new.len(), "seed {seed}, step {step}");
                    content.resize(found.len(), 0);
                    let is_known = |n: usize| found[n] == content[n] || found[n] == new[n];
                    assert!((0..found.len()).all(is_known), "seed {seed}, step {step}");
                    assert!(written.is_err() || found == new, "seed {seed}, step {step}");
                    *content = found;
                }
            }
            for (name, content) in &now {
                let file = files.open(name).unwrap();
                assert!(files.read(file).unwrap() == *content, "seed {seed}, step {step}: {name}");
            }
        }
        while files.sync().is_err() {
            // The beginning of the device could not be written: then nothing is any more.
            if files.create("one more").is_err() {
                break;
            }
            files.remove("one more").unwrap();
        }
        refusals += files.disk().refusals;
        let is_whole = files.create("one more").is_ok();
        let mut memory = files.into_disk().memory;
        assert_eq!(check(&mut memory).unwrap().problems, [""; 0], "seed {seed}");
        let mut files = Files::mount(memory).unwrap();
        for (name, content) in now.iter().filter(|_| is_whole) {
            let file = files.open(name).unwrap();
            assert!(files.read(file).unwrap() == *content, "seed {seed}, after a mount: {name}");
        }
    }
    assert!(refusals > 1000, "{refusals}");
}

/// A device that refuses a write may have done it. What was synced before is there, or what was to be: nothing that is neither.
#[test]
fn a_write_that_was_refused_and_done_all_the_same_brings_nothing_that_never_was() {
    for size in [3000, 1 << 20, 20 << 20] {
        let mut writes = 0;
        for refused in 1.. {
            let disk = Counting { refuse_write: Some(refused), lies: true, ..Counting::with_blocks(32 << 11) };
            let mut files = Files::mount(disk).unwrap();
            // Each goes on where the device lets it.
            let fill = |files: &mut Files<Counting>, name: &str, byte| {
                let file = files.create(name)?;
                files.append(file, &vec![byte; size])?;
                files.sync()
            };
            let first = fill(&mut files, "a", 1);
            if first.is_ok() {
                writes = refused;
                break;
            }
            let _ = files.remove("a");
            let second = files.create("b").and_then(|file| files.append(file, &vec![2; size]));
            let mut files = Files::mount(files.into_disk().memory).unwrap();
            let there = files.open("a").map(|file| files.read(file).unwrap());
            assert!(there.is_err() || there.unwrap() == vec![1; size], "{size} bytes, write {refused}, {second:?}");
            assert!(files.open("b").is_err(), "it was not synced");
        }
        assert!(writes > 1, "none was refused");
    }
}

/// Files on a device that refuses that write, and whose free pages lie by themselves, so that a write is several of the device.
fn in_pieces(refused: usize) -> Files<Counting> {
    let mut files = Files::mount(Counting { refuse_write: Some(refused), ..Counting::with_blocks(512) }).unwrap();
    for n in 0.. {
        let file = files.open_or_create(&format!("{}", n % 2)).unwrap();
        if !matches!(files.append(file, &[9; PAGE]), Ok(()) | Err(Error::Disk(_))) {
            break;
        }
    }
    files.remove("0").unwrap();
    files
}

#[test]
fn a_refused_append_leaves_nothing_behind_the_end() {
    let mut refusals = 0;
    for refused in 1..60 {
        let mut files = in_pieces(refused);
        let file = files.create("a").unwrap();
        if files.append(file, &[1; 4 * PAGE]).is_ok() {
            continue;
        }
        refusals += 1;
        let size = files.size(file).unwrap();
        assert!(files.read(file).unwrap() == vec![1; size as usize]);
        files.sync().unwrap();
        assert_eq!(check(&mut files.disk().memory.clone()).unwrap().problems, [""; 0], "write {refused}");
        files.set_size(file, 4 * PAGE as u64).unwrap();
        assert!(files.read(file).unwrap()[size as usize..].iter().all(|byte| *byte == 0), "write {refused}");
    }
    assert!(refusals > 0);
}

/// What was written before is there, however much of what was to replace it was refused.
#[test]
fn a_refused_write_leaves_what_was_to_be_replaced() {
    let mut refusals = 0;
    for refused in 1..60 {
        let mut files = in_pieces(refused);
        let file = files.create("a").unwrap();
        let (old, new) = (vec![1; 3 * PAGE + 100], vec![2; 4 * PAGE]);
        // The last page is not whole: it is kept, and no device has it.
        while files.write_at(file, 0, &old).is_err() {}
        while let Err(why) = files.write_at(file, 0, &new) {
            refusals += 1;
            assert_eq!(why, Error::Disk(DiskError::Io));
            let content = files.read(file).unwrap();
            assert!(content.chunks(PAGE).all(|page| page.iter().all(|byte| *byte == page[0] && [1, 2].contains(byte))));
        }
        assert!(files.read(file).unwrap() == new);
    }
    assert!(refusals > 0);
}

#[test]
fn the_handle_of_a_removed_file_is_never_that_of_another() {
    let mut files = new();
    let a = files.create("a").unwrap();
    files.remove("a").unwrap();
    let b = files.create("b").unwrap();
    assert_eq!(files.append(a, b"x").unwrap_err(), Error::Removed);
    let new = files.create("b.new").unwrap();
    files.rename("b.new", "b").unwrap();
    files.create("c").unwrap();
    assert_eq!((files.size(b), files.size(new)), (Err(Error::Removed), Ok(0)));
}

#[test]
fn a_file_that_no_memory_holds_is_told() {
    let mut files = new();
    let file = files.create("a").unwrap();
    files.set_size(file, 1 << 44).unwrap();
    assert_eq!(files.read(file).unwrap_err(), Error::NoMemory { bytes: 1 << 44 });
}

#[test]
fn after_a_failed_flush_nothing_is_written_any_more() {
    let mut files = Files::mount(Counting::new()).unwrap();
    let file = files.create("a").unwrap();
    files.append(file, b"first").unwrap();
    files.sync().unwrap();
    let mut disk = files.into_disk();
    disk.refuse_flush = true;
    // The mount has to flush.
    assert_eq!(Files::mount(disk).unwrap_err(), Error::Disk(DiskError::Io));
}

#[test]
fn what_cannot_be_asked_is_told() {
    let mut files = new();
    assert_eq!(files.open("a").unwrap_err(), Error::NotFound("a".into()));
    let a = files.create("a").unwrap();
    assert_eq!(files.create("a").unwrap_err(), Error::Exists("a".into()));
    for name in ["", "\0", &"n".repeat(256)] {
        assert_eq!(files.create(name).unwrap_err(), Error::BadName(name.into()));
        assert_eq!(files.rename("a", name).unwrap_err(), Error::BadName(name.into()));
    }
    assert_eq!(files.write_at(a, u64::MAX, b"x").unwrap_err(), Error::TooLarge);
    assert_eq!(files.set_size(a, u64::MAX).unwrap_err(), Error::TooLarge);
    assert_eq!(files.read_at(a, u64::MAX, &mut [0; 4]).unwrap(), 0);
    files.set_size(a, 1 << 40).unwrap();
    files.write_at(a, (1 << 40) - 1, b"x").unwrap();
    let mut end = [9; 3];
    assert_eq!(files.read_at(a, (1 << 40) - 2, &mut end).unwrap(), 2);
    assert_eq!(end, [0, b'x', 9]);
    files.remove("a").unwrap();
    assert_eq!(files.append(a, b"x").unwrap_err(), Error::Removed);
    assert_eq!(Files::mount(Memory::new(512, BLOCKS)).unwrap_err(), Error::NotFormatted);
    assert_eq!(Files::format(Memory::new(512, 8)).unwrap_err(), Error::TooSmall { needed: 262_144 });
    assert_eq!(Files::format(Memory::new(256, BLOCKS)).unwrap_err(), Error::BlockSize(256));
}
