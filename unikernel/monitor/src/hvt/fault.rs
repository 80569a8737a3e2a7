//! What the processor does when the guest does what it may not: a few instructions with full rights, which tell the monitor.
//!
//! They and the tables that the processor finds them by lie in the monitor's pages, which the guest cannot read.

use kvm_ioctls::VcpuFd;
use unikernel_abi::PAGE;

use super::tables::Area;
use crate::memory::Memory;
use crate::program::Access;

/// The port by which a fault is told.
pub(super) const PORT: u16 = 0x5ff;

/// The pages, one behind the other.
pub(super) const START: u64 = unikernel_abi::BOOT_END;
pub(super) const SEGMENTS: u64 = START;
pub(super) const GATES: u64 = START + PAGE;
pub(super) const TASK: u64 = START + 2 * PAGE;
const STACK: u64 = START + 3 * PAGE;
const CODE: u64 = START + 4 * PAGE;
const END: u64 = START + 5 * PAGE;

/// Selectors of the segments below: those of the guest with its privilege.
const HANDLER_CODE: u16 = 0x08;
pub(super) const GUEST_CODE: u16 = 0x18 | 3;
pub(super) const GUEST_DATA: u16 = 0x20 | 3;
pub(super) const TASK_SELECTOR: u16 = 0x28;
pub(super) const SEGMENTS_LEN: u16 = 0x38;
/// Faults of the processor.
const VECTORS: u64 = 32;
pub(super) const GATES_LEN: u16 = (VECTORS * 16) as u16;
pub(super) const TASK_LEN: u16 = 104;

/// The bytes from [`START`] on.
pub(super) fn pages() -> Vec<u8> {
    let mut out = vec![0; (END - START) as usize];
    let mut put = |at: u64, bytes: &[u8]| {
        let at = (at - START) as usize;
        out[at..at + bytes.len()].copy_from_slice(bytes);
    };
    // Present, 64 bits; of the handler and of the guest; marked as used, which the processor would do.
    let segments: [u64; 7] = [
        0,
        0x00af_9b00_0000_ffff,
        0x00cf_9300_0000_ffff,
        0x00af_fb00_0000_ffff,
        0x00cf_f300_0000_ffff,
        // The task: its address in four pieces, and that it is in use.
        u64::from(TASK_LEN - 1) | (TASK & 0xff_ffff) << 16 | 0x8b << 40 | (TASK >> 24 & 0xff) << 56,
        TASK >> 32,
    ];
    for (n, segment) in segments.iter().enumerate() {
        put(SEGMENTS + 8 * n as u64, &segment.to_le_bytes());
    }
    let common = CODE + VECTORS * 16;
    for vector in 0..VECTORS {
        let code = CODE + vector * 16;
        let low = code & 0xffff | u64::from(HANDLER_CODE) << 16 | 0x8e << 40 | (code >> 16 & 0xffff) << 48;
        put(GATES + 16 * vector, &low.to_le_bytes());
        put(GATES + 16 * vector + 8, &(code >> 32).to_le_bytes());
        // The processor has pushed an error code for some of them, and for the others a zero is pushed.
        let mut stub = Vec::new();
        if !matches!(vector, 8 | 10..=14 | 17 | 21 | 29 | 30) {
            stub.extend([0x6a, 0]);
        }
        stub.extend([0x6a, vector as u8, 0xe9]);
        let behind = code + stub.len() as u64 + 4;
        stub.extend(((common - behind) as u32).to_le_bytes());
        put(code, &stub);
    }
    // mov dx, PORT; out dx, eax; hlt; and again
    let [low, high] = PORT.to_le_bytes();
    put(common, &[0x66, 0xba, low, high, 0xef, 0xf4, 0xeb, 0xfd]);
    // The stack of the handler, and no bitmap of ports.
    put(TASK + 4, &(STACK + PAGE).to_le_bytes());
    put(TASK + 102, &TASK_LEN.to_le_bytes());
    out
}

/// Where they may be used how, by the processor alone.
pub(super) fn areas() -> [Area; 2] {
    let hidden = |start, end, access| Area { start, end, access, user: false };
    [hidden(START, CODE, Access::Write), hidden(CODE, END, Access::Execute)]
}

/// What was done that may not be done.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) struct Told {
    pub vector: u64,
    pub address: u64,
    pub at: u64,
}

pub(super) fn told(memory: &Memory, vcpu: &VcpuFd) -> Told {
    let stack = vcpu.get_regs().map_or(0, |registers| registers.rsp);
    let address = vcpu.get_sregs().map_or(0, |registers| registers.cr2);
    // The vector, the error code, and where.
    let Some(bytes) = memory.get(stack, 24) else { return Told::default() };
    let word = |n: usize| bytes[8 * n..8 * n + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    Told { vector: word(0), address, at: word(2) }
}
