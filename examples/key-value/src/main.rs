//! The store as a program: `put KEY VALUE`, `get KEY`, `remove KEY`, `keys [FROM]`, `bench [COUNT]`.
//!
//! ```text
//! unikernel mkdisk store.img --size 64M
//! unikernel run --block data=store.img -- put city Kyoto
//! unikernel run --block data=store.img -- bench 10000
//! ```

#![no_std]
#![no_main]

extern crate alloc;

use alloc::format;
use alloc::string::String;
use core::ops::Bound;
use core::time::Duration;

use key_value::{Store, StoreError};
use unikernel::{BlockDevice, ExitCode, Files, eprintln, println};

const USAGE: &str = "put KEY VALUE, get KEY, remove KEY, keys [FROM], or bench [COUNT]";

#[unikernel::main(blocks = ["data"])]
fn main() -> ExitCode {
    let arguments = unikernel::arguments();
    let words: alloc::vec::Vec<&str> = arguments.iter().map(String::as_str).collect();
    match run(&words) {
        Ok(code) => code,
        Err(why) => {
            eprintln!("key-value: {why}");
            ExitCode::FAILURE
        }
    }
}

fn run(words: &[&str]) -> Result<ExitCode, StoreError> {
    let disk = match BlockDevice::open("data") {
        Ok(disk) => disk,
        Err(why) => panic!("{why}"),
    };
    let mut store = Store::open(Files::mount(disk)?)?;
    match *words {
        ["put", key, value] => {
            store.put(key.as_bytes(), value.as_bytes())?;
            store.sync()?;
        }
        ["get", key] => match store.get(key.as_bytes())? {
            Some(value) => println!("{}", String::from_utf8_lossy(&value)),
            None => return Ok(ExitCode::FAILURE),
        },
        ["remove", key] => {
            if !store.remove(key.as_bytes())? {
                return Ok(ExitCode::FAILURE);
            }
            store.sync()?;
        }
        ["keys"] => print(&store, b""),
        ["keys", from] => print(&store, from.as_bytes()),
        ["bench"] => bench(&mut store, 1000)?,
        ["bench", count] => match count.parse().ok().filter(|count| *count > 0) {
            Some(count) => bench(&mut store, count)?,
            None => return Ok(usage()),
        },
        _ => return Ok(usage()),
    }
    Ok(ExitCode::SUCCESS)
}

fn usage() -> ExitCode {
    eprintln!("{USAGE}");
    ExitCode::from(2)
}

fn print(store: &Store<BlockDevice>, from: &[u8]) {
    for key in store.keys((Bound::Included(from), Bound::Unbounded)) {
        println!("{}", String::from_utf8_lossy(key));
    }
}

/// What each operation takes, with keys of 16 bytes in no order and values of 100.
fn bench(store: &mut Store<BlockDevice>, count: u64) -> Result<(), StoreError> {
    let value = [7; 100];
    let key = |n: u64| format!("{:016x}", (n + 1).wrapping_mul(0x9e37_79b9_7f4a_7c15));
    // A sync takes as long as the disk does: fewer of them say as much.
    let synced = (count / 10).max(1);
    timed("put and sync", synced, |n| {
        store.put(key(n).as_bytes(), &value)?;
        store.sync()
    })?;
    timed("put, a sync for each 100", count, |n| {
        store.put(key(n).as_bytes(), &value)?;
        if n % 100 == 99 { store.sync() } else { Ok(()) }
    })?;
    store.sync()?;
    timed("get", count, |n| match store.get(key(n * 7919 % count).as_bytes())? {
        Some(found) if found == value => Ok(()),
        _ => panic!("what was put is not there"),
    })?;
    let mut keys = 0;
    timed("all keys in order", 1, |_| {
        keys = store.keys((Bound::Unbounded, Bound::Unbounded)).count();
        Ok(())
    })?;
    let (log, dead) = store.log_bytes();
    println!("{keys} keys, a log of {log} bytes of which {dead} are of no use");
    Ok(())
}

fn timed(what: &str, count: u64, mut each: impl FnMut(u64) -> Result<(), StoreError>) -> Result<(), StoreError> {
    let start = unikernel::since_start();
    (0..count).try_for_each(&mut each)?;
    let took: Duration = unikernel::since_start() - start;
    let nanoseconds = took.as_nanos() as u64 / count;
    println!("{what:<26} {count:>8} times  {:>7}.{:03} us each", nanoseconds / 1000, nanoseconds % 1000);
    Ok(())
}
