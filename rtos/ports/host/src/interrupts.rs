//! Interrupts: signals, taken when the processor's mask allows it.

use core::arch::asm;
use core::mem::offset_of;
use core::sync::atomic::{AtomicBool, AtomicU8, Ordering};

use rtos::Raised;
use rtos::port::Lines;

use crate::machine::{LOCKED, Machine, machine, program, signal, this};

/// The line of the timer.
pub(crate) const TIMER: u32 = 0;
/// The line by which processors interrupt each other.
pub(crate) const MAILBOX: u32 = 1;
/// How many lines there are; the user's begin at 2.
const COUNT: u32 = 64;

/// The highest priority.
pub(crate) const HIGHEST: i32 = -7;

struct Line {
    /// Its priority, from 1 upwards.
    level: AtomicU8,
    processor: AtomicU8,
    enabled: AtomicBool,
}

static LINES: [Line; COUNT as usize] =
    [const { Line { level: AtomicU8::new(4), processor: AtomicU8::new(0), enabled: AtomicBool::new(false) } };
        COUNT as usize];

/// A priority as the mask has it.
pub(crate) fn level(priority: i32) -> u8 {
    priority.clamp(HIGHEST, 0).unsigned_abs() as u8
}

/// By which the timer rings.
pub(crate) fn timer_signal() -> i32 {
    libc::SIGRTMIN() + 2
}

/// Sets up the lines and the signals' handlers.
pub(crate) fn install() {
    for line in [TIMER, MAILBOX] {
        LINES[line as usize].enabled.store(true, Ordering::Relaxed);
    }
    for interrupt in program().interrupts {
        let Some(line) = LINES.get(interrupt.line() as usize) else { continue };
        line.level.store(level(interrupt.level()), Ordering::Relaxed);
        line.processor.store(interrupt.processor() as u8, Ordering::Relaxed);
        line.enabled.store(interrupt.starts_enabled(), Ordering::Relaxed);
    }
    for number in [signal(), timer_signal()] {
        // SAFETY: the handler is for such signals.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_signal as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_RESTART;
            libc::sigaddset(&mut action.sa_mask, signal());
            libc::sigaddset(&mut action.sa_mask, timer_signal());
            libc::sigaction(number, &action, std::ptr::null_mut());
        }
    }
}

/// A signal has come. The system blocks further ones while its handler begins and ends; in between they come, and a task
/// that is preempted stays here.
extern "C" fn on_signal(signal: i32, _: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // The task may leave this handler on another thread. What it returns to must not bring the alternate stack of this
    // thread along; a value that the system refuses leaves that thread's own.
    // SAFETY: the system has given the context of the interrupted code, which nobody else uses.
    unsafe { (*context.cast::<libc::ucontext_t>()).uc_stack.ss_flags = -1 };
    // SAFETY: the address of the thread's own number.
    let errno = unsafe { *libc::__errno_location() };
    let machine = this();
    if signal == timer_signal() {
        machine.pending.fetch_or(1 << TIMER, Ordering::Relaxed);
    }
    let mask = machine.mask();
    if let Some(number) = machine.raised() {
        block_signals(false);
        // SAFETY: as above.
        unsafe { exception(number, context.cast()) };
        block_signals(true);
    }
    if mask != LOCKED {
        machine.set_mask(LOCKED);
        block_signals(false);
        while take_once(mask) {}
        block_signals(true);
        // What came before signals were blocked is still to be done; what comes now is done after the return.
        let machine = this();
        machine.set_mask(mask);
        if next(machine.pending.load(Ordering::Relaxed), mask).is_some() {
            machine.signal();
        }
    }
    // SAFETY: as above, perhaps of another thread by now.
    unsafe { *libc::__errno_location() = errno };
}

/// Calls the handler of a CPU exception. The processor stays locked if it was.
///
/// # Safety
/// The context is that of the code at fault.
unsafe fn exception(number: u32, context: *mut libc::ucontext_t) {
    let machine = this();
    let in_unlocked_task = machine.mask() == 0 && !machine.is_in_handler();
    // SAFETY: the place of the address in the context, as long as the handler runs.
    let raised = unsafe {
        let pc = &raw mut (*context).uc_mcontext.gregs[libc::REG_RIP as usize];
        Raised::new(number, pc.cast(), context.cast(), in_unlocked_task)
    };
    machine.enter_handler();
    (program().exception)(raised);
    machine.leave_handler();
}

/// Lets signals wait, or come, on this thread.
fn block_signals(block: bool) {
    // SAFETY: the set is plain data, and is initialised before it is used.
    unsafe {
        let mut set = std::mem::zeroed();
        libc::sigemptyset(&mut set);
        libc::sigaddset(&mut set, signal());
        libc::sigaddset(&mut set, timer_signal());
        let how = if block { libc::SIG_BLOCK } else { libc::SIG_UNBLOCK };
        libc::pthread_sigmask(how, &set, std::ptr::null_mut());
    }
}

