//! The arena: memory that the lab and a probe share, with a place for every sample of a trial.
//!
//! An arena is an anonymous file (memfd) mapped by both. A page of descriptions comes first, then one page-aligned
//! array for each part. Invariants:
//!
//! - The lab writes the descriptions before the probe starts; afterwards only the stop flag (lab) and each part's
//!   [`Progress`] and cells (probe) change. The lab reads only rows that the progress counts.
//! - The file lives as long as the lab or the probe has it open, so no sample is lost with a probe that is killed.
//! - The memory is in tmpfs: no write-back ever makes one of its pages read-only in the middle of a measurement.
//! - Descriptions are checked when a probe attaches: sizes, alignment, bounds.

use std::fs::File;
use std::io;
use std::os::fd::{AsFd, BorrowedFd, FromRawFd, OwnedFd, RawFd};
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kizami_recording::{Progress, Recorder};
use memmap2::{MmapOptions, MmapRaw};

const MAGIC: u64 = u64::from_le_bytes(*b"KZARENA1");
const PAGE: usize = 4096;

/// The room that one part needs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct PartSize {
    pub columns: usize,
    pub rows: u64,
}

#[repr(C)]
struct Head {
    magic: u64,
    parts: u64,
    stop: AtomicBool,
}

#[repr(C)]
struct Part {
    offset: u64,
    rows: u64,
    columns: u64,
    /// Set when the recorder of this part was given out, so that there is never a second.
    taken: AtomicU64,
    progress: Progress,
}

const PARTS_AT: usize = 64;
/// More parts than any machine has processors; keeps a foreign header from asking for absurd sizes.
const MOST_PARTS: usize = 4096;

/// The shared memory of one trial.
#[derive(Debug)]
pub struct Arena {
    file: File,
    map: MmapRaw,
    /// This side's own copy: the other may write over the descriptions, and must not lead a read out of the memory.
    places: Vec<Place>,
}

/// Where a part lies.
#[derive(Debug, Clone, Copy)]
struct Place {
    offset: u64,
    rows: u64,
    columns: u64,
}

impl Arena {
    /// Makes an arena with room for `sizes`.
    ///
    /// # Errors
    /// When there is not that much memory, or the sizes are absurd.
    pub fn create(sizes: &[PartSize]) -> io::Result<Self> {
        Self::create_in(&Self::region(Self::bytes(sizes)?)?, sizes)
    }

    /// How large the memory of an arena for `sizes` is.
    ///
    /// # Errors
    /// When the sizes are absurd.
    pub fn bytes(sizes: &[PartSize]) -> io::Result<u64> {
        layout(sizes).map(|(_, end)| end as u64)
    }

    /// Memory of so many bytes, in which arenas can be made, one after the other.
    ///
    /// # Errors
    /// When there is not that much memory.
    pub fn region(bytes: u64) -> io::Result<File> {
        // SAFETY: the name is a C string; the result is a descriptor or an error.
        let fd = unsafe { libc::memfd_create(c"kizami-arena".as_ptr(), libc::MFD_CLOEXEC | libc::MFD_ALLOW_SEALING) };
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the kernel just gave this descriptor to us alone.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        file.set_len(bytes)?;
        // A probe that cut the file would make the lab's reads fault.
        // SAFETY: a system call on an open descriptor; no memory is involved.
        if unsafe { libc::fcntl(fd, libc::F_ADD_SEALS, libc::F_SEAL_SHRINK | libc::F_SEAL_GROW) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(file)
    }

    /// Makes an arena with room for `sizes` at the beginning of `region`, in which nobody has another any more.
    ///
    /// # Errors
    /// When the region is too small, or the sizes are absurd.
    pub fn create_in(region: &File, sizes: &[PartSize]) -> io::Result<Self> {
        let (places, end) = layout(sizes)?;
        let file = region.try_clone()?;
        if file.metadata()?.len() < end as u64 {
            return Err(io::Error::other("the region is smaller than the arena"));
        }
        let map = MmapOptions::new().len(end).map_raw(&file)?;
        let arena = Self { file, map, places };
        for (index, &Place { offset, rows, columns }) in arena.places.iter().enumerate() {
            let part = Part { offset, rows, columns, taken: AtomicU64::new(0), progress: Progress::default() };
            // SAFETY: the description lies within the first pages by construction of `end`, is aligned (64 and the size
            // of Part are multiples of 8), and nobody else has the memory yet.
            unsafe { arena.part_ptr(index).write(part) };
        }
        // SAFETY: as above, for the head at offset zero.
        unsafe {
            let head = Head { magic: MAGIC, parts: sizes.len() as u64, stop: AtomicBool::new(false) };
            arena.map.as_mut_ptr().cast::<Head>().write(head);
        }
        Ok(arena)
    }

    /// The arena behind descriptor `fd`, with its pages present.
    ///
    /// # Errors
    /// When it is not one, or not a whole one.
    pub fn attach(fd: RawFd) -> io::Result<Self> {
        // SAFETY: only asks whether the descriptor is open.
        if unsafe { libc::fcntl(fd, libc::F_GETFD) } < 0 {
            return Err(io::Error::last_os_error());
        }
        // SAFETY: the descriptor is open, and by the protocol it was given to this process for this arena.
        let file = File::from(unsafe { OwnedFd::from_raw_fd(fd) });
        let len = usize::try_from(file.metadata()?.len()).map_err(io::Error::other)?;
        let wrong = |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("not an arena: {why}"));
        if len < PAGE {
            return Err(wrong("too short"));
        }
        let map = MmapOptions::new().len(len).populate().map_raw(&file)?;
        // SAFETY: the mapping is at least a page; Head has no invalid bit patterns but `stop`, which is read as a byte
        // below only after the magic matched.
        let (magic, parts) = unsafe {
            let head = map.as_ptr().cast::<u64>();
            (head.read(), head.add(1).read())
        };
        let parts = usize::try_from(parts).unwrap_or(usize::MAX);
        if magic != MAGIC || parts > MOST_PARTS || pages(PARTS_AT + parts * size_of::<Part>()) > len {
            return Err(wrong("its head does not fit"));
        }
        let mut places = Vec::with_capacity(parts);
        for index in 0..parts {
            // SAFETY: within the head pages, whose size was just checked; three plain numbers, read once.
            let place = unsafe {
                let part = map.as_ptr().add(PARTS_AT).cast::<Part>().add(index);
                Place { offset: (*part).offset, rows: (*part).rows, columns: (*part).columns }
            };
            let bytes = place.rows.checked_mul(place.columns).and_then(|c| c.checked_mul(8));
            let end = bytes.and_then(|b| place.offset.checked_add(b));
            if place.columns == 0 || !place.offset.is_multiple_of(PAGE as u64) || end.is_none_or(|e| e > len as u64) {
                return Err(wrong("a part lies outside"));
            }
            places.push(place);
        }
        Ok(Self { file, map, places })
    }

