//! The kernel without a machine: random services, one after the other, in the name of the task that runs, on one
//! processor and on two in turn, with the oracle after each. The same seed gives the same steps.
//!
//! The port here does not switch: a service that waits returns at once, and its result means nothing. All that the
//! kernel keeps changes as it would on a machine. So the test runs under Miri too, which finds undefined behaviour:
//! `cargo +nightly miri test -p kizami-rtos-stress --test dry`

use std::cell::Cell;
use std::panic::{AssertUnwindSafe, catch_unwind, panic_any};
use std::sync::atomic::{AtomicBool, Ordering};

use rtos::port::{Lines, Lock, Next, Port, Saved, Stacks};
use rtos::{InHandler, InTask, Kernel, Pinned, Shared};

const STEPS: u64 = if cfg!(miri) { 300 } else { 1_000_000 };

thread_local! {
    static LOCKED: Cell<bool> = const { Cell::new(true) };
    static HANDLER: Cell<bool> = const { Cell::new(false) };
    static PROCESSOR: Cell<usize> = const { Cell::new(0) };
    static NOW: Cell<u32> = const { Cell::new(0) };
    /// What is to be done on each processor: look at the agenda, look at the time.
    static INTERRUPTED: [Cell<bool>; 2] = const { [const { Cell::new(false) }; 2] };
    static RINGS_AT: [Cell<Option<u32>>; 2] = const { [const { Cell::new(None) }; 2] };
    /// Whether a handler has asked for the dispatcher.
    static REQUESTED: Cell<bool> = const { Cell::new(false) };
}

thread_local! {
    /// How often a lock between processors was taken.
    static TAKEN: Cell<u32> = const { Cell::new(0) };
}

/// A task would go on here.
struct Resumed;

pub struct Dry;

pub struct Flag(AtomicBool);

impl Lock for Flag {
    const FREE: Self = Flag(AtomicBool::new(false));

    fn try_acquire(&self) -> bool {
        let was = self.0.swap(true, Ordering::Acquire);
        assert!(!was, "the lock was not given back");
        TAKEN.set(TAKEN.get() + 1);
        true
    }

    fn release(&self) {
        assert!(self.0.swap(false, Ordering::Release), "the lock was not taken");
    }
}

pub struct NoLines;

impl Lines for NoLines {
    const EACH: bool = false;

    fn exists(_: u32) -> bool {
        false
    }
    fn enable(_: u32) {}
    fn disable(_: u32) {}
    fn raise(_: u32) -> bool {
        false
    }
    fn clear(_: u32) -> bool {
        false
    }
    fn pending(_: u32) -> bool {
        false
    }
}

pub struct NoStacks;

// SAFETY: nothing is switched: whoever leaves a stack or goes on with a task comes back to the test.
unsafe impl Stacks for NoStacks {
    unsafe fn prepare(_: &Saved) {}
    unsafe extern "C-unwind" fn switch(_: &Saved, _: &Saved) {}
    unsafe extern "C-unwind" fn leave(_: Option<&Saved>, _: &Saved, next: Next, argument: *const ()) {
        LEAVING.set(Some((next, argument)));
        panic_any(Resumed)
    }
    unsafe extern "C-unwind" fn resume(_: &Saved) -> ! {
        panic_any(Resumed)
    }
}

// SAFETY: nothing is switched, so nothing can be wrong with a stack; the rest is as the trait says, on one thread.
unsafe impl Port for Dry {
    const MINIMUM_STACK: usize = 64;
    const IDLE_STACK: usize = 64;
    const STACK_ALIGNMENT: usize = 16;
    const PROCESSORS: usize = 2;
    type Mask = bool;
    type Giant = Flag;
    type Lock = Flag;
    type Stacks = NoStacks;
    type Lines = NoLines;
    const LOWEST_INTERRUPT_MASK: i32 = -7;

    fn lock() -> bool {
        LOCKED.replace(true)
    }
    unsafe fn unlock(mask: bool) {
        LOCKED.set(mask);
    }
    fn was_locked(mask: bool) -> bool {
        mask
    }
    fn unlocked() -> bool {
        false
    }
    fn in_task() -> bool {
        !HANDLER.get()
    }
    fn processor() -> usize {
        PROCESSOR.get()
    }
    fn request_dispatch() {
        REQUESTED.set(true);
    }
    fn idle() {}
    fn start_processor(_: usize) {}
    /// It waits for the other, which goes on in the test.
    fn relax() {
        panic_any(Resumed)
    }
    fn interrupt(processor: usize) {
        INTERRUPTED.with(|all| all[processor].set(true));
    }
    fn now() -> u32 {
        NOW.get()
    }
    fn alarm(after: u32) {
        RINGS_AT.with(|all| all[PROCESSOR.get()].set(Some(NOW.get().wrapping_add(after))));
    }
    fn mask_interrupts(_: i32) -> bool {
        false
    }
    fn print(what: std::fmt::Arguments<'_>) {
        print!("{what}");
    }
    fn exit(status: u32) -> ! {
        panic!("the kernel ended with {status}")
    }
}

