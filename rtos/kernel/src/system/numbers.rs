//! ITRON numbers of objects.

use crate::base::context::{Needs, Placed};
use crate::base::error::Error;
use crate::kernel::Kernel;
use crate::objects::alarm::Alarm;
use crate::objects::cyclic::Cyclic;
use crate::objects::data_queue::DataQueue;
use crate::objects::event_flag::EventFlag;
use crate::objects::memory_pool::MemoryPool;
use crate::objects::message_buffer::MessageBuffer;
use crate::objects::mutex::Mutex;
use crate::objects::priority_data_queue::PriorityDataQueue;
use crate::objects::semaphore::Semaphore;
use crate::objects::spin_lock::SpinLock;
use crate::service::refusal::refused;

macro_rules! by_number {
    ($($handle:ident: $table:ident;)*) => {
        $(impl<K: Kernel> $handle<K, Placed> {
            /// The object of that ITRON number, from 1. E_ID if there is none; E_CTX instead while the processor is
            /// locked, as the services say.
            #[inline(always)]
            pub fn by_number(number: i32) -> Result<Self, Error> {
                Self::by_number_for(Needs::Unlocked, number)
            }

            /// The same for a service that needs that of its context: E_CTX instead of E_ID where it may not be called.
            #[inline(always)]
            pub fn by_number_for(needs: Needs, number: i32) -> Result<Self, Error> {
                match K::$table().get((number as usize).wrapping_sub(1)) {
                    Some(entry) => Ok($handle { block: entry.block, domain: entry.domain }),
                    None => Err(refused::<K>(needs, Error::ID)),
                }
            }
        })*
    };
}

by_number! {
    Semaphore: semaphores;
    EventFlag: event_flags;
    DataQueue: data_queues;
    PriorityDataQueue: priority_data_queues;
    Mutex: mutexes;
    MessageBuffer: message_buffers;
    MemoryPool: memory_pools;
    Cyclic: cyclics;
    Alarm: alarms;
    SpinLock: spin_locks;
}
