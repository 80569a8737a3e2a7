//! The kernel's objects, made anew for each run, so that `kernel!`, which makes statics, does not fit.
//!
//! Each test has its own, in memory that is used again for its next run: a reference to an object is only good for the
//! run in which it was asked for.

use std::cell::Cell;
use std::ptr;

use rtos::storage::{PoolEntry, PoolMemory, Slot, Word};
use rtos::{
    AlarmBlock, Common, CyclicBlock, DataQueue, DataQueueBlock, EventFlag, EventFlagBlock, InTask, Interrupt, Kernel,
    MemoryPool, MemoryPoolBlock, MessageBufferBlock, Multi, Mutex, MutexBlock, Numbered, Placed,
    PriorityDataQueueBlock, Processor, Semaphore, SemaphoreBlock, Shared, SpinLockBlock, Stack, Task, Tcb,
};

use crate::interrupts;
use crate::machine::PROCESSORS;
use crate::port::Checked;
use crate::program;

/// The kernel that is checked.
pub struct App;

/// A task: where it begins, and its priority.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub enum Who {
    /// On processor 0, of priority 4.
    High0,
    /// On processor 0, of priority 8.
    Main0,
    /// On processor 0, of priority 8 too.
    Peer0,
    /// On processor 0, of priority 12.
    Low0,
    /// On processor 1, of priority 4.
    High1,
    /// On processor 1, of priority 8.
    Main1,
    /// On processor 1, of priority 8 too.
    Peer1,
    /// On processor 1, of priority 12.
    Low1,
}

/// All of them, by their ITRON numbers less one.
pub const EVERYBODY: [Who; TASKS] =
    [Who::High0, Who::Main0, Who::Peer0, Who::Low0, Who::High1, Who::Main1, Who::Peer1, Who::Low1];

const TASKS: usize = 8;

impl Who {
    fn begins_on(self) -> usize {
        self as usize / 4
    }

    fn priority(self) -> usize {
        [4, 8, 8, 12][self as usize % 4]
    }
}

/// What lies below: no references.
struct Ground {
    stacks: [Stack<16>; TASKS],
    idle: [Stack<16>; PROCESSORS],
    words: [Word; 1],
    pool: PoolMemory<2>,
    entries: [PoolEntry; 1],
}

/// The objects themselves.
struct World {
    processors: [Processor<App>; PROCESSORS],
    common: Common<App>,
    slots: [[[Slot<App>; TASKS]; 2]; PROCESSORS],
    tasks: [Tcb<App>; TASKS],
    semaphore: SemaphoreBlock<App>,
    event_flag: EventFlagBlock<App>,
    data_queue: DataQueueBlock<App>,
    handover: DataQueueBlock<App>,
    mutexes: [MutexBlock<App>; 2],
    pool: MemoryPoolBlock<App>,
}

/// What the kernel finds them by.
struct Tables {
    tasks: [Numbered<Tcb<App>>; TASKS],
    semaphores: [Numbered<SemaphoreBlock<App>>; 1],
    event_flags: [Numbered<EventFlagBlock<App>>; 1],
    data_queues: [Numbered<DataQueueBlock<App>>; 2],
    mutexes: [Numbered<MutexBlock<App>>; 2],
    pools: [Numbered<MemoryPoolBlock<App>>; 1],
}

thread_local! {
    static GROUND: Cell<*mut Ground> = const { Cell::new(ptr::null_mut()) };
    static WORLD: Cell<*mut World> = const { Cell::new(ptr::null_mut()) };
    static TABLES: Cell<*mut Tables> = const { Cell::new(ptr::null_mut()) };
}

/// Puts a value where the last one was, which nobody uses any more.
fn put<T>(place: &Cell<*mut T>, value: T) -> &'static T {
    if place.get().is_null() {
        place.set(Box::into_raw(Box::new(value)));
    } else {
        // SAFETY: the place was allocated for such a value; what was there needs no drop.
        unsafe { place.get().write(value) };
    }
    // SAFETY: the place is never freed, and written again only when the run that uses this is over.
    unsafe { &*place.get() }
}

fn world() -> &'static World {
    // SAFETY: `renew` has put one there before the run, in which the kernel uses it.
    unsafe { &*WORLD.get() }
}

fn tables() -> &'static Tables {
    // SAFETY: as above.
    unsafe { &*TABLES.get() }
}

