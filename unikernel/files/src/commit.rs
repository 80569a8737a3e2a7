//! A sync: how what was done becomes durable, all of it or nothing.

use alloc::vec;
use alloc::vec::Vec;

use crate::crc;
use crate::disk::{Disk, DiskError};
use crate::entry::Entry;
use crate::error::Error;
use crate::files::Files;
use crate::layout::{Layout, PAGE, Superblock};
use crate::mount::{self, Found, Log};
use crate::pending::Pending;
use crate::record::{Header, LONGEST_RECORD};

impl<D: Disk> Files<D> {
    /// Makes a device one without files. What it held is lost.
    ///
    /// # Errors
    /// If the device is too small, or refuses.
    pub fn format(mut disk: D) -> Result<Self, Error> {
        let layout = Layout::of(disk.geometry())?;
        let superblock = Superblock { layout, generation: 0, snapshot_bytes: 0, snapshot_crc: crc::of(&[]) };
        // First that of another generation goes, then what may lie behind the snapshot, and then the new one comes.
        write_block(&mut disk, layout, 1, &[])?;
        write_block(&mut disk, layout, 0, &[])?;
        disk.flush()?;
        let zeros = vec![0; layout.area_bytes().min(1 << 20)];
        for start in (0..2 * layout.area_bytes()).step_by(zeros.len()) {
            let piece = &zeros[..zeros.len().min(2 * layout.area_bytes() - start)];
            disk.write(layout.block(2) + (start / layout.block_size as usize) as u64, piece)?;
        }
        disk.flush()?;
        write_block(&mut disk, layout, 0, &superblock.encode())?;
        disk.flush()?;
        Self::mount(disk)
    }

    /// The files of a device, as the last sync left them.
    ///
    /// # Errors
    /// If there are none, or what is there is not what a power cut leaves.
    pub fn mount(mut disk: D) -> Result<Self, Error> {
        let found = mount::find(&mut disk)?;
        let read_only = match settle(&mut disk, &found) {
            Ok(()) => false,
            Err(DiskError::ReadOnly) => true,
            Err(why) => return Err(why.into()),
        };
        Ok(Self::new(disk, found, read_only))
    }

    /// Makes everything that was done so far durable, all of it or nothing.
    ///
    /// # Errors
    /// If the device refuses a write, nothing has changed, and it may be tried again. If a flush fails, or the beginning of the device
    /// cannot be written, or what tells of more than 16 MiB, nobody knows what it holds: it may be read, and never written again.
    pub fn sync(&mut self) -> Result<(), Error> {
        self.writable()?;
        self.write_out_all()?;
        if self.pending.is_empty() {
            return Ok(());
        }
        let verify = match self.fresh.verify() {
            Some(verify) => verify,
            None => {
                self.flush()?;
                Vec::new()
            }
        };
        if self.pending.is_too_much() || !self.append_record(&verify)? {
            self.checkpoint(&verify)?;
        }
        self.pending = Pending::default();
        self.fresh.clear();
        core::mem::take(&mut self.freed).into_iter().for_each(|piece| self.room.give(piece));
        Ok(())
    }

    /// Appends a record to the log. False if it has no room for it.
    fn append_record(&mut self, verify: &[Entry]) -> Result<bool, Error> {
        let Superblock { layout, generation, .. } = self.superblock;
        let mut entries = Vec::new();
        self.pending.entries().chain(verify).for_each(|entry| entry.encode(&mut entries));
        let (mut record, crc) = Header::encode(generation, self.log.number, self.log.before, &entries);
        record.resize(layout.padded(record.len()), 0);
        if record.len() > LONGEST_RECORD || self.log.at + record.len() > layout.area_bytes() {
            return Ok(false);
        }
        let block = layout.block(layout.area_start(generation)) + (self.log.at / layout.block_size as usize) as u64;
        if let Err(why) = self.disk.write(block, &record) {
            // It may be there all the same. Then it is told by its checksums whether the data that it speaks of is still that.
            self.failed |= verify.is_empty() && !self.fresh.is_empty();
            return Err(why.into());
        }
        self.flush()?;
        self.log = Log { at: self.log.at + record.len(), number: self.log.number + 1, before: crc };
        Ok(true)
    }

    /// Writes the state of all files into the other area, and begins a log behind it.
    fn checkpoint(&mut self, verify: &[Entry]) -> Result<(), Error> {
        let Superblock { layout, generation, .. } = self.superblock;
        let generation = generation + 1;
        let mut snapshot = Vec::with_capacity(self.table.bytes() + verify.len() * Entry::VERIFY_BYTES);
        self.table.encode(&mut snapshot);
        verify.iter().for_each(|entry| entry.encode(&mut snapshot));
        let superblock = Superblock {
            layout,
            generation,
            snapshot_bytes: snapshot.len() as u64,
            snapshot_crc: crc::of(&[&snapshot]),
        };
        // Only of a device that was not written by us: more is refused before it is done.
        if snapshot.len() > layout.area_bytes() {
            return Err(Error::NoRoomForNames);
        }
        snapshot.resize(layout.padded(snapshot.len()), 0);
        self.disk.write(layout.block(layout.area_start(generation)), &snapshot)?;
        // From here on the device may hold the new beginning, and what went to the log of the old one would be lost.
        if let Err(why) = write_block(&mut self.disk, layout, generation % 2, &superblock.encode()) {
            self.failed = true;
            return Err(why.into());
        }
        self.flush()?;
        self.superblock = superblock;
        self.log = Log { at: snapshot.len(), number: 0, before: superblock.snapshot_crc };
        Ok(())
    }

    fn flush(&mut self) -> Result<(), Error> {
        self.disk.flush().map_err(|why| {
            self.failed = true;
            why.into()
        })
    }
}

/// Makes what was found durable, and what was not written whole unreadable: when the same is done again, it could become whole.
fn settle(disk: &mut dyn Disk, found: &Found) -> Result<(), DiskError> {
    let layout = found.superblock.layout;
    if let Some(generation) = found.half_a_snapshot {
        write_block(disk, layout, generation % 2, &[])?;
    }
    if found.half_a_record {
        let block = layout.block(layout.area_start(found.superblock.generation));
        let within = (found.log.at / layout.block_size as usize) as u64;
        disk.write(block + within, &vec![0; layout.block_size as usize])?;
    }
    disk.flush()
}

/// Writes the first block of a page: these bytes, and zeros.
fn write_block(disk: &mut dyn Disk, layout: Layout, page: u64, bytes: &[u8]) -> Result<(), DiskError> {
    let mut block = vec![0; layout.block_size as usize];
    block[..bytes.len()].copy_from_slice(bytes);
    debug_assert!(bytes.len() <= PAGE);
    disk.write(layout.block(page), &block)
}
