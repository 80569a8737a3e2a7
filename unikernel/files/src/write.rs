//! Changing what is in files: whole pages go to the device at once, parts of pages are kept until the rest comes, or a sync.

use alloc::boxed::Box;

use crate::disk::Disk;
use crate::entry::Entry;
use crate::error::Error;
use crate::files::{Dirty, File, Files, place};
use crate::layout::PAGE;
use crate::pending::most_bytes;
use crate::table::LARGEST;

/// So many pages that are written in part are kept until the rest of them comes, or a sync.
const MOST_DIRTY: usize = 8;
/// What is written at once.
const CHUNK: usize = 512 << 10;

impl<D: Disk> Files<D> {
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
                if let Err(why) = self.write_pages(file.0, page, &data[..now]) {
                    // Of what lies behind the end nobody would know that it is there.
                    self.unmap_behind(file, self.size(file)?)?;
                    return Err(why);
                }
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
            self.unmap_behind(file, size)?;
        }
        self.change(Entry::Size { id: file.0, size })
    }

    /// Gives back what a file of that size has no need of.
    fn unmap_behind(&mut self, file: File, size: u64) -> Result<(), Error> {
        let (kept, end) = (size.div_ceil(PAGE as u64), self.known(file)?.pages.end());
        self.dirty.retain(|dirty| dirty.id != file.0 || dirty.page < kept);
        if end > kept {
            self.change(Entry::Unmap { id: file.0, page: kept, pages: end - kept })?;
        }
        Ok(())
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
            // What was to be written of them is older. Where the device refuses, it stays.
            self.dirty.retain(|dirty| dirty.id != id || !(page..page + piece.pages).contains(&dirty.page));
            done += bytes.len();
        }
        Ok(())
    }

    /// Free pages that are not kept for a page that has changed.
    pub(crate) fn free(&self) -> u64 {
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
    pub(crate) fn room_for_names(&self, more: usize) -> Result<(), Error> {
        let kept = 2 * self.dirty.len() * Entry::PIECE_BYTES;
        let most = most_bytes(self.superblock.layout);
        if self.table.bytes() + kept + more > most { Err(Error::NoRoomForNames) } else { Ok(()) }
    }
}
