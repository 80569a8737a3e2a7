//! Fixed-size memory pools.

use core::cell::UnsafeCell;
use core::ptr::NonNull;

use crate::base::cell::{Cell, Held};
use crate::base::class::Class;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::timeout::Timeout;
use crate::objects::handle::handle;
use crate::service::frame::Service;
use crate::state::queue::Queue;
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;
use crate::state::waiting::Waiting;

handle! {
    /// A fixed-size memory pool.
    MemoryPool, MemoryPoolBlock
}

/// All that the kernel keeps of a memory pool.
pub struct MemoryPoolBlock<K: Storage> {
    memory: *mut u64,
    /// How many words of 8 bytes a block has.
    words: usize,
    /// What each block is: see [`Entry`].
    entries: &'static [Entry],
    /// The first so many blocks have been given out before.
    used: Cell<usize>,
    /// The block, of those, that came back last.
    free: Cell<usize>,
    count: Cell<usize>,
    /// Tasks wait only while there is no free block.
    pub(crate) waiting: Queue<Tcb<K>>,
}

// SAFETY: the memory is reached only through blocks that are given out to one owner at a time.
unsafe impl<K: Storage> Sync for MemoryPoolBlock<K> {}

const LAST: usize = usize::MAX;
const GIVEN_OUT: usize = usize::MAX - 1;

/// For a free block, the next free one or `LAST`; for another, `GIVEN_OUT`.
pub struct Entry(Cell<usize>);

impl Entry {
    /// A block that was not given out yet.
    pub const NEW: Entry = Entry(Cell::new(LAST));
}

/// The memory of a pool.
#[repr(C, align(8))]
pub struct Memory<const WORDS: usize>(UnsafeCell<[u64; WORDS]>);

// SAFETY: it is reached only through blocks that are given out to one owner at a time.
unsafe impl<const WORDS: usize> Sync for Memory<WORDS> {}

impl<const WORDS: usize> Memory<WORDS> {
    /// Memory in which nothing is.
    pub const NEW: Self = Memory(UnsafeCell::new([0; WORDS]));
}

/// A description of a memory pool, from which `kernel!` makes it.
#[derive(Clone, Copy)]
pub struct MemoryPoolSetup {
    blocks: usize,
    words: usize,
    by_priority: bool,
    /// The memory, if it is not the kernel's own.
    within: Option<*mut u64>,
}

impl MemoryPoolSetup {
    /// Its blocks lie in that memory, one behind the other, each as many words of 8 bytes as it needs.
    ///
    /// # Safety
    /// The memory has room for them, and is the pool's alone.
    pub const unsafe fn within(mut self, memory: *mut u64) -> Self {
        self.within = Some(memory);
        self
    }

    /// Tasks wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.by_priority = true;
        self
    }

    /// How many blocks it has.
    pub const fn blocks(&self) -> usize {
        self.blocks
    }

    /// How many words of 8 bytes of the kernel's memory it needs.
    pub const fn words(&self) -> usize {
        if self.within.is_some() { 0 } else { self.blocks * self.words }
    }

    /// The memory pool itself, with that memory.
    pub const fn build<K: Storage, const WORDS: usize>(
        self,
        memory: &'static Memory<WORDS>,
        entries: &'static [Entry],
    ) -> MemoryPoolBlock<K> {
        assert!(WORDS == self.words() && entries.len() == self.blocks, "the memory is that which was asked for");
        let mut waiting = Queue::new();
        waiting.by_priority = self.by_priority;
        MemoryPoolBlock {
            memory: if let Some(memory) = self.within { memory } else { memory.0.get().cast() },
            words: self.words,
            entries,
            used: Cell::new(0),
            free: Cell::new(LAST),
            count: Cell::new(self.blocks),
            waiting,
        }
    }
}

/// A block of a memory pool, which is its owner's until it is given back.
pub struct Block {
    start: NonNull<u8>,
    size: usize,
}

// SAFETY: the block is its owner's alone.
unsafe impl Send for Block {}

impl Block {
    /// Gives up the block for its address, which can be sent to whoever is to have it: see [`MemoryPool::block_at`].
    pub fn into_address(self) -> usize {
        self.start.as_ptr().expose_provenance()
    }

    /// Where it begins.
    pub fn as_ptr(&self) -> *mut u8 {
        self.start.as_ptr()
    }

    /// Its bytes.
    pub fn bytes(&mut self) -> &mut [u8] {
        // SAFETY: the block has that size and is this owner's alone; its memory was initialised at least with zeros.
        unsafe { core::slice::from_raw_parts_mut(self.start.as_ptr(), self.size) }
    }
}

impl<K: Storage, D: Domain> MemoryPool<K, D> {
    /// Describes a memory pool with that many blocks of at least that many bytes, aligned for every basic type.
    pub const fn create(blocks: usize, bytes: usize) -> MemoryPoolSetup {
        const { Class::of::<K::Model, D>() };
        assert!(blocks >= 1 && bytes >= 1, "a memory pool has at least one block of at least one byte");
        MemoryPoolSetup { blocks, words: bytes.div_ceil(8), by_priority: false, within: None }
    }

