//! The lowest address down to which the stack of this thread may be used.
//!
//! The stacks of a VM are small: 1 MiB for a scheduler, 320 KiB for a dirty one, less where the command line says so.

/// What is left for whoever is called last: the VM's functions, the allocator, a panic and its backtrace.
const RESERVE: usize = 64 * 1024;

/// The lowest address to which recursion may go on this thread; 0 where the system does not tell.
#[cold]
pub(crate) fn lowest() -> usize {
    bottom().map_or(0, |bottom| bottom + RESERVE)
}

#[cfg(any(target_os = "linux", target_os = "android"))]
fn bottom() -> Option<usize> {
    // SAFETY: an all-zero value is valid memory for the call to fill; what it filled is destroyed once.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        if libc::pthread_getattr_np(libc::pthread_self(), &raw mut attributes) != 0 {
            return None;
        }
        let (mut bottom, mut size) = (std::ptr::null_mut(), 0);
        let known = libc::pthread_attr_getstack(&raw const attributes, &raw mut bottom, &raw mut size) == 0;
        libc::pthread_attr_destroy(&raw mut attributes);
        known.then_some(bottom as usize)
    }
}

#[cfg(target_vendor = "apple")]
fn bottom() -> Option<usize> {
    // SAFETY: both read what the thread knows of itself; the address is that of the upper end.
    unsafe {
        let this = libc::pthread_self();
        Some(libc::pthread_get_stackaddr_np(this) as usize - libc::pthread_get_stacksize_np(this))
    }
}

#[cfg(not(any(target_os = "linux", target_os = "android", target_vendor = "apple")))]
fn bottom() -> Option<usize> {
    None
}
