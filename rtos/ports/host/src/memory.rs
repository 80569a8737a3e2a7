//! Memory faults: a guard page at the end of each stack, and the signals of a touched guard page or of an instruction
//! that cannot be executed.

use std::io;

use crate::machine::{lock, program, signal, this};
use crate::terminal::print;

const PAGE: usize = 4096;

/// Makes the lowest whole page of each stack one that cannot be touched.
pub(crate) fn guard(stacks: impl Iterator<Item = (usize, usize)>) {
    for (limit, _) in stacks {
        let page = limit.next_multiple_of(PAGE);
        // SAFETY: the page lies in a stack, which is larger than two pages, and the kernel knows that this part is lost.
        let done = unsafe { libc::mprotect(page as *mut libc::c_void, PAGE, libc::PROT_NONE) };
        assert!(done == 0, "cannot guard a stack: {}", io::Error::last_os_error());
    }
    for signal in [libc::SIGSEGV, libc::SIGBUS, libc::SIGILL, libc::SIGFPE, libc::SIGTRAP] {
        // SAFETY: the handler is for such signals, and runs on the stack that `alternate_stack` gives each thread.
        unsafe {
            let mut action: libc::sigaction = std::mem::zeroed();
            action.sa_sigaction = on_fault as *const () as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            // What comes meanwhile is taken afterwards, on the stack that it belongs to.
            libc::sigfillset(&mut action.sa_mask);
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

extern "C" fn on_fault(number: i32, info: *mut libc::siginfo_t, context: *mut libc::c_void) {
    // SAFETY: the system has given what is known of the fault.
    let address = unsafe { (*info).si_addr() } as usize;
    let in_memory = [libc::SIGSEGV, libc::SIGBUS].contains(&number);
    // SAFETY: the system has given the context of the code at fault.
    let interruptible = unsafe { libc::sigismember(&(*context.cast::<libc::ucontext_t>()).uc_sigmask, signal()) == 0 };
    let owner = (program().owner_of)(address).filter(|_| in_memory);
    let to_kernel = owner.is_none() && interruptible && (program().handles)(number as u32);
    if to_kernel {
        // The signal is taken as soon as this handler is left, before the instruction is tried again, and on the stack of the code at
        // fault.
        return this().raise(number);
    }
    // So that printing lets nothing in, which would then go on in the place of the end.
    lock();
    match owner {
        Some(owner) => print(format_args!("fatal: the stack of {owner} overflowed at {address:#x}\n")),
        None => print(format_args!("fatal: signal {number} at address {address:#x}\n")),
    }
    // SAFETY: ends the process, from a signal's handler.
    unsafe { libc::_exit(1) };
}
