//! Guests that ask anything in their rings, beside a model of what becomes of it: every status, every byte of the disks and of the memory.
//!
//! `KIZAMI_FUZZ_SECONDS` sets the duration, 5 seconds if it is not set; `KIZAMI_FUZZ_SEED` repeats the guests of another run.

use std::fs::{self, File};
use std::path::PathBuf;
use std::time::SystemTime;

use unikernel_abi::ring::{DEPTH, completion_at, request_at, waiting};
use unikernel_abi::{Durability, IMAGE, START};

use super::*;
use crate::disk::DiskOptions;

/// The end of the guest's memory, and what of it the guest may write to.
const END: u64 = IMAGE + 0x8_0000;
const WRITABLE: [std::ops::Range<u64>; 2] = [IMAGE + 0x1_0000..IMAGE + 0x3_0200, IMAGE + 0x4_0000..END];
const DISK: u64 = 64 << 10;

#[test]
fn whatever_a_guest_asks_becomes_what_the_model_says() {
    let variable = |name| std::env::var(name).ok().and_then(|text: String| text.parse::<u64>().ok());
    let until = Instant::now() + Duration::from_secs(variable("KIZAMI_FUZZ_SECONDS").unwrap_or(5));
    let any = || SystemTime::now().duration_since(SystemTime::UNIX_EPOCH).map_or(0, |now| now.as_nanos() as u64);
    let seed = variable("KIZAMI_FUZZ_SEED").unwrap_or_else(any);
    println!("KIZAMI_FUZZ_SEED={seed}");
    let mut random = fastrand::Rng::with_seed(seed);
    let (mut guests, mut requests, mut done, mut broken) = (0u64, 0u64, 0u64, 0u64);
    while Instant::now() < until {
        let engine = if random.bool() { Engine::Plain } else { Engine::Uring };
        let of_guest = guest(&mut random, engine);
        guests += 1;
        requests += of_guest.requests;
        done += of_guest.done;
        broken += u64::from(of_guest.broken);
    }
    println!("{guests} guests, {requests} requests, {done} of them done, {broken} guests broke a ring");
    // It would prove nothing if all of them were refused.
    assert!(guests < 100 || (done > requests / 20 && done < requests && broken > 0 && broken < guests));
}

/// What came of a guest.
#[derive(Default)]
struct Of {
    requests: u64,
    done: u64,
    broken: bool,
}

/// What the disks and the memory hold, if everything is as it has to be.
struct Model {
    disks: Vec<Vec<u8>>,
    read_only: Vec<bool>,
    memory: Vec<u8>,
}

