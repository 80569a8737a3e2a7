//! Stacks: a guard page at the end of each, and what happens when one is touched.

use std::io;

use crate::machine::program;

const PAGE: usize = 4096;

/// Makes the lowest whole page of each stack one that cannot be touched.
pub(crate) fn guard(stacks: impl Iterator<Item = (usize, usize)>) {
    for (limit, _) in stacks {
        let page = limit.next_multiple_of(PAGE);
        // SAFETY: the page lies in a stack, which is larger than two pages, and the kernel knows that this part is lost.
        let done = unsafe { libc::mprotect(page as *mut libc::c_void, PAGE, libc::PROT_NONE) };
        assert!(done == 0, "cannot guard a stack: {}", io::Error::last_os_error());
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS] {
        // SAFETY: the handler is for such signals, and runs on the stack that `alternate_stack` gives each thread.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            libc::sigaction(signal, &action, std::ptr::null_mut());
        }
    }
}

/// Gives this thread a stack for faults, which stays.
pub(crate) fn alternate_stack() {
    const SIZE: usize = 64 * 1024;
    let memory = Vec::leak(vec![0u8; SIZE]);
    let stack = libc::stack_t { ss_sp: memory.as_mut_ptr().cast(), ss_flags: 0, ss_size: SIZE };
    // SAFETY: the memory is never freed.
    let done = unsafe { libc::sigaltstack(&stack, std::ptr::null_mut()) };
    assert!(done == 0, "cannot give this thread a stack for faults: {}", io::Error::last_os_error());
}

extern "C" fn on_fault(_: i32, info: *mut libc::siginfo_t, _: *mut libc::c_void) {
    // SAFETY: the system has given what is known of the fault.
    let address = unsafe { (*info).si_addr() } as usize;
    match (program().task_of)(address) {
        Some(task) => crate::print(format_args!("fatal: the stack of task {task} overflowed at {address:#x}\n")),
        None => crate::print(format_args!("fatal: a fault at address {address:#x}\n")),
    }
    // SAFETY: ends the process, from a signal's handler.
    unsafe { libc::_exit(1) };
}
