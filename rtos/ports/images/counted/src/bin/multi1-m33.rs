//! Counted on the Cortex-M33: the machinery for several processors on one.
#![no_std]
#![no_main]

#[path = "../work.rs"]
mod work;

use cortex_m33::terminal;

const STACK: usize = 1024;
const LINE: u32 = 20;
type Port = cortex_m33::CortexM33<cortex_m33::boards::MuscaB1>;
type Model = rtos::Multi<1>;

cortex_m33::image!(work::App);
