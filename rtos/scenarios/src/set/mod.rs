//! The scenarios: tests of the kernel's promises, the same for every port and both models.
//!
//! The program that includes this folder gives `Port`, `Model`, `STACK`, `LINE`, `EXCEPTION` with `trap` and
//! `TRAP_SIZE`, `print` and `exit`. There is one configuration for all scenarios, because a program that differs only
//! in its objects takes as long to build. Its tasks have no work of their own: a scenario says what each
//! [`plays`](play) before the task is activated. A scenario leaves everything as it was.
//!
//! Every file begins with its purpose and the list of its items; the n-th event of a scenario must be `step(n)`.

mod activation;
mod alarms;
mod boundaries;
mod contexts;
mod cyclics;
mod data_queues;
mod event_flags;
mod exceptions;
mod interrupts;
mod memory_pools;
mod message_buffers;
mod mutexes;
mod overruns;
mod pinned;
mod priorities;
mod priority_data_queues;
mod processors;
mod rotation;
mod semaphores;
mod sleep;
mod spin_locks;
mod states;
mod suspension;
mod termination;
mod time;

use core::fmt::Debug;
use core::panic::Location;
use core::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};

pub(crate) use crate::{EXCEPTION, LINE, Model, Port, STACK, exit, print};
pub(crate) use rtos::{
    Anywhere, Current, Error, InHandler, InTask, Mode, Pinned, Shared, System, TaskState, Time, Timeout,
};

/// The context of a task of these scenarios.
pub(crate) type Cx = InTask<Shared>;

/// How many processors there are, and the last of them, counted from 0.
pub(crate) const PROCESSORS: usize = <Model as rtos::Model>::PROCESSORS;
pub(crate) const LAST: usize = PROCESSORS - 1;

rtos::kernel! {
    /// The kernel with all that the scenarios use.
    pub struct App: Kernel<Port = Port, Model = Model>;

    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        HIGH: Shared = Task::create(worker::<0>).priority(4).stack(STACK);
        PEER: Shared = Task::create(worker::<1>).priority(10).stack(STACK);
        LOW: Shared = Task::create(worker::<2>).priority(14).stack(STACK);
        STRICT: Shared = Task::create(worker::<3>).priority(6).stack(STACK).no_queue();
        FAR_HIGH: Shared = Task::create(worker::<4>).priority(4).stack(STACK).on(LAST);
        FAR_LOW: Shared = Task::create(worker::<5>).priority(14).stack(STACK).on(LAST);
        PINNED: Pinned<0> = Task::create(pinned_worker::<6>).priority(5).stack(STACK);
        PINNED_LOW: Pinned<0> = Task::create(pinned_worker::<7>).priority(8).stack(STACK);
    }
    semaphores {
        SEM: Shared = Semaphore::create(1, 3);
        SEM_PRI: Shared = Semaphore::create(0, 1).by_priority();
        SEM_PINNED: Pinned<0> = Semaphore::create(0, 1);
    }
    event_flags {
        FLAG: Shared = EventFlag::create(0).many();
        FLAG_ONE: Shared = EventFlag::create(0x10).clearing();
        FLAG_PINNED: Pinned<0> = EventFlag::create(0);
    }
    data_queues {
        QUEUE: Shared = DataQueue::create(2);
        QUEUE_NONE: Shared = DataQueue::create(0).by_priority();
        QUEUE_PINNED: Pinned<0> = DataQueue::create(1);
    }
    priority_data_queues {
        PQUEUE: Shared = PriorityDataQueue::create(3, 8);
    }
    mutexes {
        MUTEX: Shared = Mutex::create();
        CEILING: Shared = Mutex::create().ceiling(3);
        INHERIT: Shared = Mutex::create().inheriting();
        INHERIT_TOO: Shared = Mutex::create().inheriting();
    }
    message_buffers {
        BUFFER: Shared = MessageBuffer::create(12, 32);
        BUFFER_NONE: Shared = MessageBuffer::create(12, 0);
        BUFFER_PRI: Shared = MessageBuffer::create(12, 24).by_priority();
    }
    memory_pools {
        POOL: Shared = MemoryPool::create(2, 20);
    }
    cyclics {
        CYCLIC: Shared = Cyclic::create(5_000, cyclics::handler).phase(10_000);
        RUNNING: Shared = Cyclic::create(50_000, cyclics::from_the_start).started();
    }
    alarms {
        ALARM: Shared = Alarm::create(alarms::handler);
        ALARM_TOO: Shared = Alarm::create(contexts::in_handler);
    }
    spin_locks {
        SPIN: Shared = SpinLock::create();
        SPIN_TOO: Shared = SpinLock::create();
    }
    interrupts {
        rtos::Interrupt::create(LINE, rtos::Handler::new::<Shared, _>(interrupts::handler)).priority(-2).enabled();
    }
    exceptions {
        rtos::Exception::create(EXCEPTION, exceptions::handler);
    }
    overrun rtos::OverrunHandler::new(overruns::handler);
    initialise states::at_the_beginning;
    initialise_each states::at_the_beginning_of_each;
    terminate_each states::at_the_end_of_each;
    terminate states::at_the_end;
}

