//! Linux, for a program that is built as one of its own: its devices are files, and its memory the C library's.

use std::collections::HashSet;
use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::fd::{FromRawFd as _, IntoRawFd as _};
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::string::String;
use std::sync::{Mutex, OnceLock, PoisonError};
use std::time::{Instant, SystemTime, UNIX_EPOCH};
use std::vec::Vec;

use unikernel_abi::call::Op;
use unikernel_abi::{Counts, Device, Durability, Status};

use crate::stream::Stream;

/// What names a file as a device: `UNIKERNEL_BLOCK_data=disk.img`.
const PREFIX: &str = "UNIKERNEL_BLOCK_";
const BLOCK_SIZE: u32 = 512;

pub fn arguments() -> Vec<String> {
    std::env::args_os().skip(1).map(|argument| argument.to_string_lossy().into_owned()).collect()
}

pub fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok()
}

pub fn console_write(stream: Stream, text: &[u8]) {
    // Nobody may listen any more.
    let _ = match stream {
        Stream::Out => io::stdout().write_all(text).and_then(|()| io::stdout().flush()),
        Stream::Error => io::stderr().write_all(text),
    };
}

pub fn memory() -> Option<(u64, u64)> {
    None
}

pub fn monotonic() -> u64 {
    static START: OnceLock<Instant> = OnceLock::new();
    START.get_or_init(Instant::now).elapsed().as_nanos() as u64
}

pub fn wall() -> u64 {
    SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |since| since.as_nanos() as u64)
}

pub fn devices() -> &'static [Device] {
    static DEVICES: OnceLock<Vec<Device>> = OnceLock::new();
    DEVICES.get_or_init(|| {
        let named = std::env::vars_os()
            .filter_map(|(name, path)| Some((name.to_str()?.strip_prefix(PREFIX)?.to_owned(), PathBuf::from(path))));
        let opened = |(name, path): (String, PathBuf)| match open(&name, &path) {
            Ok(device) => Some(device),
            Err(why) => {
                eprintln!("{PREFIX}{name}={}: {why}", path.display());
                None
            }
        };
        named.filter_map(opened).collect()
    })
}

fn open(name: &str, path: &Path) -> io::Result<Device> {
    if !unikernel_abi::manifest::is_name(name.as_bytes()) {
        return Err(io::Error::other("a device is called by 1 to 23 letters, digits, - and _"));
    }
    let (mut file, read_only) = match OpenOptions::new().read(true).write(true).open(path) {
        Ok(file) => (file, 0),
        Err(_) => (File::open(path)?, 1),
    };
    let mut text = [0; 24];
    text[..name.len()].copy_from_slice(name.as_bytes());
    let blocks = file.seek(SeekFrom::End(0))? / u64::from(BLOCK_SIZE);
    // It is open as long as the program runs.
    let handle = file.into_raw_fd() as u32;
    Ok(Device {
        name: text,
        blocks,
        handle,
        durable_handle: handle,
        durability: Durability::Writeback as u32,
        block_size: BLOCK_SIZE,
        read_only,
        alignment: 1,
        most_bytes: 1 << 30,
        rings: 0,
        poll_ns: 0,
    })
}

/// Numbers of devices.
type Numbers = OnceLock<Mutex<HashSet<usize>>>;
static TAKEN: Numbers = OnceLock::new();
static FAILED: Numbers = OnceLock::new();

fn these(numbers: &'static Numbers) -> std::sync::MutexGuard<'static, HashSet<usize>> {
    numbers.get_or_init(Mutex::default).lock().unwrap_or_else(PoisonError::into_inner)
}

/// Nobody else wants to know.
pub fn count(_: usize, _: Counts) {}

pub fn take(number: usize) -> bool {
    these(&TAKEN).insert(number)
}

pub fn give_back(number: usize) {
    these(&TAKEN).remove(&number);
}

/// Nothing is written to a device any more.
pub fn fail(number: usize) {
    these(&FAILED).insert(number);
}

pub fn has_failed(number: usize) -> bool {
    these(&FAILED).contains(&number)
}

/// The file of a device, which stays open.
fn file(device: &Device) -> std::mem::ManuallyDrop<File> {
    // SAFETY: the descriptor was opened for the device and is never closed.
    std::mem::ManuallyDrop::new(unsafe { File::from_raw_fd(device.handle as i32) })
}

pub fn read(device: &Device, block: u64, into: &mut [u8]) -> Result<(), Status> {
    file(device).read_exact_at(into, block * u64::from(BLOCK_SIZE)).map_err(status)
}

pub fn write(device: &Device, op: Op, block: u64, from: &[u8]) -> Result<(), Status> {
    file(device).write_all_at(from, block * u64::from(BLOCK_SIZE)).map_err(status)?;
    if op == Op::WriteDurable { flush(device) } else { Ok(()) }
}

pub fn flush(device: &Device) -> Result<(), Status> {
    file(device).sync_data().map_err(status)
}

fn status(why: io::Error) -> Status {
    Status::of_linux(why.raw_os_error().unwrap_or_default())
}
