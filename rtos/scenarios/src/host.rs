//! What the scenarios need of the port: stacks, words, an end.

/// The size of a stack on which a scenario can print.
pub const STACK: usize = 64 * 1024;

/// A line that software raises and nothing else does.
pub const LINE: u32 = 20;

pub use rtos_host::print;

/// Ends the program.
pub fn exit(status: u32) -> ! {
    std::process::exit(status as i32)
}