/// Makes everything as it is before the kernel starts. `active` says who is active then.
pub(crate) fn renew(active: impl Fn(Who) -> bool) {
    let ground = GROUND.with(|place| {
        put(
            place,
            Ground {
                stacks: [const { Stack::NEW }; TASKS],
                idle: [const { Stack::NEW }; PROCESSORS],
                words: [const { Word::EMPTY }; 1],
                pool: PoolMemory::NEW,
                entries: [const { PoolEntry::NEW }; 1],
            },
        )
    });
    let task = |who: Who| {
        let argument = ptr::without_provenance_mut(who as usize + 1);
        let setup = rtos::TaskSetup::<App, Shared>::foreign(never, argument);
        let setup = setup.priority(who.priority()).on(who.begins_on());
        let setup = if active(who) { setup.active() } else { setup };
        setup.build(&ground.stacks[who as usize])
    };
    let world = WORLD.with(|place| {
        put(
            place,
            World {
                processors: Processor::all(&ground.idle),
                common: Common::NEW,
                slots: [const { [const { [const { Slot::EMPTY }; TASKS] }; 2] }; PROCESSORS],
                tasks: EVERYBODY.map(task),
                semaphore: Semaphore::<App, Shared>::create(0, 2),
                event_flag: EventFlag::<App, Shared>::create(0).many(),
                data_queue: DataQueue::<App, Shared>::create(1).build(&ground.words),
                handover: DataQueue::<App, Shared>::create(0).build(&[]),
                mutexes: [const { Mutex::<App, Shared>::create().inheriting() }; 2],
                pool: MemoryPool::<App, Shared>::create(1, 16).build(&ground.pool, &ground.entries),
            },
        )
    });
    let shared = Placed(None);
    TABLES.with(|place| {
        put(
            place,
            Tables {
                tasks: world.tasks.each_ref().map(|block| Numbered::new(block, shared)),
                semaphores: [Numbered::new(&world.semaphore, shared)],
                event_flags: [Numbered::new(&world.event_flag, shared)],
                data_queues: [Numbered::new(&world.data_queue, shared), Numbered::new(&world.handover, shared)],
                mutexes: world.mutexes.each_ref().map(|block| Numbered::new(block, shared)),
                pools: [Numbered::new(&world.pool, shared)],
            },
        )
    });
}

/// Where tasks do not begin: the port calls what the program says, with frames that a thread's end can unwind.
unsafe extern "C" fn never(_: *mut ()) {}

/// What the task of that number does.
pub(crate) fn body(number: usize) -> impl Fn(InTask<Shared>) {
    program::body(EVERYBODY[number - 1])
}

/// Looks whether everything fits, as if nothing else was going on; as it is while the giant lock is free.
pub(crate) fn look() {
    if let Some(Err(finding)) = interrupts::aside(rtos::audit::<App>) {
        panic!("{finding:?}");
    }
}

/// The task.
pub fn task(who: Who) -> Task<App, Shared> {
    Task::new(&world().tasks[who as usize])
}

/// A semaphore that begins with nothing, with room for two.
pub fn semaphore() -> Semaphore<App, Shared> {
    Semaphore::new(&world().semaphore)
}

/// An event flag, for which many can wait.
pub fn event_flag() -> EventFlag<App, Shared> {
    EventFlag::new(&world().event_flag)
}

/// A data queue with room for a word.
pub fn data_queue() -> DataQueue<App, Shared> {
    DataQueue::new(&world().data_queue)
}

/// A data queue without room: who sends waits for who receives.
pub fn handover() -> DataQueue<App, Shared> {
    DataQueue::new(&world().handover)
}

/// One of two mutexes with inheritance.
pub fn mutex(number: usize) -> Mutex<App, Shared> {
    Mutex::new(&world().mutexes[number])
}

/// A pool of one block.
pub fn pool() -> MemoryPool<App, Shared> {
    MemoryPool::new(&world().pool)
}

// SAFETY: for as long as a run goes on these are the same at every call, and nothing else uses them.
unsafe impl Kernel for App {
    type Port = Checked;
    type Model = Multi<PROCESSORS>;
    type Overrun = rtos::Without;

    unsafe fn processor(number: usize) -> &'static Processor<Self> {
        &world().processors[number]
    }
    fn common() -> &'static Common<Self> {
        &world().common
    }
    fn slots(number: usize) -> [&'static [Slot<Self>]; 2] {
        let [own, shared] = &world().slots[number];
        [own, shared]
    }
    fn tasks() -> &'static [Numbered<Tcb<Self>>] {
        &tables().tasks
    }
    fn semaphores() -> &'static [Numbered<SemaphoreBlock<Self>>] {
        &tables().semaphores
    }
    fn event_flags() -> &'static [Numbered<EventFlagBlock<Self>>] {
        &tables().event_flags
    }
    fn data_queues() -> &'static [Numbered<DataQueueBlock<Self>>] {
        &tables().data_queues
    }
    fn priority_data_queues() -> &'static [Numbered<PriorityDataQueueBlock<Self>>] {
        &[]
    }
    fn mutexes() -> &'static [Numbered<MutexBlock<Self>>] {
        &tables().mutexes
    }
    fn message_buffers() -> &'static [Numbered<MessageBufferBlock<Self>>] {
        &[]
    }
    fn memory_pools() -> &'static [Numbered<MemoryPoolBlock<Self>>] {
        &tables().pools
    }
    fn cyclics() -> &'static [Numbered<CyclicBlock<Self>>] {
        &[]
    }
    fn alarms() -> &'static [Numbered<AlarmBlock<Self>>] {
        &[]
    }
    fn spin_locks() -> &'static [Numbered<SpinLockBlock<Self>>] {
        &[]
    }
    fn interrupts() -> &'static [Interrupt] {
        &[]
    }

    fn exceptions() -> &'static [rtos::Exception] {
        &[]
    }

    fn overrun() -> Option<&'static rtos::OverrunHandler<Self>> {
        None
    }
}
