//! The store beside a map in memory, and over power cuts.

use std::collections::BTreeMap;
use std::ops::Bound;

use key_value::{Store, StoreError};
use unikernel_crash::{Event, Recorder};
use unikernel_files::{Disk, DiskError, Files, Geometry, Memory, PAGE};

type Map = BTreeMap<Vec<u8>, Vec<u8>>;

fn disk(pages: usize) -> Memory {
    Memory::new(512, pages * PAGE / 512)
}

fn new(pages: usize) -> Store<Memory> {
    Store::open(Files::format(disk(pages)).unwrap()).unwrap()
}

fn all<D: unikernel_files::Disk>(store: &mut Store<D>) -> Map {
    let keys: Vec<Vec<u8>> = store.keys((Bound::Unbounded, Bound::Unbounded)).map(<[u8]>::to_vec).collect();
    keys.into_iter().map(|key| (key.clone(), store.get(&key).unwrap().unwrap())).collect()
}

fn step<D: unikernel_files::Disk>(store: &mut Store<D>, map: &mut Map, random: &mut fastrand::Rng) {
    let key = format!("key {}", random.u8(..30)).into_bytes();
    if random.u8(..5) == 0 {
        assert_eq!(store.remove(&key), Ok(map.remove(&key).is_some()));
    } else {
        let value = vec![random.u8(..); random.usize(..3000)];
        store.put(&key, &value).unwrap();
        map.insert(key, value);
    }
}

#[test]
fn it_is_what_a_map_is_over_mounts_and_new_logs() {
    let mut random = fastrand::Rng::with_seed(5);
    let (mut store, mut map, mut synced) = (new(1024), Map::new(), Map::new());
    let mut longest = 0;
    for _ in 0..3000 {
        step(&mut store, &mut map, &mut random);
        longest = longest.max(store.log_bytes().0);
        match random.u8(..40) {
            0 => {
                store.sync().unwrap();
                synced = map.clone();
            }
            1 => {
                let disk = store.into_files().into_disk();
                store = Store::open(Files::mount(disk).unwrap()).unwrap();
                map = synced.clone();
                assert_eq!(all(&mut store), map);
            }
            _ => {}
        }
    }
    assert_eq!(all(&mut store), map);
    // Some 5 MB were put; what is of no use is given back.
    assert!(longest < 400 << 10, "{longest}");
    let from = b"key 2".to_vec();
    let range = (Bound::Excluded(&from[..]), Bound::Unbounded);
    assert!(
        store.keys(range).eq(map.range((Bound::Excluded(from.clone()), Bound::Unbounded)).map(|(key, _)| &key[..]))
    );
}

#[test]
fn a_power_cut_leaves_what_was_synced_or_what_was_under_way() {
    for seed in 0..60 {
        let mut random = fastrand::Rng::with_seed(seed);
        let before = Files::format(disk(160)).unwrap().into_disk().into_bytes();
        let mut store = Store::open(Files::mount(Recorder::of(512, before)).unwrap()).unwrap();
        let mut map = Map::new();
        let mut syncs = vec![(0, map.clone())];
        for _ in 0..random.usize(60..120) {
            step(&mut store, &mut map, &mut random);
            if random.u8(..4) == 0 {
                store.sync().unwrap();
                syncs.push((usize::MAX, map.clone()));
                let files = store.into_files();
                let happened = files.disk().trace().events.len();
                syncs.last_mut().unwrap().0 = happened;
                store = Store::open(files).unwrap();
            }
        }
        let recorder = store.into_files().into_disk();
        let trace = recorder.trace();
        for _ in 0..40 {
            let happened = random.usize(..=trace.events.len());
            let returned = syncs.iter().rposition(|(at, _)| *at <= happened).unwrap();
            let legal: Vec<&Map> = syncs[returned..].iter().take(2).map(|(_, map)| map).collect();
            for image in trace.images(happened, 2, &mut random) {
                let files = Files::mount(Memory::from_bytes(512, image)).unwrap();
                assert!(legal.contains(&&all(&mut Store::open(files).unwrap())), "seed {seed}, {happened} events");
            }
        }
        assert!(trace.events.contains(&Event::Flush));
    }
}