thread_local! {
    /// What the task that leaves its stack wants to be called.
    static LEAVING: Cell<Option<(Next, *const ())>> = const { Cell::new(None) };
}

/// Runs something that may end in another task's going on.
fn until_resumed(what: impl FnOnce()) {
    let ended = catch_unwind(AssertUnwindSafe(what));
    if let Err(why) = ended {
        assert!(why.is::<Resumed>(), "{:?}", why.downcast_ref::<String>());
        // The task that goes on unlocks the processor.
        LOCKED.set(false);
    }
}

macro_rules! kernel {
    ($name:ident, $model:ty, $last:literal) => {
        mod $name {
            use super::*;

            rtos_stress::objects! {
                pub struct App: Kernel<Port = Dry, Model = $model>, last processor $last;
                tasks {
                    P1: Shared = Task::create(|_: InTask<Shared>| ()).priority(4).stack(64).active();
                    P2: Shared = Task::create(|_: InTask<Shared>| ()).priority(6).stack(64).active();
                    P3: Shared = Task::create(|_: InTask<Shared>| ()).priority(8).stack(64).active();
                    P4: Shared = Task::create(|_: InTask<Shared>| ()).priority(8).stack(64).active().no_queue();
                    P5: Shared = Task::create(|_: InTask<Shared>| ()).priority(4).stack(64).active().on($last);
                    P6: Shared = Task::create(|_: InTask<Shared>| ()).priority(6).stack(64).active().on($last);
                    P7: Shared = Task::create(|_: InTask<Shared>| ()).priority(8).stack(64).active().on($last);
                    P8: Shared = Task::create(|_: InTask<Shared>| ()).priority(8).stack(64).only_on(1 << $last);
                    P9: Pinned<0> = Task::create(|_: InTask<Pinned<0>>| ()).priority(5).stack(64).active();
                    P10: Pinned<0> = Task::create(|_: InTask<Pinned<0>>| ()).priority(9).stack(64).active();
                    P11: Pinned<$last> = Task::create(|_: InTask<Pinned<$last>>| ()).priority(5).stack(64).active();
                    P12: Pinned<$last> = Task::create(|_: InTask<Pinned<$last>>| ()).priority(9).stack(64);
                }
                cyclics {
                    C1: Shared = Cyclic::create(700, |_: InHandler<Shared>| ()).started();
                    C2: Shared = Cyclic::create(900, |_: InHandler<Shared>| ()).started().on($last);
                }
                alarms {}
                overrun rtos::OverrunHandler::new(|_, _| ());
            }
        }
    };
}

kernel!(uni, rtos::Uni, 0);
kernel!(multi, rtos::Multi<2>, 1);

/// Whether the timer of a processor is to ring by now.
fn rings(processor: usize) -> bool {
    let at = RINGS_AT.with(|all| all[processor].get());
    at.is_some_and(|at| NOW.get().wrapping_sub(at) < 1 << 31)
}

/// Lets the handlers of a processor do what is to be done.
fn interrupts<K: Kernel>(processor: usize) {
    PROCESSOR.set(processor);
    HANDLER.set(true);
    if INTERRUPTED.with(|all| all[processor].replace(false)) {
        rtos::entry::interrupted::<K>();
    }
    if rings(processor) {
        RINGS_AT.with(|all| all[processor].set(None));
        rtos::entry::tick::<K>();
    }
    leave_handler::<K>();
}

/// The task that was interrupted gives way, if a handler has asked for it.
fn leave_handler<K: Kernel>() {
    HANDLER.set(false);
    if REQUESTED.replace(false) {
        LOCKED.set(true);
        until_resumed(rtos::entry::preempt::<K>);
        finish_leaving();
        LOCKED.set(false);
    }
}

/// The task that a processor runs is the one that should run, if nothing is on its way that will say otherwise.
fn runs_the_highest<K: Kernel>(processor: usize) -> bool {
    type System<K> = rtos::System<K>;
    let waits = INTERRUPTED.with(|all| all[processor].get()) || rings(processor);
    if waits || System::<K>::sns_dpn() {
        return true;
    }
    assert_eq!(rtos::heard::<K>(), Ok(()), "processor {processor}");
    let nth = |priority| System::<K>::get_nth(Some(priority), 0, rtos::Anywhere).expect("there is that priority");
    System::<K>::get_tid(rtos::Anywhere) == Ok((1..=16).find_map(nth))
}

/// Calls what a task that has left its stack wanted to be called.
fn finish_leaving() {
    if let Some((next, argument)) = LEAVING.take() {
        // SAFETY: the kernel has given both; nothing runs on the task's stack.
        until_resumed(|| unsafe { next(argument) });
    }
}

