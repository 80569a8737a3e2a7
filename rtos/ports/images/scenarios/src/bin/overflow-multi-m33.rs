//! A task whose stack overflows, on two Cortex-M33.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../m33.rs"]
mod m33;
#[path = "../../../../../scenarios/src/overflow.rs"]
mod overflow;

use m33::{STACK, exit, print};

type Port = cortex_m33::CortexM33<cortex_m33::boards::MuscaB1>;
type Model = rtos::Multi<2>;

cortex_m33::image!(overflow::App);
