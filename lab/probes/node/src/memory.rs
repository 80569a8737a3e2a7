//! The memory of the machine while something else runs: read by a process beside, which allocates nothing, as the heap is that of all.

use alloc::string::String;
use alloc::vec::Vec;
use core::cell::{Cell, UnsafeCell};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering};

use kizami_workloads::portable::memory::{Split, slab_lines};
use node::output::Output;
use node::sys::files::{self, O_CREAT, O_RDONLY, O_WRONLY, Path};
use node::sys::{Fd, Result, time};
use plain::report;

use crate::job::doing;
use crate::partner::Partner;

/// Where it is noted how many groups are to run next, for whoever comes after a process that the kernel has killed.
pub const NOTE: &str = "/tmp/groups";

const MEMINFO: &str = "/proc/meminfo";
const SLABINFO: &str = "/proc/slabinfo";
/// Larger than what the kernel says there.
const TEXTS: [usize; 2] = [2048, 12288];
const PAGE: u64 = 4096;

/// when, free, buffers, cached, slab, kernel, other, groups, the control group's.
const COLUMNS: usize = 9;
/// More readings find no room: a round that takes much longer than expected would take all memory by being watched.
const ROWS: usize = 400;
/// The caches are read so often at most: the kernel takes 6 ms to write what they hold.
const CACHES_EVERY: u64 = 100_000_000;
const CACHE_ROWS: usize = 100;
/// The column for the caches that have none.
const OTHERS: &str = "others";

/// Rows that one process writes and another reads.
struct Rows {
    cells: UnsafeCell<Vec<u64>>,
    count: AtomicU32,
}

// SAFETY: the reader of the memory alone adds rows, into room that stays where it is; what is counted is written, and stays.
unsafe impl Sync for Rows {}

impl Rows {
    const fn new() -> Self {
        Self { cells: UnsafeCell::new(Vec::new()), count: AtomicU32::new(0) }
    }

    /// # Safety
    /// Nobody else is there yet.
    unsafe fn reserve(&self, cells: usize) {
        // SAFETY: as promised.
        unsafe { &mut *self.cells.get() }.reserve_exact(cells);
    }

    /// One that finds no room is left out.
    ///
    /// # Safety
    /// Nobody else adds any.
    unsafe fn add(&self, row: &[u64]) {
        // SAFETY: as promised; who reads looks at what is counted.
        let cells = unsafe { &mut *self.cells.get() };
        if cells.len() + row.len() <= cells.capacity() {
            cells.extend_from_slice(row);
            self.count.store(cells.len() as u32, Ordering::Release);
        }
    }

    fn from(&self, told: usize) -> &[u64] {
        let count = self.count.load(Ordering::Acquire) as usize;
        // SAFETY: so many are written, and are not written again.
        let cells = unsafe { core::slice::from_raw_parts((*self.cells.get()).as_ptr(), count) };
        &cells[told..]
    }
}

struct Readings {
    over: AtomicBool,
    groups: AtomicU32,
    memory: Rows,
    caches: Rows,
}

static READINGS: Readings =
    Readings { over: AtomicBool::new(false), groups: AtomicU32::new(0), memory: Rows::new(), caches: Rows::new() };

/// The memory of the machine, while it is read.
pub struct Memory {
    reader: Partner,
    /// The columns of a row of the caches.
    columns: usize,
    /// How much of the readings was told.
    told: [Cell<usize>; 2],
    note: Option<Fd>,
}

impl Memory {
    /// One reading is made before this comes back: of an idle machine. `caches` are the names of those that are told, sorted.
    pub fn start(interval: u64, caches: &str) -> core::result::Result<Self, String> {
        let names: Vec<String> = caches.split(',').map(String::from).collect();
        let columns = names.len() + 1;
        // SAFETY: nobody else is there yet.
        unsafe {
            READINGS.memory.reserve(ROWS * COLUMNS);
            READINGS.caches.reserve(CACHE_ROWS * columns);
        }
        let named = doing("name a file");
        let mut files = [Text::new(MEMINFO, TEXTS[0]), Text::new(SLABINFO, TEXTS[1])];
        let [Ok(memory), Ok(slabs)] = &mut files else {
            return Err(named(node::sys::Errno::EINVAL));
        };
        let (memory, slabs) = (core::mem::take(memory), core::mem::take(slabs));
        let mut reader = Reader { interval, memory, slabs, row: alloc::vec![0; columns], names, next_caches: 0 };
        let reader = Partner::start(move || reader.run().map_or_else(|why| why.0 as i32, |()| 0))?;
        while READINGS.memory.count.load(Ordering::Relaxed) == 0 && !reader.is_gone() {
            let _ = time::sleep(1_000_000);
        }
        // Where there is no such folder nobody comes after.
        let note = Fd::open(NOTE, O_CREAT | O_WRONLY).ok();
        Ok(Self { reader, columns, told: Default::default(), note })
    }

