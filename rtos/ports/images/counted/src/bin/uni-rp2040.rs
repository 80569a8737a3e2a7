#![no_std]
#![no_main]
use rp2040::terminal;
const STACK: usize = 1024;
type Port = rp2040::Rp2040;
type Model = rtos::Uni;
#[path = "../work.rs"]
mod work;
rp2040::image!(work::App);
