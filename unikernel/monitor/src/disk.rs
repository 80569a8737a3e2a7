//! The files that a guest's block devices lie on.

use std::fs::{File, OpenOptions, TryLockError};
use std::io::{self, Seek as _, SeekFrom};
use std::os::unix::fs::{FileTypeExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

use unikernel_abi::{Durability, manifest};

/// A guest whose monitor was killed is about to end for so long.
const GOING: Duration = Duration::from_millis(500);

/// A disk as it is asked for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct DiskOptions {
    /// As the program calls it.
    pub name: String,
    pub path: PathBuf,
    pub read_only: bool,
    pub durability: Durability,
}

/// A disk that is open, and nobody else's.
#[derive(Debug)]
pub struct Disk {
    options: DiskOptions,
    file: File,
    /// The same, whose writes are durable when they are done.
    durable: File,
    bytes: u64,
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
        let durable = open(libc::O_DSYNC)?;
        let mut file = match options.durability {
            Durability::Writethrough => durable.try_clone().map_err(unusable)?,
            _ => open(0)?,
        };
        let until = Instant::now() + GOING;
        loop {
            match if options.read_only { file.try_lock_shared() } else { file.try_lock() } {
                Ok(()) => break,
                Err(TryLockError::WouldBlock) if Instant::now() < until => std::thread::sleep(Duration::from_millis(5)),
                Err(TryLockError::WouldBlock) => return Err(DiskError::InUse(path)),
                Err(TryLockError::Error(why)) => return Err(unusable(why)),
            }
        }
        let bytes = file.seek(SeekFrom::End(0)).map_err(unusable)?;
        if bytes < Self::BLOCK {
            return Err(DiskError::Empty(path, bytes));
        }
        Ok(Self { options, file, durable, bytes: bytes / Self::BLOCK * Self::BLOCK })
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

    pub(crate) fn file(&self) -> &File {
        &self.file
    }

    /// By which writes are durable when they are done; if nothing of it ever is to be, as any other.
    pub(crate) fn durable(&self) -> &File {
        if self.durability() == Durability::Unsafe { &self.file } else { &self.durable }
    }
}
