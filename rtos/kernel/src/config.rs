//! The static configuration: the macro `kernel!`.

/// Makes a kernel: a type, and a static handle for each of its objects.
///
/// ```ignore
/// rtos::kernel! {
///     pub struct Motor: Kernel<Port = Board, Model = Uni>;
///
///     tasks {
///         CONTROL: Shared = Task::create(control).priority(3).stack(1024).active();
///     }
///     semaphores {
///         FREE: Shared = Semaphore::create(1, 1).by_priority();
///     }
///     cyclics {
///         PERIOD: Shared = Cyclic::create(1000, |cx| { let _ = CONTROL.wup(cx); }).started();
///     }
/// }
/// ```
///
/// The sections are `tasks`, `semaphores`, `event_flags`, `data_queues`, `priority_data_queues`, `mutexes`,
/// `message_buffers`, `memory_pools`, `cyclics`, `alarms`, `spin_locks`, `interrupts`, `exceptions`, `overrun`,
/// `sub_priorities` (an array of priorities), `initialise`, `initialise_each`, `terminate_each` and `terminate`, in that order, each if there is something to say.
/// An object's number in the C interface is its place in its section, from 1. Names that begin with `KERNEL_` are the
/// macro's own. What cannot be, such as a stack that is too small, does not compile; the error names the line.
#[macro_export]
macro_rules! kernel {
    (
        $(#[$about:meta])*
        $public:vis struct $kernel:ident: Kernel<Port = $port:ty, Model = $model:ty $(, Restricted = $restricted:ty)?>;
        $(tasks { $($task:ident: $task_domain:ty = $task_setup:expr;)* })?
        $(semaphores { $($semaphore:ident: $semaphore_domain:ty = $semaphore_setup:expr;)* })?
        $(event_flags { $($flag:ident: $flag_domain:ty = $flag_setup:expr;)* })?
        $(data_queues { $($queue:ident: $queue_domain:ty = $queue_setup:expr;)* })?
        $(priority_data_queues { $($priority_queue:ident: $priority_queue_domain:ty = $priority_queue_setup:expr;)* })?
        $(mutexes { $($mutex:ident: $mutex_domain:ty = $mutex_setup:expr;)* })?
        $(message_buffers { $($buffer:ident: $buffer_domain:ty = $buffer_setup:expr;)* })?
        $(memory_pools { $($pool:ident: $pool_domain:ty = $pool_setup:expr;)* })?
        $(cyclics { $($cyclic:ident: $cyclic_domain:ty = $cyclic_setup:expr;)* })?
        $(alarms { $($alarm:ident: $alarm_domain:ty = $alarm_setup:expr;)* })?
        $(spin_locks { $($spin:ident: $spin_domain:ty = $spin_setup:expr;)* })?
        $(interrupts { $($interrupt:expr;)* })?
        $(exceptions { $($exception:expr;)* })?
        $(overrun $overrun:expr;)?
        $(sub_priorities $sub_priorities:expr;)?
        $(initialise $initialise:expr;)?
        $(initialise_each $initialise_each:expr;)?
        $(terminate_each $terminate_each:expr;)?
        $(terminate $terminate:expr;)?
    ) => {
        $(#[$about])*
        $public struct $kernel;

        $($(
            #[allow(dead_code)]
            $public static $task: $crate::Task<$kernel, $task_domain> = {
                #[allow(unused_imports)]
                use $crate::Task;
                const KERNEL_SETUP: $crate::TaskSetup<$kernel, $task_domain> = $task_setup;
                static KERNEL_STACK: $crate::Stack<{ KERNEL_SETUP.stack_size() }> = $crate::Stack::NEW;
                static KERNEL_TCB: $crate::Tcb<$kernel> = KERNEL_SETUP.build(&KERNEL_STACK);
                $crate::Task::new(&KERNEL_TCB)
            };
        )*)?
        $($(
            $crate::object!($kernel, $public $semaphore: $semaphore_domain, Semaphore, SemaphoreBlock, $semaphore_setup);
        )*)?
        $($(
            $crate::object!($kernel, $public $flag: $flag_domain, EventFlag, EventFlagBlock, $flag_setup);
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $queue: $crate::DataQueue<$kernel, $queue_domain> = {
                type DataQueue = $crate::DataQueue<$kernel, $queue_domain>;
                const KERNEL_SETUP: $crate::DataQueueSetup = $queue_setup;
                static KERNEL_WORDS: [$crate::storage::Word; KERNEL_SETUP.words()] =
                    [const { $crate::storage::Word::EMPTY }; KERNEL_SETUP.words()];
                static KERNEL_BLOCK: $crate::DataQueueBlock<$kernel> = KERNEL_SETUP.build(&KERNEL_WORDS);
                DataQueue::new(&KERNEL_BLOCK)
            };
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $priority_queue: $crate::PriorityDataQueue<$kernel, $priority_queue_domain> = {
                type PriorityDataQueue = $crate::PriorityDataQueue<$kernel, $priority_queue_domain>;
                const KERNEL_SETUP: $crate::PriorityDataQueueSetup = $priority_queue_setup;
                static KERNEL_WORDS: [$crate::storage::PriorityWord; KERNEL_SETUP.words()] =
                    [const { $crate::storage::PriorityWord::EMPTY }; KERNEL_SETUP.words()];
                static KERNEL_BLOCK: $crate::PriorityDataQueueBlock<$kernel> = KERNEL_SETUP.build(&KERNEL_WORDS);
                PriorityDataQueue::new(&KERNEL_BLOCK)
            };
        )*)?
        $($(
            $crate::object!($kernel, $public $mutex: $mutex_domain, Mutex, MutexBlock, $mutex_setup);
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $buffer: $crate::MessageBuffer<$kernel, $buffer_domain> = {
                type MessageBuffer = $crate::MessageBuffer<$kernel, $buffer_domain>;
                const KERNEL_SETUP: $crate::MessageBufferSetup = $buffer_setup;
                static KERNEL_MEMORY: $crate::storage::MessageMemory<{ KERNEL_SETUP.size() }> = $crate::storage::MessageMemory::NEW;
                static KERNEL_BLOCK: $crate::MessageBufferBlock<$kernel> = KERNEL_SETUP.build(&KERNEL_MEMORY);
                MessageBuffer::new(&KERNEL_BLOCK)
            };
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $pool: $crate::MemoryPool<$kernel, $pool_domain> = {
                type MemoryPool = $crate::MemoryPool<$kernel, $pool_domain>;
                const KERNEL_SETUP: $crate::MemoryPoolSetup = $pool_setup;
                static KERNEL_MEMORY: $crate::storage::PoolMemory<{ KERNEL_SETUP.words() }> = $crate::storage::PoolMemory::NEW;
                static KERNEL_ENTRIES: [$crate::storage::PoolEntry; KERNEL_SETUP.blocks()] =
                    [const { $crate::storage::PoolEntry::NEW }; KERNEL_SETUP.blocks()];
                static KERNEL_BLOCK: $crate::MemoryPoolBlock<$kernel> = KERNEL_SETUP.build(&KERNEL_MEMORY, &KERNEL_ENTRIES);
                MemoryPool::new(&KERNEL_BLOCK)
            };
        )*)?
        $($(
            $crate::object!($kernel, $public $cyclic: $cyclic_domain, Cyclic, CyclicBlock, $cyclic_setup);
        )*)?
        $($(
            $crate::object!($kernel, $public $alarm: $alarm_domain, Alarm, AlarmBlock, $alarm_setup);
        )*)?
        $($(
            $crate::object!($kernel, $public $spin: $spin_domain, SpinLock, SpinLockBlock, $spin_setup);
        )*)?

        const _: () = {
            const KERNEL_PROCESSORS: usize = <$model as $crate::Model>::PROCESSORS;
            const KERNEL_TASKS: &[&str] = &[$($(stringify!($task)),*)?];
            const KERNEL_DEADLINES: usize = KERNEL_TASKS.len()
                + <[&str]>::len(&[$($(stringify!($cyclic)),*)?])
                + <[&str]>::len(&[$($(stringify!($alarm)),*)?]);

            static KERNEL_IDLE: [$crate::Stack<{ <$port as $crate::Port>::IDLE_STACK }>; KERNEL_PROCESSORS] =
                [const { $crate::Stack::NEW }; KERNEL_PROCESSORS];
            static KERNEL_PROCESSOR: [$crate::Processor<$kernel>; KERNEL_PROCESSORS] =
                $crate::Processor::all(&KERNEL_IDLE);
            static KERNEL_COMMON: $crate::Common<$kernel> = $crate::Common::NEW;
            static KERNEL_SLOTS: [[[$crate::storage::Slot<$kernel>; KERNEL_DEADLINES]; 2]; KERNEL_PROCESSORS] =
                [const { [const { [const { $crate::storage::Slot::EMPTY }; KERNEL_DEADLINES] }; 2] }; KERNEL_PROCESSORS];
            static KERNEL_INTERRUPTS: &[$crate::Interrupt] =
                $crate::Interrupt::checked::<$port>(&[$($($interrupt),*)?], KERNEL_PROCESSORS);
            static KERNEL_EXCEPTIONS: &[$crate::Exception] =
                $crate::Exception::checked(&[$($($exception),*)?], KERNEL_PROCESSORS);
            static KERNEL_OVERRUN: &[$crate::OverrunHandler<$kernel>] = &[$($overrun)?];

            impl $crate::Config for $kernel {
                type Port = $port;
                type Model = $model;
                type Overrun = $crate::presence!($($overrun)?);
                type Restricted = $crate::or_without!($($restricted)?);
                type SubPriorities = $crate::presence!($($sub_priorities)?);
                const BY_SUB_PRIORITY: u32 = 0 $(| $crate::storage::sub_priorities(&$sub_priorities))?;
                type Processor = $crate::Processor<$kernel>;
            }

            // SAFETY: the statics are those above, which nothing else can name.
            unsafe impl $crate::Storage for $kernel {
                #[inline(always)]
                unsafe fn processor(number: usize) -> &'static $crate::Processor<Self> {
                    // SAFETY: the caller says that there is that one.
                    unsafe { KERNEL_PROCESSOR.get_unchecked(number) }
                }

                #[inline(always)]
                fn common() -> &'static $crate::Common<Self> {
                    &KERNEL_COMMON
                }

                fn slots(number: usize) -> [&'static [$crate::storage::Slot<Self>]; 2] {
                    [&KERNEL_SLOTS[number][0], &KERNEL_SLOTS[number][1]]
                }

                $crate::table!($kernel, tasks, Tcb, [$($($task),*)?]);
            }

            // SAFETY: as above.
            unsafe impl $crate::Kernel for $kernel {
                $crate::table!($kernel, semaphores, SemaphoreBlock, [$($($semaphore),*)?]);
                $crate::table!($kernel, event_flags, EventFlagBlock, [$($($flag),*)?]);
                $crate::table!($kernel, data_queues, DataQueueBlock, [$($($queue),*)?]);
                $crate::table!($kernel, priority_data_queues, PriorityDataQueueBlock, [$($($priority_queue),*)?]);
                $crate::table!($kernel, mutexes, MutexBlock, [$($($mutex),*)?]);
                $crate::table!($kernel, message_buffers, MessageBufferBlock, [$($($buffer),*)?]);
                $crate::table!($kernel, memory_pools, MemoryPoolBlock, [$($($pool),*)?]);
                $crate::table!($kernel, cyclics, CyclicBlock, [$($($cyclic),*)?]);
                $crate::table!($kernel, alarms, AlarmBlock, [$($($alarm),*)?]);
                $crate::table!($kernel, spin_locks, SpinLockBlock, [$($($spin),*)?]);

                fn interrupts() -> &'static [$crate::Interrupt] {
                    KERNEL_INTERRUPTS
                }

                fn exceptions() -> &'static [$crate::Exception] {
                    KERNEL_EXCEPTIONS
                }

                fn overrun() -> Option<&'static $crate::OverrunHandler<Self>> {
                    KERNEL_OVERRUN.first()
                }

                $(fn initialise() {
                    $initialise()
                })?

                $(fn initialise_each(processor: usize) {
                    $initialise_each(processor)
                })?

                $(fn terminate_each(processor: usize) {
                    $terminate_each(processor)
                })?

                $(fn terminate() {
                    $terminate()
                })?
            }
        };
    };
}

