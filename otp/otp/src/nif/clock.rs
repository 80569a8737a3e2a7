//! The kernel's clock that only goes forwards, which is the same to all builds in a VM.

/// Its nanoseconds (`CLOCK_MONOTONIC`).
pub(crate) fn clock() -> i64 {
    // SAFETY: all zeroes are a value of it, and there is room for one.
    let time = unsafe {
        let mut time: libc::timespec = std::mem::zeroed();
        libc::clock_gettime(libc::CLOCK_MONOTONIC, &raw mut time);
        time
    };
    let (seconds, rest): (i64, i64) = (time.tv_sec as _, time.tv_nsec as _);
    seconds * 1_000_000_000 + rest
}
