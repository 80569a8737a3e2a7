//! The measured file: made, filled, dropped from the page cache, verified, and removed.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::mem::MaybeUninit;
use std::os::fd::AsRawFd;
use std::os::unix::fs::{FileExt, OpenOptionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicBool, Ordering};

use super::plan::{Cache, Plan};
use crate::bench::Failure;
use crate::os::memory::PageAligned;
use crate::os::residency::Residency;
use crate::portable::stamp;

/// The file, removed when dropped unless it is [kept](Store::keep).
#[derive(Debug)]
pub(super) struct Store {
    path: PathBuf,
    file: File,
    kept: bool,
}

impl Store {
    /// In a folder that is there.
    pub(super) fn create(path: PathBuf, plan: &Plan) -> Result<Self, Failure> {
        let mut options = OpenOptions::new();
        options.read(true).write(true).create_new(true);
        if plan.cache == Cache::Direct {
            direct_is_possible(path.parent().unwrap_or(Path::new(".")), plan)?;
            options.custom_flags(libc::O_DIRECT);
        }
        match options.open(&path) {
            Ok(file) => Ok(Self { path, file, kept: false }),
            Err(e) if plan.cache == Cache::Direct && e.raw_os_error() == Some(libc::EINVAL) => {
                // Some file systems make the file before they refuse the flag.
                let _ = fs::remove_file(&path);
                Err(no_direct(path.parent().unwrap_or(Path::new(".")), "open refuses O_DIRECT"))
            }
            Err(source) => Err(Failure::Os { doing: format!("create {}", path.display()), source }),
        }
    }

    /// Prepares it for the samples of `plan`; `false` when it was stopped before.
    pub(super) fn prepare(&self, block: &mut Block, plan: &Plan, stop: &AtomicBool) -> Result<bool, Failure> {
        if plan.appends() {
            self.reserve(plan.region)?;
            return Ok(true);
        }
        Ok(self.fill(block, plan, stop)? && (plan.cache != Cache::Hot || self.warm(block, plan, stop)?))
    }

    /// Leaves it there.
    pub(super) fn keep(mut self) {
        self.kept = true;
    }

    /// Reserves `bytes`, so that writing does not have to.
    fn reserve(&self, bytes: u64) -> Result<(), Failure> {
        // SAFETY: an open descriptor and numbers; no memory is involved.
        let result = unsafe { libc::fallocate(self.file.as_raw_fd(), 0, 0, bytes as libc::off_t) };
        match (result, io::Error::last_os_error()) {
            (0, _) => Ok(()),
            // A file system without reservations: writing makes the file grow.
            (_, e) if e.raw_os_error() == Some(libc::EOPNOTSUPP) => Ok(()),
            (_, e) => Err(self.failure("reserve room in", e)),
        }
    }

    /// Writes what the samples of `plan` are to read, and forces it out; `false` when it was stopped before.
    fn fill(&self, block: &mut Block, plan: &Plan, stop: &AtomicBool) -> Result<bool, Failure> {
        self.reserve(plan.region)?;
        for at in plan.places() {
            let write = |block: &mut Block, len, offset| self.write(block.stamped(len, at + offset, 0), at + offset);
            if !block.each(plan.size, stop, write)? {
                return Ok(false);
            }
        }
        self.sync()?;
        Ok(true)
    }

    /// Reads it into the cache; `false` when it was stopped before. The pages that writing left there are dropped first:
    /// the cache keeps a file that was read ahead in larger pieces, and that is what reading a file usually finds.
    fn warm(&self, block: &mut Block, plan: &Plan, stop: &AtomicBool) -> Result<bool, Failure> {
        self.drop_cached(false)?;
        block.each(plan.region, stop, |block, len, offset| self.read(block.bytes_mut(len), offset))
    }

    /// Reads back what the sample number `stamp` wrote at `at`.
    pub(super) fn verify(
        &self,
        block: &mut Block,
        at: u64,
        size: u64,
        stamp: u64,
        stop: &AtomicBool,
    ) -> Result<(), Failure> {
        block.each(size, stop, |block, len, offset| {
            self.read(block.bytes_mut(len), at + offset)?;
            block.check(len, at + offset, stamp, self)
        })?;
        Ok(())
    }

    /// Takes the file's pages out of the page cache. Only clean pages can be, so written ones are forced out first.
    pub(super) fn drop_cached(&self, written: bool) -> Result<(), Failure> {
        if written {
            self.sync()?;
        }
        // SAFETY: an open descriptor and numbers; no memory is involved.
        match unsafe { libc::posix_fadvise(self.file.as_raw_fd(), 0, 0, libc::POSIX_FADV_DONTNEED) } {
            0 => Ok(()),
            error => Err(self.failure("drop the cached pages of", io::Error::from_raw_os_error(error))),
        }
    }

    pub(super) fn residency(&self, plan: &Plan) -> Result<Residency, Failure> {
        Residency::new(&self.file, plan.region).map_err(|e| self.failure("map", e))
    }