fn guest(random: &mut fastrand::Rng, engine: Engine) -> Of {
    let folder = std::env::temp_dir().join(format!("kizami-ring-{}-{}", std::process::id(), random.u32(..)));
    fs::create_dir(&folder).unwrap();
    let read_only = [false, random.bool()];
    let direct = random.bool();
    let (mut disks, mut contents) = (Vec::new(), Vec::new());
    for (n, read_only) in read_only.into_iter().enumerate() {
        let path = folder.join(n.to_string());
        let content: Vec<u8> = (0..DISK).map(|_| random.u8(..)).collect();
        fs::write(&path, &content).unwrap();
        disks.push(open(path, read_only, direct));
        contents.push(content);
    }
    let memory = Memory::new(START, END - START, WRITABLE.to_vec()).unwrap();
    let mut model = Model { disks: contents, read_only: read_only.to_vec(), memory: vec![0; (END - START) as usize] };
    for at in (IMAGE..END).step_by(4096) {
        let page: Vec<u8> = (0..4096).map(|_| random.u8(..)).collect();
        memory.put(at, &page);
        model.memory[(at - START) as usize..(at - START) as usize + 4096].copy_from_slice(&page);
    }
    let (doorbell, wake) = (Event::new().unwrap(), Event::new().unwrap());
    let server = |engine| Server::new(&memory, &disks, &doorbell, &wake, Rings { poll: Duration::ZERO, engine });
    // Some systems have turned io_uring off.
    let mut server = server(engine).or_else(|_| server(Engine::Plain)).unwrap();
    let mut of = Of::default();
    // Counts begin anywhere, as they would after a long life.
    let mut counts = [(0u32, 0u32); 2];
    if random.bool() {
        for (queue, counts) in server.queues.iter_mut().zip(&mut counts) {
            let at = u32::MAX - random.u32(..2 * DEPTH);
            (queue.taken, queue.completed, *counts) = (at, at, (at, at));
            memory.put(queue.base + place::SUBMITTED, &at.to_le_bytes());
        }
    }
    for _ in 0..random.usize(1..60) {
        let device = random.usize(..2);
        let (submitted, seen) = &mut counts[device];
        let base = base(device);
        // What is under way at once has no order.
        let most = if engine == Engine::Plain { DEPTH } else { 1 };
        let batch = random.u32(..=8).min(most);
        let mut expected = Vec::new();
        for _ in 0..batch {
            let request = any_request(random, direct);
            memory.put(base + request_at(*submitted), &bytes_of(&request));
            expected.push((request.id, model.perform(device, &request)));
            *submitted = submitted.wrapping_add(1);
        }
        if random.u8(..100) == 0 {
            *submitted = submitted.wrapping_add(random.u32(..));
        }
        // The other side sleeps, or says so.
        memory.put(base + place::GUEST_SLEEPS, &random.u32(..3).to_le_bytes());
        memory.put(base + place::SUBMITTED, &submitted.to_le_bytes());
        let is_broken = waiting(*submitted, server.queues[device].taken).is_none();
        if is_broken {
            assert_eq!(server.round(), Err(Broken));
            of.broken = true;
            break;
        }
        if submitted.wrapping_sub(server.queues[device].taken) > batch {
            // It counted up what it had not written: old requests are done again, of which the model knows nothing.
            break;
        }
        while server.queues[device].completed.wrapping_sub(*seen) < batch {
            server.round().unwrap();
        }
        for (id, status) in expected {
            let bytes: [u8; 16] = memory.copy(base + completion_at(*seen)).unwrap();
            let word = |n: usize| u32::from_le_bytes(bytes[4 * n..4 * n + 4].try_into().unwrap());
            assert_eq!((word(0), Status::of(word(1))), (id, status));
            *seen = seen.wrapping_add(1);
            of.requests += 1;
            of.done += u64::from(status == Status::Ok);
        }
    }
    if !of.broken {
        let now = memory.get(IMAGE, END - IMAGE).unwrap();
        assert!(now == model.memory[(IMAGE - START) as usize..], "the memory is not as it has to be");
    }
    drop(server);
    if !of.broken {
        for (n, content) in model.disks.iter().enumerate() {
            assert!(fs::read(folder.join(n.to_string())).unwrap() == *content, "disk {n} is not as it has to be");
        }
    }
    fs::remove_dir_all(folder).unwrap();
    of
}

fn open(path: PathBuf, read_only: bool, direct: bool) -> Disk {
    let options = |direct| DiskOptions {
        name: "d".into(),
        path: path.clone(),
        read_only,
        durability: Durability::Unsafe,
        direct,
        log: None,
        timed: false,
        trace: None,
    };
    // Where the temporary files lie in memory nothing is past the cache.
    Disk::open(options(direct)).or_else(|_| Disk::open(options(false))).unwrap()
}

/// Numbers near to where something changes.
fn edge(random: &mut fastrand::Rng) -> u64 {
    let edges = [0, START, RINGS, IMAGE, WRITABLE[0].start, WRITABLE[0].end, WRITABLE[1].start, END, 1 << 32, u64::MAX];
    let around = [0, 1, 511, 512, 4096, u64::MAX, u64::MAX - 511];
    edges[random.usize(..edges.len())].wrapping_add(around[random.usize(..around.len())])
}

fn any_request(random: &mut fastrand::Rng, direct: bool) -> Request {
    let block = |random: &mut fastrand::Rng| match random.u8(..8) {
        0 => u64::MAX / 512 - random.u64(..3) + 1,
        1 => DISK / 512 - random.u64(..3),
        2 => random.u64(..),
        _ => random.u64(..DISK / 512),
    };
    let segment = |random: &mut fastrand::Rng| {
        let near = WRITABLE[random.usize(..2)].clone();
        let start = match random.u8(..8) {
            0 if !direct => edge(random),
            1 if !direct => random.u64(IMAGE..END),
            _ => random.u64(near.start..near.end) / 4096 * 4096,
        };
        let len = match random.u8(..16) {
            0 => 0,
            1 if !direct => edge(random),
            2 if !direct => random.u64(..3000),
            3 => (1 << 30) + 512,
            _ => 512 * random.u64(1..9),
        };
        Segment { start, len }
    };
    Request {
        op: if random.u8(..20) == 0 { random.u16(..) } else { random.u16(1..=4) },
        segments: if random.u8(..20) == 0 { random.u16(..) } else { random.u16(..=3) },
        id: random.u32(..),
        block: block(random),
        data: std::array::from_fn(|_| segment(random)),
    }
}

