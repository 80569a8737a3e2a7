//! The trait [`Cores`]: the kernel runs on one of the two processors or on both.

const CPUID: *const u32 = 0xD000_0000 as *const u32;

/// One of the processors, or both.
pub trait Cores: 'static {
    /// How many.
    const NUMBER: usize;
    /// Which of them this is.
    fn processor() -> usize;
}

/// Processor 0. The other one stays in its boot ROM.
pub struct One;

impl Cores for One {
    const NUMBER: usize = 1;

    #[inline(always)]
    fn processor() -> usize {
        0
    }
}

/// Both, which ask the SIO block which they are.
pub struct Both;

impl Cores for Both {
    const NUMBER: usize = 2;

    #[inline(always)]
    fn processor() -> usize {
        // SAFETY: reads a register.
        unsafe { CPUID.read_volatile() as usize }
    }
}
