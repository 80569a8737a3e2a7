//! What a device holds: its newest state that was written whole.

use alloc::vec;
use alloc::vec::Vec;

use crate::crc;
use crate::disk::{Disk, DiskError};
use crate::entry::{Entries, Entry};
use crate::error::Error;
use crate::fresh;
use crate::layout::{Layout, PAGE, SUPERBLOCK, Superblock};
use crate::record::{HEADER, Header, LONGEST_RECORD};
use crate::room::Room;
use crate::table::Table;

/// Where the next record goes, and behind which.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Log {
    /// In bytes from the beginning of the area.
    pub at: usize,
    pub number: u64,
    pub before: u32,
}

/// What was found.
#[derive(Debug)]
pub(crate) struct Found {
    pub superblock: Superblock,
    pub table: Table,
    pub room: Room,
    pub log: Log,
    /// A record that was not written whole lies where the next one goes.
    pub half_a_record: bool,
    /// The superblock of this generation speaks of a snapshot that was not written whole.
    pub half_a_snapshot: Option<u64>,
}

/// Reads the device. Nothing is written.
pub(crate) fn find(disk: &mut dyn Disk) -> Result<Found, Error> {
    let geometry = disk.geometry();
    if !geometry.is_sound() {
        return Err(Error::BlockSize(geometry.block_size));
    }
    let pages = [superblock(disk, 0)?, superblock(disk, 1)?];
    let mut found: Vec<Superblock> = pages.iter().filter_map(Page::superblock).collect();
    found.sort_by_key(|superblock| superblock.generation);
    let Some(newest) = found.pop() else { return Err(Error::NotFormatted) };
    // What is no superblock in the place of the next one may have been one: then its log tells of it.
    let next = newest.generation.wrapping_add(1);
    if pages[(next % 2) as usize] == Page::SomethingElse && Area::of(newest.layout, next).has_records(disk, next)? {
        return Err(Error::Damaged("the beginning of its newest state has changed"));
    }
    let whole = match state(disk, newest)? {
        Some(state) => return complete(state, None),
        // Had a sync after it returned, it would be whole.
        None if Area::of(newest.layout, newest.generation).has_records(disk, newest.generation)? => {
            return Err(Error::Damaged("its snapshot has changed"));
        }
        // Power failed while it was written, and the one before it was left alone.
        None => found.pop().filter(|older| older.generation + 1 == newest.generation && older.layout == newest.layout),
    };
    let lost = Error::Damaged("its newest state is not whole, and there is none before it");
    let older = whole.ok_or(lost.clone())?;
    complete(state(disk, older)?.ok_or(lost)?, Some(newest.generation))
}

/// What the place of a superblock has.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Page {
    Superblock(Superblock),
    /// There never was one, or it was taken back.
    Zeros,
    SomethingElse,
}

impl Page {
    fn superblock(&self) -> Option<Superblock> {
        match self {
            Self::Superblock(superblock) => Some(*superblock),
            Self::Zeros | Self::SomethingElse => None,
        }
    }
}

fn superblock(disk: &mut dyn Disk, page: u64) -> Result<Page, Error> {
    let geometry = disk.geometry();
    let mut block = vec![0; geometry.block_size as usize];
    disk.read(page * PAGE as u64 / u64::from(geometry.block_size), &mut block)?;
    let Some(bytes) = block.first_chunk::<SUPERBLOCK>() else { return Err(Error::BlockSize(geometry.block_size)) };
    Ok(match Superblock::decode(bytes, geometry)? {
        Some(superblock) if superblock.generation % 2 == page => Page::Superblock(superblock),
        None if bytes.iter().all(|byte| *byte == 0) => Page::Zeros,
        _ => Page::SomethingElse,
    })
}

/// What is found without the room, which takes the longest.
struct State {
    superblock: Superblock,
    table: Table,
    log: Log,
    half_a_record: bool,
}

fn complete(state: State, half_a_snapshot: Option<u64>) -> Result<Found, Error> {
    let State { superblock, table, log, half_a_record } = state;
    let layout = superblock.layout;
    let mut room = Room::new(layout.pages, layout.data_start());
    for (_, piece) in table.files().flat_map(|file| file.pages.pieces()) {
        if !room.take(piece) {
            return Err(Error::Damaged("a page belongs to two files, or is none of theirs"));
        }
    }
    Ok(Found { superblock, table, room, log, half_a_record, half_a_snapshot })
}

