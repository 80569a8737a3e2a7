//! The code of a program: its instructions, and those of them that a function can reach.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

/// An instruction.
#[derive(Debug, Clone)]
pub struct Instruction {
    /// Where it is.
    pub address: u32,
    /// As the disassembler writes it: `ldr r0, [r1]`.
    pub text: String,
    /// The function that it is in.
    pub function: String,
}

/// A program's code.
#[derive(Debug)]
pub struct Code {
    instructions: BTreeMap<u32, Instruction>,
    functions: BTreeMap<String, u32>,
}

impl Code {
    /// Reads the code of an ELF file.
    pub fn read(elf: &Path) -> Result<Code> {
        let mut objdump = Command::new("arm-none-eabi-objdump");
        objdump.args(["--disassemble", "--demangle=rust", "--no-show-raw-insn", "--section=.text"]).arg(elf);
        let output = objdump.output().context("cannot start arm-none-eabi-objdump; `./x setup rtos` installs it")?;
        if !output.status.success() {
            bail!("cannot disassemble {}:\n{}", elf.display(), String::from_utf8_lossy(&output.stderr));
        }
        Code::parse(&String::from_utf8_lossy(&output.stdout))
    }

    fn parse(text: &str) -> Result<Code> {
        let mut code = Code { instructions: BTreeMap::new(), functions: BTreeMap::new() };
        let mut function = String::new();
        for line in text.lines() {
            if let Some((address, name)) = line.strip_suffix(">:").and_then(|line| line.split_once(" <")) {
                if let Ok(address) = u32::from_str_radix(address, 16) {
                    function = name.to_string();
                    code.functions.insert(function.clone(), address);
                }
            } else if let Some((address, text)) = line.split_once(":\t")
                && let Ok(address) = u32::from_str_radix(address.trim(), 16)
            {
                let text = text.replace('\t', " ").trim().to_string();
                code.instructions.insert(address, Instruction { address, text, function: function.clone() });
            }
        }
        if code.instructions.is_empty() {
            bail!("the program has no code");
        }
        Ok(code)
    }

    /// The address of a function.
    pub fn address(&self, function: &str) -> Result<u32> {
        self.functions.get(function).copied().with_context(|| format!("the program has no function '{function}'"))
    }

    /// The functions whose names satisfy the predicate.
    pub fn functions(&self, wanted: impl Fn(&str) -> bool) -> Vec<&str> {
        self.functions.keys().map(String::as_str).filter(|name| wanted(name)).collect()
    }

    /// The instruction at an address.
    pub fn at(&self, address: u32) -> Option<&Instruction> {
        self.instructions.get(&address)
    }

    /// All instructions, in the order of their addresses.
    pub fn instructions(&self) -> impl Iterator<Item = &Instruction> {
        self.instructions.values()
    }

    /// The instructions of one function.
    pub fn of(&self, function: &str) -> Vec<&Instruction> {
        self.instructions.values().filter(|instruction| instruction.function == function).collect()
    }

    /// All functions that can be reached from these by calls and jumps to names, themselves included.
    pub fn reachable(&self, from: &[&str]) -> BTreeSet<&str> {
        let mut calls: BTreeMap<&str, BTreeSet<&str>> = BTreeMap::new();
        for instruction in self.instructions.values() {
            // `bl 10000500 <name>`, `b.w 1000 <name+0x12>`
            if let Some((_, name)) = instruction
                .text
                .split_once('<')
                .filter(|(before, _)| before.starts_with('b') || before.starts_with("cb"))
            {
                let name = name.trim_end_matches('>');
                let name = name.rsplit_once("+0x").map_or(name, |(name, _)| name);
                if let Some((name, _)) = self.functions.get_key_value(name) {
                    calls.entry(&instruction.function).or_default().insert(name);
                }
            }
        }
        let mut reached: BTreeSet<&str> = BTreeSet::new();
        let mut next: Vec<&str> =
            from.iter().filter_map(|name| self.functions.get_key_value(*name)).map(|(name, _)| name.as_str()).collect();
        while let Some(function) = next.pop() {
            if reached.insert(function) {
                next.extend(calls.get(function).into_iter().flatten().copied());
            }
        }
        reached
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const LISTING: &str = "\
10000500 <switch>:
10000500:\tpush\t{r4, lr}
10000502:\tpop\t{r4, pc}

10000600 <act::<App>>:
10000600:\tldrex\tr0, [r1]
10000604:\tbl\t10000500 <switch>
10000608:\tb.n\t10000602 <act::<App>+0x2>

10000700 <alone>:
10000700:\tbx\tlr
";

    #[test]
    fn what_a_function_calls_can_be_reached() {
        let code = Code::parse(LISTING).unwrap();
        assert_eq!(code.address("act::<App>").unwrap(), 0x1000_0600);
        let reached = code.reachable(&["act::<App>"]);
        assert_eq!(reached.into_iter().collect::<Vec<_>>(), ["act::<App>", "switch"]);
        assert_eq!(code.of("act::<App>").len(), 3);
        assert_eq!(code.at(0x1000_0502).unwrap().text, "pop {r4, pc}");
        assert!(code.address("nobody").is_err());
    }
}
