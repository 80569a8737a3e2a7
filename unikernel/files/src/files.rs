//! The files of a device.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec;
use alloc::vec::Vec;

use crate::disk::{Disk, DiskError};
use crate::entry::{Entry, is_name};
use crate::error::Error;
use crate::fresh::Fresh;
use crate::layout::{PAGE, Superblock};
use crate::mount::{Found, Log};
use crate::pages::Piece;
use crate::pending::{Pending, most_bytes};
use crate::room::Room;
use crate::table::{Known, LARGEST, Table};

/// So many pages that are written in part are kept until the rest of them comes, or a sync.
const MOST_DIRTY: usize = 8;
/// What is written at once.
const CHUNK: usize = 512 << 10;

/// The files of a device.
#[derive(Debug)]
pub struct Files<D> {
    pub(crate) disk: D,
    pub(crate) superblock: Superblock,
    pub(crate) log: Log,
    pub(crate) table: Table,
    pub(crate) room: Room,
    /// Pages that the durable state has and the present one has not: free after the next sync.
    pub(crate) freed: Vec<Piece>,
    pub(crate) fresh: Fresh,
    pub(crate) pending: Pending,
    /// Nobody knows what the device holds.
    pub(crate) failed: bool,
    read_only: bool,
    dirty: Vec<Dirty>,
    /// The page of the device that was last read in part.
    cached: Option<(u64, Box<[u8; PAGE]>)>,
}

/// A page of a file that has changed and was not written. A free page is kept for it.
#[derive(Debug)]
struct Dirty {
    id: u32,
    page: u64,
    bytes: Box<[u8; PAGE]>,
}

/// A file, until it is removed or the device is mounted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct File(u32);

/// How full a device is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// For what is in files.
    pub total: u64,
    /// What can be written now.
    pub free: u64,
    /// What will be free after the next sync besides.
    pub freed_by_sync: u64,
}

impl<D: Disk> Files<D> {
    pub(crate) fn new(disk: D, found: Found, read_only: bool) -> Self {
        let Found { superblock, table, room, log, .. } = found;
        Self {
            disk,
            superblock,
            log,
            table,
            room,
            freed: Vec::new(),
            fresh: Fresh::default(),
            pending: Pending::default(),
            failed: false,
            read_only,
            dirty: Vec::new(),
            cached: None,
        }
    }

    /// The file of that name.
    ///
    /// # Errors
    /// [`Error::NotFound`].
    pub fn open(&self, name: &str) -> Result<File, Error> {
        self.table.find(name).map(File).ok_or_else(|| Error::NotFound(name.to_owned()))
    }

    /// A new, empty file.
    ///
    /// # Errors
    /// If there is one of that name, it is no name, or there is no room for it.
    pub fn create(&mut self, name: &str) -> Result<File, Error> {
        self.writable()?;
        if !is_name(name) {
            return Err(Error::BadName(name.to_owned()));
        }
        if self.table.find(name).is_some() {
            return Err(Error::Exists(name.to_owned()));
        }
        self.room_for_names(Entry::bytes_of_file(name, 0))?;
        let id = self.table.next_id().ok_or(Error::NoRoomForNames)?;
        self.change(Entry::Create { id, name: name.to_owned() })?;
        Ok(File(id))
    }

    /// The file of that name; a new, empty one if there is none.
    ///
    /// # Errors
    /// As [`Files::create`].
    pub fn open_or_create(&mut self, name: &str) -> Result<File, Error> {
        self.open(name).or_else(|_| self.create(name))
    }

    /// Gives a file another name. If there is a file of that name, it is removed: with the next sync both happen or none.
    ///
    /// # Errors
    /// If there is no file `from`, or `to` is no name.
    pub fn rename(&mut self, from: &str, to: &str) -> Result<(), Error> {
        self.writable()?;
        let File(id) = self.open(from)?;
        if !is_name(to) {
            return Err(Error::BadName(to.to_owned()));
        }
        if from == to {
            return Ok(());
        }
        self.room_for_names(to.len())?;
        if self.table.find(to).is_some() {
            self.remove(to)?;
        }
        self.change(Entry::Rename { id, name: to.to_owned() })
    }

