//! Counted on the RP2040: two processors.
#![no_std]
#![no_main]

#[path = "../work.rs"]
mod work;

use rp2040::terminal;

const STACK: usize = 1024;
const LINE: u32 = 25;
type Port = rp2040::Rp2040<rp2040::Both>;
type Model = rtos::Multi<2>;

rp2040::image!(work::App);
