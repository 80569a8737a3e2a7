#![no_std]
#![no_main]
use cortex_a9::terminal;
const STACK: usize = 16 * 1024;
type Port = cortex_a9::CortexA9<cortex_a9::boards::Zynq7000>;
type Model = rtos::Uni;
#[path = "../work.rs"]
mod work;
cortex_a9::image!(work::App);
