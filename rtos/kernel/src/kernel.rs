//! One built kernel: its port, its model, and its objects.
//!
//! The `kernel!` macro makes a type that implements [`Kernel`]; everything else is generic over it, so that objects are
//! at addresses that the linker knows and no table stands between a handle and its object.

use core::sync::atomic::AtomicBool;

use crate::alarm::AlarmBlock;
use crate::context::Placed;
use crate::cyclic::CyclicBlock;
use crate::data_queue::DataQueueBlock;
use crate::event_flag::EventFlagBlock;
use crate::exception::Exception;
use crate::heap::Slot;
use crate::interrupt::Interrupt;
use crate::memory_pool::MemoryPoolBlock;
use crate::message_buffer::MessageBufferBlock;
use crate::model::{Initial, Model, Presence};
use crate::mutex::MutexBlock;
use crate::overrun::OverrunHandler;
use crate::port::{Lock, Port};
use crate::priority_data_queue::PriorityDataQueueBlock;
use crate::processor::Processor;
use crate::semaphore::SemaphoreBlock;
use crate::spin_lock::SpinLockBlock;
use crate::task::Tcb;

/// A kernel with all its objects.
///
/// # Safety
/// The functions give the same statics at every call, and nothing else uses these. Made by `kernel!`.
pub unsafe trait Kernel: Sized + 'static {
    /// The processor and board.
    type Port: Port;
    /// One processor or several.
    type Model: Model;
    /// Whether there is an overrun handler.
    type Overrun: Presence;

    /// The processor of that number.
    ///
    /// # Safety
    /// The number is below [`Model::PROCESSORS`].
    unsafe fn processor(number: usize) -> &'static Processor<Self>;
    /// What belongs to no processor.
    fn common() -> &'static Common<Self>;
    /// Memory for the deadlines of a processor: its own and the shared ones.
    fn slots(number: usize) -> [&'static [Slot<Self>]; 2];
    /// The tasks, by their ITRON numbers less one.
    fn tasks() -> &'static [Numbered<Tcb<Self>>];
    /// The semaphores, by their ITRON numbers less one.
    fn semaphores() -> &'static [Numbered<SemaphoreBlock<Self>>];
    /// The event flags, by their ITRON numbers less one.
    fn event_flags() -> &'static [Numbered<EventFlagBlock<Self>>];
    /// The data queues, by their ITRON numbers less one.
    fn data_queues() -> &'static [Numbered<DataQueueBlock<Self>>];
    /// The priority data queues, by their ITRON numbers less one.
    fn priority_data_queues() -> &'static [Numbered<PriorityDataQueueBlock<Self>>];
    /// The mutexes, by their ITRON numbers less one.
    fn mutexes() -> &'static [Numbered<MutexBlock<Self>>];
    /// The message buffers, by their ITRON numbers less one.
    fn message_buffers() -> &'static [Numbered<MessageBufferBlock<Self>>];
    /// The memory pools, by their ITRON numbers less one.
    fn memory_pools() -> &'static [Numbered<MemoryPoolBlock<Self>>];
    /// The cyclic notifications, by their ITRON numbers less one.
    fn cyclics() -> &'static [Numbered<CyclicBlock<Self>>];
    /// The alarms, by their ITRON numbers less one.
    fn alarms() -> &'static [Numbered<AlarmBlock<Self>>];
    /// The spin locks, by their ITRON numbers less one.
    fn spin_locks() -> &'static [Numbered<SpinLockBlock<Self>>];
    /// The interrupt services.
    fn interrupts() -> &'static [Interrupt];
    /// The handlers of CPU exceptions.
    fn exceptions() -> &'static [Exception];
    /// The overrun handler.
    fn overrun() -> Option<&'static OverrunHandler<Self>>;
    /// Runs on processor 0, in handler context, before the others start.
    fn initialise() {}
    /// Runs after that on each processor, of that number, in handler context. No task of any processor runs before.
    fn initialise_each(_processor: usize) {}
    /// Runs on each processor, of that number, when the kernel ends, in handler context.
    fn terminate_each(_processor: usize) {}
    /// Runs after that on processor 0, in handler context.
    fn terminate() {}
}

/// An object in the table of its kind: what the ITRON number stands for.
pub struct Numbered<T: 'static> {
    pub(crate) block: &'static T,
    pub(crate) domain: Placed,
}

impl<T> Numbered<T> {
    /// An entry of the table.
    pub const fn new(block: &'static T, domain: Placed) -> Self {
        Numbered { block, domain }
    }
}

/// What belongs to no processor.
pub struct Common<K: Kernel> {
    pub(crate) giant: <K::Model as Model>::Only<Giant<K>>,
    pub(crate) clock: crate::time::Clock,
    /// Whether the kernel has started and was not asked to end.
    pub(crate) running: AtomicBool,
}

/// The giant lock.
pub struct Giant<K: Kernel>(pub(crate) <K::Port as Port>::Giant);

impl<K: Kernel> Initial for Giant<K> {
    const INITIAL: Self = Giant(<K::Port as Port>::Giant::FREE);
}

impl<K: Kernel> Common<K> {
    /// As it is before the kernel starts.
    pub const NEW: Self = Common {
        giant: <<K::Model as Model>::Only<Giant<K>> as crate::model::Only<Giant<K>>>::INITIAL,
        clock: crate::time::Clock::new(),
        running: AtomicBool::new(false),
    };
}
