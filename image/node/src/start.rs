//! The start of a program that nobody has put in place: its addresses are corrected for where it lies, then its words are read.

use alloc::vec::Vec;
use core::ffi::{CStr, c_char};
use core::panic::PanicInfo;

use crate::sys::process;

/// Declares the function that a program begins with, which takes its words and returns its status.
#[macro_export]
macro_rules! main {
    ($function:path) => {
        #[unsafe(no_mangle)]
        extern "C" fn node_main(words: &[&str]) -> i32 {
            $function(words)
        }
    };
}

#[allow(improper_ctypes, reason = "both sides are of one compiler")]
unsafe extern "C" {
    /// Of [`main`](macro@main).
    fn node_main(words: &[&str]) -> i32;
}

/// The kernel begins here, with the number of words on the stack and their addresses behind it.
///
/// The linker has noted each word of the program that holds an address (R_ARM_RELATIVE, 23), and says in `_DYNAMIC` where these notes are
/// (DT_REL, 17) and of how many bytes (DT_RELSZ, 18): where the program lies is added to each. Until that is done nothing may be used that
/// holds an address.
#[cfg(target_arch = "arm")]
#[unsafe(naked)]
#[unsafe(no_mangle)]
unsafe extern "C" fn _start() -> ! {
    core::arch::naked_asm!(
        "adr r4, 1f",
        "ldr r5, [r4, #4]",
        "ldr r6, [r4]",
        "adds r5, r5, r4",         // _DYNAMIC
        "adds r4, r4, r6",         // where the program lies, which was linked for 0
        "movs r6, #0",
        "movs r7, #0",
        "2:",
        "ldmia r5!, {{r0, r1}}",
        "cmp r0, #17",
        "it eq",
        "addeq r6, r1, r4",        // the first note
        "cmp r0, #18",
        "it eq",
        "moveq r7, r1",            // the bytes of all
        "cmp r0, #0",
        "bne 2b",
        "adds r7, r7, r6",
        "3:",
        "cmp r6, r7",
        "bhs 4f",
        "ldmia r6!, {{r0, r1}}",   // where, and of which kind
        "cmp r1, #23",
        "bne 3b",
        "ldr r2, [r0, r4]",
        "adds r2, r2, r4",
        "str r2, [r0, r4]",
        "b 3b",
        "4:",
        "mov r0, sp",
        "bl {begin}",
        ".balign 4",
        "1:",
        ".word __ehdr_start - 1b",
        ".word _DYNAMIC - 1b",
        begin = sym begin,
    )
}

extern "C" fn begin(stack: *const usize) -> ! {
    // SAFETY: the kernel puts the number of words there, and behind it as many addresses of texts, which stay as long as the process does.
    let words: Vec<&str> = unsafe {
        let given = core::slice::from_raw_parts(stack.add(1).cast::<*const c_char>(), *stack);
        given.iter().map(|word| CStr::from_ptr(*word).to_str().unwrap_or("?")).collect()
    };
    // SAFETY: the program declares it with `main!`.
    process::exit(unsafe { node_main(&words) })
}

#[panic_handler]
fn panic(info: &PanicInfo<'_>) -> ! {
    crate::eprintln!("{info}");
    process::exit(101)
}
