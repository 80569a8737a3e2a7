//! The port to Arm Cortex-A9.
//!
//! - Tasks run in System mode on their own stacks, handlers in Supervisor mode on the processor's stack. So the mode
//!   says whether a task or a handler runs.
//! - The processor is locked by the I bit. chg_ipm uses the priority mask of the interrupt controller.
//! - An interrupt of a task leaves its frame on the task's stack, and the task calls the dispatcher itself before it
//!   returns to that frame. So every task that does not run is saved in the same way.
//! - The lowest page of each stack, those of handlers too, cannot be touched: an overflow is a data abort.
//! - A processor keeps its number in TPIDRPRW.
#![no_std]

pub mod boards;
mod boot;
mod gic;
mod mmu;
mod switch;
mod timer;
mod vectors;

use core::arch::asm;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::AtomicU32;

use rtos::port::{Lock, Port};
use rtos::{Kernel, Model, Raised};

pub use boards::Board;
pub use gic::Gic;
pub use semihosting as terminal;
pub use switch::Stacks;
#[doc(hidden)]
pub use vectors::Frame;

/// The I bit: interrupts wait.
const LOCKED: u32 = 1 << 7;
/// The mode in which tasks run.
const SYSTEM: u32 = 0x1f;

/// The mode and the I bit.
#[inline(always)]
fn status() -> u32 {
    let status: u32;
    // SAFETY: reads a register.
    unsafe { asm!("mrs {}, cpsr", out(reg) status, options(nomem, nostack, preserves_flags)) };
    status
}

/// A Cortex-A9 on that board.
pub struct CortexA9<B>(PhantomData<B>);

// SAFETY: each function does what the trait says; see there, and the functions of `switch`.
unsafe impl<B: Board> Port for CortexA9<B> {
    /// The page that cannot be touched, wherever it falls, and what an interrupt and a switch save.
    const MINIMUM_STACK: usize = 2 * mmu::PAGE + 512;
    const IDLE_STACK: usize = 2 * mmu::PAGE + 2048;
    const STACK_ALIGNMENT: usize = 8;
    const PROCESSORS: usize = B::PROCESSORS;
    type Mask = u32;
    type Giant = ExclusiveLock;
    type Lock = ExclusiveLock;
    type Stacks = Stacks;
    type Lines = Gic<B>;

    #[inline(always)]
    fn lock() -> u32 {
        let before: u32;
        // SAFETY: only makes interrupts wait.
        unsafe { asm!("mrs {}, cpsr", "cpsid i", out(reg) before, options(nostack, preserves_flags)) };
        before
    }

    #[inline(always)]
    unsafe fn unlock(mask: u32) {
        // SAFETY: the caller says that nothing relies on the lock. The mode is the one in which `lock` was called.
        unsafe { asm!("msr cpsr_c, {}", in(reg) mask, options(nostack, preserves_flags)) };
    }

    #[inline(always)]
    fn was_locked(mask: u32) -> bool {
        mask & LOCKED != 0
    }

    #[inline(always)]
    fn unlocked() -> u32 {
        status() & !LOCKED
    }

    #[inline(always)]
    fn in_task() -> bool {
        status() & 0x1f == SYSTEM
    }

    #[inline(always)]
    fn processor() -> usize {
        let number: usize;
        // SAFETY: reads a register, which `boot` has set.
        unsafe { asm!("mrc p15, 0, {}, c13, c0, 4", out(reg) number, options(nomem, nostack, preserves_flags)) };
        number
    }

    /// The last handler that is left always looks.
    #[inline(always)]
    fn request_dispatch() {}

    #[inline(always)]
    fn idle() {
        // SAFETY: waits for an interrupt.
        unsafe { asm!("dsb", "wfi", options(nostack, preserves_flags)) };
    }

    fn start_processor(processor: usize) {
        boot::release(processor);
    }

    fn interrupt(processor: usize) {
        gic::interrupt::<B>(processor);
    }

    #[inline(always)]
    fn now() -> u32 {
        timer::now::<B>()
    }

    fn alarm(after: u32) {
        timer::alarm::<B>(after);
    }

    const LOWEST_INTERRUPT_MASK: i32 = gic::HIGHEST;

    fn mask_interrupts(priority: i32) -> u32 {
        gic::mask::<B>(priority);
        Self::unlocked()
    }

    fn print(what: fmt::Arguments<'_>) {
        terminal::print(what);
    }

    fn exit(status: u32) -> ! {
        terminal::exit(status)
    }
}

/// A lock between processors: a word that is 1 while it is taken, changed by LDREX and STREX.
///
/// Nobody sleeps while it waits, so the release needs no event, and no barrier behind it.
pub struct ExclusiveLock(AtomicU32);

