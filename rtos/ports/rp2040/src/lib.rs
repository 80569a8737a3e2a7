//! The port to the RP2040, with one or two of its Cortex-M0+.
//!
//! - The processor is locked by PRIMASK. This core has no priority mask: chg_ipm disables the interrupt lines that it
//!   holds back.
//! - Tasks run in thread mode on the process stack, handlers on the main stack. A task that an interrupt preempts calls
//!   the dispatcher itself, as on the Cortex-M33; PendSV leads it there and back, because an SVC is not possible while
//!   the processor is locked.
//! - This core has no stack limit: the last word of each stack has a known value. Every switch checks it, and for the
//!   stack of handlers the end of every interrupt does.
//! - If both processors are used, each asks the SIO block for its number. The giant lock is one of the 32 hardware spin
//!   locks, and another guards the words of the user's spin locks.
#![no_std]

mod boot;
mod chip;
mod cores;
mod lines;
mod locks;
mod primask;
mod switch;
pub mod terminal;

use core::fmt;
use core::marker::PhantomData;

use rtos::port::Port;
use rtos::{Interrupt, Kernel, Model};

#[doc(hidden)]
pub use boot::{VECTORS, Vectors, exception, should_dispatch};
pub use cores::{Both, Cores, One};
pub use lines::Nvic;
pub use locks::{Giant, Word};
#[doc(hidden)]
pub use m_profile::Frame;
pub use switch::Stacks;

/// An RP2040: [`One`] of its processors or [`Both`].
pub struct Rp2040<C>(PhantomData<C>);

// SAFETY: each function does what the trait says; see there, and the modules.
unsafe impl<C: Cores> Port for Rp2040<C> {
    /// The frame of an interrupt and of the PendSV that returns from it, the registers that a switch saves, and what the
    /// dispatcher itself needs.
    const MINIMUM_STACK: usize = 256;
    const IDLE_STACK: usize = 768;
    const STACK_ALIGNMENT: usize = 8;
    const PROCESSORS: usize = C::NUMBER;
    type Mask = u32;
    type Giant = Giant;
    type Lock = Word;
    type Stacks = Stacks;
    type Lines = Nvic<C>;

    #[inline(always)]
    fn lock() -> u32 {
        primask::lock()
    }

    #[inline(always)]
    unsafe fn unlock(mask: u32) {
        // SAFETY: as the caller says.
        unsafe { primask::unlock(mask) };
    }

    #[inline(always)]
    fn was_locked(mask: u32) -> bool {
        mask != 0
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
        C::processor()
    }

    #[inline(always)]
    fn request_dispatch() {
        m_profile::request_dispatch();
    }

    #[inline(always)]
    fn idle() {
        m_profile::idle();
    }

    fn start_processor(_: usize) {
        boot::launch();
    }

    fn interrupt(_: usize) {
        chip::interrupt_other();
    }

    #[inline(always)]
    fn now() -> u32 {
        chip::now()
    }

    fn alarm(after: u32) {
        chip::alarm(C::processor(), after);
    }

    const LOWEST_INTERRUPT_MASK: i32 = lines::HIGHEST;

    fn mask_interrupts(priority: i32) -> u32 {
        lines::mask::<C>(priority);
        0
    }

    fn print(what: fmt::Arguments<'_>) {
        terminal::print(what);
    }

    fn exit(status: u32) -> ! {
        terminal::exit(status)
    }
}

/// Makes the program of a kernel: its vectors, and what they call.
#[macro_export]
macro_rules! image {
    ($kernel:ty) => {
        #[unsafe(link_section = ".vectors")]
        #[used]
        static VECTORS: $crate::Vectors = $crate::VECTORS;

        #[unsafe(no_mangle)]
        extern "C" fn rtos_start(processor: usize) -> ! {
            <<$kernel as rtos::Config>::Port as $crate::OnBoard>::initialise(
                processor,
                <$kernel as rtos::Kernel>::interrupts(),
            );
            // SAFETY: reset calls this once on each processor, locked; on the other after `start`.
            unsafe { if processor == 0 { rtos::entry::start::<$kernel>() } else { rtos::entry::begin::<$kernel>() } }
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_preempt() {
            <<$kernel as rtos::Config>::Port as rtos::Port>::lock();
            rtos::entry::preempt::<$kernel>();
        }

        #[unsafe(no_mangle)]
        extern "C" fn rtos_should_dispatch() -> bool {
            $crate::should_dispatch::<$kernel>()
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

/// What a program needs of the port besides what the kernel does.
#[doc(hidden)]
pub trait OnBoard {
    /// Sets up what the kernel uses, on each processor.
    fn initialise(processor: usize, interrupts: &[Interrupt]);
    /// What a line is for.
    fn interrupt<K: Kernel>(line: u32);
}

impl<C: Cores> OnBoard for Rp2040<C> {
    fn initialise(processor: usize, interrupts: &[Interrupt]) {
        if processor == 0 {
            chip::wake_peripherals();
            terminal::initialise();
        }
        lines::configure::<C>(processor, interrupts);
        chip::initialise(processor);
    }

    fn interrupt<K: Kernel>(line: u32) {
        let here = C::processor();
        if line == lines::timer(here) {
            chip::quiet_timer(here);
            rtos::entry::tick::<K>();
        } else if K::Model::PROCESSORS > 1 && line == lines::mailbox(here) {
            chip::quiet_mailbox(here);
            rtos::entry::interrupted::<K>();
        } else {
            rtos::entry::interrupt::<K>(line);
        }
    }
}