    /// Removes a file. Its pages are free after the next sync.
    ///
    /// # Errors
    /// If there is none of that name.
    pub fn remove(&mut self, name: &str) -> Result<(), Error> {
        self.writable()?;
        let File(id) = self.open(name)?;
        self.dirty.retain(|dirty| dirty.id != id);
        self.change(Entry::Remove { id })
    }

    /// The names that begin so, in order, with their sizes.
    pub fn list<'a>(&'a self, prefix: &'a str) -> impl Iterator<Item = (&'a str, u64)> + 'a {
        self.table.list(prefix).map(|file| (file.name.as_str(), file.size))
    }

    /// The bytes of a file.
    ///
    /// # Errors
    /// If it was removed.
    pub fn size(&self, file: File) -> Result<u64, Error> {
        self.known(file).map(|known| known.size)
    }

    /// How full the device is.
    pub fn space(&self) -> Space {
        let bytes = |pages: u64| pages * PAGE as u64;
        let layout = self.superblock.layout;
        Space {
            total: bytes(layout.pages - layout.data_start()),
            free: bytes(self.free()),
            freed_by_sync: bytes(self.freed.iter().map(|piece| piece.pages).sum()),
        }
    }

    /// All of a file.
    ///
    /// # Errors
    /// If it was removed, or the device cannot be read.
    pub fn read(&mut self, file: File) -> Result<Vec<u8>, Error> {
        let size = usize::try_from(self.size(file)?).map_err(|_| Error::TooLarge)?;
        let mut out = vec![0; size];
        self.read_at(file, 0, &mut out)?;
        Ok(out)
    }

    /// Reads from `offset` on, and says how many bytes there were: fewer than asked for only at the end of the file.
    ///
    /// # Errors
    /// If the file was removed, or the device cannot be read.
    pub fn read_at(&mut self, File(id): File, offset: u64, into: &mut [u8]) -> Result<usize, Error> {
        let size = self.known(File(id))?.size;
        let len = size.saturating_sub(offset).min(into.len() as u64) as usize;
        let into = &mut into[..len];
        let mut done = 0;
        while done < len {
            let (page, within) = place(offset + done as u64);
            let rest = &mut into[done..];
            done += if let Some(dirty) = self.dirty.iter().find(|dirty| (dirty.id, dirty.page) == (id, page)) {
                copy(&dirty.bytes[within..], rest)
            } else {
                let until_dirty = self.dirty.iter().filter(|dirty| dirty.id == id && dirty.page > page);
                let most = until_dirty.map(|dirty| dirty.page - page).min().unwrap_or(u64::MAX);
                self.read_part(id, page, within, most, rest)?
            };
        }
        Ok(len)
    }

    /// Reads what lies in one piece, from a place within a page on, at most so many pages; says how many bytes.
    fn read_part(&mut self, id: u32, page: u64, within: usize, most: u64, into: &mut [u8]) -> Result<usize, Error> {
        let part = self.known(File(id))?.pages.part(page, most);
        let Some(at) = part.at else {
            let zeros = (part.pages.saturating_mul(PAGE as u64) - within as u64).min(into.len() as u64) as usize;
            into[..zeros].fill(0);
            return Ok(zeros);
        };
        let whole = (into.len() / PAGE).min(usize::try_from(part.pages).unwrap_or(usize::MAX));
        if within == 0 && whole > 0 {
            self.disk.read(self.superblock.layout.block(at), &mut into[..whole * PAGE])?;
            return Ok(whole * PAGE);
        }
        Ok(copy(&self.page(at)?[within..], into))
    }

    /// A page of the device.
    fn page(&mut self, at: u64) -> Result<&[u8; PAGE], DiskError> {
        let block = self.superblock.layout.block(at);
        if self.cached.as_ref().is_none_or(|(cached, _)| *cached != at) {
            let (_, mut bytes) = self.cached.take().unwrap_or_else(|| (0, Box::new([0; PAGE])));
            self.disk.read(block, &mut bytes[..])?;
            self.cached = Some((at, bytes));
        }
        self.cached.as_ref().map(|(_, bytes)| &**bytes).ok_or(DiskError::Io)
    }

    /// Writes from `offset` on. What lies between the end of the file and `offset` is zeros.
    ///
    /// # Errors
    /// If the device has no room for all of it, nothing is written. If it refuses a write, or has no room for where so many pieces
    /// lie, a first part may have been written.
    pub fn write_at(&mut self, file: File, offset: u64, data: &[u8]) -> Result<(), Error> {
        self.writable()?;
        let size = self.known(file)?.size;
        if data.is_empty() {
            return Ok(());
        }
        let end = offset.checked_add(data.len() as u64).filter(|end| *end <= LARGEST).ok_or(Error::TooLarge)?;
        let (first, last) = (offset / PAGE as u64, (end - 1) / PAGE as u64);
        // One more for the page at the old end, one for a page of this file that has to make room for another.
        self.room_for_pages(last - first + 3)?;
        if offset > size {
            self.zero_end(file, size)?;
        }
        let (mut offset, mut data) = (offset, data);
        while !data.is_empty() {
            let (page, within) = place(offset);
            let now = if within == 0 && data.len() >= PAGE {
                let now = data.len().min(CHUNK) / PAGE * PAGE;
                self.room_for_pieces(now / PAGE)?;
                let pages = page..page + (now / PAGE) as u64;
                self.dirty.retain(|dirty| dirty.id != file.0 || !pages.contains(&dirty.page));
                self.write_pages(file.0, page, &data[..now])?;
                now
            } else {
                self.room_for_pieces(1)?;
                let into = &mut self.dirty_page(file, page)?.bytes[within..];
                let now = into.len().min(data.len());
                into[..now].copy_from_slice(&data[..now]);
                now
            };
            (offset, data) = (offset + now as u64, &data[now..]);
            if offset > self.size(file)? {
                self.change(Entry::Size { id: file.0, size: offset })?;
            }
        }
        Ok(())
    }

    /// Writes behind the end of a file.
    ///
    /// # Errors
    /// As [`Files::write_at`].
    pub fn append(&mut self, file: File, data: &[u8]) -> Result<(), Error> {
        self.write_at(file, self.size(file)?, data)
    }

    /// Makes a file so long: what is behind is gone, what was not there is zeros.
    ///
    /// # Errors
    /// If the file was removed, or there is no room for its end.
    pub fn set_size(&mut self, file: File, size: u64) -> Result<(), Error> {
        self.writable()?;
        let before = self.known(file)?.size;
        if size > LARGEST {
            return Err(Error::TooLarge);
        }
        if size > before {
            self.room_for_pages(2)?;
            self.room_for_pieces(1)?;
            self.zero_end(file, before)?;
        } else {
            let (kept, end) = (size.div_ceil(PAGE as u64), self.known(file)?.pages.end());
            self.dirty.retain(|dirty| dirty.id != file.0 || dirty.page < kept);
            if end > kept {
                self.change(Entry::Unmap { id: file.0, page: kept, pages: end - kept })?;
            }
        }
        self.change(Entry::Size { id: file.0, size })
    }

    /// The device.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Leaves the device. What was not synced is lost.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// What lies behind the end of a file in its last page is zeros from now on.
    fn zero_end(&mut self, file: File, size: u64) -> Result<(), Error> {
        let (page, within) = place(size);
        if within == 0 || self.known(file)?.pages.part(page, 1).at.is_none() && !self.is_dirty(file, page) {
            return Ok(());
        }
        self.dirty_page(file, page)?.bytes[within..].fill(0);
        Ok(())
    }

    fn is_dirty(&self, file: File, page: u64) -> bool {
        self.dirty.iter().any(|dirty| (dirty.id, dirty.page) == (file.0, page))
    }

    /// The page, to be changed.
    fn dirty_page(&mut self, file: File, page: u64) -> Result<&mut Dirty, Error> {
        if let Some(n) = self.dirty.iter().position(|dirty| (dirty.id, dirty.page) == (file.0, page)) {
            return Ok(&mut self.dirty[n]);
        }
        if self.dirty.len() == MOST_DIRTY {
            self.write_out()?;
        }
        let known = self.known(file)?;
        let (size, at) = (known.size, known.pages.part(page, 1).at);
        let mut bytes = Box::new([0; PAGE]);
        if let Some(at) = at {
            bytes.copy_from_slice(self.page(at)?);
            // A file that was made shorter has bytes behind its end that are none of it.
            let there = size.saturating_sub(page * PAGE as u64).min(PAGE as u64) as usize;
            bytes[there..].fill(0);
        }
        self.dirty.push(Dirty { id: file.0, page, bytes });
        let last = self.dirty.len() - 1;
        Ok(&mut self.dirty[last])
    }

    /// Writes the page out that changed first.
    fn write_out(&mut self) -> Result<(), Error> {
        if self.dirty.is_empty() {
            return Ok(());
        }
        let dirty = self.dirty.remove(0);
        let written = self.write_pages(dirty.id, dirty.page, &dirty.bytes[..]);
        if written.is_err() {
            self.dirty.insert(0, dirty);
        }
        written
    }

    pub(crate) fn write_out_all(&mut self) -> Result<(), Error> {
        while !self.dirty.is_empty() {
            self.write_out()?;
        }
        Ok(())
    }

    /// Writes whole pages of a file to free ones of the device.
    fn write_pages(&mut self, id: u32, page: u64, data: &[u8]) -> Result<(), Error> {
        let mut done = 0;
        while done < data.len() {
            let pages = ((data.len() - done) / PAGE) as u64;
            let piece = self.room.find(pages).ok_or(Error::NoSpace { needed: pages, free: 0 })?;
            let bytes = &data[done..done + piece.pages as usize * PAGE];
            if let Err(why) = self.disk.write(self.superblock.layout.block(piece.at), bytes) {
                self.room.give(piece);
                return Err(why.into());
            }
            self.fresh.wrote(piece.at, bytes);
            self.cached = self.cached.take().filter(|(at, _)| !(piece.at..piece.at + piece.pages).contains(at));
            let page = page + (done / PAGE) as u64;
            self.change(Entry::Map { id, page, at: piece.at, pages: piece.pages as u32 })?;
            done += bytes.len();
        }
        Ok(())
    }

    /// Does what an entry says, and keeps it for the next sync.
    fn change(&mut self, entry: Entry) -> Result<(), Error> {
        let (fresh, room, freed) = (&mut self.fresh, &mut self.room, &mut self.freed);
        let free = |piece| fresh.forget(piece, |piece| room.give(piece), |piece| freed.push(piece));
        self.table.apply(&entry, free).map_err(Error::Damaged)?;
        self.pending.push(entry);
        Ok(())
    }

    fn known(&self, file: File) -> Result<&Known, Error> {
        self.table.get(file.0).ok_or(Error::Removed)
    }

    /// Free pages that are not kept for a page that has changed.
    fn free(&self) -> u64 {
        self.room.free().saturating_sub(self.dirty.len() as u64)
    }

    fn room_for_pages(&self, pages: u64) -> Result<(), Error> {
        let free = self.free();
        if pages > free { Err(Error::NoSpace { needed: pages, free }) } else { Ok(()) }
    }

    /// Whether so many more pages can be told of, wherever they come to lie: at the worst each is a piece of its own, and splits
    /// another.
    fn room_for_pieces(&self, pages: usize) -> Result<(), Error> {
        self.room_for_names(2 * pages * Entry::PIECE_BYTES)
    }

    /// Beside those of the pages that have changed and are still to be written.
    fn room_for_names(&self, more: usize) -> Result<(), Error> {
        let kept = 2 * self.dirty.len() * Entry::PIECE_BYTES;
        let most = most_bytes(self.superblock.layout);
        if self.table.bytes() + kept + more > most { Err(Error::NoRoomForNames) } else { Ok(()) }
    }

    pub(crate) fn writable(&self) -> Result<(), Error> {
        match (self.failed, self.read_only) {
            (true, _) => Err(DiskError::Failed.into()),
            (_, true) => Err(DiskError::ReadOnly.into()),
            _ => Ok(()),
        }
    }
}

/// The page in which a byte of a file lies, and where in it.
fn place(offset: u64) -> (u64, usize) {
    (offset / PAGE as u64, (offset % PAGE as u64) as usize)
}

/// Copies as many bytes as both have.
fn copy(from: &[u8], into: &mut [u8]) -> usize {
    let len = from.len().min(into.len());
    into[..len].copy_from_slice(&from[..len]);
    len
}
