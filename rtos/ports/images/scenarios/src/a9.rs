//! The scenarios' interface to the Cortex-A9 port: stack sizes, an interrupt line, an exception, printing, the end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 16 * 1024;

/// The size of the stack of handlers.
pub const HANDLERS: usize = 8 * 1024;

/// A line that software raises and nothing else does.
pub const LINE: u32 = 60;

/// The exception of [`trap`]: undefined instruction.
pub const EXCEPTION: u32 = 0;

/// How long its instruction is.
pub const TRAP_SIZE: usize = 4;

/// An instruction that cannot be done.
#[unsafe(naked)]
pub extern "C" fn trap() {
    core::arch::naked_asm!("udf #0", "bx lr")
}

pub use cortex_a9::terminal::{exit, print};

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("{info}\n"));
    exit(1)
}
