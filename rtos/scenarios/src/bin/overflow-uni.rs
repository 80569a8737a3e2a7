//! A task whose stack overflows, on one processor of this machine.

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../host.rs"]
mod host;
#[path = "../overflow.rs"]
mod overflow;

use host::{STACK, exit, print};
use rtos_host::Host as Port;

type Model = rtos::Uni;

fn main() {
    rtos_host::run::<overflow::App>()
}
