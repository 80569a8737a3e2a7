//! The slab of process states: where each state is in memory, and which process may use it.
//!
//! A message finds the state of its process by a number, the state's place, without following a reference: when a thousand processes
//! take turns none of them is in the processor's cache, and each reference followed is a wait for memory. Places of one type lie side
//! by side in chunks, each place in cache lines of its own: the first line has what every message reads, and the state follows it.
//!
//! Chunks are never given back to the system, and a place never changes its type. So any number can be looked up safely: what is
//! found is a place, and [`Place::who`] names the process that owns it.
//!
//! There are no locks. A process is in one call at a time, so a process that uses its own place uses it alone. A state is dropped when
//! nothing refers to its slot any more; a call refers to it in its arguments, and the loop that made the call on its stack.

use std::alloc::{Layout, alloc_zeroed};
use std::any::TypeId;
use std::cell::UnsafeCell;
use std::mem::offset_of;
use std::ops::Range;
use std::ptr;
use std::sync::atomic::{AtomicPtr, AtomicUsize, Ordering};
use std::sync::{Mutex, MutexGuard, PoisonError};

use crate::nif::Env;
use crate::process::Process;
use crate::process::rate::MessageRate;

/// What `Place::who` is beside a process. No process is such a word: the lowest bits of one are `0b0011`.
const FREE: usize = 0;
/// It belongs to the first who uses it.
const NEW: usize = 2;

/// What every message looks at.
#[repr(C)]
struct Place {
    /// The process that it belongs to, or one of the words above.
    who: AtomicUsize,
    /// Its owner's.
    rate: UnsafeCell<MessageRate>,
}

/// A place and what is in it.
#[repr(C, align(64))]
struct Filled<P> {
    place: Place,
    process: P,
}

/// Places of one type, side by side.
struct Chunk {
    first: *mut u8,
    /// The state in the first place, as one to the trait: those in the others are so many strides further.
    process: *mut dyn Process,
    stride: usize,
    places: usize,
    /// Whose shelf the free ones lie on.
    kind: usize,
}

/// A number is that of a chunk, and in the lowest bits that of a place in it.
const PLACE_BITS: u32 = 10;
const MOST_PLACES: usize = 1 << PLACE_BITS;
/// For as many processes as a VM can have.
const CHUNKS: usize = (1 << 27) / MOST_PLACES;
/// Nearly all types have a process or a few, and their states are small.
const FIRST_PLACES: usize = 16;
const MOST_BYTES: usize = 1 << 20;

static TABLE: [AtomicPtr<Chunk>; CHUNKS] = [const { AtomicPtr::new(ptr::null_mut()) }; CHUNKS];

static SHELVES: Mutex<Shelves> = Mutex::new(Shelves { kinds: Vec::new(), chunks: 0 });

struct Shelves {
    kinds: Vec<Shelf>,
    /// How many chunks there are.
    chunks: usize,
}

/// The places of one type that nobody has.
struct Shelf {
    kind: TypeId,
    given_back: Vec<usize>,
    never_used: Range<usize>,
}

impl Shelves {
    /// A free place; `None` when there are as many as there can be, or no memory for one more.
    fn take<P: Process + 'static>(&mut self) -> Option<usize> {
        let kind = TypeId::of::<P>();
        let found = self.kinds.iter().position(|shelf| shelf.kind == kind);
        let index = found.unwrap_or_else(|| {
            self.kinds.push(Shelf { kind, given_back: Vec::new(), never_used: 0..0 });
            self.kinds.len() - 1
        });
        let shelf = &mut self.kinds[index];
        if let Some(number) = shelf.given_back.pop().or_else(|| shelf.never_used.next()) {
            return Some(number);
        }
        let chunk = Chunk::new::<P>(index, if found.is_some() { MOST_PLACES } else { FIRST_PLACES })?;
        let start = self.chunks << PLACE_BITS;
        let numbers = start..start + chunk.places;
        TABLE.get(self.chunks)?.store(Box::into_raw(Box::new(chunk)), Ordering::Release);
        self.chunks += 1;
        self.kinds[index].never_used = numbers;
        self.kinds[index].never_used.next()
    }
}

