//! The entries that a port calls: start, interrupts, timer, exceptions, preemption.

use core::fmt;
use core::sync::atomic::AtomicBool;
use core::sync::atomic::Ordering::{Acquire, Relaxed, Release};

use crate::base::cell::Held;
use crate::base::context::{Anywhere, Known, Placed};
use crate::base::model::{Model, Only};
use crate::base::port::{Lines, Port, Stacks};
use crate::kernel::Kernel;
use crate::objects::exception::Raised;
use crate::objects::task::terminate::exit_from;
use crate::service::dispatch::{dispatch, here, left};
use crate::service::frame::Service;
use crate::state::config::StacksOf;
use crate::state::processor::Processor;
use crate::state::tcb::State;
use crate::system::{exception, tick};

/// Starts the kernel: makes everything ready, starts the other processors, and runs the first task.
///
/// # Safety
/// To be called once, by processor 0, locked, in handler context or before there is any other.
pub unsafe fn start<K: Kernel>() -> ! {
    const { assert!(K::Model::PROCESSORS <= K::Port::PROCESSORS, "the machine has not that many processors") };
    // SAFETY: no other processor runs yet, and this one is locked.
    let held = unsafe { Held::assume() };
    for number in 0..K::Model::PROCESSORS {
        let processor = Processor::<K>::of(number);
        let [own, shared] = K::slots(number);
        processor.start(own, shared, held);
        // SAFETY: the idle task does not run yet.
        unsafe { StacksOf::<K>::prepare(&processor.idle().saved) };
    }
    K::common().clock.start();
    for task in K::tasks() {
        let tcb = task.block;
        // SAFETY: the task does not run yet.
        unsafe { StacksOf::<K>::prepare(&tcb.saved) };
        if let Some(home) = tcb.home.get() {
            home.processor.set(Processor::<K>::of(tcb.class.initial()), held);
        }
        if tcb.active {
            let home = Processor::<K>::of(tcb.class.initial());
            tcb.state.set(State::Ready, held);
            let agenda = if task.domain.0.is_none() { home.shared() } else { &home.own };
            agenda.ready.insert(tcb, held);
        }
    }
    for cyclic in K::cyclics() {
        cyclic.block.timer.place(held);
    }
    for alarm in K::alarms() {
        alarm.block.timer.place(held);
    }
    if let Some(strange) = K::interrupts().iter().find(|interrupt| !<K::Port as Port>::Lines::exists(interrupt.line)) {
        K::Port::fatal(format_args!("there is no interrupt line {}", strange.line));
    }
    let now = K::common().clock.now();
    for cyclic in K::cyclics().iter().filter(|cyclic| cyclic.block.active) {
        let home = Processor::<K>::of(cyclic.domain.0.map_or(cyclic.block.timer.class.initial(), usize::from));
        // SAFETY: nobody else runs.
        let service = unsafe { Service::<K, Placed, Anywhere>::taken(cyclic.domain, home) };
        cyclic.block.start(now, &service);
    }
    K::initialise();
    for number in 1..K::Model::PROCESSORS {
        K::Port::start_processor(number);
    }
    // SAFETY: this is processor 0, locked.
    unsafe { begin::<K>() }
}

/// Runs the first task of a processor.
///
/// # Safety
/// To be called once by each processor, locked, when [`start`] has made everything ready.
pub unsafe fn begin<K: Kernel>() -> ! {
    let here = here::<K>(Known::Later);
    let number = here.number();
    K::initialise_each(number);
    if number == 0 {
        wait_for_others(|processor: &Processor<K>| &processor.has_begun);
        mark::<K>(&K::common().running);
        mark::<K>(&here.has_begun);
    } else {
        mark::<K>(&here.has_begun);
        // Not for `running`, which may be over before this processor has seen it.
        wait_for::<K>(&Processor::<K>::of(0).has_begun);
    }
    // Deadlines may be set already: the timer rings at once, and finds out.
    K::Port::alarm(0);
    let next = here.choose_alone();
    // SAFETY: the processor is locked.
    here.running.set(next, unsafe { Held::assume() });
    // SAFETY: the processor is locked, and `next` was prepared.
    unsafe { StacksOf::<K>::resume(&next.saved) }
}

/// Says something to the other processors, if there are any; they see what came before.
fn mark<K: Kernel>(what: &AtomicBool) {
    what.store(true, if K::Model::PROCESSORS > 1 { Release } else { Relaxed });
}

/// Waits until another processor has said so.
fn wait_for<K: Kernel>(what: &AtomicBool) {
    while !what.load(Acquire) {
        K::Port::relax();
    }
}

/// Waits until every processor but the first has said so.
fn wait_for_others<K: Kernel>(what: fn(&Processor<K>) -> &AtomicBool) {
    for number in 1..K::Model::PROCESSORS {
        wait_for::<K>(what(Processor::of(number)));
    }
}

