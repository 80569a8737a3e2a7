//! The trait [`Kernel`]: a kernel with the tables of all its objects.
//!
//! The `kernel!` macro makes a type that implements it. Services of one object need only what [`Storage`] has; only the
//! system, which looks objects up by their numbers, enters interrupts and starts everything, needs the tables.

use crate::objects::alarm::AlarmBlock;
use crate::objects::cyclic::CyclicBlock;
use crate::objects::data_queue::DataQueueBlock;
use crate::objects::event_flag::EventFlagBlock;
use crate::objects::exception::Exception;
use crate::objects::interrupt::Interrupt;
use crate::objects::memory_pool::MemoryPoolBlock;
use crate::objects::message_buffer::MessageBufferBlock;
use crate::objects::mutex::MutexBlock;
use crate::objects::overrun::OverrunHandler;
use crate::objects::priority_data_queue::PriorityDataQueueBlock;
use crate::objects::semaphore::SemaphoreBlock;
use crate::state::spin::SpinLockBlock;
use crate::state::storage::{Numbered, Storage};

/// A kernel with all its objects.
///
/// # Safety
/// The functions give the same statics at every call, and nothing else uses these. Made by `kernel!`.
pub unsafe trait Kernel: Storage {
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