fn shelves() -> MutexGuard<'static, Shelves> {
    SHELVES.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Chunk {
    fn new<P: Process + 'static>(kind: usize, most: usize) -> Option<Self> {
        let stride = size_of::<Filled<P>>();
        let places = (MOST_BYTES / stride).clamp(1, most);
        let layout = Layout::array::<Filled<P>>(places).ok()?;
        // SAFETY: the layout has a size. All bytes 0 is a place that is `FREE`, which nobody looks further into.
        let first = unsafe { alloc_zeroed(layout) };
        if first.is_null() {
            return None;
        }
        let process = first.wrapping_add(offset_of!(Filled<P>, process)).cast::<P>();
        Some(Self { first, process, stride, places, kind })
    }

    /// The place of this index and the state in it, which is one unless the place is `FREE`.
    #[inline]
    fn at(&self, index: usize) -> (&Place, *mut dyn Process) {
        debug_assert!(index < self.places);
        let further = index * self.stride;
        // SAFETY: within what was allocated, which is never given back; every place begins with a `Place`, made of zeroes or of `fill`.
        unsafe { (&*self.first.add(further).cast::<Place>(), self.process.byte_add(further)) }
    }
}

#[inline]
fn find(number: usize) -> Option<(&'static Chunk, &'static Place, *mut dyn Process)> {
    let chunk = TABLE.get(number >> PLACE_BITS)?.load(Ordering::Acquire);
    // SAFETY: null, or leaked by `take`.
    let chunk = unsafe { chunk.as_ref() }?;
    let index = number & (MOST_PLACES - 1);
    (index < chunk.places).then(|| {
        let (place, process) = chunk.at(index);
        (chunk, place, process)
    })
}

/// Puts a process into a place, which belongs to whoever first uses it. It stays until it is emptied.
///
/// # Panics
/// When there is no place.
pub(crate) fn fill<P: Process + 'static>(process: P) -> usize {
    let number = shelves().take::<P>().expect("there is no memory for one more process");
    let (_, place, at) = find(number).expect("a place that there is");
    // SAFETY: nobody else has taken it, and who asks for the number sees `FREE` until all is written. It is of this type, as it comes
    // from the shelf of this type.
    unsafe {
        at.cast::<P>().write(process);
        *place.rate.get() = MessageRate::default();
    }
    place.who.store(NEW, Ordering::Release);
    number
}

/// Lets `body` have the process in this place; `None` when it belongs to another one than that which `env` is of, or is empty.
///
/// # Safety
/// The place is not emptied before `body` has returned, and this call of the process is in no other `body` with it.
#[inline(always)]
pub(crate) unsafe fn with<R>(
    env: Env<'_>,
    number: usize,
    body: impl FnOnce(&mut dyn Process, &mut MessageRate) -> R,
) -> Option<R> {
    let own = env.own_process()?;
    let (_, place, process) = find(number)?;
    if place.who.load(Ordering::Acquire) != own {
        place.who.compare_exchange(NEW, own, Ordering::Acquire, Ordering::Relaxed).ok()?;
    }
    // SAFETY: a place that belongs to somebody holds a process. Nobody else has it: it belongs to the process that this call is of, which
    // is in no other call, and the rest is the caller's promise.
    let (process, rate) = unsafe { (&mut *process, &mut *place.rate.get()) };
    Some(body(process, rate))
}

/// Drops what is in this place: at once, or as `later` does it, if that may take long. Its number is not used any more, and may be that of
/// another process soon.
///
/// # Safety
/// Nobody has it, and nobody will ask for it.
pub(crate) unsafe fn empty(number: usize, later: impl FnOnce(Left)) {
    let Some((_, place, process)) = find(number) else { return };
    if place.who.swap(FREE, Ordering::Acquire) == FREE {
        return;
    }
    let left = Left { number };
    // SAFETY: it holds a process, which nobody else has by the caller's promise.
    if unsafe { (*process).is_light() } { left.drop_now() } else { later(left) }
}

/// A state that no process has any more, in a place that nobody finds.
pub(crate) struct Left {
    number: usize,
}

impl Left {
    pub(crate) fn drop_now(self) {
        let Some((chunk, _, process)) = find(self.number) else { return };
        // SAFETY: the place held a process when `empty` took it away from everybody. This is made once for it, so it is dropped once; and a
        // process may be dropped on any thread.
        unsafe { ptr::drop_in_place(process) };
        shelves().kinds[chunk.kind].given_back.push(self.number);
    }
}
