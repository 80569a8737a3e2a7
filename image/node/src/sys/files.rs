//! Files, folders and what is mounted.

use alloc::string::String;
use alloc::vec::Vec;
use core::ffi::{CStr, c_int};

use linux_raw_sys::general::{
    __NR_close, __NR_dup3, __NR_fcntl, __NR_getdents64, __NR_ioctl, __NR_mkdirat, __NR_mknodat, __NR_mount,
    __NR_openat, __NR_pipe2, __NR_pwrite64, __NR_read, __NR_statx, __NR_symlinkat, __NR_umount2, __NR_unlinkat,
    __NR_write, AT_FDCWD, AT_REMOVEDIR, F_UNLCK, F_WRLCK, O_CLOEXEC, O_DIRECTORY, STATX_BASIC_STATS, statx,
};

#[cfg(not(target_arch = "arm"))]
use linux_raw_sys::general::{__NR_fcntl as __NR_LOCK, F_SETLKW as F_SETLKW_HERE};
#[cfg(target_arch = "arm")]
use linux_raw_sys::general::{__NR_fcntl64 as __NR_LOCK, F_SETLKW64 as F_SETLKW_HERE};

pub use linux_raw_sys::general::{O_APPEND, O_CREAT, O_RDONLY, O_RDWR, O_TRUNC, O_WRONLY};

use super::call::call;
use super::errno::{Errno, Result};

/// An open descriptor, closed when it is dropped.
#[derive(Debug)]
pub struct Fd(c_int);

/// Where a relative path begins: the folder of this process.
const HERE: usize = AT_FDCWD as isize as usize;

/// As much as a folder tells of itself at once.
const FOLDER: usize = 2048;

/// As much of a file as is read at once.
const PIECE: usize = 1024;

/// A path, as the kernel takes it.
#[derive(Debug)]
pub struct Path(Vec<u8>);

/// A path as the kernel takes it.
///
/// # Errors
/// `EINVAL` for one with a NUL in it, which would end there for the kernel.
pub fn path(text: &str) -> Result<Path> {
    let mut bytes = Vec::with_capacity(text.len() + 1);
    bytes.extend_from_slice(text.as_bytes());
    bytes.push(0);
    if CStr::from_bytes_with_nul(&bytes).is_ok() { Ok(Path(bytes)) } else { Err(Errno::EINVAL) }
}

impl Path {
    fn at(&self) -> usize {
        self.0.as_ptr() as usize
    }

    /// # Errors
    /// What the kernel said.
    pub fn open(&self, flags: u32) -> Result<Fd> {
        let mode = 0o644;
        // SAFETY: the path ends with a zero.
        unsafe { call(__NR_openat, [HERE, self.at(), (flags | O_CLOEXEC) as usize, mode, 0, 0]) }.map(Fd::of)
    }

    /// What the kernel says of a file: its mode and its size.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn about(&self) -> Result<(u32, u64)> {
        let mut about = core::mem::MaybeUninit::<statx>::zeroed();
        let arguments = [HERE, self.at(), 0, STATX_BASIC_STATS as usize, about.as_mut_ptr() as usize, 0];
        // SAFETY: a path that ends with a zero, and room for the answer.
        unsafe { call(__NR_statx, arguments) }?;
        // SAFETY: zeroes are a valid one, and the call filled it.
        let about = unsafe { about.assume_init() };
        Ok((u32::from(about.stx_mode), about.stx_size))
    }
}

impl Fd {
    /// A descriptor that the kernel gave to nobody else.
    pub fn of(number: usize) -> Self {
        Self(number as c_int)
    }

    pub fn number(&self) -> usize {
        self.0 as usize
    }

    /// # Errors
    /// What the kernel said.
    pub fn open(name: &str, flags: u32) -> Result<Self> {
        path(name)?.open(flags)
    }

    /// Reads what there is, up to as many bytes as have room; 0 at the end.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn read(&self, bytes: &mut [u8]) -> Result<usize> {
        read(self.number(), bytes)
    }

    /// # Errors
    /// What the kernel said.
    pub fn write_all(&self, bytes: &[u8]) -> Result<()> {
        write_all(self.number(), bytes)
    }

    /// Writes bytes at a place of a file.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn write_at(&self, bytes: &[u8], at: u64) -> Result<usize> {
        // Numbers of 64 bits stand in two registers, from one with an even number on.
        let place =
            if cfg!(target_pointer_width = "64") { [at as usize, 0, 0] } else { [0, at as usize, (at >> 32) as usize] };
        let bytes = [bytes.as_ptr() as usize, bytes.len()];
        // SAFETY: the memory is ours, and as long as we say.
        unsafe { call(__NR_pwrite64, [self.number(), bytes[0], bytes[1], place[0], place[1], place[2]]) }
    }

    /// A call that only a kind of device or socket knows.
    ///
    /// # Safety
    /// `argument` is what this request takes.
    ///
    /// # Errors
    /// What the kernel said.
    pub unsafe fn ioctl(&self, request: u32, argument: usize) -> Result<usize> {
        // SAFETY: the caller's promise.
        unsafe { call(__NR_ioctl, [self.number(), request as usize, argument, 0, 0, 0]) }
    }

    /// Lets it have the number `number` as well, for programs that this process starts.
    ///
    /// # Errors
    /// What the kernel said.
    pub fn also(&self, number: usize) -> Result<()> {
        // SAFETY: numbers.
        unsafe { call(__NR_dup3, [self.number(), number, 0, 0, 0, 0]) }.map(drop)
    }
}