impl Lock for ExclusiveLock {
    const FREE: Self = ExclusiveLock(AtomicU32::new(0));

    #[inline(always)]
    fn try_acquire(&self) -> bool {
        let busy: u32;
        // SAFETY: the word is this lock's. What follows is not seen before the barrier.
        unsafe {
            asm!(
                "ldrex {busy}, [{lock}]",
                "cmp {busy}, #0",
                "bne 2f",
                "strex {busy}, {one}, [{lock}]",
                "dmb",
                "2:",
                lock = in(reg) self.0.as_ptr(),
                one = in(reg) 1,
                busy = out(reg) busy,
                options(nostack),
            );
        }
        busy == 0
    }

    #[inline(always)]
    fn release(&self) {
        // SAFETY: the word is this lock's, and the caller has taken it. What came before is seen before it is free.
        unsafe { asm!("dmb", "str {}, [{}]", in(reg) 0, in(reg) self.0.as_ptr(), options(nostack, preserves_flags)) };
    }
}

/// Makes the program of a kernel: what its vectors call.
#[macro_export]
macro_rules! image {
    ($kernel:ty) => {
        #[unsafe(no_mangle)]
        extern "C" fn rtos_start(processor: usize) -> ! {
            type Port = <$kernel as rtos::Config>::Port;
            <Port as $crate::OnBoard>::initialise::<$kernel>(processor);
            // SAFETY: reset calls this once on each processor, locked; on the others after `start`.
            unsafe { if processor == 0 { rtos::entry::start::<$kernel>() } else { rtos::entry::begin::<$kernel>() } }
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_preempt() {
            rtos::entry::preempt::<$kernel>();
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_interrupt() {
            <<$kernel as rtos::Config>::Port as $crate::OnBoard>::interrupt::<$kernel>();
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_overflow(address: usize) -> ! {
            rtos::entry::overflowed::<$kernel>(address)
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_exception(number: u32, frame: &mut $crate::Frame) {
            <<$kernel as rtos::Config>::Port as $crate::OnBoard>::exception::<$kernel>(number, frame);
        }
    };
}

/// What reset and the vectors need of the board.
#[doc(hidden)]
pub trait OnBoard {
    fn initialise<K: Kernel>(processor: usize);
    fn interrupt<K: Kernel>();
    fn exception<K: Kernel>(number: u32, frame: &mut Frame);
}

impl<B: Board> OnBoard for CortexA9<B> {
    fn initialise<K: Kernel>(processor: usize) {
        // SAFETY: nothing reads the register before.
        unsafe { asm!("mcr p15, 0, {}, c13, c0, 4", in(reg) processor, options(nomem, nostack, preserves_flags)) };
        mmu::enable(processor, rtos::entry::stacks::<K>().map(|(limit, _)| limit).chain(boot::stacks::<B>()));
        gic::initialise::<B>(processor, K::interrupts());
        timer::initialise::<B>(processor);
    }

    fn interrupt<K: Kernel>() {
        gic::serve::<B>(|line| match line {
            timer::LINE => {
                timer::quiet::<B>();
                rtos::entry::tick::<K>();
            }
            gic::MAILBOX if K::Model::PROCESSORS > 1 => rtos::entry::interrupted::<K>(),
            _ => rtos::entry::interrupt::<K>(line),
        });
    }

    fn exception<K: Kernel>(number: u32, frame: &mut Frame) {
        const UNDEFINED: u32 = 0;
        const DATA_ABORT: u32 = 3;
        const THUMB: usize = 1 << 5;
        if number == UNDEFINED && frame.cpsr & THUMB != 0 {
            frame.pc += 2;
        }
        let (at, address) = (frame.pc, mmu::fault_address());
        if number == DATA_ABORT && rtos::entry::owner_of::<K>(address).is_some() {
            rtos::entry::overflowed::<K>(address);
        }
        let unlocked = frame.cpsr & LOCKED as usize == 0;
        let in_unlocked_task = unlocked && frame.cpsr & 0x1f == SYSTEM as usize;
        // SAFETY: the frame stays there until the handler has returned.
        let raised = unsafe { Raised::new(number, &raw mut frame.pc, (&raw mut *frame).cast(), in_unlocked_task) };
        if unlocked {
            // SAFETY: interrupts were let through before the exception.
            unsafe { <Self as Port>::unlock(<Self as Port>::unlocked()) };
        }
        if !rtos::entry::exception::<K>(raised) {
            Self::fatal(format_args!("exception {number} at {at:#010x}, address {address:#010x}"));
        }
        <Self as Port>::lock();
    }
}
