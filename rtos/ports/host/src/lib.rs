//! The port to Linux on x86-64: the kernel as a process.
//!
//! - A processor is a thread, kept on a CPU of its own if there are enough. A thread finds its own data through its
//!   `gs` register, so that no pointer to them outlives the migration of a task to another thread.
//! - An interrupt is a signal to that thread. While the processor is locked the signal's handler only notes the
//!   interrupt, and unlocking takes it: locking costs two instructions and no system call.
//! - The handler runs on the stack of the task that it interrupts, and a task that is preempted stays inside the
//!   handler. Signals are blocked only while the system enters the handler and leaves it, so that they do not pile up
//!   on a stack; otherwise the processor's mask decides which interrupts are taken.
//! - The timer is a POSIX timer that signals the thread; the time is CLOCK_MONOTONIC.
//!
//! A task can be preempted anywhere, in the C library too. Work that is not safe in a signal handler, such as
//! allocating or printing, is done by one task at a time or with the processor locked; [`print()`] does the latter.

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
mod terminal;
mod threads;
mod timer;

use std::fmt;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::Instant;

use rtos::port::{Lock, Port};
use rtos::{Kernel, Raised};

use machine::{PROGRAM, Program};

pub use interrupts::Signals;
pub use switch::Stacks;
pub use terminal::{print, read, write};
pub use threads::beside;

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
        interrupts::unlock(mask);
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
        threads::start_processor(processor);
    }

    fn interrupt(processor: usize) {
        interrupts::raise_on(processor, interrupts::MAILBOX);
    }

    #[inline(always)]
    fn now() -> u32 {
        timer::now()
    }

    fn alarm(after: u32) {
        timer::alarm(after);
    }

    const LOWEST_INTERRUPT_MASK: i32 = interrupts::HIGHEST;

    fn mask_interrupts(priority: i32) -> u8 {
        interrupts::level(priority)
    }

    fn print(what: fmt::Arguments<'_>) {
        print(what);
    }

    fn exit(status: u32) -> ! {
        terminal::exit(status)
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

/// Runs a kernel in this process, whose main thread becomes processor 0.
pub fn run<K: Kernel<Port = Host>>() -> ! {
    let program = Program {
        begin: rtos::entry::begin::<K>,
        preempt: rtos::entry::preempt::<K>,
        serve: serve::<K>,
        exception: exception::<K>,
        handles: |number| K::exceptions().iter().any(|exception| exception.number() == number),
        owner_of: rtos::entry::owner_of::<K>,
        interrupts: K::interrupts(),
        start: Instant::now(),
        cpus: threads::allowed_cpus(),
    };
    assert!(PROGRAM.set(program).is_ok(), "a process runs one kernel");
    memory::guard(rtos::entry::stacks::<K>());
    interrupts::install();
    threads::enter(0);
    // SAFETY: this is processor 0, locked, and there is no other yet.
    unsafe { rtos::entry::start::<K>() }
}

/// The service of a line, in the kernel that runs.
fn serve<K: Kernel>(line: u32) {
    match line {
        interrupts::TIMER => rtos::entry::tick::<K>(),
        interrupts::MAILBOX => rtos::entry::interrupted::<K>(),
        _ => rtos::entry::interrupt::<K>(line),
    }
}

/// Calls the handler of a CPU exception, or ends the process if there is none.
fn exception<K: Kernel>(raised: Raised) {
    let number = raised.number();
    if !rtos::entry::exception::<K>(raised) {
        print(format_args!("fatal: signal {number}, which nobody handles on this processor\n"));
        // SAFETY: ends the process, from a signal's handler.
        unsafe { libc::_exit(1) };
    }
}