    pub fn parts(&self) -> usize {
        self.places.len()
    }

    /// The descriptor to hand to a probe.
    pub fn descriptor(&self) -> BorrowedFd<'_> {
        self.file.as_fd()
    }

    /// Raised by the lab when the probe should end early.
    pub fn stop(&self) -> &AtomicBool {
        // SAFETY: `create` or the writer of the checked magic initialised it; it is only ever accessed atomically.
        unsafe { &(*self.map.as_ptr().cast::<Head>()).stop }
    }

    /// How far `part` has come.
    ///
    /// # Panics
    /// When there is no such part.
    pub fn progress(&self, part: usize) -> &Progress {
        &self.part(part).progress
    }

    /// How many rows of `part` are complete, whatever the other side counts.
    pub fn rows(&self, part: usize) -> u64 {
        self.progress(part).rows().min(self.capacity(part))
    }

    /// How many rows `part` has room for.
    pub fn capacity(&self, part: usize) -> u64 {
        self.places[part].rows
    }

    pub fn columns(&self, part: usize) -> usize {
        self.places[part].columns as usize
    }

    /// The recorder of `part`; `None` when it was given out before.
    pub fn recorder(&self, part: usize) -> Option<Recorder<'_>> {
        let (place, description) = (self.places[part], self.part(part));
        if description.taken.swap(1, Ordering::AcqRel) != 0 {
            return None;
        }
        let cells = (place.rows * place.columns) as usize;
        // SAFETY: the part lies within the mapping (checked in `attach`, made so in `create`), is page-aligned, and
        // `taken` gives the one mutable slice over it out once. The lab reads it only through raw pointers, below the
        // rows that progress counts, which are never written again.
        let cells = unsafe {
            let first = self.map.as_mut_ptr().add(place.offset as usize).cast::<u64>();
            std::slice::from_raw_parts_mut(first, cells)
        };
        Some(Recorder::new(cells, place.columns as usize, &description.progress))
    }

    /// Copies the rows `from..to` of `part`, as far as they are complete.
    pub fn copy_rows(&self, part: usize, from: u64, to: u64) -> Vec<u64> {
        let place = self.places[part];
        let to = to.min(self.rows(part));
        let from = from.min(to);
        let (first, cells) = (from * place.columns, ((to - from) * place.columns) as usize);
        let mut copy = vec![0u64; cells];
        // SAFETY: the rows lie within the part (clamped above) and are complete, so nobody writes them any more.
        unsafe {
            let source = self.map.as_ptr().add(place.offset as usize).cast::<u64>().add(first as usize);
            std::ptr::copy_nonoverlapping(source, copy.as_mut_ptr(), cells);
        }
        copy
    }

    fn part_ptr(&self, index: usize) -> *mut Part {
        assert!(index < self.parts(), "part {index} of {}", self.parts());
        // SAFETY: within the head pages, whose size was computed from (or checked against) the number of parts.
        unsafe { self.map.as_mut_ptr().add(PARTS_AT).cast::<Part>().add(index) }
    }

    fn part(&self, index: usize) -> &Part {
        // SAFETY: initialised by `create`; plain numbers and atomics, of which the numbers never change again.
        unsafe { &*self.part_ptr(index) }
    }
}