/// A scenario: its name, and its function.
type Scenario = (&'static str, fn(Cx));

const SCENARIOS: &[Scenario] = &[
    ("activation", activation::run),
    ("termination", termination::run),
    ("priorities", priorities::run),
    ("rotation", rotation::run),
    ("sleep", sleep::run),
    ("suspension", suspension::run),
    ("semaphores", semaphores::run),
    ("event flags", event_flags::run),
    ("data queues", data_queues::run),
    ("priority data queues", priority_data_queues::run),
    ("mutexes", mutexes::run),
    ("message buffers", message_buffers::run),
    ("memory pools", memory_pools::run),
    ("cyclic notifications", cyclics::run),
    ("alarm notifications", alarms::run),
    ("time", time::run),
    ("interrupts", interrupts::run),
    ("CPU exceptions", exceptions::run),
    ("overrun", overruns::run),
    ("states of the system", states::run),
    ("wrong contexts", contexts::run),
    ("boundaries", boundaries::run),
    ("pinned objects", pinned::run),
    ("processors", processors::run),
    ("spin locks", spin_locks::run),
];

fn main(cx: Cx) {
    for (name, run) in SCENARIOS {
        STEP.store(0, Relaxed);
        run(cx);
        for (task, state) in [HIGH, PEER, LOW, STRICT, FAR_HIGH, FAR_LOW].map(|task| (task, task.state(cx))) {
            let _ = task;
            same(state, Ok(TaskState::Dormant));
        }
        print(format_args!("ok: {name} ({} steps)\n", STEP.load(Relaxed)));
    }
    print(format_args!("all {} scenarios passed\n", SCENARIOS.len()));
    System::<App>::ext_ker()
}

// ---------------------------------------------------------------- what the tasks do

static BODIES: [AtomicUsize; 8] = [const { AtomicUsize::new(0) }; 8];

fn worker<const N: usize>(cx: Cx) {
    let body = BODIES[N].load(Relaxed);
    check(body != 0);
    // SAFETY: only `play` stores there, and stores such functions.
    unsafe { core::mem::transmute::<usize, fn(Cx)>(body)(cx) }
}

fn pinned_worker<const N: usize>(cx: InTask<Pinned<0>>) {
    let body = BODIES[N].load(Relaxed);
    check(body != 0);
    // SAFETY: only `play_pinned` stores there, and stores such functions.
    unsafe { core::mem::transmute::<usize, fn(InTask<Pinned<0>>)>(body)(cx) }
}

/// A task, whatever its domain.
type Worker = rtos::Task<App, Shared>;

/// Sets the body of a task for its next activation.
pub(crate) fn play(task: Worker, body: fn(Cx)) {
    let number = [HIGH, PEER, LOW, STRICT, FAR_HIGH, FAR_LOW].iter().position(|other| other.is(task));
    check(number.is_some());
    BODIES[number.unwrap_or(0)].store(body as usize, Relaxed);
}

/// As `play`, for `PINNED` and `PINNED_LOW`.
pub(crate) fn play_pinned(low: bool, body: fn(InTask<Pinned<0>>)) {
    BODIES[6 + usize::from(low)].store(body as usize, Relaxed);
}

// ---------------------------------------------------------------- what must be

static STEP: AtomicU32 = AtomicU32::new(0);

/// Asserts that this is the n-th event of the scenario.
#[track_caller]
pub(crate) fn step(n: u32) {
    let before = STEP.load(Relaxed);
    if before + 1 != n {
        fail(format_args!("step {n} comes after step {before}"));
    }
    STEP.store(n, Relaxed);
}

/// How many steps there were.
pub(crate) fn steps() -> u32 {
    STEP.load(Relaxed)
}

/// Asserts that something holds.
#[track_caller]
pub(crate) fn check(holds: bool) {
    if !holds {
        fail(format_args!("this does not hold"));
    }
}

/// Asserts that the two are the same.
#[track_caller]
pub(crate) fn same<T: PartialEq + Debug>(is: T, should: T) {
    if is != should {
        fail(format_args!("it is {is:?} and should be {should:?}"));
    }
}

#[track_caller]
fn fail(what: core::fmt::Arguments<'_>) -> ! {
    print(format_args!("failed at {}: {what}\n", Location::caller()));
    exit(1)
}

/// Lets other processors do what they have to, until that holds; fails after ten seconds.
#[track_caller]
pub(crate) fn until(cx: Cx, holds: impl Fn() -> bool) {
    for _ in 0..10_000 {
        if holds() {
            return;
        }
        same(Current::<App>::delay(1_000, cx), Ok(()));
    }
    fail(format_args!("this does not come to hold"));
}

/// Waits until the task is dormant.
#[track_caller]
pub(crate) fn until_ended(cx: Cx, task: Worker) {
    until(cx, || task.state(cx) == Ok(TaskState::Dormant));
}
