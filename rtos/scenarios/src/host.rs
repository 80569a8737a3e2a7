//! The scenarios' interface to the host port: stack sizes, an interrupt line, an exception, printing, the end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 64 * 1024;

/// The size of the stack that a handler runs on here: that of the task which it interrupts, or of the idle task.
pub const HANDLERS: usize = 64 * 1024;

/// A line that software raises and nothing else does.
pub const LINE: u32 = 20;

/// The exception of [`trap`]: SIGILL.
pub const EXCEPTION: u32 = 4;

/// How long its instruction is.
pub const TRAP_SIZE: usize = 2;

/// An instruction that cannot be done.
#[unsafe(naked)]
pub extern "C" fn trap() {
    core::arch::naked_asm!("ud2", "ret")
}

pub use rtos_host::print;

/// Ends the program.
pub fn exit(status: u32) -> ! {
    std::process::exit(status as i32)
}
