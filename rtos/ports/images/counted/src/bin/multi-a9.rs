//! Counted on the Cortex-A9: two processors.
#![no_std]
#![no_main]

#[path = "../work.rs"]
mod work;

use cortex_a9::terminal;

const STACK: usize = 16 * 1024;
const LINE: u32 = 60;
type Port = cortex_a9::CortexA9<cortex_a9::boards::RealViewPbxA9>;
type Model = rtos::Multi<2>;

cortex_a9::image!(work::App);