/// Gives way to the task that should run. In task context; the processor is locked, and is so again on return.
///
/// A port calls this for a task that an interrupt has preempted, and goes back to what was interrupted in one step with
/// unlocking the processor. If it unlocked before, the next interrupt could preempt the task on top of what this one
/// has left on its stack, and so on without end.
pub fn preempt<K: Kernel>() {
    let here = here::<K>(Known::Later);
    // SAFETY: the processor is locked, and what follows is its own.
    let held = unsafe { Held::assume() };
    if here.dispatching.get(held) {
        let (current, next) = (here.running.get(), here.choose_alone());
        if !core::ptr::eq(current, next) {
            dispatch(here, current, next);
        }
    }
}

/// Gives way to the task that should run, after a service that has let it; or ends the task that runs, if that was
/// asked of it meanwhile.
pub(crate) fn give_way<K: Kernel>() {
    let mask = K::Port::lock();
    if K::Port::was_locked(mask) {
        return;
    }
    let here = here::<K>(Known::Later);
    // SAFETY: the processor is locked, and what is looked at is its own, or changed by it alone.
    let held = unsafe { Held::assume() };
    let me = here.running.get();
    if here.dispatching.get(held) && me.asked_to_end.get(held) && !me.unending.get(held) {
        exit_from::<K, Placed>(Placed::place(me.class.pinned()));
    }
    preempt::<K>();
    // SAFETY: nothing follows.
    unsafe { K::Port::unlock(mask) };
}

/// The timer of this processor rings. In handler context, the processor unlocked.
pub fn tick<K: Kernel>() {
    tick::tick::<K>();
}

/// Another processor wants this one to look at its agenda. In handler context, the processor unlocked.
pub fn interrupted<K: Kernel>() {
    if !K::common().running.load(Relaxed) {
        K::Port::lock();
        end::<K>();
    }
    tick::interrupted::<K>();
}

/// An interrupt came on that line. In handler context, the processor unlocked. Fatal if nobody serves it.
pub fn interrupt<K: Kernel>(line: u32) {
    let mut served = false;
    for interrupt in K::interrupts().iter().filter(|interrupt| interrupt.line == line) {
        interrupt.handler.run();
        left::<K>();
        served = true;
    }
    if !served {
        K::Port::fatal(format_args!("nobody serves interrupt {line}"));
    }
}

/// A CPU exception happened. In handler context. False if nobody handles it.
pub fn exception<K: Kernel>(raised: Raised) -> bool {
    exception::raise::<K>(raised)
}

/// Whether a task other than the one that runs should. For a port that is about to leave its last handler.
pub fn should_dispatch<K: Kernel>() -> bool {
    let here = here::<K>(Known::Later);
    let current = here.running.get();
    // SAFETY: the port has locked the processor, and what is looked at is its own.
    let held = unsafe { Held::assume() };
    here.dispatching.get(held) && !core::ptr::eq(current, here.choose())
}

/// Ends the kernel on this processor, which is locked.
pub(crate) fn end<K: Kernel>() -> ! {
    K::common().running.store(false, Relaxed);
    let here = here::<K>(Known::Later);
    let me = here.number();
    for number in (0..K::Model::PROCESSORS).filter(|&number| number != me) {
        K::Port::interrupt(number);
    }
    K::terminate_each(me);
    mark::<K>(&here.has_ended);
    if me == 0 {
        wait_for_others(|processor: &Processor<K>| &processor.has_ended);
        K::terminate();
        K::Port::exit(0)
    }
    loop {
        K::Port::relax();
    }
}

/// The lowest address of each stack, and the address after its highest: those of the tasks, by their numbers, and of
/// the idle tasks.
pub fn stacks<K: Kernel>() -> impl Iterator<Item = (usize, usize)> {
    let tasks = K::tasks().iter().map(|task| task.block);
    let idle = (0..K::Model::PROCESSORS).map(|number| Processor::<K>::of(number).idle());
    tasks.chain(idle).map(|tcb| (tcb.saved.limit as usize, tcb.saved.top as usize))
}

/// Whose stack it is.
pub enum Owner {
    /// That of the task of that number.
    Task(usize),
    /// An idle task's.
    Idle,
}

impl fmt::Display for Owner {
    fn fmt(&self, out: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Owner::Task(number) => write!(out, "task {number}"),
            Owner::Idle => out.write_str("an idle task"),
        }
    }
}

/// On whose stack, or just below it, an address lies: what to name when a stack has overflowed. None if it is no
/// task's.
pub fn owner_of<K: Kernel>(address: usize) -> Option<Owner> {
    const BELOW: usize = 256;
    let index = stacks::<K>().position(|(limit, top)| limit.saturating_sub(BELOW) <= address && address < top)?;
    Some(if index < K::tasks().len() { Owner::Task(index + 1) } else { Owner::Idle })
}

/// A stack has overflowed at that address, of a task or of the port's handlers: says whose, and ends.
pub fn overflowed<K: Kernel>(address: usize) -> ! {
    match owner_of::<K>(address) {
        Some(owner) => K::Port::fatal(format_args!("the stack of {owner} overflowed at {address:#010x}")),
        None => K::Port::fatal(format_args!("the stack of handlers overflowed at {address:#010x}")),
    }
}