/// Sets the mask of this processor, and serves what it lets through now.
#[inline(always)]
pub(crate) fn unlock(mask: u8) {
    let pending: u64;
    // SAFETY: changes the mask, and looks what has come meanwhile.
    unsafe {
        asm!(
            "mov gs:[{offset}], {mask}",
            "mov {pending}, gs:[{noted}]",
            mask = in(reg_byte) mask,
            pending = out(reg) pending,
            offset = const offset_of!(Machine, mask),
            noted = const offset_of!(Machine, pending),
            options(nostack, preserves_flags),
        );
    }
    if pending != 0 {
        take();
    }
}

/// Serves what has come while the processor was locked, as it is unlocked.
#[cold]
#[inline(never)]
pub(crate) fn take() {
    let mask = this().mask();
    if mask == LOCKED {
        return;
    }
    loop {
        while take_once(mask) {}
        let machine = this();
        machine.set_mask(mask);
        if next(machine.pending.load(Ordering::Relaxed), mask).is_none() {
            return;
        }
    }
}

/// Serves what is pending and above the mask, the highest first, and lets a task that should run do so. False if there was
/// nothing; the processor is locked then, and is otherwise as the mask says.
fn take_once(mask: u8) -> bool {
    let machine = this();
    machine.set_mask(LOCKED);
    let mut served = false;
    while let Some((line, level)) = next(machine.pending.load(Ordering::Relaxed), mask) {
        machine.pending.fetch_and(!(1 << line), Ordering::Acquire);
        machine.enter_handler();
        machine.set_mask(level);
        (program().serve)(line);
        machine.set_mask(LOCKED);
        machine.leave_handler();
        served = true;
    }
    if mask == 0 && !machine.is_in_handler() {
        // Perhaps on another thread afterwards.
        (program().preempt)();
    }
    served
}

/// The highest line that is pending and above the mask.
fn next(pending: u64, mask: u8) -> Option<(u32, u8)> {
    let level = |line: u32| LINES[line as usize].level.load(Ordering::Relaxed);
    (0..COUNT)
        .filter(|&line| pending & 1 << line != 0)
        .map(|line| (line, level(line)))
        .filter(|&(_, level)| level > mask)
        .max_by_key(|&(_, level)| level)
}

/// Raises a line of a processor.
pub(crate) fn raise_on(processor: usize, line: u32) {
    let machine = machine(processor);
    if !LINES[line as usize % LINES.len()].enabled.load(Ordering::Relaxed) {
        machine.held_back.fetch_or(1 << line, Ordering::Release);
        return;
    }
    machine.pending.fetch_or(1 << line, Ordering::Release);
    machine.signal();
}

/// The interrupt lines: 2 to 63 are for the program, which raises them itself.
pub struct Signals;

impl Signals {
    fn of(line: u32) -> Option<&'static Line> {
        LINES.get(line as usize)
    }
}

impl Lines for Signals {
    const EACH: bool = false;

    fn exists(line: u32) -> bool {
        (2..COUNT).contains(&line)
    }

    fn enable(line: u32) {
        if let Some(info) = Self::of(line) {
            info.enabled.store(true, Ordering::Relaxed);
            let processor = usize::from(info.processor.load(Ordering::Relaxed));
            if machine(processor).held_back.fetch_and(!(1 << line), Ordering::Relaxed) & 1 << line != 0 {
                raise_on(processor, line);
            }
        }
    }

    fn disable(line: u32) {
        if let Some(info) = Self::of(line) {
            info.enabled.store(false, Ordering::Relaxed);
            let machine = machine(usize::from(info.processor.load(Ordering::Relaxed)));
            if machine.pending.fetch_and(!(1 << line), Ordering::Relaxed) & 1 << line != 0 {
                machine.held_back.fetch_or(1 << line, Ordering::Relaxed);
            }
        }
    }

    fn raise(line: u32) -> bool {
        let Some(info) = Self::of(line) else { return false };
        raise_on(usize::from(info.processor.load(Ordering::Relaxed)), line);
        true
    }

    fn clear(line: u32) -> bool {
        let Some(info) = Self::of(line) else { return false };
        let processor = usize::from(info.processor.load(Ordering::Relaxed));
        machine(processor).pending.fetch_and(!(1 << line), Ordering::Relaxed);
        machine(processor).held_back.fetch_and(!(1 << line), Ordering::Relaxed);
        true
    }

    fn pending(line: u32) -> bool {
        let Some(info) = Self::of(line) else { return false };
        let processor = usize::from(info.processor.load(Ordering::Relaxed));
        let machine = machine(processor);
        (machine.pending.load(Ordering::Relaxed) | machine.held_back.load(Ordering::Relaxed)) & 1 << line != 0
    }
}
