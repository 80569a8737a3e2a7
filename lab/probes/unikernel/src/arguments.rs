//! What the lab asks for.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Arguments, each `name=value`.
pub struct Arguments(Vec<String>);

impl Arguments {
    /// Those of this program.
    pub fn given() -> Self {
        Self(unikernel::arguments())
    }

    pub fn text(&self, name: &str) -> Result<&str, String> {
        let found = self.0.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
        found.ok_or_else(|| format!("the probe was not told {name}"))
    }

    pub fn number(&self, name: &str) -> Result<u64, String> {
        self.text(name)?.parse().map_err(|_| format!("{name} is no number"))
    }
}
