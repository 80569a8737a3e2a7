//! The port of the kernel to the simulated machine of [`machine`].

use std::marker::PhantomData;

use rtos::port::{Lines, Lock, Next, Port, Saved, Stacks};
use rtos::{Current, Kernel, entry};

use crate::lock::Flag;
use crate::machine;
use crate::processor::{BUSY, LOCKED, OPEN, PROCESSORS};
use crate::step::{Step, Wait};
use crate::threads::{self, point, wait};
use crate::{interrupts, journal, stack};

/// A kernel that can be checked.
pub trait Checkable: Kernel {
    /// Runs the body of the task of that number.
    fn work(task: usize);
    /// Checks that everything is consistent, when the giant lock was given back.
    fn look();
}

/// The port of a kernel to a machine of which every order of steps can be tried.
pub struct Checked<K>(PhantomData<K>);

impl Lock for Flag {
    const FREE: Self = Flag::new();

    fn try_acquire(&self) -> bool {
        point(Step::Try(self));
        let free = self.is_free();
        if free {
            self.set_holder(machine::here() + 1);
            machine::of_mine(|processor| processor.shares_lock = true);
        }
        journal::note(if free { "has it" } else { "finds it taken" });
        machine::want((!free).then_some(self));
        free
    }

    fn release(&self) {
        point(Step::GiveBack);
        assert_eq!(self.holder(), machine::here() + 1, "a lock is given back by who does not hold it");
        self.set_holder(0);
        machine::of_mine(|processor| processor.shares_lock = false);
    }
}

/// The giant lock. Each time that it is given back the kernel must be consistent.
pub struct Giant<K>(Flag, PhantomData<fn() -> K>);

impl<K: Checkable> Lock for Giant<K> {
    const FREE: Self = Giant(Flag::new(), PhantomData);

    fn try_acquire(&self) -> bool {
        self.0.try_acquire()
    }

    fn release(&self) {
        self.0.release();
        K::look();
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

pub(crate) fn take_interrupts<K: Kernel>() {
    interrupts::take_interrupts(entry::tick::<K>, entry::interrupted::<K>, entry::preempt::<K>);
}

/// Where a stack begins: that of a task, which is given its number, or of an idle one.
fn begin<K: Checkable>(argument: *mut ()) {
    unlock::<K>(OPEN);
    if argument.is_null() {
        loop {
            Checked::<K>::idle();
        }
    }
    K::work(argument as usize);
    Current::<K>::exit_anywhere();
    panic!("a task was ended in a handler");
}

fn unlock<K: Kernel>(mask: u8) {
    point(Step::Unlock);
    machine::replace_mask(mask);
    take_interrupts::<K>();
}

/// Steps of the other processor come between two looks of this one, also if this one has its own lock only.
fn clock() {
    if !machine::of_mine(|processor| processor.shares_lock) {
        point(Step::Clock);
    }
}

/// Stacks that are threads.
pub struct Threads<K>(PhantomData<K>);

// SAFETY: as for the port.
unsafe impl<K: Checkable> Stacks for Threads<K> {
    unsafe fn prepare(task: &Saved) {
        stack::prepare(task);
    }
    unsafe extern "C-unwind" fn switch(from: &Saved, to: &Saved) {
        point(Step::Switch(to.argument as usize));
        stack::switch(from, to, begin::<K>);
    }
    unsafe extern "C-unwind" fn leave(from: Option<&Saved>, on: &Saved, next: Next, argument: *const ()) {
        let argument = argument as usize;
        // SAFETY: the kernel has given both, and nothing else runs on this processor.
        stack::leave(from, on, move || unsafe { next(argument as *const ()) });
    }
    unsafe extern "C-unwind" fn resume(to: &Saved) -> ! {
        point(Step::Switch(to.argument as usize));
        stack::resume(to, begin::<K>)
    }
}

// SAFETY: threads run one at a time, and each has a stack of its own; the rest is as the trait says, see `machine`.
unsafe impl<K: Checkable> Port for Checked<K> {
    const MINIMUM_STACK: usize = 16;
    const IDLE_STACK: usize = 16;
    const STACK_ALIGNMENT: usize = 16;
    const PROCESSORS: usize = PROCESSORS;
    type Mask = u8;
    type Giant = Giant<K>;
    type Lock = Flag;
    type Stacks = Threads<K>;
    type Lines = NoLines;
    const LOWEST_INTERRUPT_MASK: i32 = -1;

    fn lock() -> u8 {
        machine::replace_mask(LOCKED)
    }
    unsafe fn unlock(mask: u8) {
        unlock::<K>(mask);
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
        wait(Wait::Interrupt);
        take_interrupts::<K>();
    }
    fn relax() {
        wait(Wait::Lock);
        take_interrupts::<K>();
    }
    fn start_processor(processor: usize) {
        // SAFETY: the thread is that processor, locked, and everything is ready.
        threads::start(processor, || unsafe { entry::begin::<K>() });
    }
    fn interrupt(processor: usize) {
        point(Step::Interrupt(processor));
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
        if priority == 0 { OPEN } else { BUSY }
    }
    fn print(_: std::fmt::Arguments<'_>) {}
    fn exit(_: u32) -> ! {
        panic!("the kernel ended")
    }
    fn fatal(what: std::fmt::Arguments<'_>) -> ! {
        panic!("{what}")
    }
}
