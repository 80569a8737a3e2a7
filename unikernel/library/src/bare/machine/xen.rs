//! Xen: what a domain asks of it. One that is entered as PVH has it has no ports and no devices but what it asks for: here a console, a
//! clock and an end.

use core::arch::asm;
use core::arch::x86_64::__cpuid;
use core::cell::Cell;
use core::sync::atomic::{Ordering, fence};

use unikernel_abi::PAGE;

use super::hypervisor;

const NAME: &[u8; 12] = b"XenVMMXenVMM";

// Calls, with what they are asked to do.
const MEMORY: u64 = 12;
const PUT: u64 = 7;
const SCHEDULER: u64 = 29;
const YIELD: u64 = 0;
const SHUT_DOWN: u64 = 2;
const EVENTS: u64 = 32;
const SEND: u64 = 4;
const MACHINE: u64 = 34;
const SET: u64 = 0;
const GET: u64 = 1;

/// Whoever asks.
const SELF: u16 = 0x7ff0;
/// Parameters of a domain.
const INTERRUPT: u32 = 0;
const CONSOLE_PAGE: u32 = 17;
const CONSOLE_EVENT: u32 = 18;
/// Why it ends.
const POWER_OFF: u32 = 0;
const CRASH: u32 = 3;
/// A console that takes nothing for so many looks is not there.
const PATIENCE: u32 = 1_000_000;

/// How this processor leaves its guest.
#[derive(Clone, Copy)]
enum Instruction {
    Amd,
    Intel,
}

#[derive(Clone, Copy)]
struct Xen {
    instruction: Instruction,
    console: Option<Console>,
}

#[derive(Clone, Copy)]
struct Console {
    ring: *mut Ring,
    event: u32,
}

/// What is written to it and read from it, as it lies in memory.
#[repr(C)]
struct Ring {
    _input: [u8; 1024],
    output: [u8; 2048],
    _input_taken: u32,
    _input_there: u32,
    /// So many bytes were ever taken, and written.
    taken: u32,
    written: u32,
}

#[repr(C)]
struct Parameter {
    domain: u16,
    index: u32,
    value: u64,
}

/// What was found: nothing yet, or whether it is there.
struct Found(Cell<Option<Option<Xen>>>);

// SAFETY: there is one thread, and nothing interrupts it.
unsafe impl Sync for Found {}

static XEN: Found = Found(Cell::new(None));

fn xen() -> Option<Xen> {
    if XEN.0.get().is_none() {
        XEN.0.set(Some(Xen::find()));
    }
    XEN.0.get().flatten()
}

impl Xen {
    fn find() -> Option<Self> {
        hypervisor::leaf(NAME)?;
        let maker = __cpuid(0);
        let is_amd = [b"Auth", b"Hygo"].iter().any(|begin| maker.ebx == u32::from_le_bytes(**begin));
        let mut xen = Self { instruction: if is_amd { Instruction::Amd } else { Instruction::Intel }, console: None };
        let page = xen.parameter(CONSOLE_PAGE).filter(|page| *page > 0 && *page < (1 << 32) / PAGE);
        let event = xen.parameter(CONSOLE_EVENT);
        xen.console =
            page.zip(event).map(|(page, event)| Console { ring: (page * PAGE) as *mut Ring, event: event as u32 });
        Some(xen)
    }

    /// Its answer, less than 0 if it does not do it. `argument` is what the operation has, in memory.
    fn call<T>(self, number: u64, operation: u64, argument: &mut T) -> i64 {
        let mut answer = number;
        let at = &raw mut *argument;
        // SAFETY: Xen reads and writes the argument, whose form is that of the operation, and nothing else of the program's that it was
        // not given.
        unsafe {
            match self.instruction {
                Instruction::Amd => {
                    asm!("vmmcall", inout("rax") answer, inout("rdi") operation => _, inout("rsi") at => _, options(nostack));
                }
                Instruction::Intel => {
                    asm!("vmcall", inout("rax") answer, inout("rdi") operation => _, inout("rsi") at => _, options(nostack));
                }
            }
        }
        answer as i64
    }

    fn parameter(self, index: u32) -> Option<u64> {
        let mut parameter = Parameter { domain: SELF, index, value: 0 };
        (self.call(MACHINE, GET, &mut parameter) == 0).then_some(parameter.value)
    }
}

/// Whether this is a domain of Xen's.
pub fn is_here() -> bool {
    xen().is_some()
}

/// Writes to the console, if there is one.
pub fn write(text: &[u8]) {
    let Some((xen, console)) = xen().and_then(|xen| Some((xen, xen.console?))) else { return };
    // SAFETY: Xen says that the ring is there; whoever reads from it changes only how much of it was taken.
    unsafe {
        let (taken, written) = (&raw const (*console.ring).taken, &raw mut (*console.ring).written);
        let mut here = written.read_volatile();
        for byte in text {
            let is_full = || here.wrapping_sub(taken.read_volatile()) as usize >= 2048;
            let mut looks = 0;
            while is_full() {
                if looks % 1024 == 0 {
                    xen.call(EVENTS, SEND, &mut { console.event });
                }
                xen.call(SCHEDULER, YIELD, &mut ());
                looks += 1;
                if looks == PATIENCE {
                    return;
                }
            }
            (&raw mut (*console.ring).output).cast::<u8>().add(here as usize % 2048).write_volatile(*byte);
            here = here.wrapping_add(1);
            fence(Ordering::SeqCst);
            written.write_volatile(here);
        }
    }
    xen.call(EVENTS, SEND, &mut { console.event });
}

/// Has Xen share with the program what it keeps of the domain, in this page. False if it does not, or is not there.
pub fn share(page: u64) -> bool {
    #[repr(C)]
    struct Put {
        domain: u16,
        count: u16,
        what: u32,
        number: u64,
        page: u64,
    }
    let Some(xen) = xen() else { return false };
    // It sets the domain's clock when it is told how to interrupt it, which is: not at all.
    xen.call(MACHINE, SET, &mut Parameter { domain: SELF, index: INTERRUPT, value: 0 });
    let mut put = Put { domain: SELF, count: 0, what: 0, number: 0, page: page / PAGE };
    xen.call(MEMORY, PUT, &mut put) == 0
}

/// Ends the domain. Xen has a reason and no code: what is not 0 is a crash, and is said.
pub fn exit(code: u8) {
    let Some(xen) = xen() else { return };
    if code > 0 {
        let digits = [code / 100, code / 10 % 10, code % 10].map(|digit| b'0' + digit);
        let zeros = digits.iter().take(2).take_while(|digit| **digit == b'0').count();
        [b"unikernel: ended with ", &digits[zeros..], b"\n"].into_iter().for_each(write);
    }
    xen.call(SCHEDULER, SHUT_DOWN, &mut { if code == 0 { POWER_OFF } else { CRASH } });
}
