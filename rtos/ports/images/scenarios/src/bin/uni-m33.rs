//! The scenarios on one Cortex-M33.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../m33.rs"]
mod m33;
#[path = "../../../../../scenarios/src/set/mod.rs"]
mod set;

use m33::{EXCEPTION, LINE, STACK, TRAP_SIZE, exit, print, trap};

type Port = cortex_m33::CortexM33<cortex_m33::boards::Mps2An505>;
type Model = rtos::Uni;

cortex_m33::image!(set::App);
