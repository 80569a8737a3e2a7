//! What the scenarios need of the port: stacks, words, an end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 3072;

/// A line that software raises and nothing else does.
pub const LINE: u32 = 25;

pub use rp2040::terminal::{exit, print};

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("{info}\n"));
    exit(1)
}
