//! The end of a program that cannot go on.

use core::panic::PanicInfo;
use core::sync::atomic::{AtomicBool, Ordering};

use super::exit;

static PANICKED: AtomicBool = AtomicBool::new(false);

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    // A message that panics itself is not told again.
    if !PANICKED.swap(true, Ordering::Relaxed) {
        crate::eprintln!("{info}");
    }
    exit(unikernel_abi::exit::PANIC)
}

/// The library of the language refers to these in code that is never reached: this program does not unwind.
#[unsafe(no_mangle)]
extern "C" fn rust_eh_personality() {}

#[unsafe(no_mangle)]
extern "C" fn _Unwind_Resume() -> ! {
    exit(unikernel_abi::exit::PANIC)
}
