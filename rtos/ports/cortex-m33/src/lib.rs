//! The port to Arm Cortex-M33.
//!
//! - The processor is locked by BASEPRI: interrupts of the priorities that the kernel manages wait, higher ones do not.
//! - Tasks run in thread mode on the process stack, whose limit (PSPLIM) is that of the task's stack: an overflow is a
//!   fault before anything is overwritten. Handlers run on the main stack.
//! - A task that an interrupt preempts calls the dispatcher itself: PendSV, the lowest exception, returns to
//!   [`switch`]'s caller in thread mode, on top of the frame of the interrupted code, and an SVC returns to that code
//!   and unlocks. So every task that does not run is saved in the same way.
#![no_std]

mod basepri;
mod board;
pub mod boards;
mod boot;
mod lines;
mod sse200;
mod switch;

use core::arch::asm;
use core::fmt;
use core::marker::PhantomData;
use core::sync::atomic::{AtomicU32, Ordering};

use rtos::port::{Lock, Port};
use rtos::{Kernel, Model};

pub use board::Board;
#[doc(hidden)]
pub use boot::{FIRST, Vectors, exception};
pub use lines::Nvic;
#[doc(hidden)]
pub use m_profile::Frame;
pub use semihosting as terminal;
pub use switch::Stacks;

/// A Cortex-M33 on that board.
pub struct CortexM33<B>(PhantomData<B>);

// SAFETY: each function does what the trait says; see there, and the functions of `switch`.
unsafe impl<B: Board> Port for CortexM33<B> {
    /// The frame of an interrupt and of the SVC that returns from it, the registers that a switch saves, and what the
    /// dispatcher itself needs.
    const MINIMUM_STACK: usize = 256;
    const IDLE_STACK: usize = 768;
    const STACK_ALIGNMENT: usize = 8;
    const PROCESSORS: usize = B::PROCESSORS;
    type Mask = u32;
    type Giant = ExclusiveLock;
    type Lock = ExclusiveLock;
    type Stacks = Stacks;
    type Lines = Nvic<B>;

    #[inline(always)]
    fn lock() -> u32 {
        basepri::lock()
    }

    #[inline(always)]
    unsafe fn unlock(mask: u32) {
        // SAFETY: as the caller says.
        unsafe { basepri::unlock(mask) };
    }

    #[inline(always)]
    fn was_locked(mask: u32) -> bool {
        mask == basepri::LOCKED
    }

    #[inline(always)]
    fn unlocked() -> u32 {
        0
    }

    #[inline(always)]
    fn in_task() -> bool {
        m_profile::in_task()
    }

    #[inline(always)]
    fn processor() -> usize {
        B::processor()
    }

    #[inline(always)]
    fn request_dispatch() {
        m_profile::request_dispatch();
    }

    #[inline(always)]
    fn idle() {
        m_profile::idle();
    }

    fn start_processor(processor: usize) {
        B::start_processor(processor);
    }

    fn interrupt(processor: usize) {
        B::interrupt(processor);
    }

    #[inline(always)]
    fn now() -> u32 {
        B::now()
    }

    fn alarm(after: u32) {
        B::alarm(after);
    }

    const LOWEST_INTERRUPT_MASK: i32 = lines::HIGHEST;

    fn mask_interrupts(priority: i32) -> u32 {
        if priority == 0 { 0 } else { lines::level(priority) }
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
/// Nobody sleeps while it waits, so the release needs no event.
pub struct ExclusiveLock(AtomicU32);

impl Lock for ExclusiveLock {
    const FREE: Self = ExclusiveLock(AtomicU32::new(0));

    #[inline(always)]
    fn try_acquire(&self) -> bool {
        let busy: u32;
        // SAFETY: the word is this lock's. The load has acquire semantics, so that nothing that follows is seen earlier.
        unsafe {
            asm!(
                "ldaex {busy}, [{lock}]",
                "cmp {busy}, #0",
                "bne 2f",
                "strex {busy}, {one}, [{lock}]",
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
        self.0.store(0, Ordering::Release);
    }
}

/// Makes the program of a kernel: its vectors, and what they call.
#[macro_export]
macro_rules! image {
    ($kernel:ty) => {
        #[unsafe(link_section = ".vectors")]
        #[used]
        static VECTORS: $crate::Vectors = $crate::FIRST;

        #[unsafe(no_mangle)]
        extern "C" fn rtos_start(processor: usize) -> ! {
            <<$kernel as rtos::Config>::Port as $crate::OnBoard>::initialise(
                processor,
                <$kernel as rtos::Kernel>::interrupts(),
            );
            // SAFETY: the reset vector calls this once on each processor, locked; the others after `start`.
            unsafe { if processor == 0 { rtos::entry::start::<$kernel>() } else { rtos::entry::begin::<$kernel>() } }
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_preempt() {
            <<$kernel as rtos::Config>::Port as rtos::Port>::lock();
            rtos::entry::preempt::<$kernel>();
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_interrupt(line: u32) {
            <<$kernel as rtos::Config>::Port as $crate::OnBoard>::interrupt::<$kernel>(line);
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_overflow(sp: usize) -> ! {
            rtos::entry::overflowed::<$kernel>(sp)
        }

        #[unsafe(no_mangle)]
        unsafe extern "C" fn rtos_exception(frame: *mut $crate::Frame, exc_return: usize) {
            // SAFETY: the vectors call it.
            unsafe { $crate::exception::<$kernel>(frame, exc_return) }
        }
    };
}

/// What the vectors need of the board.
#[doc(hidden)]
pub trait OnBoard {
    fn initialise(processor: usize, interrupts: &[rtos::Interrupt]);
    fn interrupt<K: Kernel>(line: u32);
}

impl<B: Board> OnBoard for CortexM33<B> {
    fn initialise(processor: usize, interrupts: &[rtos::Interrupt]) {
        B::initialise(processor);
        lines::configure(processor, interrupts);
    }

    fn interrupt<K: Kernel>(line: u32) {
        if B::is_timer(line) {
            B::quiet_timer();
            rtos::entry::tick::<K>();
        } else if K::Model::PROCESSORS > 1 && B::is_mailbox(line) {
            B::quiet_mailbox();
            rtos::entry::interrupted::<K>();
        } else {
            rtos::entry::interrupt::<K>(line);
        }
    }
}
