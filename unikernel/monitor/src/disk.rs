//! The files that a guest's block devices lie on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::os::fd::AsRawFd as _;
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::{Duration, Instant};

use unikernel_abi::{Durability, manifest};

use crate::trace::Trace;

/// A guest whose monitor was killed is about to end for so long.
const GOING: Duration = Duration::from_millis(500);

/// A disk as it is asked for.
#[derive(Clone, Debug)]
pub struct DiskOptions {
    /// As the program calls it.
    pub name: String,
    pub path: PathBuf,
    pub read_only: bool,
    pub durability: Durability,
    /// Past the page cache of the host (`O_DIRECT`).
    pub direct: bool,
    /// A new file for a log of what is written and flushed, as dm-log-writes has it. Where the guest asks the kernel itself there is none.
    pub log: Option<PathBuf>,
    /// What each request takes is wanted.
    pub timed: bool,
    /// Where each request is told. Where the guest asks the kernel itself none is.
    pub trace: Option<Arc<Trace>>,
}

/// A disk that is open, and nobody else's.
#[derive(Debug)]
pub struct Disk {
    options: DiskOptions,
    file: File,
    /// The same, whose writes are durable when they are done.
    durable: File,
    bytes: u64,
    alignment: u32,
}

/// Why a disk cannot be used.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum DiskError {
    #[error("a device is called by 1 to 23 letters, digits, - and _, and not {0:?}")]
    Name(String),
    #[error("disk {0}: {1}")]
    Unusable(PathBuf, io::Error),
    #[error("disk {0} does not exist. `unikernel mkdisk {0} --size 64M` makes one.")]
    Missing(PathBuf),
    #[error("disk {0} is neither a file nor a block device")]
    Kind(PathBuf),
    #[error("disk {0} has {1} bytes, which is not a block: at least 512 are needed")]
    Empty(PathBuf, u64),
    #[error("disk {0} is in use by another guest")]
    InUse(PathBuf),
    #[error("disk {0} cannot be read and written past the page cache: {1}")]
    NotDirect(PathBuf, &'static str),
}

impl Disk {
    /// Bytes of a block.
    pub(crate) const BLOCK: u64 = 512;

    /// Opens a disk, so that no other guest has it.
    ///
    /// # Errors
    /// If it cannot be used.
    pub fn open(options: DiskOptions) -> Result<Self, DiskError> {
        if !manifest::is_name(options.name.as_bytes()) {
            return Err(DiskError::Name(options.name));
        }
        let path = options.path.clone();
        let unusable = |why: io::Error| match why.kind() {
            io::ErrorKind::NotFound => DiskError::Missing(path.clone()),
            // Other causes of it were looked for before.
            io::ErrorKind::InvalidInput if options.direct => {
                DiskError::NotDirect(path.clone(), "its file system refuses that")
            }
            _ => DiskError::Unusable(path.clone(), why),
        };
        let open = |flags| {
            OpenOptions::new().read(true).write(!options.read_only).custom_flags(flags).open(&path).map_err(unusable)
        };
        // Whoever opened a pipe for reading would wait for its other end.
        let kind = std::fs::metadata(&path).map_err(unusable)?.file_type();
        if !kind.is_file() && !kind.is_block_device() {
            return Err(DiskError::Kind(path));
        }
        let past_the_cache = if options.direct { libc::O_DIRECT } else { 0 };
        let durable = open(libc::O_DSYNC | past_the_cache)?;
        let mut file = match options.durability {
            Durability::Writethrough => durable.try_clone().map_err(unusable)?,
            _ => open(past_the_cache)?,
        };
        let alignment = match options.direct {
            true => alignment(&file).map_err(unusable)?.map_err(|why| DiskError::NotDirect(path.clone(), why))?,
            false => 1,
        };
        if !lock(&file, options.read_only).map_err(unusable)? {
            return Err(DiskError::InUse(path));
        }
        let bytes = file.seek(SeekFrom::End(0)).map_err(unusable)?;
        if bytes < Self::BLOCK {
            return Err(DiskError::Empty(path, bytes));
        }
        Ok(Self { options, file, durable, bytes: bytes / Self::BLOCK * Self::BLOCK, alignment })
    }

    pub fn name(&self) -> &str {
        &self.options.name
    }

    pub fn path(&self) -> &Path {
        &self.options.path
    }

    pub fn is_read_only(&self) -> bool {
        self.options.read_only
    }

    pub fn durability(&self) -> Durability {
        self.options.durability
    }

    /// In whole blocks.
    pub fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Whether it is read and written past the page cache of the host.
    pub fn is_direct(&self) -> bool {
        self.options.direct
    }

    pub(crate) fn is_timed(&self) -> bool {
        self.options.timed || self.options.trace.is_some()
    }

    /// Where each request is told.
    pub fn trace(&self) -> Option<&Trace> {
        self.options.trace.as_deref()
    }

    /// Where a log of what is written goes.
    pub fn log(&self) -> Option<&Path> {
        self.options.log.as_deref()
    }

    /// What the data of a request is aligned to in memory.
    pub(crate) fn alignment(&self) -> u32 {
        self.alignment
    }

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// By which writes are durable when they are done; if nothing of it ever is to be, as any other.
    pub(crate) fn durable(&self) -> &File {
        if self.durability() == Durability::Unsafe { &self.file } else { &self.durable }
    }
}

/// Locks the file of a disk, for reading with others or alone. False if another guest has it.
///
/// # Errors
/// If it cannot be locked at all.
pub fn lock(file: &File, shared: bool) -> io::Result<bool> {
    let until = Instant::now() + GOING;
    loop {
        match if shared { file.try_lock_shared() } else { file.try_lock() } {
            Ok(()) => return Ok(true),
            Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
            Err(TryLockError::WouldBlock) => return Ok(false),
            Err(TryLockError::Error(why)) => return Err(why),
        }
    }
}

/// What memory has to be aligned to for a file that is read and written past the cache, or why it cannot be.
fn alignment(file: &File) -> io::Result<Result<u32, &'static str>> {
    // SAFETY: zeros are a value of both, which the calls fill; the descriptor is open.
    let (system, told) = unsafe {
        let mut system: libc::statfs = std::mem::zeroed();
        let mut told: libc::statx = std::mem::zeroed();
        let wanted = libc::STATX_DIOALIGN;
        if libc::fstatfs(file.as_raw_fd(), &mut system) != 0
            || libc::statx(file.as_raw_fd(), c"".as_ptr(), libc::AT_EMPTY_PATH, wanted, &mut told) != 0
        {
            return Err(io::Error::last_os_error());
        }
        (system, told)
    };
    const RAMFS_MAGIC: u64 = 0x8584_58f6;
    // Some of them take the flag, and do as they always do.
    if [libc::TMPFS_MAGIC as u64, RAMFS_MAGIC].contains(&(system.f_type as u64)) {
        return Ok(Err("its file system is in memory"));
    }
    Ok(match (told.stx_mask & libc::STATX_DIOALIGN != 0, told.stx_dio_offset_align) {
        // An older kernel. A page suits every disk.
        (false, _) => Ok(unikernel_abi::PAGE as u32),
        (true, 0) => Err("its file system does not do that"),
        (true, unit) if Disk::BLOCK.is_multiple_of(unit.into()) => Ok(told.stx_dio_mem_align.max(1)),
        (true, _) => Err("its blocks are larger than 512 bytes, which a guest's are"),
    })
}
