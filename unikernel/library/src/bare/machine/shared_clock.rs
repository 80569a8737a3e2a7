//! The clock that a hypervisor keeps in memory of its guest's (pvclock, as KVM and Xen have it): what the time was at a count of the time
//! stamp counter, and how fast that counts. It is written anew when that changes: when the machine stood still, or goes on elsewhere.

use core::arch::asm;
use core::arch::x86_64::{__cpuid, _rdtsc};

use unikernel_abi::PAGE;
use unikernel_abi::pvclock::Time;

use super::{hypervisor, xen};
use crate::aligned::PageAligned;

/// The bits of KVM's feature leaf, and the registers that it tells of.
const KVM: &[u8; 12] = b"KVMKVMKVM\0\0\0";
const KVM_HAS_CLOCK: u32 = 1 << 3;
const KVM_WALL: u32 = 0x4b56_4d00;
const KVM_TIME: u32 = 0x4b56_4d01;
const KVM_IS_ON: u64 = 1;

/// What the time was when the clock was 0.
#[repr(C)]
#[derive(Clone, Copy)]
struct Wall {
    version: u32,
    seconds: u32,
    nanoseconds: u32,
}

/// A clock, which stays where it is.
#[derive(Clone, Copy)]
pub struct SharedClock {
    time: *const Time,
    wall: *const Wall,
}

impl SharedClock {
    /// The clock of this machine's hypervisor, if it keeps one.
    pub fn find() -> Option<Self> {
        Self::of_xen().or_else(Self::of_kvm).filter(Self::counts)
    }

    fn of_kvm() -> Option<Self> {
        let features = __cpuid(hypervisor::leaf(KVM)? + 1).eax;
        if features & KVM_HAS_CLOCK == 0 {
            return None;
        }
        let page = page();
        let (time, wall) = (page, page + 64);
        // SAFETY: KVM says that it has them; it writes where it is told to, into a page that is nobody else's.
        unsafe {
            write_register(KVM_WALL, wall);
            write_register(KVM_TIME, time | KVM_IS_ON);
        }
        Some(Self { time: time as *const Time, wall: wall as *const Wall })
    }

    fn of_xen() -> Option<Self> {
        /// In its page: that of the first processor, and that of the domain.
        const TIME: u64 = 32;
        const WALL: u64 = 3072;
        let page = xen::is_here().then(page)?;
        xen::share(page).then(|| Self { time: (page + TIME) as *const Time, wall: (page + WALL) as *const Wall })
    }

    /// Whether anybody writes to it.
    fn counts(&self) -> bool {
        let (time, ()) = consistent(self.time, || ());
        time.version > 0 && time.multiplier > 0
    }

    /// Its nanoseconds.
    pub fn monotonic(self) -> i64 {
        let (time, ticks) = consistent(self.time, ticks);
        time.nanoseconds_at(ticks)
    }

    /// Nanoseconds since 1970 when it was 0; 0 if nobody has said.
    pub fn begin(self) -> u64 {
        let (wall, ()) = consistent(self.wall, || ());
        u64::from(wall.seconds) * 1_000_000_000 + u64::from(wall.nanoseconds)
    }
}

/// A page that stays.
fn page() -> u64 {
    let page = PageAligned::new(PAGE as usize);
    let at = page.as_ptr() as u64;
    core::mem::forget(page);
    at
}

/// What lies there, which begins with its version, and what else was looked at while it did.
fn consistent<T: Copy, U>(from: *const T, look: impl Fn() -> U) -> (T, U) {
    let version = from.cast::<u32>();
    loop {
        // SAFETY: the memory is there as long as the program is; the hypervisor writes to it while no instruction of the program runs.
        unsafe {
            let before = version.read_volatile();
            let found = (from.read_volatile(), look());
            if before & 1 == 0 && version.read_volatile() == before {
                return found;
            }
        }
    }
}

/// The processor may look at the counter a little sooner than it is asked to, but not before the clock was written anew: the hypervisor ran
/// in between.
fn ticks() -> u64 {
    // SAFETY: every processor of this kind has the instruction, and the program has all privileges.
    unsafe { _rdtsc() }
}

/// # Safety
/// The processor has that register, and what it does with the value is right.
unsafe fn write_register(register: u32, value: u64) {
    // SAFETY: as promised.
    unsafe {
        asm!("wrmsr", in("ecx") register, in("eax") value as u32, in("edx") (value >> 32) as u32, options(nostack))
    };
}
