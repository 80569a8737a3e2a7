//! A handler whose stack overflows, on one Cortex-M33.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../m33.rs"]
mod m33;
#[path = "../../../../../scenarios/src/overflow_handler.rs"]
mod overflow_handler;

use m33::{HANDLERS, STACK, exit, print};

type Port = cortex_m33::CortexM33<cortex_m33::boards::Mps2An505>;
type Model = rtos::Uni;

cortex_m33::image!(overflow_handler::App);
