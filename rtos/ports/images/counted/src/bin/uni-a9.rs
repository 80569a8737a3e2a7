//! Counted on the Cortex-A9: one processor.
#![no_std]
#![no_main]

#[path = "../work.rs"]
mod work;

use cortex_a9::terminal;

const STACK: usize = 16 * 1024;
const LINE: u32 = 60;
type Port = cortex_a9::CortexA9<cortex_a9::boards::Zynq7000>;
type Model = rtos::Uni;

cortex_a9::image!(work::App);
