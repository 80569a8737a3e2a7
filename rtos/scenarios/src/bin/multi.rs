//! The scenarios on two processors of this machine.

#[path = "../host.rs"]
mod host;
#[path = "../set/mod.rs"]
mod set;

use host::{LINE, STACK, exit, print};
use rtos_host::Host as Port;

type Model = rtos::Multi<2>;

fn main() {
    rtos_host::run::<set::App>()
}
