//! The kernel as a Linux process on x86-64.
//!
//! - A processor is a thread, kept on a CPU of its own if there are enough. What a thread knows of itself is where its
//!   `gs` register points, so that no pointer to it outlives the migration of a task to another thread.
//! - An interrupt is a signal to that thread. While the processor is locked the signal's handler only notes the interrupt,
//!   and unlocking takes it: locking costs two instructions and no system call.
//! - The handler runs on the stack of the task that it interrupts, and a task that is preempted stays inside it. Signals
//!   are blocked only while the system enters the handler and leaves it, so that they do not pile up on a stack; else
//!   the processor's mask decides what is taken.
//! - The timer is a POSIX timer that signals the thread; the time is CLOCK_MONOTONIC.
//!
//! A task can be preempted anywhere, in the C library too. What is not safe in a signal handler, such as allocating or
//! printing, is done by one task at a time or with the processor locked; [`print()`] does that.

//! # What cannot be does not compile
//!
//! A kernel, as it should be:
//!
//! ```
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Multi<2>>;
//!     tasks {
//!         MAIN: rtos::Shared = Task::create(|cx| { let _ = OWN.sig(rtos::Anywhere); let _ = MAIN.act(cx); }).priority(3).stack(65536);
//!     }
//!     semaphores {
//!         OWN: rtos::Pinned<1> = Semaphore::create(0, 1);
//!     }
//! }
//! ```
//!
//! A stack that is smaller than what the port needs:
//!
//! ```compile_fail
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Uni>;
//!     tasks {
//!         MAIN: rtos::Shared = Task::create(|_| ()).priority(3).stack(512);
//!     }
//! }
//! ```
//!
//! A processor that the kernel does not have, or that the class does not allow:
//!
//! ```compile_fail
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Multi<2>>;
//!     tasks {
//!         MAIN: rtos::Pinned<2> = Task::create(|_| ()).priority(3).stack(65536);
//!     }
//! }
//! ```
//!
//! ```compile_fail
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Multi<2>>;
//!     tasks {
//!         MAIN: rtos::Shared = Task::create(|_| ()).priority(3).stack(65536).only_on(0b10).on(0);
//!     }
//! }
//! ```
//!
//! A name twice:
//!
//! ```compile_fail
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Uni>;
//!     semaphores {
//!         SAME: rtos::Shared = Semaphore::create(0, 1);
//!     }
//!     event_flags {
//!         SAME: rtos::Shared = EventFlag::create(0);
//!     }
//! }
//! ```
//!
//! An object that is pinned to one processor, in a task of another:
//!
//! ```compile_fail
//! rtos::kernel! {
//!     pub struct App: Kernel<Port = rtos_host::Host, Model = rtos::Multi<2>>;
//!     tasks {
//!         MAIN: rtos::Pinned<0> = Task::create(|cx| { let _ = OWN.sig(cx); }).priority(3).stack(65536);
//!     }
//!     semaphores {
//!         OWN: rtos::Pinned<1> = Semaphore::create(0, 1);
//!     }
//! }
//! fn main() { rtos_host::run::<App>() }
//! ```
//!
//! A service of a handler that may not wait is E_CTX at run time; a task that names what there is not does not compile, as
//! names are Rust's.

#[cfg(not(all(target_os = "linux", target_arch = "x86_64")))]
compile_error!("the host port runs on Linux on x86-64");

mod interrupts;
mod machine;
mod memory;
mod switch;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};

use rtos::port::{Lock, Port};

pub use interrupts::Signals;
pub use machine::{beside, print, read, run};
pub use switch::Stacks;

/// A Linux process.
pub struct Host;

// SAFETY: each function does what the trait says; see there, and the modules.
unsafe impl Port for Host {
    /// A signal's frame with all vector registers, twice, a guard page, and room for the C library.
    const MINIMUM_STACK: usize = 32 * 1024;
    const IDLE_STACK: usize = 64 * 1024;
    const STACK_ALIGNMENT: usize = 16;
    const PROCESSORS: usize = machine::MOST;
    type Mask = u8;
    type Giant = Flag;
    type Lock = Flag;
    type Stacks = Stacks;
    type Lines = Signals;

    #[inline(always)]
    fn lock() -> u8 {
        machine::lock()
    }

    #[inline(always)]
    unsafe fn unlock(mask: u8) {
        machine::unlock(mask);
    }

    #[inline(always)]
    fn was_locked(mask: u8) -> bool {
        mask == machine::LOCKED
    }

    #[inline(always)]
    fn unlocked() -> u8 {
        0
    }

    #[inline(always)]
    fn in_task() -> bool {
        machine::depth() == 0
    }

    #[inline(always)]
    fn processor() -> usize {
        machine::number()
    }

    /// The last handler that is left always looks.
    #[inline(always)]
    fn request_dispatch() {}

    fn idle() {
        // SAFETY: waits for a signal. One that came before has done its work, and what is ready then runs already.
        unsafe { libc::pause() };
    }

    fn start_processor(processor: usize) {
        machine::start_processor(processor);
    }

    fn interrupt(processor: usize) {
        interrupts::raise_on(processor, interrupts::MAILBOX);
    }

    #[inline(always)]
    fn now() -> u32 {
        machine::now()
    }

    fn alarm(after: u32) {
        machine::alarm(after);
    }

    const LOWEST_INTERRUPT_MASK: i32 = interrupts::HIGHEST;

    fn mask_interrupts(priority: i32) -> u8 {
        interrupts::level(priority)
    }

    fn print(what: fmt::Arguments<'_>) {
        print(what);
    }

    fn exit(status: u32) -> ! {
        // SAFETY: ends the process, whatever its threads are in.
        unsafe { libc::_exit(status as i32) }
    }
}

/// A lock between processors: a flag that is set while it is taken.
pub struct Flag(AtomicBool);

impl Lock for Flag {
    const FREE: Self = Flag(AtomicBool::new(false));

    #[inline(always)]
    fn try_acquire(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)
    }

    #[inline(always)]
    fn release(&self) {
        self.0.store(false, Ordering::Release);
    }
}
