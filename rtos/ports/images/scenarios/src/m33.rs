//! What the scenarios need of the port: stacks, words, an end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 3072;

pub use cortex_m33::terminal::{exit, print};

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("{info}\n"));
    exit(1)
}
