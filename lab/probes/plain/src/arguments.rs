//! What the lab asks for.

use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

/// Words, each `name=value`.
#[derive(Debug)]
pub struct Arguments(pub Vec<String>);

impl Arguments {
    /// # Errors
    /// When the probe was not told that.
    pub fn text(&self, name: &str) -> Result<&str, String> {
        let found = self.0.iter().find_map(|argument| argument.strip_prefix(name)?.strip_prefix('='));
        found.ok_or_else(|| format!("the probe was not told {name}"))
    }

    /// # Errors
    /// When the probe was not told that, or it is no number.
    pub fn number(&self, name: &str) -> Result<u64, String> {
        self.text(name)?.parse().map_err(|_| format!("{name} is no number"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_word_is_found_by_its_whole_name() {
        let arguments = Arguments(["size=4", "sizes=7", "op=a=b"].map(String::from).to_vec());
        assert_eq!(arguments.number("size"), Ok(4));
        assert_eq!(arguments.text("op"), Ok("a=b"));
        assert!(arguments.number("op").is_err_and(|why| why == "op is no number"));
        assert!(arguments.text("siz").is_err_and(|why| why == "the probe was not told siz"));
    }
}
