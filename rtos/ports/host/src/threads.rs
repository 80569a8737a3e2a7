//! The threads that stand for processors: how each begins, and the CPU that it is kept on.

use core::sync::atomic::Ordering;

use crate::machine::{machine, program};
use crate::{memory, timer};

/// Makes this thread the processor of that number, locked.
pub(crate) fn enter(number: usize) {
    const ARCH_SET_GS: libc::c_int = 0x1001;
    let machine = machine(number);
    machine.myself.store(std::ptr::from_ref(machine) as usize, Ordering::Relaxed);
    machine.number.store(number as u32, Ordering::Relaxed);
    // SAFETY: `gs` is used for nothing else on x86-64, and points to a static from now on.
    let set = unsafe { libc::syscall(libc::SYS_arch_prctl, ARCH_SET_GS, std::ptr::from_ref(machine)) };
    assert!(set == 0, "the system does not let this thread set its gs register: {}", std::io::Error::last_os_error());
    keep_on_cpu(number, &program().cpus);
    memory::alternate_stack();
    // SAFETY: asks for the thread's number.
    let thread = unsafe { libc::syscall(libc::SYS_gettid) } as i32;
    timer::make(machine, thread);
    machine.thread.store(thread, Ordering::Release);
}

/// The CPUs that the process may use, as they are before its first thread keeps to one of them: the others inherit that.
pub(crate) fn allowed_cpus() -> Vec<usize> {
    // SAFETY: the set is plain data of the right size.
    unsafe {
        let mut allowed: libc::cpu_set_t = std::mem::zeroed();
        if libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &mut allowed) != 0 {
            return Vec::new();
        }
        (0..libc::CPU_SETSIZE as usize).filter(|&cpu| libc::CPU_ISSET(cpu, &allowed)).collect()
    }
}

/// Keeps this thread on the CPU of that place among those, if there are so many; otherwise on any of them.
fn keep_on_cpu(number: usize, allowed: &[usize]) {
    let kept = allowed.get(number).map_or(allowed, std::slice::from_ref);
    if kept.is_empty() {
        return;
    }
    // SAFETY: the set is plain data of the right size.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        for &cpu in kept {
            libc::CPU_SET(cpu, &mut set);
        }
        libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), &set);
    }
}

/// Starts the thread that is to be the processor of that number.
pub(crate) fn start_processor(number: usize) {
    std::thread::spawn(move || {
        enter(number);
        // SAFETY: the thread is that processor, locked, and `start` calls this when everything is ready.
        unsafe { (program().begin)() }
    });
    // What is meant for it from now on waits until it has begun.
}

/// Runs something that is none of the kernel's on the CPU of the processor of that number, beside it. To be called before
/// the kernel runs.
pub fn beside(processor: usize, work: impl FnOnce() + Send + 'static) {
    let allowed = allowed_cpus();
    std::thread::spawn(move || {
        keep_on_cpu(processor, &allowed);
        work();
    });
}
