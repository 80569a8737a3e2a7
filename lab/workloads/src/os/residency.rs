//! Which pages of a file are in the page cache.

use std::fs::File;
use std::io;
use std::os::fd::AsRawFd;

/// A file whose pages are asked about. It is mapped, and the mapping never touched.
#[derive(Debug)]
pub struct Residency {
    first: *mut libc::c_void,
    region: usize,
    page: usize,
    /// Room for the answers to one question.
    pages: Vec<u8>,
}

impl Residency {
    /// Pages that are asked about at once.
    const AT_ONCE: usize = 64 << 10;

    /// Of the first `region` bytes of a file.
    ///
    /// # Errors
    /// If it cannot be mapped.
    pub fn new(file: &File, region: u64) -> io::Result<Self> {
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as usize;
        let region = region as usize;
        let fd = file.as_raw_fd();
        // SAFETY: a new mapping, placed by the kernel, touches no memory that exists; through it nothing is accessed.
        let first = unsafe { libc::mmap(std::ptr::null_mut(), region, libc::PROT_READ, libc::MAP_SHARED, fd, 0) };
        if first == libc::MAP_FAILED {
            return Err(io::Error::last_os_error());
        }
        // Ones and not zeros, so that the memory is really there before the first question.
        Ok(Self { first, region, page, pages: vec![1; Self::AT_ONCE] })
    }

    /// Of the pages that hold `len` bytes at `at`: how many are in the cache, and how many there are.
    ///
    /// # Errors
    /// If the kernel does not say.
    pub fn of(&mut self, at: u64, len: u64) -> io::Result<Pages> {
        let end = (at as usize + len as usize).min(self.region);
        let mut from = at as usize / self.page * self.page;
        let mut found = Pages::default();
        while from < end {
            let len = (end - from).min(Self::AT_ONCE * self.page);
            let pages = len.div_ceil(self.page);
            // SAFETY: the range lies within the mapping and starts at a page; there is a byte for each of its pages.
            let result = unsafe { libc::mincore(self.first.add(from), len, self.pages.as_mut_ptr()) };
            if result != 0 {
                return Err(io::Error::last_os_error());
            }
            found.all += pages as u64;
            found.cached += self.pages[..pages].iter().filter(|page| **page & 1 != 0).count() as u64;
            from += len;
        }
        Ok(found)
    }
}

impl Drop for Residency {
    fn drop(&mut self) {
        // SAFETY: the mapping of `new`; nothing refers to it.
        unsafe { libc::munmap(self.first, self.region) };
    }
}

/// How many pages there are, and how many of them are in the page cache.
#[derive(Debug, Default, Clone, Copy)]
pub struct Pages {
    pub all: u64,
    pub cached: u64,
}

impl std::ops::AddAssign for Pages {
    fn add_assign(&mut self, other: Self) {
        self.all += other.all;
        self.cached += other.cached;
    }
}
