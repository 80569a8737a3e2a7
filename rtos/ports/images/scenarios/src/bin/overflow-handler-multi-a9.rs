//! A handler whose stack overflows, on two Cortex-A9.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../a9.rs"]
mod a9;
#[path = "../../../../../scenarios/src/overflow_handler.rs"]
mod overflow_handler;

use a9::{HANDLERS, STACK, exit, print};

type Port = cortex_a9::CortexA9<cortex_a9::boards::RealViewPbxA9>;
type Model = rtos::Multi<2>;

cortex_a9::image!(overflow_handler::App);
