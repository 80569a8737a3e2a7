//! The kernel's objects, made anew for each run. `kernel!` does not fit here, because it makes statics.
//!
//! Each test has its own objects, in memory that is used again for its next run: a reference to an object is valid only
//! in the run in which it was asked for.

use std::cell::Cell;
use std::ptr;

use rtos::storage::{PoolEntry, PoolMemory, Slot, Word};
use rtos::{
    Alarm, AlarmBlock, Common, Config, CyclicBlock, DataQueue, DataQueueBlock, Domain, EventFlag, EventFlagBlock,
    Interrupt, Kernel, MemoryPool, MemoryPoolBlock, MessageBufferBlock, Multi, Mutex, MutexBlock, Numbered,
    OverrunHandler, Pinned, Placed, PriorityDataQueueBlock, Processor, Semaphore, SemaphoreBlock, Shared, SpinLock,
    SpinLockBlock, Stack, Storage, System, Task, TaskSetup, Tcb,
};

use crate::outcome::tell;
use crate::port::{Checkable, Checked};
use crate::processor::PROCESSORS;
use crate::{bodies, interrupts};

/// The kernel that is checked.
pub struct App;

/// A shared task: where it begins, and its priority. Each processor has a pinned one besides, of priority 6.
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

/// All shared tasks, by their ITRON numbers less one. The pinned tasks follow, by the numbers of their processors.
pub const EVERYBODY: [Who; TASKS] =
    [Who::High0, Who::Main0, Who::Peer0, Who::Low0, Who::High1, Who::Main1, Who::Peer1, Who::Low1];

const TASKS: usize = 8;

/// How many deadlines a heap can have: of all tasks, and of the alarm.
const DEADLINES: usize = TASKS + PROCESSORS + 1;

impl Who {
    /// Its ITRON number.
    pub(crate) fn number(self) -> usize {
        self as usize + 1
    }

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
    pinned: [Stack<16>; PROCESSORS],
    idle: [Stack<16>; PROCESSORS],
    words: [Word; 1],
    pool: PoolMemory<2>,
    entries: [PoolEntry; 1],
}

/// The blocks of the objects.
struct World {
    processors: [Processor<App>; PROCESSORS],
    common: Common<App>,
    slots: [[[Slot<App>; DEADLINES]; 2]; PROCESSORS],
    tasks: [Tcb<App>; TASKS],
    pinned: [Tcb<App>; PROCESSORS],
    semaphore: SemaphoreBlock<App>,
    pinned_semaphores: [SemaphoreBlock<App>; PROCESSORS],
    event_flag: EventFlagBlock<App>,
    data_queue: DataQueueBlock<App>,
    handover: DataQueueBlock<App>,
    mutexes: [MutexBlock<App>; 2],
    pool: MemoryPoolBlock<App>,
    alarm: AlarmBlock<App>,
    spin_lock: SpinLockBlock<App>,
}

/// The tables by which the kernel finds the objects by number.
struct Tables {
    tasks: [Numbered<Tcb<App>>; TASKS + PROCESSORS],
    semaphores: [Numbered<SemaphoreBlock<App>>; 1 + PROCESSORS],
    event_flags: [Numbered<EventFlagBlock<App>>; 1],
    data_queues: [Numbered<DataQueueBlock<App>>; 2],
    mutexes: [Numbered<MutexBlock<App>>; 2],
    pools: [Numbered<MemoryPoolBlock<App>>; 1],
    alarms: [Numbered<AlarmBlock<App>>; 1],
    spin_locks: [Numbered<SpinLockBlock<App>>; 1],
}

thread_local! {
    static GROUND: Cell<*mut Ground> = const { Cell::new(ptr::null_mut()) };
    static WORLD: Cell<*mut World> = const { Cell::new(ptr::null_mut()) };
    static TABLES: Cell<*mut Tables> = const { Cell::new(ptr::null_mut()) };
}

/// Puts a value in the place of the last one, which is not used any more.
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

