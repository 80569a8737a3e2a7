//! The functions of a kernel, by their addresses.

/// Functions, sorted by their addresses.
#[derive(Debug, Default)]
pub struct Symbols(Vec<(u64, String)>);

/// What is in none of them: the programs of the machine.
pub const PROGRAM: &str = "program";

/// Where an address is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Place {
    /// The number of the function; 0 is no function of the kernel's.
    pub function: u32,
    /// Whether it is the first address of it.
    pub begins: bool,
}

impl Symbols {
    /// From lines `ADDRESS NAME`. The last address is where the code ends.
    #[must_use]
    pub fn read(text: &str) -> Self {
        let line = |line: &str| {
            let (address, name) = line.split_once(' ')?;
            Some((u64::from_str_radix(address, 16).ok()?, name.trim().to_owned()))
        };
        let mut all: Vec<_> = text.lines().filter_map(line).collect();
        all.sort();
        all.dedup_by_key(|(address, _)| *address);
        Self(all)
    }

    #[must_use]
    pub fn place(&self, address: u64) -> Place {
        let after = self.0.partition_point(|(from, _)| *from <= address);
        // Before the first and behind the last there is no code of the kernel.
        if after == 0 || after == self.0.len() {
            return Place { function: 0, begins: false };
        }
        Place { function: after as u32, begins: self.0[after - 1].0 == address }
    }

    /// The name of a function by its number.
    #[must_use]
    pub fn name(&self, function: u32) -> &str {
        let index = (function as usize).checked_sub(1);
        index.and_then(|index| self.0.get(index)).map_or(PROGRAM, |(_, name)| name)
    }

    /// The number of the function of that name.
    #[must_use]
    pub fn find(&self, name: &str) -> Option<u32> {
        self.0.iter().position(|(_, known)| known == name).map(|index| index as u32 + 1)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_address_is_in_the_function_that_begins_before_it() {
        let symbols = Symbols::read("200 b\n100 a\n300 _etext\n200 alias\nnonsense\n");
        assert_eq!(symbols.place(0x100), Place { function: 1, begins: true });
        assert_eq!(symbols.place(0x1ff), Place { function: 1, begins: false });
        assert_eq!(symbols.name(symbols.place(0x2ff).function), "alias");
        for outside in [0, 0xff, 0x300, u64::MAX] {
            assert_eq!(symbols.name(symbols.place(outside).function), PROGRAM);
        }
        assert_eq!(symbols.find("a"), Some(1));
        assert_eq!(symbols.find("c"), None);
    }
}
