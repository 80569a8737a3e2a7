//! Page tables: code that is only read and executed, constants that are only read, data that is not executed, no page at zero, and none
//! below the stack.

use core::arch::asm;
use core::ops::Range;

use alloc::vec::Vec;
use unikernel_abi::{IMAGE, PAGE};

use crate::aligned::PageAligned;

const LARGE: u64 = 2 << 20;
const PRESENT: u64 = 1;
const WRITABLE: u64 = 2;
const IS_LARGE: u64 = 1 << 7;
const NOT_EXECUTED: u64 = 1 << 63;

unsafe extern "C" {
    /// Where the parts of the program end, as the linker says.
    static unikernel_code_end: u8;
    static unikernel_constants_end: u8;
    static unikernel_end: u8;
    /// The tables that the program was entered with: one of each of the upper kinds, then four that have a word for each 2 MiB.
    static mut unikernel_tables: [u64; 6 * 512];
}

/// The page behind the program.
pub fn image_end() -> u64 {
    (&raw const unikernel_end as u64).next_multiple_of(PAGE)
}

/// Makes the pages what they are for; the one at `missing` is none.
pub fn protect(missing: u64) {
    let [code, constants] = [&raw const unikernel_code_end, &raw const unikernel_constants_end]
        .map(|end| (end as u64).next_multiple_of(PAGE));
    let access = |page: u64| match page {
        0 => 0,
        page if page == missing => 0,
        page if (IMAGE..code).contains(&page) => PRESENT,
        page if (code..constants).contains(&page) => PRESENT | NOT_EXECUTED,
        _ => PRESENT | WRITABLE | NOT_EXECUTED,
    };
    // Where pages differ they are small.
    let all: [Range<u64>; 2] = [0..image_end(), missing..missing + PAGE];
    let mut small: Vec<u64> =
        all.into_iter().flat_map(|Range { start, end }| start / LARGE..end.div_ceil(LARGE)).collect();
    small.dedup();
    let mut words: Vec<u64> =
        (0..4 * 512).map(|n| (n * LARGE) | PRESENT | WRITABLE | IS_LARGE | NOT_EXECUTED).collect();
    for n in small {
        let mut table = PageAligned::new(PAGE as usize);
        for (page, word) in table.chunks_exact_mut(8).enumerate() {
            let at = n * LARGE + page as u64 * PAGE;
            word.copy_from_slice(&(at | access(at)).to_le_bytes());
        }
        words[n as usize] = table.as_ptr() as u64 | PRESENT | WRITABLE;
        core::mem::forget(table);
    }
    // SAFETY: these are the tables that the processor uses, and nobody else changes them. Each word means the same addresses as before, and
    // lets the code that runs here be executed: the processor may look at any of them at any moment.
    unsafe {
        let large = (&raw mut unikernel_tables).cast::<u64>().add(2 * 512);
        for (n, word) in words.into_iter().enumerate() {
            large.add(n).write_volatile(word);
        }
        // Nothing of the old ones is remembered.
        asm!("mov {0}, cr3", "mov cr3, {0}", out(reg) _, options(nostack));
    }
}