/// Makes all objects as they are before the kernel starts. `active` says of each task number whether the task is
/// active then.
pub(crate) fn renew(active: impl Fn(usize) -> bool) {
    let ground = GROUND.with(|place| {
        put(
            place,
            Ground {
                stacks: [const { Stack::NEW }; TASKS],
                pinned: [const { Stack::NEW }; PROCESSORS],
                idle: [const { Stack::NEW }; PROCESSORS],
                words: [const { Word::EMPTY }; 1],
                pool: PoolMemory::NEW,
                entries: [const { PoolEntry::NEW }; 1],
            },
        )
    });
    let shared = |who: Who| {
        let setup = setup::<Shared>(who.number(), &active).priority(who.priority()).on(who.begins_on());
        setup.build(&ground.stacks[who as usize])
    };
    let [stack_0, stack_1] = &ground.pinned;
    let world = WORLD.with(|place| {
        put(
            place,
            World {
                processors: Processor::all(&ground.idle),
                common: Common::NEW,
                slots: [const { [const { [const { Slot::EMPTY }; DEADLINES] }; 2] }; PROCESSORS],
                tasks: EVERYBODY.map(shared),
                pinned: [
                    setup::<Pinned<0>>(pinned_number(0), &active).priority(6).build(stack_0),
                    setup::<Pinned<1>>(pinned_number(1), &active).priority(6).build(stack_1),
                ],
                semaphore: Semaphore::<App, Shared>::create(0, 2),
                pinned_semaphores: [
                    Semaphore::<App, Pinned<0>>::create(0, 2),
                    Semaphore::<App, Pinned<1>>::create(0, 2),
                ],
                event_flag: EventFlag::<App, Shared>::create(0).many(),
                data_queue: DataQueue::<App, Shared>::create(1).build(&ground.words),
                handover: DataQueue::<App, Shared>::create(0).build(&[]),
                mutexes: [const { Mutex::<App, Shared>::create().inheriting() }; 2],
                pool: MemoryPool::<App, Shared>::create(1, 16).build(&ground.pool, &ground.entries),
                alarm: Alarm::<App, Shared>::create(|cx| bodies::alarm()(cx)),
                spin_lock: SpinLock::<App, Shared>::create(),
            },
        )
    });
    let shared = Placed(None);
    let pinned = [Placed(Some(0)), Placed(Some(1))];
    let task = |index: usize| match index.checked_sub(TASKS) {
        None => Numbered::new(&world.tasks[index], shared),
        Some(place) => Numbered::new(&world.pinned[place], pinned[place]),
    };
    let [semaphore_0, semaphore_1] = &world.pinned_semaphores;
    TABLES.with(|place| {
        put(
            place,
            Tables {
                tasks: std::array::from_fn(task),
                semaphores: [
                    Numbered::new(&world.semaphore, shared),
                    Numbered::new(semaphore_0, pinned[0]),
                    Numbered::new(semaphore_1, pinned[1]),
                ],
                event_flags: [Numbered::new(&world.event_flag, shared)],
                data_queues: [Numbered::new(&world.data_queue, shared), Numbered::new(&world.handover, shared)],
                mutexes: world.mutexes.each_ref().map(|block| Numbered::new(block, shared)),
                pools: [Numbered::new(&world.pool, shared)],
                alarms: [Numbered::new(&world.alarm, shared)],
                spin_locks: [Numbered::new(&world.spin_lock, shared)],
            },
        )
    });
}

/// How the task of that number is described, which is also what it is given.
fn setup<D: Domain>(number: usize, active: impl Fn(usize) -> bool) -> TaskSetup<App, D> {
    let setup = TaskSetup::foreign(never, ptr::without_provenance_mut(number));
    if active(number) { setup.active() } else { setup }
}

/// Where tasks do not begin: the port calls what the program says, with frames that a thread's end can unwind.
unsafe extern "C" fn never(_: *mut ()) {}

/// The number of the task that is pinned to that processor.
pub(crate) const fn pinned_number(processor: usize) -> usize {
    TASKS + processor + 1
}

/// The task.
pub fn task(who: Who) -> Task<App, Shared> {
    Task::new(&world().tasks[who as usize])
}

/// The task that is pinned to that processor.
pub fn pinned_task<const P: usize>() -> Task<App, Pinned<P>> {
    Task::new(&world().pinned[P])
}

/// A semaphore as the shared one, of that processor alone.
pub fn pinned_semaphore<const P: usize>() -> Semaphore<App, Pinned<P>> {
    Semaphore::new(&world().pinned_semaphores[P])
}

/// An alarm, first of processor 0.
pub fn alarm() -> Alarm<App, Shared> {
    Alarm::new(&world().alarm)
}

/// A spin lock.
pub fn spin_lock() -> SpinLock<App, Shared> {
    SpinLock::new(&world().spin_lock)
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

/// A data queue without room: a sender waits for a receiver.
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

impl Checkable for App {
    fn work(task: usize) {
        bodies::task(task)();
    }

    /// As if nothing else was going on; as it is while the giant lock is free.
    fn look() {
        if let Some(Err(finding)) = interrupts::aside(rtos::audit::<App>) {
            panic!("{finding:?}");
        }
    }
}

impl Config for App {
    type Port = Checked<App>;
    type Model = Multi<PROCESSORS>;
    type Overrun = rtos::With;
    type Restricted = rtos::Without;
    type SubPriorities = rtos::Without;
    const BY_SUB_PRIORITY: u32 = 0;
    type Processor = Processor<App>;
}

// SAFETY: for as long as a run goes on these are the same at every call, and nothing else uses them.
unsafe impl Storage for App {
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
}

// SAFETY: as above.
unsafe impl Kernel for App {
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
        &tables().alarms
    }
    fn spin_locks() -> &'static [Numbered<SpinLockBlock<Self>>] {
        &tables().spin_locks
    }
    fn interrupts() -> &'static [Interrupt] {
        &[]
    }

    fn exceptions() -> &'static [rtos::Exception] {
        &[]
    }

    fn overrun() -> Option<&'static OverrunHandler<Self>> {
        static USED_UP: OverrunHandler<App> = OverrunHandler::new(|cx, _| tell("used up", System::<App>::get_tid(cx)));
        Some(&USED_UP)
    }
}
