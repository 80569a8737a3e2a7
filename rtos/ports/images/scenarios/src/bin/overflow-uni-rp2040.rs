//! A task whose stack overflows, on one core of an RP2040.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../m0.rs"]
mod m0;
#[path = "../../../../../scenarios/src/overflow.rs"]
mod overflow;

use m0::{STACK, exit, print};

type Port = rp2040::Rp2040<rp2040::One>;
type Model = rtos::Uni;

rp2040::image!(overflow::App);