#[test]
fn what_is_no_log_is_told() {
    for content in [&b"x"[..], &[5, 0, 0, 0, 0, 0, b'k'], &[1, 0, 0, 0, 0, 0x7f, b'k', 0], &[0; 7]] {
        let mut files = Files::format(disk(64)).unwrap();
        let log = files.create("log").unwrap();
        files.append(log, content).unwrap();
        let opened = Store::open(files);
        assert!(matches!(opened, Err(StoreError::Damaged(_))), "{content:?}");
    }
    // The longest key, of which the end is missing.
    let mut cut = vec![0xff, 0xff, 0, 0, 0, 0];
    for len in [1000, 1 << 16, (1 << 16) + 2, (1 << 16) + 4] {
        cut.resize(len, b'k');
        let mut files = Files::format(disk(128)).unwrap();
        let log = files.create("log").unwrap();
        files.append(log, &cut).unwrap();
        assert_eq!(Store::open(files).unwrap_err(), StoreError::Damaged(0), "{len}");
    }
    let mut store = new(64);
    assert_eq!(store.put(&vec![0; 1 << 16], b""), Err(StoreError::TooLong));
    let long = vec![3; (1 << 16) - 1];
    store.put(&long, b"value").unwrap();
    store.put(b"", b"of nothing").unwrap();
    store.sync().unwrap();
    let mut store = Store::open(Files::mount(store.into_files().into_disk()).unwrap()).unwrap();
    assert_eq!(store.get(&long).unwrap().unwrap(), b"value");
    assert_eq!(store.get(b"").unwrap().unwrap(), b"of nothing");
    assert_eq!(store.get(b"no").unwrap(), None);
}

/// A device whose host has no room left at some time, and has it again.
#[derive(Debug)]
struct Refusing {
    memory: Memory,
    writes: u32,
    refused: u32,
}

impl Disk for Refusing {
    fn geometry(&self) -> Geometry {
        self.memory.geometry()
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        self.memory.read(block, into)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        self.writes += 1;
        if self.writes == self.refused { Err(DiskError::NoSpace) } else { self.memory.write(block, from) }
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        Ok(())
    }
}

#[test]
fn what_was_refused_is_not_there_and_the_rest_is() {
    let mut refusals = 0;
    for refused in 1..80 {
        let memory = Files::format(disk(512)).unwrap().into_disk();
        let mut store = Store::open(Files::mount(Refusing { memory, writes: 0, refused }).unwrap()).unwrap();
        let (mut map, mut random) = (Map::new(), fastrand::Rng::with_seed(u64::from(refused)));
        for n in 0..60 {
            let (key, value) = (vec![random.u8(..4)], vec![n; random.usize(..40_000)]);
            match store.put(&key, &value) {
                Ok(()) => drop(map.insert(key, value)),
                Err(why) => {
                    assert_eq!(why, StoreError::Files(unikernel_files::Error::Disk(DiskError::NoSpace)));
                    refusals += 1;
                }
            }
            while n % 4 == 0 && store.sync().is_err() {
                refusals += 1;
            }
            if n % 4 == 0 {
                store = Store::open(Files::mount(store.into_files().into_disk()).unwrap()).unwrap();
            }
            assert!(all(&mut store) == map, "write {refused}, step {n}");
        }
    }
    assert!(refusals > 50, "{refusals}");
}

#[test]
fn a_full_disk_is_told_and_loses_nothing() {
    let mut store = new(64);
    let (mut n, value) = (0u32, [9; 1000]);
    let why = loop {
        match store.put(&n.to_le_bytes(), &value) {
            Ok(()) => n += 1,
            Err(why) => break why,
        }
    };
    assert!(matches!(why, StoreError::Files(unikernel_files::Error::NoSpace { .. })), "{why}");
    assert!(n > 20, "{n}");
    store.sync().unwrap();
    let mut store = Store::open(Files::mount(store.into_files().into_disk()).unwrap()).unwrap();
    assert_eq!(store.len(), n as usize);
    assert_eq!(store.get(&(n - 1).to_le_bytes()).unwrap().unwrap(), value);
}