/// Where the parts lie, and where the last ends.
fn layout(sizes: &[PartSize]) -> io::Result<(Vec<Place>, usize)> {
    let absurd = || io::Error::other("the samples of one trial would need more memory than can be addressed");
    if sizes.len() > MOST_PARTS || sizes.iter().any(|s| s.columns == 0) {
        return Err(absurd());
    }
    let mut places = Vec::with_capacity(sizes.len());
    let mut end = pages(PARTS_AT + sizes.len() * size_of::<Part>());
    for size in sizes {
        places.push(Place { offset: end as u64, rows: size.rows, columns: size.columns as u64 });
        let bytes = usize::try_from(size.rows).ok().and_then(|r| r.checked_mul(size.columns * 8));
        end = bytes.and_then(|b| end.checked_add(pages(b))).filter(|e| *e < 1 << 46).ok_or_else(absurd)?;
    }
    Ok((places, end))
}

fn pages(bytes: usize) -> usize {
    bytes.div_ceil(PAGE) * PAGE
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::fd::IntoRawFd;

    fn attached(arena: &Arena) -> Arena {
        let fd = arena.file.try_clone().expect("a second descriptor").into_raw_fd();
        Arena::attach(fd).expect("an arena")
    }

    #[test]
    fn what_the_probe_records_the_lab_reads() {
        let lab = Arena::create(&[PartSize { columns: 1, rows: 3 }, PartSize { columns: 2, rows: 5000 }]).unwrap();
        let probe = attached(&lab);
        let mut second = probe.recorder(1).unwrap();
        second.push_row(&[7, 8]);
        second.push_row(&[9, 10]);
        assert_eq!(lab.progress(1).rows(), 2);
        assert_eq!(lab.copy_rows(1, 0, 100), [7, 8, 9, 10]);
        assert_eq!(lab.copy_rows(1, 1, 2), [9, 10]);
        assert!(lab.copy_rows(0, 0, 3).is_empty());
        lab.stop().store(true, Ordering::Relaxed);
        assert!(probe.stop().load(Ordering::Relaxed));
    }

    #[test]
    fn samples_outlive_the_probe() {
        let lab = Arena::create(&[PartSize { columns: 1, rows: 10 }]).unwrap();
        let probe = attached(&lab);
        probe.recorder(0).unwrap().push(42);
        drop(probe);
        assert_eq!(lab.copy_rows(0, 0, 10), [42]);
    }

    #[test]
    fn a_recorder_is_given_out_once() {
        let arena = Arena::create(&[PartSize { columns: 1, rows: 1 }]).unwrap();
        assert!(arena.recorder(0).is_some());
        assert!(arena.recorder(0).is_none());
    }

    #[test]
    fn foreign_memory_is_refused() {
        use std::io::{Seek, SeekFrom, Write};
        let arena = Arena::create(&[PartSize { columns: 1, rows: 8 }]).unwrap();
        let mut file = arena.file.try_clone().unwrap();
        // The first part is made to lie outside.
        file.seek(SeekFrom::Start(PARTS_AT as u64)).unwrap();
        file.write_all(&(1u64 << 40).to_le_bytes()).unwrap();
        assert!(Arena::attach(file.into_raw_fd()).is_err());
        assert!(Arena::attach(-1).is_err());
    }

    #[test]
    fn whatever_the_other_side_writes_over_the_descriptions_reads_stay_inside() {
        use std::os::unix::fs::FileExt;
        let sizes = [PartSize { columns: 1, rows: 4 }];
        let arena = Arena::create(&sizes).unwrap();
        attached(&arena).recorder(0).unwrap().push(7);
        // Offset, rows and columns become absurd, then everything behind them too: the counted rows.
        let file = arena.file.try_clone().unwrap();
        file.write_all_at(&[0xff; 24], PARTS_AT as u64).unwrap();
        assert_eq!(arena.copy_rows(0, 0, 100), [7]);
        file.write_all_at(&vec![0xff; size_of::<Part>()], PARTS_AT as u64).unwrap();
        assert_eq!((arena.rows(0), arena.columns(0)), (4, 1));
        assert_eq!(arena.copy_rows(0, 0, u64::MAX).len(), 4);
    }

    #[test]
    fn a_region_holds_one_arena_after_the_other() {
        let first = [PartSize { columns: 1, rows: 100 }];
        let region = Arena::region(Arena::bytes(&first).unwrap()).unwrap();
        let arena = Arena::create_in(&region, &first).unwrap();
        attached(&arena).recorder(0).unwrap().push(7);
        assert_eq!(arena.rows(0), 1);
        drop(arena);
        let second = Arena::create_in(&region, &[PartSize { columns: 2, rows: 10 }]).unwrap();
        assert_eq!(second.rows(0), 0, "it begins anew");
        assert!(second.recorder(0).is_some());
        assert!(Arena::create_in(&region, &[PartSize { columns: 1, rows: 100_000 }]).is_err(), "it is too small");
    }

    #[test]
    fn absurd_sizes_are_refused_and_not_tried() {
        assert!(Arena::create(&[PartSize { columns: 8, rows: u64::MAX / 2 }]).is_err());
    }
}
