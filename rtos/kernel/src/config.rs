//! The static configuration: `kernel!`.

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
/// `message_buffers`, `memory_pools`, `cyclics`, `alarms`, `spin_locks`, `interrupts`, `initialise` and `terminate`, in
/// that order, each if there is something to say. An object's number in the C interface is its place in its section, from
/// 1. What cannot be, such as a stack that is too small, does not compile; the error names the line.
#[macro_export]
macro_rules! kernel {
    (
        $(#[$about:meta])*
        $public:vis struct $kernel:ident: Kernel<Port = $port:ty, Model = $model:ty>;
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
        $(initialise $initialise:expr;)?
        $(terminate $terminate:expr;)?
    ) => {
        $(#[$about])*
        $public struct $kernel;

        $($(
            #[allow(dead_code)]
            $public static $task: $crate::Task<$kernel, $task_domain> = {
                #[allow(unused_imports)]
                use $crate::Task;
                const SETUP: $crate::TaskSetup<$kernel, $task_domain> = $task_setup;
                static STACK: $crate::Stack<{ SETUP.stack_size() }> = $crate::Stack::NEW;
                static TCB: $crate::Tcb<$kernel> = SETUP.build(&STACK);
                $crate::Task::new(&TCB)
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
                const SETUP: $crate::DataQueueSetup = $queue_setup;
                static WORDS: [$crate::storage::Word; SETUP.words()] =
                    [const { $crate::storage::Word::EMPTY }; SETUP.words()];
                static BLOCK: $crate::DataQueueBlock<$kernel> = SETUP.build(&WORDS);
                DataQueue::new(&BLOCK)
            };
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $priority_queue: $crate::PriorityDataQueue<$kernel, $priority_queue_domain> = {
                type PriorityDataQueue = $crate::PriorityDataQueue<$kernel, $priority_queue_domain>;
                const SETUP: $crate::PriorityDataQueueSetup = $priority_queue_setup;
                static WORDS: [$crate::storage::PriorityWord; SETUP.words()] =
                    [const { $crate::storage::PriorityWord::EMPTY }; SETUP.words()];
                static BLOCK: $crate::PriorityDataQueueBlock<$kernel> = SETUP.build(&WORDS);
                PriorityDataQueue::new(&BLOCK)
            };
        )*)?
        $($(
            $crate::object!($kernel, $public $mutex: $mutex_domain, Mutex, MutexBlock, $mutex_setup);
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $buffer: $crate::MessageBuffer<$kernel, $buffer_domain> = {
                type MessageBuffer = $crate::MessageBuffer<$kernel, $buffer_domain>;
                const SETUP: $crate::MessageBufferSetup = $buffer_setup;
                static MEMORY: $crate::storage::MessageMemory<{ SETUP.size() }> = $crate::storage::MessageMemory::NEW;
                static BLOCK: $crate::MessageBufferBlock<$kernel> = SETUP.build(&MEMORY);
                MessageBuffer::new(&BLOCK)
            };
        )*)?
        $($(
            #[allow(dead_code)]
            $public static $pool: $crate::MemoryPool<$kernel, $pool_domain> = {
                type MemoryPool = $crate::MemoryPool<$kernel, $pool_domain>;
                const SETUP: $crate::MemoryPoolSetup = $pool_setup;
                static MEMORY: $crate::storage::PoolMemory<{ SETUP.words() }> = $crate::storage::PoolMemory::NEW;
                static ENTRIES: [$crate::storage::PoolEntry; SETUP.blocks()] =
                    [const { $crate::storage::PoolEntry::NEW }; SETUP.blocks()];
                static BLOCK: $crate::MemoryPoolBlock<$kernel> = SETUP.build(&MEMORY, &ENTRIES);
                MemoryPool::new(&BLOCK)
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
            const PROCESSORS: usize = <$model as $crate::Model>::PROCESSORS;
            const TASKS: &[&str] = &[$($(stringify!($task)),*)?];
            const DEADLINES: usize = TASKS.len()
                + <[&str]>::len(&[$($(stringify!($cyclic)),*)?])
                + <[&str]>::len(&[$($(stringify!($alarm)),*)?]);

            static IDLE: [$crate::Stack<{ <$port as $crate::Port>::MINIMUM_STACK }>; PROCESSORS] =
                [const { $crate::Stack::NEW }; PROCESSORS];
            static PROCESSOR: [$crate::Processor<$kernel>; PROCESSORS] =
                $crate::Processor::all(&IDLE);
            static COMMON: $crate::Common<$kernel> = $crate::Common::NEW;
            static SLOTS: [[[$crate::storage::Slot<$kernel>; DEADLINES]; 2]; PROCESSORS] =
                [const { [const { [const { $crate::storage::Slot::EMPTY }; DEADLINES] }; 2] }; PROCESSORS];
            static INTERRUPTS: &[$crate::Interrupt] = &[$($($interrupt),*)?];

            // SAFETY: the statics are those above, which nothing else can name.
            unsafe impl $crate::Kernel for $kernel {
                type Port = $port;
                type Model = $model;

                #[inline(always)]
                fn processor(number: usize) -> &'static $crate::Processor<Self> {
                    // SAFETY: the kernel asks only for processors that there are.
                    unsafe { PROCESSOR.get_unchecked(number) }
                }

                #[inline(always)]
                fn common() -> &'static $crate::Common<Self> {
                    &COMMON
                }

                fn slots(number: usize) -> [&'static [$crate::storage::Slot<Self>]; 2] {
                    [&SLOTS[number][0], &SLOTS[number][1]]
                }

                fn tasks() -> &'static [$crate::Numbered<$crate::Tcb<Self>>] {
                    static TABLE: &[$crate::Numbered<$crate::Tcb<$kernel>>] = &[$($($task.numbered()),*)?];
                    TABLE
                }

                fn cyclics() -> &'static [$crate::Numbered<$crate::CyclicBlock<Self>>] {
                    static TABLE: &[$crate::Numbered<$crate::CyclicBlock<$kernel>>] = &[$($($cyclic.numbered()),*)?];
                    TABLE
                }

                fn alarms() -> &'static [$crate::Numbered<$crate::AlarmBlock<Self>>] {
                    static TABLE: &[$crate::Numbered<$crate::AlarmBlock<$kernel>>] = &[$($($alarm.numbered()),*)?];
                    TABLE
                }

                fn interrupts() -> &'static [$crate::Interrupt] {
                    INTERRUPTS
                }

                $(fn initialise() {
                    $initialise()
                })?

                $(fn terminate() {
                    $terminate()
                })?
            }
        };
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
            static BLOCK: $crate::$block<$kernel> = $setup;
            $crate::$handle::new(&BLOCK)
        };
    };
}