impl Drop for Fd {
    fn drop(&mut self) {
        // SAFETY: it is ours, and not used again.
        let _ = unsafe { call(__NR_close, [self.number(), 0, 0, 0, 0, 0]) };
    }
}

/// Reads from an open descriptor, such as 0, up to as many bytes as have room; 0 at the end.
///
/// # Errors
/// What the kernel said.
pub fn read(fd: usize, bytes: &mut [u8]) -> Result<usize> {
    // SAFETY: the memory is ours, and as long as we say.
    unsafe { call(__NR_read, [fd, bytes.as_mut_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Writes some of the bytes.
///
/// # Errors
/// What the kernel said.
pub fn write(fd: usize, bytes: &[u8]) -> Result<usize> {
    // SAFETY: the memory is ours, and as long as we say.
    unsafe { call(__NR_write, [fd, bytes.as_ptr() as usize, bytes.len(), 0, 0, 0]) }
}

/// Writes all of them.
///
/// # Errors
/// What the kernel said.
pub fn write_all(fd: usize, mut bytes: &[u8]) -> Result<()> {
    while !bytes.is_empty() {
        let written = write(fd, bytes)?;
        bytes = &bytes[written..];
    }
    Ok(())
}

/// A new pipe: the end that reads, and the one that writes.
///
/// # Errors
/// What the kernel said.
pub fn pipe() -> Result<(Fd, Fd)> {
    let mut ends: [c_int; 2] = [0; 2];
    // SAFETY: room for the two descriptors that the call writes.
    unsafe { call(__NR_pipe2, [ends.as_mut_ptr() as usize, O_CLOEXEC as usize, 0, 0, 0, 0]) }?;
    Ok((Fd(ends[0]), Fd(ends[1])))
}

/// `fcntl` with a number.
///
/// # Errors
/// What the kernel said.
pub fn fcntl(fd: usize, what: u32, number: usize) -> Result<usize> {
    // SAFETY: numbers.
    unsafe { call(__NR_fcntl, [fd, what as usize, number, 0, 0, 0]) }
}

/// Takes a lock on one byte of a file for this process, waiting for it, or gives it back.
///
/// # Errors
/// What the kernel said.
#[inline]
pub fn lock(fd: usize, at: u64, takes: bool) -> Result<()> {
    /// `flock64`, or `flock` where numbers have 64 bits anyway.
    #[repr(C)]
    struct Lock {
        kind: i16,
        whence: i16,
        start: i64,
        length: i64,
        process: i32,
    }
    let kind = if takes { F_WRLCK } else { F_UNLCK } as i16;
    let lock = Lock { kind, whence: 0, start: at as i64, length: 1, process: 0 };
    // SAFETY: the lock is ours.
    unsafe { call(__NR_LOCK, [fd, F_SETLKW_HERE as usize, (&raw const lock) as usize, 0, 0, 0]) }.map(drop)
}

/// A whole file. It grows with what is read: files of the kernel do not say how long they are.
///
/// # Errors
/// What the kernel said.
pub fn contents(name: &str) -> Result<Vec<u8>> {
    let file = Fd::open(name, O_RDONLY)?;
    let (mut all, mut piece) = (Vec::new(), [0; PIECE]);
    loop {
        match file.read(&mut piece)? {
            0 => return Ok(all),
            read => all.extend_from_slice(&piece[..read]),
        }
    }
}

/// A whole file of text.
///
/// # Errors
/// What the kernel said; `EINVAL` for one that is no text.
pub fn text(name: &str) -> Result<String> {
    String::from_utf8(contents(name)?).map_err(|_| Errno::EINVAL)
}

/// What stands in a folder: names, and whether each is a folder.
///
/// # Errors
/// What the kernel said.
pub fn names(folder: &str) -> Result<Vec<(String, bool)>> {
    let open = Fd::open(folder, O_RDONLY | O_DIRECTORY)?;
    let (mut found, mut piece) = (Vec::new(), [0u8; FOLDER]);
    loop {
        // SAFETY: the memory is ours, and as long as we say.
        let filled =
            unsafe { call(__NR_getdents64, [open.number(), piece.as_mut_ptr() as usize, piece.len(), 0, 0, 0]) }?;
        if filled == 0 {
            return Ok(found);
        }
        found.extend(entries(&piece[..filled]));
    }
}

/// The entries of a `linux_dirent64[]`: inode and offset (8 bytes each), the length of the entry (2), its type (1), its name.
fn entries(mut bytes: &[u8]) -> impl Iterator<Item = (String, bool)> {
    const HEAD: usize = 19;
    const FOLDER: u8 = 4;
    core::iter::from_fn(move || {
        loop {
            let length = usize::from(u16::from_ne_bytes(bytes.get(16..18)?.try_into().ok()?));
            let (entry, rest) = bytes.split_at_checked(length).filter(|(entry, _)| entry.len() > HEAD)?;
            bytes = rest;
            let name = CStr::from_bytes_until_nul(&entry[HEAD..]).ok()?.to_string_lossy().into_owned();
            if name != "." && name != ".." {
                return Some((name, entry[18] == FOLDER));
            }
        }
    })
}

/// What the kernel says of a file: its mode and its size.
///
/// # Errors
/// What the kernel said.
pub fn about(name: &str) -> Result<(u32, u64)> {
    path(name)?.about()
}

/// Makes a pipe with a name; one that is there is fine.
///
/// # Errors
/// What the kernel said.
pub fn fifo(name: &str) -> Result<()> {
    const FIFO: usize = 0o010_644;
    let name = path(name)?;
    // SAFETY: the path ends with a zero.
    match unsafe { call(__NR_mknodat, [HERE, name.at(), FIFO, 0, 0, 0]) } {
        Ok(_) | Err(Errno::EEXIST) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Makes a folder; one that is there is fine.
///
/// # Errors
/// What the kernel said.
pub fn folder(name: &str) -> Result<()> {
    let name = path(name)?;
    // SAFETY: the path ends with a zero.
    match unsafe { call(__NR_mkdirat, [HERE, name.at(), 0o755, 0, 0, 0]) } {
        Ok(_) | Err(Errno::EEXIST) => Ok(()),
        Err(error) => Err(error),
    }
}

/// Removes a file, or a folder that is empty.
///
/// # Errors
/// What the kernel said.
pub fn remove(name: &str) -> Result<()> {
    let name = path(name)?;
    let flags = |flags: u32| [HERE, name.at(), flags as usize, 0, 0, 0];
    // SAFETY: the path ends with a zero.
    match unsafe { call(__NR_unlinkat, flags(0)) } {
        // SAFETY: as above.
        Err(Errno::EISDIR) => unsafe { call(__NR_unlinkat, flags(AT_REMOVEDIR)) }.map(drop),
        done => done.map(drop),
    }
}

/// Makes `name` lead to `target`.
///
/// # Errors
/// What the kernel said.
pub fn link(target: &str, name: &str) -> Result<()> {
    let (target, name) = (path(target)?, path(name)?);
    // SAFETY: both paths end with a zero.
    unsafe { call(__NR_symlinkat, [target.at(), HERE, name.at(), 0, 0, 0]) }.map(drop)
}

/// Mounts a file system of that kind.
///
/// # Errors
/// What the kernel said.
pub fn mount(kind: &str, source: &str, target: &str) -> Result<()> {
    let (kind, source, target) = (path(kind)?, path(source)?, path(target)?);
    let arguments = [source.at(), target.at(), kind.at(), 0, 0, 0];
    // SAFETY: three texts that end with a zero; there are no options.
    unsafe { call(__NR_mount, arguments) }.map(drop)
}

/// Takes what is mounted there away.
///
/// # Errors
/// What the kernel said.
pub fn unmount(target: &str) -> Result<()> {
    let target = path(target)?;
    // SAFETY: the path ends with a zero.
    unsafe { call(__NR_umount2, [target.at(), 0, 0, 0, 0, 0]) }.map(drop)
}

#[cfg(test)]
mod tests {
    use super::*;
    use alloc::format;

    #[test]
    fn a_file_is_written_and_read() {
        let name = format!("/tmp/kizami-node-{}", std::process::id());
        let file = Fd::open(&name, O_CREAT | O_TRUNC | O_WRONLY).expect("made");
        file.write_all(&[7; 5000]).expect("written");
        drop(file);
        assert_eq!(about(&name), Ok((0o100_644, 5000)));
        assert_eq!(contents(&name), Ok(alloc::vec![7; 5000]));
        remove(&name).expect("removed");
        assert_eq!(about(&name), Err(Errno::ENOENT));
        assert_eq!(Fd::open("a\0b", O_RDONLY).map(drop), Err(Errno::EINVAL));
    }

    #[test]
    fn a_folder_says_what_stands_in_it() {
        let names = names("/proc/self").expect("a folder");
        assert!(names.contains(&("fd".into(), true)) && names.contains(&("status".into(), false)));
        assert!(entries(&[0; 30]).next().is_none(), "an entry without a length is none");
        assert!(entries(&[255; 30]).next().is_none(), "nor is one that is longer than all");
    }
}
