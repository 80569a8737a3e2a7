//! The memory of a guest that runs beside its monitor.

use std::fs::File;
use std::io;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::sync::atomic::AtomicU32;

// SAFETY: it is a mapping, which every thread of the process has; see the type for what may be done with it.
unsafe impl Send for Memory {}
// SAFETY: as above.
unsafe impl Sync for Memory {}

/// Memory that a guest has, mapped into the monitor. The guest may change it at any moment: there is no reference to it anywhere, and what is
/// read of it is copied first.
#[derive(Debug)]
pub(crate) struct Memory {
    start: *mut u8,
    /// The address that the guest has for the first byte.
    base: u64,
    len: u64,
    /// What the guest may write to, in its addresses.
    writable: Vec<Range<u64>>,
}

/// A part of it, within its bounds.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Buffer {
    start: *mut u8,
    len: usize,
}

impl Memory {
    /// Zeros, which the guest has from `base` on.
    pub fn new(base: u64, len: u64, writable: Vec<Range<u64>>) -> io::Result<Self> {
        Self::map(base, len, writable, std::ptr::null_mut(), libc::MAP_PRIVATE)
    }

    /// Zeros that children of this process share with it, at the address that the guest has for them.
    pub fn shared(base: u64, len: u64, writable: Vec<Range<u64>>) -> io::Result<Self> {
        Self::map(base, len, writable, base as *mut libc::c_void, libc::MAP_SHARED | libc::MAP_FIXED_NOREPLACE)
    }

    fn map(base: u64, len: u64, writable: Vec<Range<u64>>, at: *mut libc::c_void, flags: i32) -> io::Result<Self> {
        let flags = flags | libc::MAP_ANONYMOUS | libc::MAP_NORESERVE;
        // SAFETY: nothing is replaced: the kernel chooses where, or refuses an address where something is.
        let start = unsafe { libc::mmap(at, len as usize, libc::PROT_READ | libc::PROT_WRITE, flags, -1, 0) };
        if start == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        let memory = Self { start: start.cast(), base, len, writable };
        // A kernel that does not know the flag takes the address for a wish.
        if at.is_null() || start == at { Ok(memory) } else { Err(io::ErrorKind::AlreadyExists.into()) }
    }

    /// Where the monitor has it.
    pub fn host(&self) -> u64 {
        self.start as u64
    }

    pub fn len(&self) -> u64 {
        self.len
    }

    /// The part that the guest has at that address, if it has all of it.
    pub fn at(&self, address: u64, len: u64) -> Option<Buffer> {
        let offset = address.checked_sub(self.base)?;
        let end = offset.checked_add(len)?;
        // SAFETY: it lies within what was mapped.
        (end <= self.len).then(|| Buffer { start: unsafe { self.start.add(offset as usize) }, len: len as usize })
    }

    /// The same where the guest may write: what the monitor writes for it goes nowhere else.
    pub fn writable_at(&self, address: u64, len: u64) -> Option<Buffer> {
        let end = address.checked_add(len)?;
        let is_within = |range: &Range<u64>| range.start <= address && end <= range.end;
        self.writable.iter().any(is_within).then(|| self.at(address, len)).flatten()
    }

    /// Copies bytes to where the guest may write. False, and nothing is copied, if it may not write to all of it.
    pub fn answer(&self, address: u64, bytes: &[u8]) -> bool {
        self.writable_at(address, bytes.len() as u64).is_some() && self.put(address, bytes)
    }

    /// A word that both sides count with.
    pub fn word(&self, address: u64) -> Option<&AtomicU32> {
        let buffer = self.at(address, 4).filter(|_| address.is_multiple_of(4))?;
        // SAFETY: it lies within the mapping, which lives as long as this, and is as aligned as the address is (the mapping begins with a
        // page); the guest, too, uses it as what it is.
        Some(unsafe { AtomicU32::from_ptr(buffer.start.cast()) })
    }

    /// Copies bytes there. False, and nothing is copied, if the guest has not all of it.
    pub fn put(&self, address: u64, bytes: &[u8]) -> bool {
        let Some(buffer) = self.at(address, bytes.len() as u64) else { return false };
        // SAFETY: the buffer lies within the mapping and has the same length; nobody has a reference to it.
        unsafe { std::ptr::copy_nonoverlapping(bytes.as_ptr(), buffer.start, buffer.len) };
        true
    }

    /// A copy of the bytes there.
    pub fn copy<const N: usize>(&self, address: u64) -> Option<[u8; N]> {
        let buffer = self.at(address, N as u64)?;
        let mut bytes = [0; N];
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(buffer.start, bytes.as_mut_ptr(), N) };
        Some(bytes)
    }

    /// The same of as many as are asked for.
    pub fn get(&self, address: u64, len: u64) -> Option<Vec<u8>> {
        let buffer = self.at(address, len)?;
        let mut bytes = vec![0; buffer.len];
        // SAFETY: as above.
        unsafe { std::ptr::copy_nonoverlapping(buffer.start, bytes.as_mut_ptr(), buffer.len) };
        Some(bytes)
    }
}

impl Drop for Memory {
    fn drop(&mut self) {
        // SAFETY: it was mapped so, and every buffer is used while this is borrowed or by who owns it.
        unsafe { libc::munmap(self.start.cast(), self.len as usize) };
    }
}

impl Buffer {
    /// No memory at all.
    pub const NOTHING: Self = Self { start: std::ptr::null_mut(), len: 0 };

    /// Memory of this process.
    ///
    /// # Safety
    /// All of it is mapped as long as this is used, and nobody has a reference to it.
    pub unsafe fn at(address: u64, len: u64) -> Self {
        Self { start: address as *mut u8, len: len as usize }
    }

    pub fn len(self) -> usize {
        self.len
    }

    pub fn start(self) -> *mut u8 {
        self.start
    }

    /// Reads as much of a file as fills it.
    pub fn fill_from(self, file: &File, offset: u64) -> io::Result<()> {
        self.each(offset, |start, len, offset| {
            // SAFETY: the memory is mapped, and nobody has a reference to it; what the guest does to it meanwhile is its own affair.
            unsafe { libc::pread(file.as_raw_fd(), start.cast(), len, offset) }
        })
    }

    /// Writes all of it to a file.
    pub fn write_to(self, file: &File, offset: u64) -> io::Result<()> {
        self.each(offset, |start, len, offset| {
            // SAFETY: as above.
            unsafe { libc::pwrite(file.as_raw_fd(), start.cast(), len, offset) }
        })
    }

    fn each(self, offset: u64, call: impl Fn(*mut u8, usize, i64) -> isize) -> io::Result<()> {
        let mut done = 0;
        while done < self.len {
            // SAFETY: it is less than the length.
            let start = unsafe { self.start.add(done) };
            match call(start, self.len - done, (offset + done as u64) as i64) {
                -1 => {
                    let why = io::Error::last_os_error();
                    if why.kind() != io::ErrorKind::Interrupted {
                        return Err(why);
                    }
                }
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                some => done += some as usize,
            }
        }
        Ok(())
    }
}
