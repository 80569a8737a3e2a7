//! Memory from the kernel, in whole pages.

use core::ptr::{NonNull, without_provenance_mut};

use linux_raw_sys::general::{__NR_munmap, MAP_ANONYMOUS, MAP_PRIVATE, PROT_READ, PROT_WRITE};

#[cfg(not(target_arch = "arm"))]
use linux_raw_sys::general::__NR_mmap as __NR_MAP;
// Its offset is counted in pages; there is none here.
#[cfg(target_arch = "arm")]
use linux_raw_sys::general::__NR_mmap2 as __NR_MAP;

use super::call::call;
use super::errno::{Errno, Result};

pub const PAGE: usize = 4096;

/// That many bytes, zeroed. Without an MMU they have to be there in one piece.
///
/// # Errors
/// What the kernel said.
pub fn map(bytes: usize) -> Result<NonNull<u8>> {
    let (rights, kind) = (PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS);
    // SAFETY: new memory, of no file, anywhere.
    let at = unsafe { call(__NR_MAP, [0, bytes, rights as usize, kind as usize, usize::MAX, 0]) }?;
    NonNull::new(without_provenance_mut(at)).ok_or(Errno::ENOMEM)
}

/// Gives memory back.
///
/// # Safety
/// It is of [`map`], as long, and not used any more.
pub unsafe fn unmap(at: NonNull<u8>, bytes: usize) {
    // SAFETY: the caller's promise. It cannot fail for memory that is there.
    let _ = unsafe { call(__NR_munmap, [at.as_ptr() as usize, bytes, 0, 0, 0, 0]) };
}