fn bytes_of(request: &Request) -> Vec<u8> {
    let mut out = Vec::new();
    out.extend(request.op.to_le_bytes());
    out.extend(request.segments.to_le_bytes());
    out.extend(request.id.to_le_bytes());
    out.extend(request.block.to_le_bytes());
    for Segment { start, len } in request.data {
        out.extend(start.to_le_bytes());
        out.extend(len.to_le_bytes());
    }
    out
}

impl Model {
    /// Does a request as the rules have it, and says what becomes of it.
    fn perform(&mut self, device: usize, request: &Request) -> Status {
        let Some(parts) = request.data.get(..usize::from(request.segments)) else { return Status::Invalid };
        let len: u128 = parts.iter().map(|part| u128::from(part.len)).sum();
        if len > u128::from(u64::MAX) {
            return Status::Invalid;
        }
        let (reads, flushes) = match request.op {
            1 => (true, false),
            2 | 3 => (false, false),
            4 => (false, true),
            _ => return Status::Unsupported,
        };
        if !flushes {
            if !reads && self.read_only[device] {
                return Status::ReadOnly;
            }
            if len == 0 || !len.is_multiple_of(512) {
                return Status::Invalid;
            }
            if len > 1 << 30 {
                return Status::TooLarge;
            }
            if u128::from(request.block) * 512 + len > u128::from(DISK) {
                return Status::Range;
            }
        }
        let has = |part: &Segment| {
            let end = u128::from(part.start) + u128::from(part.len);
            match reads {
                true => WRITABLE.iter().any(|range| range.start <= part.start && end <= u128::from(range.end)),
                false => part.start >= IMAGE && end <= u128::from(END),
            }
        };
        if !parts.iter().all(has) {
            return Status::Invalid;
        }
        if flushes {
            return Status::Ok;
        }
        let mut at = request.block as usize * 512;
        for part in parts {
            let len = part.len as usize;
            let memory = &mut self.memory[(part.start - START) as usize..][..len];
            let disk = &mut self.disks[device][at..at + len];
            if reads {
                memory.copy_from_slice(disk)
            } else {
                disk.copy_from_slice(memory)
            }
            at += len;
        }
        Status::Ok
    }
}

#[test]
fn a_disk_that_shrank_is_an_error_and_no_more() {
    let path = std::env::temp_dir().join(format!("kizami-shrunk-{}", std::process::id()));
    for engine in [Engine::Plain, Engine::Uring] {
        fs::write(&path, vec![1; 8192]).unwrap();
        let disks = [open(path.clone(), false, false)];
        File::options().write(true).open(&path).unwrap().set_len(4096).unwrap();
        let memory = Memory::new(START, END - START, WRITABLE.to_vec()).unwrap();
        let (doorbell, wake) = (Event::new().unwrap(), Event::new().unwrap());
        let rings = Rings { poll: Duration::ZERO, engine };
        // Some systems have turned io_uring off.
        let Ok(mut server) = Server::new(&memory, &disks, &doorbell, &wake, rings) else { continue };
        let data = [Segment { start: WRITABLE[0].start, len: 8192 }, Segment::default(), Segment::default()];
        memory.put(base(0) + request_at(0), &bytes_of(&Request { op: 1, segments: 1, id: 5, block: 0, data }));
        memory.put(base(0) + place::SUBMITTED, &1u32.to_le_bytes());
        while server.queues[0].completed == 0 {
            server.round().unwrap();
        }
        let bytes: [u8; 16] = memory.copy(base(0) + completion_at(0)).unwrap();
        assert_eq!(bytes[..8], [5, 0, 0, 0, Status::Io as u8, 0, 0, 0], "{engine:?}");
    }
    fs::remove_file(path).unwrap();
}
