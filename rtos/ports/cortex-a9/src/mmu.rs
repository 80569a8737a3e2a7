//! The MMU: an identity mapping, with a page at the end of each stack that cannot be touched.
//!
//! The program's memory, the first 4 MiB, is mapped in pages of 4 KiB, cached and shared between processors; the rest
//! is mapped in sections of 1 MiB as device memory.

use core::arch::asm;
use core::cell::UnsafeCell;

pub(crate) const PAGE: usize = 4096;
const SECTION: usize = 1 << 20;
const OWN: usize = 4;

#[repr(C, align(16384))]
struct Sections(UnsafeCell<[u32; 4096]>);
#[repr(C, align(1024))]
struct Pages(UnsafeCell<[[u32; 256]; OWN]>);

// SAFETY: written by processor 0 before any processor uses them.
unsafe impl Sync for Sections {}
// SAFETY: as above.
unsafe impl Sync for Pages {}

static SECTIONS: Sections = Sections(UnsafeCell::new([0; 4096]));
static PAGES: Pages = Pages(UnsafeCell::new([[0; 256]; OWN]));

/// Read and write for privileged code; shareable, normal, write-back and write-allocate.
const MEMORY: u32 = 1 << 10 | 1 << 6 | 1 << 4 | 1 << 3 | 1 << 2 | 1 << 1;
/// A section: read and write for privileged code; device, not executable.
const DEVICE: u32 = 1 << 10 | 1 << 4 | 1 << 2 | 1 << 1;

/// Switches the memory management of this processor on. `stacks` are the lowest addresses of all stacks.
pub(crate) fn enable(processor: usize, stacks: impl Iterator<Item = usize>) {
    if processor == 0 {
        fill(stacks);
    }
    // SAFETY: the tables map everything to where it is, so that what runs goes on. Caches and the TLB hold nothing yet.
    unsafe {
        asm!(
            "mcr p15, 0, {zero}, c8, c7, 0", // TLB
            "mcr p15, 0, {zero}, c7, c5, 0", // instruction cache
            "mcr p15, 0, {table}, c2, c0, 0",
            "mcr p15, 0, {zero}, c2, c0, 2",
            "mcr p15, 0, {client}, c3, c0, 0",
            // This processor takes part in coherency: the SMP bit of ACTLR.
            "mrc p15, 0, {status}, c1, c0, 1",
            "orr {status}, {status}, #0x40",
            "mcr p15, 0, {status}, c1, c0, 1",
            "dsb",
            "isb",
            "mrc p15, 0, {status}, c1, c0, 0",
            "orr {status}, {status}, #0x1000",
            "orr {status}, {status}, #0x0005",
            "mcr p15, 0, {status}, c1, c0, 0",
            "isb",
            zero = in(reg) 0,
            table = in(reg) SECTIONS.0.get() as usize | 0x4a,
            client = in(reg) 1,
            status = out(reg) _,
            options(nostack),
        );
    }
}

fn fill(stacks: impl Iterator<Item = usize>) {
    // SAFETY: processor 0 alone runs, and nothing uses the tables yet.
    unsafe {
        let sections = &mut *SECTIONS.0.get();
        let pages = &mut *PAGES.0.get();
        for (number, section) in sections.iter_mut().enumerate() {
            *section = match pages.get(number) {
                Some(table) => table.as_ptr() as u32 | 1,
                None => (number * SECTION) as u32 | DEVICE,
            };
        }
        for (number, page) in pages.as_flattened_mut().iter_mut().enumerate() {
            *page = (number * PAGE) as u32 | MEMORY;
        }
        for limit in stacks {
            if let Some(page) = pages.as_flattened_mut().get_mut(limit.div_ceil(PAGE)) {
                *page = 0;
            }
        }
    }
}

/// What was accessed when the data abort came.
pub(crate) fn fault_address() -> usize {
    let address: usize;
    // SAFETY: reads a register.
    unsafe { asm!("mrc p15, 0, {}, c6, c0, 0", out(reg) address, options(nomem, nostack, preserves_flags)) };
    address
}
