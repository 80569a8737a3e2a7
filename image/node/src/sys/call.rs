//! The instruction that enters the kernel, and what comes back.

use core::arch::asm;

use super::errno::Errno;

/// What a call is given, as many as there are; the rest is not looked at.
pub type Arguments = [usize; 6];

/// The largest number of an error; the kernel returns it negative.
const LAST_ERROR: isize = 4095;

/// Calls the kernel.
///
/// # Safety
/// The arguments are what the call of that number takes: pointers among them point to memory that it may read or write as it does.
///
/// # Errors
/// What the kernel said.
// Numbers that are known where it is called are not put to memory first.
#[inline(always)]
pub unsafe fn call(number: u32, arguments: Arguments) -> Result<usize, Errno> {
    // SAFETY: the caller promises that the arguments fit the number.
    let result = unsafe { enter(number as usize, arguments) };
    if (-LAST_ERROR..0).contains(&result) { Err(Errno(-result as u32)) } else { Ok(result as usize) }
}

/// The number stands in r7, which the compiler keeps for itself: it is put back.
///
/// # Safety
/// See [`call`].
#[cfg(target_arch = "arm")]
#[inline(always)]
unsafe fn enter(number: usize, [a, b, c, d, e, f]: Arguments) -> isize {
    let result: isize;
    // SAFETY: the kernel changes r0 alone, and the memory that the caller answers for.
    unsafe {
        asm!(
            "mov {kept}, r7",
            "mov r7, {number}",
            "svc 0",
            "mov r7, {kept}",
            kept = out(reg) _,
            number = in(reg) number,
            inlateout("r0") a => result,
            in("r1") b,
            in("r2") c,
            in("r3") d,
            in("r4") e,
            in("r5") f,
            options(nostack, preserves_flags)
        );
    }
    result
}

/// # Safety
/// See [`call`].
#[cfg(target_arch = "x86_64")]
#[inline(always)]
unsafe fn enter(number: usize, [a, b, c, d, e, f]: Arguments) -> isize {
    let result: isize;
    // SAFETY: the kernel changes rax, rcx and r11 alone, and the memory that the caller answers for.
    unsafe {
        asm!(
            "syscall",
            inlateout("rax") number as isize => result,
            in("rdi") a,
            in("rsi") b,
            in("rdx") c,
            in("r10") d,
            in("r8") e,
            in("r9") f,
            lateout("rcx") _,
            lateout("r11") _,
            options(nostack, preserves_flags)
        );
    }
    result
}

/// # Safety
/// See [`call`].
#[cfg(target_arch = "aarch64")]
#[inline(always)]
unsafe fn enter(number: usize, [a, b, c, d, e, f]: Arguments) -> isize {
    let result: isize;
    // SAFETY: the kernel changes x0 alone, and the memory that the caller answers for.
    unsafe {
        asm!(
            "svc 0",
            in("x8") number,
            inlateout("x0") a as isize => result,
            in("x1") b,
            in("x2") c,
            in("x3") d,
            in("x4") e,
            in("x5") f,
            options(nostack, preserves_flags)
        );
    }
    result
}