/// The state that this superblock and the log behind its snapshot make; `None` if the snapshot is not whole.
fn state(disk: &mut dyn Disk, superblock: Superblock) -> Result<Option<State>, Error> {
    let layout = superblock.layout;
    let snapshot_bytes = superblock.snapshot_bytes as usize;
    let area = Area::of(layout, superblock.generation);
    let snapshot = area.read(disk, 0, snapshot_bytes)?;
    let mut log = Log { at: layout.padded(snapshot_bytes), number: 0, before: superblock.snapshot_crc };
    let is_behind =
        |log: &Log, header: &Header| header.generation == superblock.generation && header.number == log.number;
    if crc::of(&[&snapshot[..snapshot_bytes]]) != superblock.snapshot_crc {
        return Ok(None);
    }
    let mut table = Table::default();
    // The last of them may not be durable: it counts if its data is there.
    let mut last = entries_of(&snapshot[..snapshot_bytes])?;
    let mut last_at = None;
    while let Some((header, record)) = area.record(disk, log.at)? {
        if !is_behind(&log, &header) || header.before != log.before {
            break;
        }
        apply(&mut table, &last)?;
        last = entries_of(&record[HEADER..header.record_bytes()])?;
        last_at = Some(log);
        log = Log { at: log.at + layout.padded(header.record_bytes()), number: log.number + 1, before: header.crc };
    }
    let mut half_a_record = area.header(disk, log.at)?.is_some_and(|header| is_behind(&log, &header));
    if area.has_later(disk, &superblock, log)? {
        return Err(Error::Damaged("a record within its log has changed"));
    }
    if is_there(disk, layout, &last)? {
        apply(&mut table, &last)?;
    } else if let Some(at) = last_at {
        (log, half_a_record) = (at, true);
    } else {
        return Ok(None);
    }
    Ok(Some(State { superblock, table, log, half_a_record }))
}

fn entries_of(bytes: &[u8]) -> Result<Vec<Entry>, Error> {
    let mut entries = Entries::of(bytes);
    let read = entries.by_ref().collect();
    if entries.is_whole() { Ok(read) } else { Err(Error::Damaged("what its log says is not understood")) }
}

fn apply(table: &mut Table, entries: &[Entry]) -> Result<(), Error> {
    entries.iter().try_for_each(|entry| table.apply(entry, |_| {})).map_err(Error::Damaged)
}

/// Whether the data that was written together with these entries is there.
fn is_there(disk: &mut dyn Disk, layout: Layout, entries: &[Entry]) -> Result<bool, Error> {
    let verify = entries.iter().filter_map(|entry| match *entry {
        Entry::Verify { at, pages, crc } => Some((at, u64::from(pages), crc)),
        _ => None,
    });
    let mut all = 0;
    for (at, pages, crc) in verify {
        let is_data = at >= layout.data_start() && at.checked_add(pages).is_some_and(|end| end <= layout.pages);
        all += pages;
        if !is_data || !fresh::is_bearable(all) {
            return Err(Error::Damaged("what it says was written last cannot be"));
        }
        let mut data = vec![0; pages as usize * PAGE];
        disk.read(layout.block(at), &mut data)?;
        if fresh::checksum(&data) != crc {
            return Ok(false);
        }
    }
    Ok(true)
}

/// The area of a generation.
struct Area {
    start: u64,
    layout: Layout,
}

impl Area {
    fn of(layout: Layout, generation: u64) -> Self {
        Self { start: layout.block(layout.area_start(generation)), layout }
    }

    /// So many bytes from `at` on, in whole blocks; `at` is the beginning of one.
    fn read(&self, disk: &mut dyn Disk, at: usize, bytes: usize) -> Result<Vec<u8>, DiskError> {
        let mut out = vec![0; self.layout.padded(bytes)];
        disk.read(self.start + (at / self.layout.block_size as usize) as u64, &mut out)?;
        Ok(out)
    }

    fn header(&self, disk: &mut dyn Disk, at: usize) -> Result<Option<Header>, DiskError> {
        if at + HEADER > self.layout.area_bytes() {
            return Ok(None);
        }
        Ok(Header::decode(&self.read(disk, at, HEADER)?))
    }

    /// The record at `at`, if there is one that was written whole.
    fn record(&self, disk: &mut dyn Disk, at: usize) -> Result<Option<(Header, Vec<u8>)>, DiskError> {
        let Some(header) = self.header(disk, at)? else { return Ok(None) };
        if header.record_bytes() > self.layout.area_bytes() - at {
            return Ok(None);
        }
        let record = self.read(disk, at, header.record_bytes())?;
        Ok(header.is_whole(&record).then_some((header, record)))
    }

    /// Whether there is any whole record of that generation.
    fn has_records(&self, disk: &mut dyn Disk, generation: u64) -> Result<bool, DiskError> {
        const PIECE: usize = 1 << 20;
        let end = self.layout.area_bytes();
        for start in (0..end).step_by(PIECE) {
            let piece = self.read(disk, start, PIECE.min(end - start))?;
            for at in (0..piece.len()).step_by(self.layout.block_size as usize) {
                let is_one = Header::decode(&piece[at..]).is_some_and(|header| header.generation == generation);
                if is_one && self.record(disk, start + at)?.is_some() {
                    return Ok(true);
                }
            }
        }
        Ok(false)
    }

    /// Whether a whole record of this generation lies further behind, which was written after that at `log` was durable. The next
    /// one is no further than the longest record.
    fn has_later(&self, disk: &mut dyn Disk, superblock: &Superblock, log: Log) -> Result<bool, DiskError> {
        let block = self.layout.block_size as usize;
        let end = (log.at + LONGEST_RECORD + block).min(self.layout.area_bytes());
        let piece = self.read(disk, log.at, end - log.at)?;
        for at in (log.at..end).step_by(block) {
            let later = Header::decode(&piece[at - log.at..])
                .is_some_and(|header| header.generation == superblock.generation && header.number > log.number);
            if later && self.record(disk, at)?.is_some() {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
