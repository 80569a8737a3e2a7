//! A machine of somebody else's: QEMU, Firecracker, cloud-hypervisor, Xen. It enters the program as PVH has it, and has a serial port and
//! virtio devices; a domain of Xen's has what Xen gives it, and no devices.
//!
//! The program has the processor to itself here, with all privileges: what guards it are page tables that it makes itself.

mod clock;
mod console;
mod entry;
mod fault;
mod hypervisor;
mod port;
mod pvh;
mod shared_clock;
mod tables;
mod virtio;
mod xen;

pub use clock::{monotonic, wall};
pub use console::write as console_write;
pub use virtio::{flush, read, write};

/// Where a monitor that is ours reads the exit code.
const CODE: u16 = 0xea;
/// What ends QEMU.
const END: u16 = 0xf4;
/// The keyboard's controller, which can reset the machine; Firecracker ends then.
const KEYBOARD: u16 = 0x64;
const RESET: u8 = 0xfe;

pub fn exit(code: u8) -> ! {
    xen::exit(code);
    port::write_8(CODE, code);
    port::write_32(END, 0);
    port::write_8(KEYBOARD, RESET);
    loop {
        // SAFETY: nothing interrupts it, so that the machine stands still, which is what is left.
        unsafe { core::arch::asm!("cli", "hlt", options(nomem, nostack)) }
    }
}