/// Begins on all processors, and gives how many there are.
fn begin<K: Kernel>() -> usize {
    let processors = <K::Model as rtos::Model>::PROCESSORS;
    // SAFETY: this is processor 0, locked; the other begins below.
    until_resumed(|| unsafe { rtos::entry::start::<K>() });
    // Each waits for the other, and comes back meanwhile.
    for processor in [1, 0, 1].into_iter().filter(|_| processors > 1) {
        PROCESSOR.set(processor);
        LOCKED.set(true);
        // SAFETY: this is that processor now, locked.
        until_resumed(|| unsafe { rtos::entry::begin::<K>() });
    }
    processors
}

fn play<K: Kernel>(seed: u64) {
    let row = Cell::new(seed);
    let random = |below| {
        let (state, number) = rtos_stress::next(row.get(), below);
        row.set(state);
        number
    };
    let processors = begin::<K>();
    let mut messages = Vec::new();
    for step in 0..STEPS {
        let processor = random(processors as u64) as usize;
        NOW.set(NOW.get().wrapping_add(random(40) as u32));
        // What another processor has asked for is not always heard at once.
        if random(3) > 0 {
            interrupts::<K>(processor);
        }
        PROCESSOR.set(processor);
        let runs = rtos::System::<K>::get_tid(rtos::Anywhere).expect("the processor is not locked");
        let mut did = u64::MAX;
        if runs.is_some() {
            // A message is lent until the wait ends, which here it may do any time later.
            let message = Box::into_raw(Box::new([step as u8; 12]));
            messages.push(message);
            // SAFETY: it was just made, and is freed at the end.
            until_resumed(|| did = rtos_stress::any::<K>(&random, unsafe { &mut *message }));
            finish_leaving();
        }
        assert!(!LOCKED.get(), "service {did} has left the processor locked");
        let looked = rtos::audit::<K>();
        assert_eq!(looked, Ok(true), "after step {step}, service {did}, seed {seed}");
        assert!(
            runs_the_highest::<K>(processor),
            "after step {step}, service {did}, seed {seed}: another task should run"
        );
        if random(50) == 0 {
            // Somebody has to begin again.
            HANDLER.set(true);
            for number in 1..=12 {
                let task = rtos::Task::<K, rtos::Placed>::by_number(number).expect("there are twelve");
                let _ = task.act(rtos::Anywhere);
                let _ = task.rel_wai(rtos::Anywhere);
            }
            leave_handler::<K>();
        }
    }
    for message in messages {
        // SAFETY: made above, and nobody looks at it any more.
        drop(unsafe { Box::from_raw(message) });
    }
}

#[test]
fn on_one_processor() {
    play::<uni::App>(0x1234_5678);
}

#[test]
fn on_two_processors() {
    play::<multi::App>(0x8765_4321);
}

mod periodic {
    use super::*;

    rtos::kernel! {
        pub struct App: Kernel<Port = Dry, Model = rtos::Multi<2>>;
        tasks {
            T1: Pinned<1> = Task::create(|_: InTask<Pinned<1>>| ()).priority(4).stack(64);
        }
        cyclics {
            C1: Pinned<1> = Cyclic::create(1_000, |cx: InHandler<Pinned<1>>| { let _ = T1.act(cx); }).started();
        }
        alarms {
            A1: Shared = Alarm::create(|_: InHandler<Shared>| ()).on(1);
        }
    }
}

/// A timer interrupt, and what a pinned task does that it wakes, takes no lock between processors, as long as the processor
/// has no shared deadline.
#[test]
fn what_is_pinned_needs_no_lock_between_processors() {
    begin::<periodic::App>();
    let rounds = || {
        TAKEN.set(0);
        for _ in 0..10 {
            NOW.set(NOW.get() + 1_000);
            interrupts::<periodic::App>(1);
            assert_eq!(rtos::System::<periodic::App>::get_tid(rtos::Anywhere), Ok(Some(1)));
            until_resumed(|| {
                rtos::Current::<periodic::App>::exit_anywhere();
            });
            finish_leaving();
        }
        TAKEN.get()
    };
    // It begins once the clock was looked at.
    rounds();
    assert_eq!(rounds(), 0);
    periodic::A1.sta(1 << 20, rtos::Anywhere).expect("an alarm can be set");
    assert!(rounds() > 0);
}

/// What is left of the present microsecond does not count.
#[test]
fn nothing_is_due_before_the_time_that_was_asked_for() {
    begin::<short::App>();
    let due = |processor: usize| RINGS_AT.with(|all| all[processor].get()).map(|at| at.wrapping_sub(NOW.get()));
    interrupts::<short::App>(0);
    short::A1.sta(100, rtos::Anywhere).expect("an alarm can be set");
    assert_eq!(due(0), Some(101));
    LOCKED.set(false);
    until_resumed(|| {
        let _ = rtos::Current::<short::App>::delay(50, rtos::Anywhere);
    });
    assert_eq!(due(0), Some(51));
}

mod short {
    use super::*;

    rtos::kernel! {
        pub struct App: Kernel<Port = Dry, Model = rtos::Uni>;
        tasks {
            T1: Shared = Task::create(|_: InTask<Shared>| ()).priority(4).stack(64).active();
        }
        alarms {
            A1: Shared = Alarm::create(|_: InHandler<Shared>| ());
        }
    }
}
