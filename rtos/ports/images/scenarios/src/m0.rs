//! The scenarios' interface to the RP2040 port: stack sizes, an interrupt line, an exception, printing, the end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 3072;

/// The size of the stack of handlers.
pub const HANDLERS: usize = 4 * 1024;

/// A line that software raises and nothing else does.
pub const LINE: u32 = 25;

/// The exception of [`trap`]: HardFault.
pub const EXCEPTION: u32 = 3;

/// How long its instruction is.
pub const TRAP_SIZE: usize = 2;

/// An instruction that cannot be done.
#[unsafe(naked)]
pub extern "C" fn trap() {
    core::arch::naked_asm!("udf #0", "bx lr")
}

pub use rp2040::terminal::{exit, print};

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("{info}\n"));
    exit(1)
}
