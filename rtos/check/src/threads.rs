//! The threads of a run: one for each stack, one for the time, and one for the interrupts on their way to each processor.
//!
//! A thread that calls `point` or `wait` lets another one go on, and goes on itself when the scheduler gives it the
//! turn. At the end of the run all of them end, wherever they are.

use std::any::Any;
use std::panic::{AssertUnwindSafe, catch_unwind, resume_unwind};
use std::time::Duration;

use crate::journal;
use crate::machine::{self, Next, Phase, enter, here, stand_for, was_given_up, with};
use crate::processor::{PROCESSORS, TIMER};
use crate::step::{Step, Wait};

/// The end of a thread, thrown.
pub(crate) struct Over;

/// Lets another thread go on, if the scheduler wants that. This one goes on when what it waits for has come.
fn switch_threads() {
    let (me, here) = (usize::from(shuttle::current::me()), here());
    shuttle::thread::sleep(Duration::ZERO);
    if with(|machine| matches!(machine.phase, Phase::Over | Phase::Again)) && me != 0 {
        resume_unwind(Box::new(Over));
    }
    let turn = with(|machine| {
        machine.waits[me] = Wait::Nothing;
        machine.processors.iter().position(|processor| processor.thread == me)
    });
    stand_for(turn.unwrap_or(here));
}

/// Another processor may come in between, or time may pass.
pub(crate) fn point(step: Step) {
    let me = usize::from(shuttle::current::me());
    let open = with(|machine| {
        let open = machine.phase == Phase::Open;
        if open {
            (machine.next, machine.steps[me]) = (Next::Any, step);
        }
        open
    });
    if open {
        switch_threads();
        journal::note(step.text());
    }
}

/// Lets the thread wait.
pub(crate) fn wait(what: Wait) {
    let me = usize::from(shuttle::current::me());
    with(|machine| machine.waits[me] = what);
    switch_threads();
}

/// Makes a thread, which waits for its turn. Gives its number.
pub(crate) fn spawn(work: impl FnOnce() + Send + 'static) -> usize {
    let number = with(|machine| {
        machine.waits.push(Wait::Turn);
        machine.steps.push(Step::Switch(0));
        machine.waits.len() - 1
    });
    let handle = shuttle::thread::spawn(move || {
        let me = usize::from(shuttle::current::me());
        let over = with(|machine| {
            let turn = machine.processors.iter().position(|processor| processor.thread == me);
            stand_for(turn.unwrap_or(0));
            machine.waits[me] = Wait::Nothing;
            matches!(machine.phase, Phase::Over | Phase::Again)
        });
        if !over && let Err(why) = catch_unwind(AssertUnwindSafe(work)) {
            end_of_thread(why);
        }
        with(|machine| machine.waits[me] = Wait::Gone);
    });
    with(|machine| machine.handles.push(handle));
    number
}

/// Passes on why a thread ended, unless it was to.
fn end_of_thread(why: Box<dyn Any + Send>) {
    if !why.is::<Over>() {
        eprintln!("what was done:\n{}", journal::steps());
        resume_unwind(why);
    }
}

/// Begins a run: this thread is the one that watches.
pub(crate) fn begin(wires: bool, looks: bool) {
    machine::renew(wires, looks);
    journal::clear();
    stand_for(0);
    let clock = spawn(|| {
        loop {
            wait(Wait::Deadline);
            with(|machine| {
                if let Some((number, at)) = machine.next_alarm() {
                    machine.now = at;
                    let processor = &mut machine.processors[number];
                    (processor.alarm, processor.pending) = (None, processor.pending | TIMER);
                    journal::write(number, "its timer rings");
                }
            });
        }
    });
    with(|machine| machine.waits[clock] = Wait::Deadline);
    for number in (0..PROCESSORS).filter(|_| wires) {
        let wire = spawn(move || {
            loop {
                wait(Wait::Wire(number));
                with(|machine| {
                    let processor = &mut machine.processors[number];
                    processor.pending |= std::mem::take(&mut processor.sent);
                    journal::write(number, "the interrupt arrives");
                });
            }
        });
        with(|machine| machine.waits[wire] = Wait::Wire(number));
    }
}

/// Lets all threads end.
pub(crate) fn end() {
    if !was_given_up() {
        enter(Phase::Over);
    }
    for handle in with(|machine| std::mem::take(&mut machine.handles)) {
        handle.join().expect("the thread was to end");
    }
}

/// Starts a processor, which calls `begin`, locked.
pub(crate) fn start(processor: usize, begin: impl FnOnce() + Send + 'static) {
    let thread = spawn(begin);
    with(|machine| machine.processors[processor].thread = thread);
}
