//! The scenarios on one processor of this machine.

// The module has more than this program uses.
#[allow(dead_code)]
#[path = "../host.rs"]
mod host;
#[path = "../set/mod.rs"]
mod set;

use host::{EXCEPTION, LINE, STACK, TRAP_SIZE, exit, print, trap};
use rtos_host::Host as Port;

type Model = rtos::Uni;

fn main() {
    rtos_host::run::<set::App>()
}
