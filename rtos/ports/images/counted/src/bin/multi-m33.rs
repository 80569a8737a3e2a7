#![no_std]
#![no_main]
use cortex_m33::terminal;
const STACK: usize = 1024;
type Port = cortex_m33::CortexM33<cortex_m33::boards::MuscaB1>;
type Model = rtos::Multi<2>;
#[path = "../work.rs"]
mod work;
cortex_m33::image!(work::App);
