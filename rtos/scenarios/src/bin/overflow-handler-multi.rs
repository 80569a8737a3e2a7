//! A handler whose stack overflows, on two processors of this machine.

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../host.rs"]
mod host;
#[path = "../overflow_handler.rs"]
mod overflow_handler;

use host::{HANDLERS, STACK, exit, print};
use rtos_host::Host as Port;

type Model = rtos::Multi<2>;

fn main() {
    rtos_host::run::<overflow_handler::App>()
}
