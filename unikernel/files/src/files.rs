//! The files of a device.

use alloc::borrow::ToOwned;
use alloc::boxed::Box;
use alloc::vec::Vec;

use crate::disk::{Disk, DiskError};
use crate::entry::{Entry, is_name};
use crate::error::Error;
use crate::fresh::Fresh;
use crate::layout::{PAGE, Superblock};
use crate::mount::{Found, Log};
use crate::pages::Piece;
use crate::pending::Pending;
use crate::room::Room;
use crate::table::{Known, Table};

/// The files of a device.
#[derive(Debug)]
pub struct Files<D> {
    pub(crate) disk: D,
    pub(crate) superblock: Superblock,
    pub(crate) log: Log,
    pub(crate) table: Table,
    /// The identity of the next file, if it is free: that of a removed one comes again only when all others had their turn.
    next_id: u32,
    pub(crate) room: Room,
    /// Pages that the durable state has and the present one has not: free after the next sync.
    pub(crate) freed: Vec<Piece>,
    pub(crate) fresh: Fresh,
    pub(crate) pending: Pending,
    /// Nobody knows what the device holds.
    pub(crate) failed: bool,
    read_only: bool,
    pub(crate) dirty: Vec<Dirty>,
    /// The page of the device that was last read in part.
    pub(crate) cached: Option<(u64, Box<[u8; PAGE]>)>,
}

/// A page of a file that has changed and was not written. A free page is kept for it.
#[derive(Debug)]
pub(crate) struct Dirty {
    pub id: u32,
    pub page: u64,
    pub bytes: Box<[u8; PAGE]>,
}

/// A file, until it is removed or the device is mounted again.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct File(pub(crate) u32);

/// How full a device is, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Space {
    /// For what is in files.
    pub total: u64,
    /// What is free now. A write needs up to two pages more than it has data.
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
            next_id: table.last_id().map_or(0, |last| last.wrapping_add(1)),
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
        let id = self.table.free_id(self.next_id).ok_or(Error::NoRoomForNames)?;
        self.next_id = id.wrapping_add(1);
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
    /// If it was removed, there is no memory for all of it, or the device cannot be read.
    pub fn read(&mut self, file: File) -> Result<Vec<u8>, Error> {
        let bytes = self.size(file)?;
        let size = usize::try_from(bytes).map_err(|_| Error::NoMemory { bytes })?;
        let mut out = Vec::new();
        out.try_reserve_exact(size).map_err(|_| Error::NoMemory { bytes })?;
        out.resize(size, 0);
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
    pub(crate) fn page(&mut self, at: u64) -> Result<&[u8; PAGE], DiskError> {
        let block = self.superblock.layout.block(at);
        if self.cached.as_ref().is_none_or(|(cached, _)| *cached != at) {
            let (_, mut bytes) = self.cached.take().unwrap_or_else(|| (0, Box::new([0; PAGE])));
            self.disk.read(block, &mut bytes[..])?;
            self.cached = Some((at, bytes));
        }
        self.cached.as_ref().map(|(_, bytes)| &**bytes).ok_or(DiskError::Io)
    }

    /// The device.
    pub fn disk(&self) -> &D {
        &self.disk
    }

    /// Leaves the device. What was not synced is lost.
    pub fn into_disk(self) -> D {
        self.disk
    }

    /// Does what an entry says, and keeps it for the next sync.
    pub(crate) fn change(&mut self, entry: Entry) -> Result<(), Error> {
        let (fresh, room, freed) = (&mut self.fresh, &mut self.room, &mut self.freed);
        let free = |piece| fresh.forget(piece, |piece| room.give(piece), |piece| freed.push(piece));
        self.table.apply(&entry, free).map_err(Error::Damaged)?;
        self.pending.push(entry);
        Ok(())
    }

    pub(crate) fn known(&self, file: File) -> Result<&Known, Error> {
        self.table.get(file.0).ok_or(Error::Removed)
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
pub(crate) fn place(offset: u64) -> (u64, usize) {
    (offset / PAGE as u64, (offset % PAGE as u64) as usize)
}

/// Copies as many bytes as both have.
fn copy(from: &[u8], into: &mut [u8]) -> usize {
    let len = from.len().min(into.len());
    into[..len].copy_from_slice(&from[..len]);
    len
}