/// Whether something was given.
#[doc(hidden)]
#[macro_export]
macro_rules! presence {
    () => {
        $crate::Without
    };
    ($given:expr) => {
        $crate::With
    };
}

/// A type, or that nothing is there.
#[doc(hidden)]
#[macro_export]
macro_rules! or_without {
    () => {
        $crate::Without
    };
    ($given:ty) => {
        $given
    };
}

/// A static object that needs no memory but its own, and its handle.
#[doc(hidden)]
#[macro_export]
macro_rules! object {
    ($kernel:ident, $public:vis $name:ident: $domain:ty, $handle:ident, $block:ident, $setup:expr) => {
        #[allow(dead_code)]
        $public static $name: $crate::$handle<$kernel, $domain> = {
            type $handle = $crate::$handle<$kernel, $domain>;
            static KERNEL_BLOCK: $crate::$block<$kernel> = $setup;
            $crate::$handle::new(&KERNEL_BLOCK)
        };
    };
}

/// The table of a kind of object.
#[doc(hidden)]
#[macro_export]
macro_rules! table {
    ($kernel:ident, $function:ident, $block:ident, [$($name:ident),*]) => {
        fn $function() -> &'static [$crate::Numbered<$crate::$block<Self>>] {
            static KERNEL_TABLE: &[$crate::Numbered<$crate::$block<$kernel>>] = &[$($name.numbered()),*];
            KERNEL_TABLE
        }
    };
}
