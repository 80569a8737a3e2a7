//! The boards: Zynq-7000 and RealView PBX-A9.

/// What a board has around its processors.
pub trait Board: 'static {
    /// How many processors it has.
    const PROCESSORS: usize;
    /// Where the private peripherals of the Cortex-A9 MPCore are: interrupt controller and timers.
    const PERIPHERALS: usize;
}

/// Xilinx's Zynq-7000, of which the emulator has one processor.
pub struct Zynq7000;

impl Board for Zynq7000 {
    const PROCESSORS: usize = 1;
    const PERIPHERALS: usize = 0xF8F0_0000;
}

/// Arm's RealView PBX-A9, with two processors.
pub struct RealViewPbxA9;

impl Board for RealViewPbxA9 {
    const PROCESSORS: usize = 2;
    const PERIPHERALS: usize = 0x1F00_0000;
}
