//! The scenarios on two cores of an RP2040.
#![no_std]
#![no_main]

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../m0.rs"]
mod m0;
#[path = "../../../../../scenarios/src/set/mod.rs"]
mod set;

use m0::{EXCEPTION, LINE, STACK, TRAP_SIZE, exit, print, trap};

type Port = rp2040::Rp2040<rp2040::Both>;
type Model = rtos::Multi<2>;

rp2040::image!(set::App);
