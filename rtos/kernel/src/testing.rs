//! Kernels for unit tests: a port without a machine, and a few tasks whose queues are tested by themselves. They are
//! never started.

use core::fmt;

use crate::base::cell::Held;
use crate::base::context::{InTask, Shared};
use crate::base::port::{Lines, Lock, Next, Port, Saved, Stacks};

/// No machine.
pub struct Nothing;

impl Lock for Nothing {
    const FREE: Self = Nothing;

    fn try_acquire(&self) -> bool {
        true
    }

    fn release(&self) {}
}

impl Lines for Nothing {
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

// SAFETY: no kernel is started with it.
unsafe impl Port for Nothing {
    const MINIMUM_STACK: usize = 16;
    const IDLE_STACK: usize = 16;
    const STACK_ALIGNMENT: usize = 16;
    const PROCESSORS: usize = 1;
    type Mask = ();
    type Giant = Nothing;
    type Lock = Nothing;
    type Stacks = Nothing;
    type Lines = Nothing;
    const LOWEST_INTERRUPT_MASK: i32 = -1;

    fn lock() {}
    unsafe fn unlock((): ()) {}
    fn was_locked((): ()) -> bool {
        false
    }
    fn unlocked() {}
    fn in_task() -> bool {
        true
    }
    fn processor() -> usize {
        0
    }
    fn request_dispatch() {}
    fn idle() {}
    fn start_processor(_: usize) {}
    fn interrupt(_: usize) {}
    fn now() -> u32 {
        0
    }
    fn alarm(_: u32) {}
    fn mask_interrupts(_: i32) {}
    fn print(_: fmt::Arguments<'_>) {}
    fn exit(_: u32) -> ! {
        unreachable!("no kernel is started")
    }
}

// SAFETY: as above.
unsafe impl Stacks for Nothing {
    unsafe fn prepare(_: &Saved) {}
    unsafe extern "C-unwind" fn switch(_: &Saved, _: &Saved) {}
    unsafe extern "C-unwind" fn leave(_: Option<&Saved>, _: &Saved, _: Next, _: *const ()) {}
    unsafe extern "C-unwind" fn resume(_: &Saved) -> ! {
        unreachable!("no kernel is started")
    }
}

/// A kernel of its own for each test, because its tasks are statics.
macro_rules! kernel {
    ($name:ident) => {
        crate::kernel! {
            pub struct $name: Kernel<Port = Nothing, Model = crate::Uni>;
            tasks {
                T1: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
                T2: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
                T3: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
                T4: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
                T5: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
                T6: Shared = Task::create(|_: InTask<Shared>| ()).stack(16);
            }
        }
    };
}

pub(crate) mod kernels {
    //! One for each test.
    use super::*;

    macro_rules! kernels {
        ($($module:ident: $name:ident),*) => {
            $(mod $module {
                use super::*;
                kernel!($name);
            }
            pub(crate) use $module::$name;)*
        };
    }

    kernels!(ready: OfReady, removals: OfRemovals, sequences: OfSequences);
}

/// The proof that nobody else uses a test's own kernel.
pub(crate) fn held() -> Held<'static> {
    // SAFETY: the kernel is that of one test, which is one thread.
    unsafe { Held::assume() }
}
