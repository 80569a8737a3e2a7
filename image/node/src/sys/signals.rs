//! Signals: which a process does not want, and the one by which a user interrupts it.

use core::sync::atomic::{AtomicBool, Ordering};

use linux_raw_sys::general::{
    __NR_kill, __NR_rt_sigaction, __NR_rt_sigreturn, SA_RESTORER, SA_SIGINFO, SIGINT, SIGPIPE,
};

use super::call::call;
use super::errno::Result;

pub use linux_raw_sys::general::{SIGCHLD, SIGKILL, SIGTERM, SIGUSR1};

static INTERRUPTED: AtomicBool = AtomicBool::new(false);

/// As the kernel takes it, for one word of signals.
#[repr(C)]
struct Action {
    handler: usize,
    flags: usize,
    restorer: usize,
    mask: u64,
}

/// Do nothing when it comes.
const IGNORE: usize = 1;

extern "C" fn interrupt(_: i32) {
    INTERRUPTED.store(true, Ordering::Relaxed);
}

/// Where a handler returns to.
#[cfg(target_arch = "arm")]
#[unsafe(naked)]
unsafe extern "C" fn back() {
    core::arch::naked_asm!("mov r7, #{number}", "svc 0", number = const __NR_rt_sigreturn)
}

/// Where a handler returns to.
#[cfg(target_arch = "x86_64")]
#[unsafe(naked)]
unsafe extern "C" fn back() {
    core::arch::naked_asm!("mov rax, {number}", "syscall", number = const __NR_rt_sigreturn)
}

/// Where a handler returns to.
#[cfg(target_arch = "aarch64")]
#[unsafe(naked)]
unsafe extern "C" fn back() {
    core::arch::naked_asm!("mov x8, #{number}", "svc 0", number = const __NR_rt_sigreturn)
}

fn act(signal: u32, handler: usize) -> Result<()> {
    // With SA_SIGINFO the frame is the one that `rt_sigreturn` takes on every processor; on Arm it is an older one otherwise, and
    // without an MMU the kernel itself falls over what that restores.
    let flags = SA_RESTORER | SA_SIGINFO;
    let action = Action { handler, flags: flags as usize, restorer: back as *const () as usize, mask: 0 };
    // SAFETY: an action of ours, whose handler only stores a flag, and a mask of 8 bytes. The old one is not asked for.
    unsafe { call(__NR_rt_sigaction, [signal as usize, (&raw const action) as usize, 0, 8, 0, 0]) }.map(drop)
}

/// From here on an interruption by the user (Ctrl-C) makes calls that wait return, and is told by [`interrupted`]; a pipe that
/// nobody reads is an error and no end.
pub fn listen() {
    // Both are signals that every Linux has.
    let _ = act(SIGINT, interrupt as *const () as usize);
    let _ = act(SIGPIPE, IGNORE);
}

/// Lets a signal do no more than make calls that wait return.
///
/// # Errors
/// What the kernel said.
#[inline]
pub fn handle(signal: u32) -> Result<()> {
    act(signal, nothing as *const () as usize)
}

extern "C" fn nothing(_: i32) {}

/// Whether the user interrupted, since this was asked last.
pub fn interrupted() -> bool {
    INTERRUPTED.swap(false, Ordering::Relaxed)
}

/// Sends a signal to a process.
///
/// # Errors
/// What the kernel said.
pub fn send(process: usize, signal: u32) -> Result<()> {
    // SAFETY: numbers.
    unsafe { call(__NR_kill, [process, signal as usize, 0, 0, 0, 0]) }.map(drop)
}
