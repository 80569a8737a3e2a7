//! What the kernel asks of a machine, of [`machine`].

use std::sync::atomic::{AtomicUsize, Ordering::Relaxed};

use rtos::port::{Lines, Lock, Next, Port, Saved, Stacks};
use rtos::{Current, entry};

use crate::machine::{self, LOCKED, OPEN};
use crate::step::{Step, Wait};
use crate::world::{self, App};
use crate::{interrupts, journal, program, stack};

/// A machine of which every order of steps can be tried.
pub struct Checked;

/// A lock between processors: who holds it, counted from 1, or 0.
pub struct Flag(AtomicUsize);

impl Flag {
    pub(crate) fn is_free(&self) -> bool {
        self.0.load(Relaxed) == 0
    }
}

impl Lock for Flag {
    const FREE: Self = Flag(AtomicUsize::new(0));

    fn try_acquire(&self) -> bool {
        machine::point(Step::Try(self));
        let free = self.is_free();
        if free {
            self.0.store(machine::here() + 1, Relaxed);
            machine::of_mine(|processor| processor.shares_lock = true);
        }
        journal::note(if free { "has it" } else { "finds it taken" });
        machine::want((!free).then_some(self));
        free
    }

    fn release(&self) {
        machine::point(Step::GiveBack);
        assert_eq!(self.0.load(Relaxed), machine::here() + 1, "a lock is given back by who does not hold it");
        self.0.store(0, Relaxed);
        machine::of_mine(|processor| processor.shares_lock = false);
    }
}

/// The giant lock. Each time that it is given back everything has to fit.
pub struct Giant(Flag);

impl Lock for Giant {
    const FREE: Self = Giant(Flag::FREE);

    fn try_acquire(&self) -> bool {
        self.0.try_acquire()
    }

    fn release(&self) {
        self.0.release();
        world::look();
    }
}

/// No interrupt lines.
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

pub(crate) fn take_interrupts() {
    interrupts::take_interrupts(entry::tick::<App>, entry::interrupted::<App>, entry::preempt::<App>);
}

/// Where a stack begins: that of a task, which is given its number, or of an idle one.
fn begin(argument: *mut ()) {
    unlock(OPEN);
    if argument.is_null() {
        loop {
            Checked::idle();
        }
    }
    program::body(argument as usize)();
    Current::<App>::exit_anywhere();
    panic!("a task was ended in a handler");
}

fn unlock(mask: u8) {
    machine::point(Step::Unlock);
    machine::replace_mask(mask);
    take_interrupts();
}

/// What the other processor does comes between two looks of this one, also if it has its own lock only.
fn clock() {
    if !machine::of_mine(|processor| processor.shares_lock) {
        machine::point(Step::Clock);
    }
}

/// Stacks that are threads.
pub struct Threads;

// SAFETY: as for the port.
unsafe impl Stacks for Threads {
    unsafe fn prepare(task: &Saved) {
        stack::prepare(task);
    }
    unsafe extern "C-unwind" fn switch(from: &Saved, to: &Saved) {
        machine::point(Step::Switch(to.argument as usize));
        stack::switch(from, to, begin);
    }
    unsafe extern "C-unwind" fn leave(from: Option<&Saved>, on: &Saved, next: Next, argument: *const ()) {
        let argument = argument as usize;
        // SAFETY: the kernel has given both, and nothing else runs on this processor.
        stack::leave(from, on, move || unsafe { next(argument as *const ()) });
    }
    unsafe extern "C-unwind" fn resume(to: &Saved) -> ! {
        machine::point(Step::Switch(to.argument as usize));
        stack::resume(to, begin)
    }
}

// SAFETY: threads run one at a time, and each has a stack of its own; the rest is as the trait says, see `machine`.
unsafe impl Port for Checked {
    const MINIMUM_STACK: usize = 16;
    const IDLE_STACK: usize = 16;
    const STACK_ALIGNMENT: usize = 16;
    const PROCESSORS: usize = machine::PROCESSORS;
    type Mask = u8;
    type Giant = Giant;
    type Lock = Flag;
    type Stacks = Threads;
    type Lines = NoLines;
    const LOWEST_INTERRUPT_MASK: i32 = -1;

    fn lock() -> u8 {
        machine::replace_mask(LOCKED)
    }
    unsafe fn unlock(mask: u8) {
        unlock(mask);
    }
    fn was_locked(mask: u8) -> bool {
        mask == LOCKED
    }
    fn unlocked() -> u8 {
        OPEN
    }
    fn in_task() -> bool {
        machine::in_task()
    }
    fn processor() -> usize {
        machine::here()
    }
    /// The last handler that is left always looks.
    fn request_dispatch() {}
    fn idle() {
        machine::wait(Wait::Interrupt);
        take_interrupts();
    }
    fn relax() {
        machine::wait(Wait::Lock);
        take_interrupts();
    }
    fn start_processor(processor: usize) {
        // SAFETY: the thread is that processor, locked, and everything is ready.
        machine::start(processor, || unsafe { entry::begin::<App>() });
    }
    fn interrupt(processor: usize) {
        machine::point(Step::Interrupt(processor));
        interrupts::interrupt(processor);
    }
    fn now() -> u32 {
        clock();
        machine::now()
    }
    fn alarm(after: u32) {
        clock();
        interrupts::set_alarm(after);
    }
    fn mask_interrupts(priority: i32) -> u8 {
        if priority == 0 { OPEN } else { machine::BUSY }
    }
    fn print(_: std::fmt::Arguments<'_>) {}
    fn exit(_: u32) -> ! {
        panic!("the kernel ended")
    }
    fn fatal(what: std::fmt::Arguments<'_>) -> ! {
        panic!("{what}")
    }
}
