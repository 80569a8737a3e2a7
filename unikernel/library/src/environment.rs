//! What whoever started the program told it.

use alloc::string::String;
use alloc::vec::Vec;

use crate::system;

/// The arguments of the program, without its name.
pub fn arguments() -> Vec<String> {
    system::arguments()
}

/// A variable of its environment.
pub fn variable(name: &str) -> Option<String> {
    system::variable(name)
}
