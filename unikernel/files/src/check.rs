//! What is on a device, and whether it is sound.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use crate::disk::Disk;
use crate::error::Error;
use crate::layout::PAGE;
use crate::mount;

/// What a check found.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Report {
    pub files: usize,
    /// Bytes in files, those that were never written, and lie nowhere, among them.
    pub bytes: u64,
    /// Bytes that are free.
    pub free: u64,
    /// Pieces in which the files lie.
    pub pieces: usize,
    /// How often the state of all files was written.
    pub generation: u64,
    /// Syncs since.
    pub records: u64,
    /// What a power cut left, which the next mount clears away.
    pub interrupted: Option<&'static str>,
    /// What is not as it has to be.
    pub problems: Vec<String>,
}

/// Checks a device. Nothing is written.
///
/// # Errors
/// If it has no files, or is damaged so that they cannot be mounted.
pub fn check(disk: &mut dyn Disk) -> Result<Report, Error> {
    let found = mount::find(disk)?;
    let mut problems = Vec::new();
    for file in found.table.files() {
        let end = file.size.div_ceil(PAGE as u64);
        if file.pages.end() > end {
            problems.push(format!("{:?} has pages behind its end", file.name));
        }
    }
    Ok(Report {
        files: found.table.files().count(),
        bytes: found.table.files().fold(0, |all, file| all.saturating_add(file.size)),
        free: found.room.free() * PAGE as u64,
        pieces: found.table.files().map(|file| file.pages.count()).sum(),
        generation: found.superblock.generation,
        records: found.log.number,
        interrupted: match (found.half_a_snapshot, found.half_a_record) {
            (Some(_), _) => Some("a sync was interrupted that wrote the state of all files"),
            (None, true) => Some("a sync was interrupted"),
            (None, false) => None,
        },
        problems,
    })
}