    /// Notes how many groups run next. The file stays open, and has room.
    pub fn note(&self, groups: u64) {
        let _ = self.note.as_ref().map(|note| note.write_at(&groups.to_le_bytes(), 0));
    }

    /// So many groups run from now on.
    pub fn runs(&self, groups: u64) {
        READINGS.groups.store(groups as u32, Ordering::Relaxed);
    }

    /// Tells the readings that were not told yet.
    pub fn say_news(&self, out: &mut Output) {
        let both = [(&READINGS.memory, COLUMNS), (&READINGS.caches, self.columns)];
        for (part, ((rows, columns), told)) in both.into_iter().zip(&self.told).enumerate() {
            let news = rows.from(told.get());
            told.set(told.get() + news.len());
            report::rows(out, 1 + part, news.chunks(columns));
        }
    }

    pub fn end(self, out: &mut Output) {
        READINGS.over.store(true, Ordering::Relaxed);
        let Self { reader, columns, told, note } = self;
        let still = Partner::ends(reader);
        drop(still);
        let told = [(&READINGS.memory, COLUMNS, told[0].get()), (&READINGS.caches, columns, told[1].get())];
        for (part, (rows, columns, told)) in told.into_iter().enumerate() {
            report::rows(out, 1 + part, rows.from(told).chunks(columns));
        }
        drop(note);
    }
}

/// A file of the kernel's, and room for what it says.
#[derive(Default)]
struct Text {
    path: Option<Path>,
    room: Vec<u8>,
}

impl Text {
    fn new(name: &str, bytes: usize) -> Result<Self> {
        Ok(Self { path: Some(files::path(name)?), room: alloc::vec![0; bytes] })
    }

    fn read(&mut self) -> Result<&[u8]> {
        let mut length = 0;
        if let Some(path) = &self.path {
            let file = path.open(O_RDONLY)?;
            while length < self.room.len() {
                match file.read(&mut self.room[length..])? {
                    0 => break,
                    read => length += read,
                }
            }
        }
        Ok(&self.room[..length])
    }
}

struct Reader {
    interval: u64,
    memory: Text,
    slabs: Text,
    /// A row of the caches.
    row: Vec<u64>,
    names: Vec<String>,
    next_caches: u64,
}

impl Reader {
    fn run(&mut self) -> Result<()> {
        let start = time::now();
        let mut next = start;
        while !READINGS.over.load(Ordering::Relaxed) {
            let now = time::now();
            if now < next {
                // In pieces, so that the end is seen.
                let _ = time::sleep_until(next.min(now + 50_000_000));
                continue;
            }
            let groups = READINGS.groups.load(Ordering::Relaxed).into();
            let [free, buffers, cached, slab, kernel, other] = Split::of(self.memory.read()?).columns();
            // SAFETY: nobody else adds rows.
            unsafe { READINGS.memory.add(&[now - start, free, buffers, cached, slab, kernel, other, groups, 0]) };
            if now >= self.next_caches {
                self.next_caches = now + CACHES_EVERY;
                self.caches(now - start)?;
            }
            next += ((time::now() - next) / self.interval + 1) * self.interval;
        }
        Ok(())
    }

    fn caches(&mut self, when: u64) -> Result<()> {
        self.row.fill(0);
        self.row[0] = when;
        let column_of = |name: &[u8]| self.names.binary_search_by(|known| known.as_bytes().cmp(name));
        for (name, bytes) in slab_lines(self.slabs.read()?, PAGE) {
            if let Ok(column) = column_of(name).or_else(|_| column_of(OTHERS.as_bytes())) {
                self.row[column + 1] += bytes;
            }
        }
        // SAFETY: as above.
        unsafe { READINGS.caches.add(&self.row) };
        Ok(())
    }
}