    #[inline]
    pub(super) fn write(&self, bytes: &[u8], offset: u64) -> Result<(), Failure> {
        self.file.write_all_at(bytes, offset).map_err(|e| self.failure("write", e))
    }

    #[inline]
    pub(super) fn read(&self, bytes: &mut [u8], offset: u64) -> Result<(), Failure> {
        self.file.read_exact_at(bytes, offset).map_err(|e| self.failure("read", e))
    }

    #[inline]
    pub(super) fn sync(&self) -> Result<(), Failure> {
        self.file.sync_all().map_err(|e| self.failure("fsync", e))
    }

    fn failure(&self, doing: &str, source: io::Error) -> Failure {
        let path = self.path.display();
        match source.kind() {
            io::ErrorKind::StorageFull | io::ErrorKind::QuotaExceeded => Failure::Impossible(format!(
                "there is not enough room for {path} ({source}): free some, choose a smaller size or fewer samples, or \
                 another folder for scratch files"
            )),
            io::ErrorKind::FileTooLarge => Failure::Impossible(format!(
                "{path} would be larger than its file system or the file size limit of the process (ulimit -f) allows"
            )),
            _ => Failure::Os { doing: format!("{doing} {path}"), source },
        }
    }
}

impl Drop for Store {
    fn drop(&mut self) {
        if !self.kept {
            let _ = fs::remove_file(&self.path);
        }
    }
}

fn no_direct(folder: &Path, how: &str) -> Failure {
    Failure::Impossible(format!(
        "the file system of {} cannot do direct I/O ({how}): choose cache=cold, or a folder for scratch files on a disk",
        folder.display()
    ))
}

/// Asks for what `open` does not always tell: since Linux 6.6 tmpfs accepts O_DIRECT and ignores it, and alignment is
/// told only by statx.
fn direct_is_possible(folder: &Path, plan: &Plan) -> Result<(), Failure> {
    let name = std::os::unix::ffi::OsStrExt::as_bytes(folder.as_os_str());
    let name = std::ffi::CString::new(name)
        .map_err(|_| Failure::Impossible(format!("{} is no name of a folder", folder.display())))?;
    let mut fs = MaybeUninit::<libc::statfs>::zeroed();
    // SAFETY: a C string, and room for what the call fills; all-zero is a valid value of it too.
    let fs = unsafe {
        if libc::statfs(name.as_ptr(), fs.as_mut_ptr()) != 0 {
            return Err(Failure::last_os(format!("learn which file system {} is on", folder.display())));
        }
        fs.assume_init()
    };
    const RAMFS_MAGIC: u64 = 0x8584_58f6;
    if [libc::TMPFS_MAGIC as u64, RAMFS_MAGIC].contains(&(fs.f_type as u64)) {
        return Err(no_direct(folder, "it is in memory"));
    }
    let block = plan.block as u64;
    let unit = if plan.size.is_multiple_of(4096) && block.is_multiple_of(4096) { 4096 } else { 512 };
    if !plan.size.is_multiple_of(unit) || !block.is_multiple_of(unit) {
        return Err(Failure::Impossible(
            "direct I/O needs a size and a block that are multiples of 512 bytes, on many disks of 4KiB".into(),
        ));
    }
    Ok(())
}

/// A buffer whose content says where it belongs, as [`stamp`] has it.
pub(super) struct Block {
    memory: PageAligned,
}

impl Block {
    pub(super) fn new(len: usize) -> Result<Self, Failure> {
        let mut memory = PageAligned::new(len, 0)?;
        stamp::fill(&mut memory);
        Ok(Self { memory })
    }

    #[inline]
    pub(super) fn bytes_mut(&mut self, len: usize) -> &mut [u8] {
        &mut self.memory[..len]
    }

    #[inline]
    pub(super) fn stamped(&mut self, len: usize, offset: u64, sample: u64) -> &[u8] {
        let bytes = self.bytes_mut(len);
        stamp::stamp(bytes, offset, sample);
        bytes
    }

    /// Compares the first `len` bytes with what was written.
    pub(super) fn check(&mut self, len: usize, offset: u64, sample: u64, store: &Store) -> Result<(), Failure> {
        if stamp::is_right(self.bytes_mut(len), offset, sample) {
            return Ok(());
        }
        let path = store.path.display();
        Err(Failure::Impossible(format!("{path} does not hold at byte {offset} what was written there")))
    }

    /// Does `what` for each block of the first `bytes` of a file; `false` when it was stopped before the end.
    fn each(
        &mut self,
        bytes: u64,
        stop: &AtomicBool,
        mut what: impl FnMut(&mut Self, usize, u64) -> Result<(), Failure>,
    ) -> Result<bool, Failure> {
        let mut offset = 0;
        while offset < bytes {
            if stop.load(Ordering::Relaxed) {
                return Ok(false);
            }
            let len = self.memory.len().min((bytes - offset) as usize);
            what(self, len, offset)?;
            offset += len as u64;
        }
        Ok(true)
    }
}