    /// get_mpf: takes a block, waiting for one if need be.
    pub fn get<C: Context>(self, cx: C) -> Result<Block, Error> {
        self.tget(Timeout::FOREVER, cx)
    }

    /// tget_mpf: as get_mpf, with E_TMOUT when the time has passed.
    pub fn tget<C: Context>(self, timeout: Timeout, cx: C) -> Result<Block, Error> {
        let service = self.enter_to_wait(cx)?;
        if let Some(index) = self.block.take(service.held()) {
            return service.leave(Ok(self.block.at(index)));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let index = service.block(Waiting::Object(&self.block.waiting), timeout)?;
        Ok(self.block.at(index))
    }

    /// pget_mpf: takes a block if there is one; E_TMOUT if not.
    pub fn pget<C: Context>(self, cx: C) -> Result<Block, Error> {
        let service = self.enter_in_task(cx)?;
        let taken = self.block.take(service.held());
        service.leave(taken.map(|index| self.block.at(index)).ok_or(Error::TMOUT))
    }

    /// The block with the address that [`Block::into_address`] has given.
    ///
    /// # Safety
    /// It is a block of this pool, and nobody else makes a block of that address.
    pub unsafe fn block_at(self, address: usize) -> Block {
        // SAFETY: as the caller says; a block does not begin at zero.
        let start = unsafe { NonNull::new_unchecked(core::ptr::with_exposed_provenance_mut(address)) };
        Block { start, size: self.block.words * 8 }
    }

    /// rel_mpf: gives a block back, or to the first task that waits for one. E_PAR if it is not one of this pool, which
    /// then nobody owns any more.
    pub fn rel<C: Context>(self, block: Block, cx: C) -> Result<(), Error> {
        self.give_back(block.as_ptr(), cx)
    }

    /// rel_mpf for an address: E_PAR if it is not that of a block of this pool that is given out.
    ///
    /// # Safety
    /// If there is a [`Block`] of that address, nobody uses it any more.
    pub unsafe fn rel_at<C: Context>(self, start: *mut u8, cx: C) -> Result<(), Error> {
        self.give_back(start, cx)
    }

    fn give_back<C: Context>(self, start: *mut u8, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let Some(index) = self.block.given_out(start, held) else { return service.leave(Err(Error::PAR)) };
        if service.wake_first(&self.block.waiting.tasks, Ok(index)) {
            return service.finish(Ok(()));
        }
        self.block.put(index, held);
        service.leave(Ok(()))
    }

    /// ini_mpf: every block is free again, whoever has it. The waits of tasks end with E_DLT.
    ///
    /// # Safety
    /// Nobody uses a block that was taken before.
    pub unsafe fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        self.initialise(service)
    }

    pub(crate) fn initialise<C: Context>(self, service: Service<K, D, C>) -> Result<(), Error> {
        let held = service.held();
        while service.wake_first(&self.block.waiting.tasks, Err(Error::DLT)) {}
        self.block.used.set(0, held);
        self.block.free.set(LAST, held);
        self.block.count.set(self.block.entries.len(), held);
        service.finish(Ok(()))
    }

    /// ref_mpf: the first task that waits, and how many blocks are free.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let first = self.block.waiting.first_number(service.held());
        let count = self.block.count.get(service.held());
        service.leave(Ok((first, count)))
    }
}

impl<K: Storage> MemoryPoolBlock<K> {
    fn at(&self, index: usize) -> Block {
        // SAFETY: the index is below the number of blocks, so the address is in the memory, which is not at zero.
        let start = unsafe { NonNull::new_unchecked(self.memory.add(index * self.words)) }.cast();
        Block { start, size: self.words * 8 }
    }

    /// Whether its free blocks are counted, and tasks wait only while there is none.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let (used, most) = (self.used.get(held), self.entries.len());
        let next = |&index: &usize| self.entries.get(index).map(|entry| entry.0.get(held));
        let linked = core::iter::successors(Some(self.free.get(held)), next).take(most + 1);
        let returned = linked.take_while(|&index| index < most).count();
        let count = self.count.get(held);
        count == most - used + returned && (count == 0 || self.waiting.tasks.first(held).is_none())
    }

    fn take(&self, held: Held<'_>) -> Option<usize> {
        let free = self.free.get(held);
        let index = match self.entries.get(free) {
            Some(entry) => {
                self.free.set(entry.0.get(held), held);
                free
            }
            None => {
                let used = self.used.get(held);
                if used == self.entries.len() {
                    return None;
                }
                self.used.set(used + 1, held);
                used
            }
        };
        self.entries[index].0.set(GIVEN_OUT, held);
        self.count.set(self.count.get(held) - 1, held);
        Some(index)
    }

    fn put(&self, index: usize, held: Held<'_>) {
        self.entries[index].0.set(self.free.get(held), held);
        self.free.set(index, held);
        self.count.set(self.count.get(held) + 1, held);
    }

    /// The block that begins there and is given out.
    fn given_out(&self, start: *mut u8, held: Held<'_>) -> Option<usize> {
        let offset = (start as usize).checked_sub(self.memory as usize)?;
        let size = self.words * 8;
        let index = offset / size;
        let known = offset % size == 0 && index < self.used.get(held);
        (known && self.entries.get(index)?.0.get(held) == GIVEN_OUT).then_some(index)
    }
}
