//! Counting what a program executes between two places.
//!
//! The emulator writes a line for each instruction. Only those of processor 0 are looked at.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::code::Code;

/// The instructions of each passage from one place to another.
#[derive(Debug, Default)]
pub struct Passages {
    /// Each passage: the addresses of its instructions.
    pub each: Vec<Vec<u32>>,
}

impl Passages {
    /// How many instructions the passages have: how often each number came.
    pub fn counts(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        for passage in &self.each {
            *counts.entry(passage.len()).or_default() += 1;
        }
        counts
    }

    /// The number that every passage has; an error if there are none or they differ.
    pub fn count(&self) -> Result<usize> {
        let counts = self.counts();
        match counts.keys().collect::<Vec<_>>()[..] {
            [] => bail!("the program did not go that way"),
            [&count] => Ok(count),
            _ => bail!("the passages differ; instructions and how often: {counts:?}"),
        }
    }
}

/// Finds the passages from the first instruction of one function to the first of another, which is not counted.
pub fn passages(trace: &Path, code: &Code, from: &str, to: &str) -> Result<Passages> {
    let (from, to) = (code.address(from)?, code.address(to)?);
    let file = File::open(trace).with_context(|| format!("cannot read the trace {}", trace.display()))?;
    let mut passages = Passages::default();
    let mut passage: Option<Vec<u32>> = None;
    for line in BufReader::new(file).lines() {
        let Some(address) = executed(&line?) else { continue };
        if address == from {
            passage = Some(Vec::new());
        } else if address == to {
            passages.each.extend(passage.take());
        }
        if let Some(passage) = &mut passage {
            passage.push(address);
        }
    }
    Ok(passages)
}

/// The address in a line such as `Trace 0: 0x7f… [00400000/1000243a/00000110/ff021200] name`, of processor 0.
fn executed(line: &str) -> Option<u32> {
    let rest = line.strip_prefix("Trace 0: ")?;
    let inside = rest.split_once('[')?.1;
    u32::from_str_radix(inside.split('/').nth(1)?, 16).ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_line_of_the_trace_names_the_address() {
        let line = "Trace 0: 0x7f9f4c000100 [00400000/1000243a/00000110/ff021200] count_act_switch";
        assert_eq!(executed(line), Some(0x1000_243a));
        assert_eq!(executed(&line.replace("Trace 0", "Trace 1")), None);
        assert_eq!(executed("Linking TBs 0x7f"), None);
    }
}
