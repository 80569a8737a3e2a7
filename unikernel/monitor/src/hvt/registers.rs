//! The state of the virtual processor when it enters the guest.

use std::mem::ManuallyDrop;
use std::os::fd::FromRawFd as _;

use kvm_bindings::{CpuId, KVM_MAX_CPUID_ENTRIES, kvm_fpu, kvm_regs, kvm_segment};
use kvm_ioctls::{Error, IoEventAddress, Kvm, NoDatamatch, VcpuFd, VmFd};
use unikernel_abi::BOOT;
use vmm_sys_util::eventfd::EventFd;

use super::fault;
use crate::guest::Guest;

/// CR0: protected mode, the coprocessor, its errors, write protection for everybody, paging.
const CR0: u64 = 1 | 1 << 1 | 1 << 4 | 1 << 5 | 1 << 16 | 1 << 31;
/// CR4: long page table entries, vector instructions and their errors.
const CR4: u64 = 1 << 5 | 1 << 9 | 1 << 10;
/// EFER: long mode, on; pages that are not executed.
const EFER: u64 = 1 << 8 | 1 << 10 | 1 << 11;
/// No interrupts, and no ports.
const FLAGS: u64 = 1 << 1;

pub(super) fn set(kvm: &Kvm, vcpu: &VcpuFd, guest: &Guest, tables: u64) -> Result<(), Error> {
    let features: CpuId = kvm.get_supported_cpuid(KVM_MAX_CPUID_ENTRIES)?;
    vcpu.set_cpuid2(&features)?;
    let mut registers = vcpu.get_sregs()?;
    let data = kvm_segment {
        base: 0,
        limit: 0xffff_ffff,
        selector: fault::GUEST_DATA,
        type_: 3,
        present: 1,
        dpl: 3,
        db: 1,
        s: 1,
        g: 1,
        ..kvm_segment::default()
    };
    registers.cs = kvm_segment { selector: fault::GUEST_CODE, type_: 11, db: 0, l: 1, ..data };
    (registers.ds, registers.es, registers.ss) = (data, data, data);
    (registers.fs, registers.gs) = (data, data);
    registers.tr = kvm_segment {
        base: fault::TASK,
        limit: u32::from(fault::TASK_LEN) - 1,
        selector: fault::TASK_SELECTOR,
        type_: 11,
        present: 1,
        ..kvm_segment::default()
    };
    (registers.gdt.base, registers.gdt.limit) = (fault::SEGMENTS, fault::SEGMENTS_LEN - 1);
    (registers.idt.base, registers.idt.limit) = (fault::GATES, fault::GATES_LEN - 1);
    (registers.cr0, registers.cr3, registers.cr4, registers.efer) = (CR0, tables, CR4, EFER);
    vcpu.set_sregs(&registers)?;
    vcpu.set_regs(&kvm_regs {
        rip: guest.program().entry(),
        rsp: guest.stack().start + guest.stack().len,
        rdi: BOOT,
        rflags: FLAGS,
        ..kvm_regs::default()
    })?;
    // As a processor has them after a reset of its floating point unit.
    vcpu.set_fpu(&kvm_fpu { fcw: 0x37f, mxcsr: 0x1f80, ..kvm_fpu::default() })
}

/// A write there tells the event, and the guest goes on.
pub(super) fn tell_at(vm: &VmFd, place: u64, event: i32) -> Result<(), Error> {
    // SAFETY: the descriptor is open, and belongs to whoever gave it: it is forgotten here and not closed.
    let event = ManuallyDrop::new(unsafe { EventFd::from_raw_fd(event) });
    vm.register_ioevent(&event, &IoEventAddress::Mmio(place), NoDatamatch)
}

/// What takes the processor from a guest that would not give it.
const INTERRUPTION: i32 = libc::SIGUSR1;

/// The number of this thread.
pub(super) fn this_thread() -> i32 {
    // SAFETY: it asks for a number.
    unsafe { libc::gettid() }
}

/// Takes the processor from the guest that runs on that thread, once there is one.
pub(super) fn interrupt(thread: i32) {
    if thread != 0 {
        // SAFETY: the call takes three numbers; a thread of that number that has ended is none of this process.
        unsafe { libc::syscall(libc::SYS_tgkill, std::process::id(), thread, INTERRUPTION) };
    }
}

extern "C" fn nothing(_: i32) {}

/// Without a handler the signal would end the monitor.
pub(super) fn catch_interruptions() {
    // SAFETY: the handler does nothing; a call that it interrupts says so, as no restart was asked for.
    unsafe {
        let mut action: libc::sigaction = std::mem::zeroed();
        action.sa_sigaction = nothing as extern "C" fn(i32) as usize;
        libc::sigaction(INTERRUPTION, &action, std::ptr::null_mut());
    }
}
