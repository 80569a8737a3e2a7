//! Disks, from the host.

use std::fs::{File, OpenOptions};
use std::io::{self, Seek as _, SeekFrom, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;
use unikernel_files::{Disk, DiskError, Files, Geometry, LEAST_BYTES};
use unikernel_monitor::lock;

/// Bytes of a block, as the monitors have it.
const BLOCK: u64 = 512;

/// A file of the host as a device.
struct Host {
    file: File,
    blocks: u64,
    writable: bool,
}

impl Host {
    fn open(path: &Path, writable: bool) -> anyhow::Result<Self> {
        let opened = OpenOptions::new().read(true).write(writable).open(path);
        Self::locked(path, opened.with_context(|| format!("disk {}", path.display()))?, writable)
    }

    /// Of a file that no guest has.
    fn locked(path: &Path, mut file: File, writable: bool) -> anyhow::Result<Self> {
        if !lock(&file, !writable).with_context(|| format!("disk {}", path.display()))? {
            bail!("disk {} is in use by a guest", path.display());
        }
        let bytes = file.seek(SeekFrom::End(0)).with_context(|| format!("disk {}", path.display()))?;
        Ok(Self { file, blocks: bytes / BLOCK, writable })
    }

    /// Makes it so large. What it held is gone.
    fn resize(&mut self, bytes: u64) -> anyhow::Result<()> {
        let (there, blocks) = (self.blocks, bytes / BLOCK);
        if self.file.metadata()?.is_file() {
            self.file.set_len(0)?;
            self.file.set_len(blocks * BLOCK)?;
        } else if blocks > there {
            bail!("it is a device of {} bytes, and cannot be made larger", there * BLOCK);
        }
        self.blocks = blocks;
        Ok(())
    }
}

impl Disk for Host {
    fn geometry(&self) -> Geometry {
        Geometry { block_size: BLOCK as u32, blocks: self.blocks }
    }

    fn read(&mut self, block: u64, into: &mut [u8]) -> Result<(), DiskError> {
        self.file.read_exact_at(into, block * BLOCK).map_err(|_| DiskError::Io)
    }

    fn write(&mut self, block: u64, from: &[u8]) -> Result<(), DiskError> {
        if !self.writable {
            return Err(DiskError::ReadOnly);
        }
        self.file.write_all_at(from, block * BLOCK).map_err(|why| match why.kind() {
            io::ErrorKind::StorageFull => DiskError::NoSpace,
            _ => DiskError::Io,
        })
    }

    fn flush(&mut self) -> Result<(), DiskError> {
        if self.writable { self.file.sync_data().map_err(|_| DiskError::Io) } else { Ok(()) }
    }
}

pub fn make(path: &Path, size: u64, force: bool) -> anyhow::Result<u8> {
    let cannot = || format!("{} cannot be made", path.display());
    if size < LEAST_BYTES {
        bail!(
            "{} cannot be made: {size} bytes are too few for files, which need {LEAST_BYTES} at least",
            path.display()
        );
    }
    let mut options = OpenOptions::new();
    options.read(true).write(true);
    let (file, is_new) = match options.clone().create_new(true).open(path) {
        Ok(file) => (file, true),
        Err(why) if why.kind() != io::ErrorKind::AlreadyExists => return Err(anyhow::Error::new(why).context(cannot())),
        Err(_) if force => (options.open(path).with_context(cannot)?, false),
        Err(_) => bail!("{} exists: --force makes a disk of it, and what it holds is lost", path.display()),
    };
    // What it holds is lost only where it is nobody's, and no half of a disk is left where there was nothing.
    let made = Host::locked(path, file, true).and_then(|mut host| {
        host.resize(size)?;
        Ok(Files::format(host)?)
    });
    match made {
        Ok(files) => {
            let space = files.space();
            println!("{}: {} bytes for files", path.display(), space.total);
            Ok(0)
        }
        Err(why) => {
            if is_new {
                let _ = std::fs::remove_file(path);
            }
            Err(why.context(cannot()))
        }
    }
}

pub fn check(path: &Path, json: bool) -> anyhow::Result<u8> {
    let mut disk = Host::open(path, false)?;
    let report = unikernel_files::check(&mut disk).with_context(|| format!("disk {}", path.display()))?;
    if json {
        let report = json!({
            "files": report.files,
            "bytes": report.bytes,
            "free": report.free,
            "pieces": report.pieces,
            "generation": report.generation,
            "records": report.records,
            "interrupted": report.interrupted,
            "problems": report.problems,
        });
        println!("{report:#}");
    } else {
        println!(
            "{}: {} files of {} bytes in {} pieces, {} bytes free",
            path.display(),
            report.files,
            report.bytes,
            report.pieces,
            report.free
        );
        if let Some(interrupted) = report.interrupted {
            println!("{interrupted}: what it had not made durable is not there");
        }
        report.problems.iter().for_each(|problem| println!("{problem}"));
    }
    Ok(u8::from(!report.problems.is_empty()))
}

pub fn list(path: &Path, prefix: &str) -> anyhow::Result<u8> {
    let files = open(path)?;
    for (name, size) in files.list(prefix) {
        println!("{size:>12}  {}", name.escape_debug());
    }
    Ok(0)
}

pub fn cat(path: &Path, name: &str) -> anyhow::Result<u8> {
    let mut files = open(path)?;
    let file = files.open(name)?;
    let mut buffer = vec![0; 1 << 20];
    let mut offset = 0;
    loop {
        let read = files.read_at(file, offset, &mut buffer)?;
        if read == 0 {
            return Ok(0);
        }
        io::stdout().write_all(&buffer[..read]).context("standard output")?;
        offset += read as u64;
    }
}

fn open(path: &Path) -> anyhow::Result<Files<Host>> {
    Files::mount(Host::open(path, false)?).with_context(|| format!("disk {}", path.display()))
}
