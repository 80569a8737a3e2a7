//! The objects of the stress: one macro for the kernel on two threads and for the kernel without a machine.

/// Makes a kernel with these tasks and notifications, and all other objects that [`any`](crate::any) uses. `$last` is the
/// last processor, counted from 0.
#[macro_export]
macro_rules! objects {
    (
        $(#[$about:meta])*
        $public:vis struct $kernel:ident: Kernel<Port = $port:ty, Model = $model:ty>, last processor $last:literal;
        tasks { $($tasks:tt)* }
        cyclics { $($cyclics:tt)* }
        alarms { $($alarms:tt)* }
        $($rest:tt)*
    ) => {
        rtos::kernel! {
            $(#[$about])*
            $public struct $kernel: Kernel<Port = $port, Model = $model>;
            tasks { $($tasks)* }
            semaphores {
                S1: rtos::Shared = Semaphore::create(1, 2);
                S2: rtos::Shared = Semaphore::create(0, 1).by_priority();
                S3: rtos::Pinned<0> = Semaphore::create(0, 2);
                S4: rtos::Pinned<$last> = Semaphore::create(0, 2).by_priority();
            }
            event_flags {
                F1: rtos::Shared = EventFlag::create(0).many();
                F2: rtos::Shared = EventFlag::create(1).clearing().by_priority().many();
                F3: rtos::Pinned<0> = EventFlag::create(0).many();
                F4: rtos::Pinned<$last> = EventFlag::create(0).clearing();
            }
            data_queues {
                D1: rtos::Shared = DataQueue::create(3);
                D2: rtos::Shared = DataQueue::create(0).by_priority();
                D3: rtos::Pinned<0> = DataQueue::create(1);
                D4: rtos::Pinned<$last> = DataQueue::create(2).by_priority();
            }
            priority_data_queues {
                Q1: rtos::Shared = PriorityDataQueue::create(3, 4).by_priority();
                Q2: rtos::Shared = PriorityDataQueue::create(0, 16);
            }
            mutexes {
                M1: rtos::Shared = Mutex::create();
                M2: rtos::Shared = Mutex::create().ceiling(3);
                M3: rtos::Shared = Mutex::create().inheriting();
                M4: rtos::Shared = Mutex::create().inheriting();
            }
            message_buffers {
                B1: rtos::Shared = MessageBuffer::create(12, 36);
                B2: rtos::Shared = MessageBuffer::create(8, 0).by_priority();
                B3: rtos::Shared = MessageBuffer::create(12, 16).by_priority();
                B4: rtos::Shared = MessageBuffer::create(12, 8);
            }
            memory_pools {
                MP1: rtos::Shared = MemoryPool::create(3, 16).by_priority();
            }
            cyclics { $($cyclics)* }
            alarms { $($alarms)* }
            spin_locks {
                L1: rtos::Shared = SpinLock::create();
            }
            $($rest)*
        }
    };
}
