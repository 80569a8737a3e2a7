//! The files over a power cut, at every moment of random programs.

use std::collections::BTreeMap;

use unikernel_crash::{Event, Recorder};
use unikernel_files::{Disk as _, Files, Memory, PAGE, check};

type State = BTreeMap<String, Vec<u8>>;

/// A device of that many pages with files of an earlier life.
fn used(block_size: usize, pages: usize, random: &mut fastrand::Rng) -> (Vec<u8>, State) {
    let mut files = Files::format(Memory::new(block_size as u32, pages * PAGE / block_size)).unwrap();
    let mut state = State::new();
    for _ in 0..random.usize(..20) {
        step(&mut files, &mut state, random);
        files.sync().unwrap();
    }
    if random.u8(..4) == 0 {
        return with_a_full_log(files, state, random);
    }
    (files.into_disk().into_bytes(), state)
}

/// A few syncs before the log is full, and the state of all files is written anew.
fn with_a_full_log(files: Files<Memory>, state: State, random: &mut fastrand::Rng) -> (Vec<u8>, State) {
    let generation =
        |bytes: &[u8], block_size: u32| check(&mut Memory::from_bytes(block_size, bytes.to_vec())).unwrap().generation;
    let block_size = files.disk().geometry().block_size;
    let mut all = vec![(files.into_disk().into_bytes(), state)];
    loop {
        let (bytes, mut state) = all.last().unwrap().clone();
        let before = generation(&bytes, block_size);
        let mut files = Files::mount(Memory::from_bytes(block_size, bytes)).unwrap();
        step(&mut files, &mut state, random);
        files.sync().unwrap();
        let bytes = files.into_disk().into_bytes();
        if generation(&bytes, block_size) > before {
            return all.swap_remove(random.usize(all.len().saturating_sub(4)..all.len()));
        }
        all.push((bytes, state));
        all.drain(..all.len().saturating_sub(4));
    }
}

/// One thing that a program does, to files and to the model of them.
fn step<D: unikernel_files::Disk>(files: &mut Files<D>, state: &mut State, random: &mut fastrand::Rng) {
    let name = format!("f{}", random.u8(..4));
    match random.u8(..10) {
        0 => {
            if files.remove(&name).is_ok() {
                state.remove(&name);
            }
        }
        1 => {
            let to = format!("f{}", random.u8(..4));
            if files.rename(&name, &to).is_ok() {
                let content = state.remove(&name).unwrap();
                state.insert(to, content);
            }
        }
        2 => {
            let size = random.usize(..3 * PAGE);
            if let Ok(file) = files.open(&name)
                && files.set_size(file, size as u64).is_ok()
            {
                state.get_mut(&name).unwrap().resize(size, 0);
            }
        }
        _ => {
            let len = if random.bool() { random.usize(1..200) } else { random.usize(1..4 * PAGE) };
            // Bytes that are often the same: what a program does again looks like what it did.
            let data = vec![random.u8(..3); len];
            let Ok(file) = files.open_or_create(&name) else { return };
            let content = state.entry(name).or_default();
            let at = if random.bool() { content.len() } else { random.usize(..=content.len()) };
            if files.write_at(file, at as u64, &data).is_ok() {
                content.resize(content.len().max(at + len), 0);
                content[at..at + len].copy_from_slice(&data);
            }
        }
    }
}

fn state_of<D: unikernel_files::Disk>(files: &mut Files<D>) -> State {
    let names: Vec<String> = files.list("").map(|(name, _)| name.to_owned()).collect();
    let content = |name: String| {
        let file = files.open(&name).unwrap();
        let content = files.read(file).unwrap();
        (name, content)
    };
    names.into_iter().map(content).collect()
}

/// After a power cut at any moment the files are those of the last sync that had returned, or of the one that was under way; and so after
/// a power cut while they are mounted again, and whatever is done then.
#[test]
fn a_power_cut_at_any_moment_leaves_the_last_sync_or_the_one_under_way() {
    let (mut images, mut under_way) = (0, 0);
    for seed in 0..1000 {
        let mut random = fastrand::Rng::with_seed(seed);
        let block_size = [512, 512, 1024, 4096][random.usize(..4)];
        let (bytes, mut state) = used(block_size, random.usize(64..120), &mut random);
        let mut files = Files::mount(Recorder::of(block_size, bytes)).unwrap();
        // How many events had happened when a sync began and when it had returned, and what it was to make durable.
        let mut syncs = vec![(0, 0, state.clone())];
        for _ in 0..random.usize(1..25) {
            step(&mut files, &mut state, &mut random);
            if random.u8(..3) == 0 {
                let begun = files.disk().trace().events.len();
                if files.sync().is_ok() {
                    syncs.push((begun, files.disk().trace().events.len(), state.clone()));
                }
            }
        }
        let recorder = files.into_disk();
        let trace = recorder.trace();
        for happened in 0..=trace.events.len() {
            // Within a run of writes the images of the end of it are most of those before.
            let ends = trace.events.get(happened).is_none_or(|event| *event == Event::Flush);
            let most = if ends { 8 } else { 1 };
            let legal: Vec<&State> = legal(&syncs, happened);
            for image in trace.images(happened, most, &mut random) {
                images += 1;
                let mut disk = Memory::from_bytes(block_size as u32, image);
                let report = check(&mut disk).unwrap_or_else(|why| panic!("seed {seed}, {happened} events: {why}"));
                assert!(report.problems.is_empty(), "seed {seed}, {happened} events: {:?}", report.problems);
                let mut is_legal = |found: &State| {
                    assert!(legal.contains(&found), "seed {seed}, {happened} events");
                    under_way += usize::from(legal.len() > 1 && found == legal[1]);
                };
                if images % 64 > 0 {
                    is_legal(&state_of(&mut Files::mount(disk).unwrap()));
                } else {
                    let mut files = Files::mount(Recorder::of(block_size, disk.into_bytes())).unwrap();
                    let found = state_of(&mut files);
                    is_legal(&found);
                    cut_again(files, found, &mut random, seed);
                }
            }
        }
    }
    println!("{images} images, {under_way} of a sync that was under way");
    assert!(images > 30_000 && under_way > 1000);
}

/// What the files may be when so many events have happened.
fn legal(syncs: &[(usize, usize, State)], happened: usize) -> Vec<&State> {
    let returned = syncs.iter().rposition(|(_, returned, _)| *returned <= happened).unwrap();
    let begun = syncs.get(returned + 1).filter(|(begun, ..)| *begun < happened);
    [Some(&syncs[returned]), begun].into_iter().flatten().map(|(.., state)| state).collect()
}

/// Something more is done with files that were found after a power cut, and power fails once more.
fn cut_again(mut files: Files<Recorder>, found: State, random: &mut fastrand::Rng, seed: u64) {
    let mut state = found.clone();
    let mut syncs = vec![(0, 0, found)];
    for _ in 0..3 {
        step(&mut files, &mut state, random);
    }
    let begun = files.disk().trace().events.len();
    if files.sync().is_ok() {
        syncs.push((begun, files.disk().trace().events.len(), state));
    }
    let recorder = files.into_disk();
    let trace = recorder.trace();
    for happened in 0..=trace.events.len() {
        let legal = legal(&syncs, happened);
        for image in trace.images(happened, 6, random) {
            let mut files = Files::mount(Memory::from_bytes(trace.block_size as u32, image)).unwrap();
            assert!(legal.contains(&&state_of(&mut files)), "seed {seed}, {happened} events after the second mount");
        }
    }
}
