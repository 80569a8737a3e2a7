//! A guest with a block device, which does what its first argument says.

#![no_std]
#![no_main]

extern crate alloc;

use alloc::vec;

use unikernel::{BlockDevice, ExitCode, Files, Status, eprintln, println};

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    let arguments = unikernel::arguments();
    let Ok(mut disk) = BlockDevice::open("data") else { return ExitCode::FAILURE };
    match arguments.first().map_or("", String::as_str) {
        "shape" => println!(
            "{} blocks of {}, read only {}, {}",
            disk.blocks(),
            disk.block_size(),
            disk.is_read_only(),
            disk.durability().name()
        ),
        "edges" => edges(&mut disk),
        "read" => {
            let mut block = vec![0; 512];
            let status = disk.read(number(&arguments, 1), &mut block);
            println!("{status:?} {}", block.iter().map(|byte| u64::from(*byte)).sum::<u64>());
        }
        "write" => println!("{:?}", disk.write(number(&arguments, 1), &[number(&arguments, 2) as u8; 512])),
        "until" => until(&mut disk),
        "flush" => println!("{:?}", disk.flush()),
        "failing" => {
            let failed = disk.flush();
            drop(disk);
            let Ok(mut disk) = BlockDevice::open("data") else { return ExitCode::FAILURE };
            let all = [failed, disk.flush(), disk.write(0, &[7; 512]), disk.write_durable(0, &[7; 512])];
            println!("{all:?}, {:?}", disk.read(0, &mut [0; 512]));
        }
        "files" => return files(disk, &arguments),
        "twice" => println!("{}", BlockDevice::open("data").is_err()),
        what => {
            eprintln!("what? {what:?}");
            return ExitCode::from(2);
        }
    }
    ExitCode::SUCCESS
}

use alloc::string::String;

fn number(arguments: &[String], n: usize) -> u64 {
    arguments.get(n).and_then(|text| text.parse().ok()).unwrap_or(0)
}

/// What lies within the device and what does not, in requests of many lengths.
fn edges(disk: &mut BlockDevice) {
    let (blocks, size) = (disk.blocks(), disk.block_size());
    for len in [1, 2, 7, 8, 64, 1000] {
        if len as u64 > blocks {
            continue;
        }
        let mut wrote = vec![0; len * size];
        wrote.iter_mut().enumerate().for_each(|(n, byte)| *byte = (n / size + n + len) as u8);
        for at in [0, 1, blocks / 2 - len as u64 / 2, blocks - len as u64] {
            if at + len as u64 > blocks {
                continue;
            }
            assert_eq!(disk.write(at, &wrote), Ok(()));
            let mut read = vec![0; len * size];
            assert_eq!(disk.read(at, &mut read), Ok(()));
            assert!(read == wrote, "{len} blocks at {at}");
            assert_eq!(disk.write_durable(at, &wrote[..size]), Ok(()));
        }
        for at in [blocks - len as u64 + 1, blocks, u64::MAX, u64::MAX / size as u64] {
            assert_eq!(disk.write(at, &wrote), Err(Status::Range), "{len} blocks at {at}");
            assert_eq!(disk.read(at, &mut wrote), Err(Status::Range), "{len} blocks at {at}");
        }
    }
    assert_eq!(disk.write(0, &vec![0; size + 1]), Err(Status::Invalid));
    assert_eq!(disk.flush(), Ok(()));
    println!("the edges are right: {:?}", disk.counts());
}

/// Reads the last block until that fails.
fn until(disk: &mut BlockDevice) {
    let last = disk.blocks() - 1;
    println!("reading");
    let end = unikernel::since_start() + core::time::Duration::from_secs(60);
    while unikernel::since_start() < end {
        if let Err(why) = disk.read(last, &mut vec![0; 512]) {
            return println!("{why:?}, and then {:?}", disk.read(0, &mut vec![0; 512]));
        }
    }
}

/// `files put NAME TEXT`, `files get NAME`
fn files(disk: BlockDevice, arguments: &[String]) -> ExitCode {
    let mut files = match Files::mount(disk) {
        Ok(files) => files,
        Err(why) => {
            eprintln!("{why}");
            return ExitCode::FAILURE;
        }
    };
    let word = |n: usize| arguments.get(n).map_or("", String::as_str);
    let done = match word(1) {
        "put" => files.open_or_create(word(2)).and_then(|file| {
            files.set_size(file, 0)?;
            files.append(file, word(3).as_bytes())?;
            files.sync()
        }),
        "get" => files.open(word(2)).and_then(|file| {
            let content = files.read(file)?;
            println!("{}", String::from_utf8_lossy(&content));
            Ok(())
        }),
        _ => return ExitCode::from(2),
    };
    match done {
        Ok(()) => ExitCode::SUCCESS,
        Err(why) => {
            eprintln!("{why}");
            ExitCode::FAILURE
        }
    }
}
