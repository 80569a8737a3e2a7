//! Disks, from the host.

use std::fs::{File, OpenOptions};
use std::io::{self, Write as _};
use std::os::unix::fs::FileExt as _;
use std::path::Path;

use anyhow::{Context as _, bail};
use serde_json::json;
use unikernel_files::{Disk, DiskError, Files, Geometry};
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
        let file = opened.with_context(|| format!("disk {}", path.display()))?;
        if !lock(&file, !writable).with_context(|| format!("disk {}", path.display()))? {
            bail!("disk {} is in use by a guest", path.display());
        }
        let blocks = file.metadata()?.len() / BLOCK;
        Ok(Self { file, blocks, writable })
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
    let mut options = OpenOptions::new();
    options.write(true).truncate(true).create(true);
    let file = options.create_new(!force).open(path).map_err(|why| match why.kind() {
        io::ErrorKind::AlreadyExists => {
            anyhow::anyhow!("{} exists: --force makes a disk of it, and what it holds is lost", path.display())
        }
        _ => anyhow::Error::new(why).context(format!("{} cannot be made", path.display())),
    })?;
    let made = file.set_len(size / BLOCK * BLOCK).map_err(anyhow::Error::new);
    drop(file);
    let made = made.and_then(|()| Ok(Files::format(Host::open(path, true)?)?));
    match made {
        Ok(files) => {
            let space = files.space();
            println!("{}: {} bytes for files", path.display(), space.total);
            Ok(0)
        }
        Err(why) => {
            // Half a disk is of no use.
            let _ = std::fs::remove_file(path);
            Err(why.context(format!("{} cannot be made", path.display())))
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
