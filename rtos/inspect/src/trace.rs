//! Counting what a program executes between two places.
//!
//! QEMU writes a line for each instruction; only those of processor 0 are looked at. The emulator of the RP2040 is asked
//! after each instruction where it is, and counts cycles too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::code::Code;
use crate::emulator;
use crate::image::Image;
use crate::rp2040::Rp2040;

/// One passage from one place to another.
#[derive(Debug, Default)]
pub struct Passage {
    /// The addresses of its instructions.
    pub instructions: Vec<u32>,
    /// How many cycles it took, where the emulator counts them.
    pub cycles: Option<u64>,
}

/// The passages from one place to another.
#[derive(Debug, Default)]
pub struct Passages {
    /// In the order in which they happened.
    pub each: Vec<Passage>,
}

impl Passages {
    /// How many instructions the passages have: how often each number came.
    pub fn counts(&self) -> BTreeMap<usize, usize> {
        let mut counts = BTreeMap::new();
        for passage in &self.each {
            *counts.entry(passage.instructions.len()).or_default() += 1;
        }
        counts
    }

    /// How many cycles the passages took: how often each number came.
    pub fn cycles(&self) -> BTreeMap<u64, usize> {
        let mut counts = BTreeMap::new();
        for cycles in self.each.iter().filter_map(|passage| passage.cycles) {
            *counts.entry(cycles).or_default() += 1;
        }
        counts
    }

    /// The number of instructions that every passage has; an error if there are none or they differ.
    pub fn count(&self) -> Result<usize> {
        let counts = self.counts();
        match counts.keys().collect::<Vec<_>>()[..] {
            [] => bail!("the program did not go that way"),
            [&count] => Ok(count),
            _ => bail!("the passages differ; instructions and how often: {counts:?}"),
        }
    }
}

/// Runs a program and finds the passages from the first instruction of one function to the first of another, which is not
/// counted.
pub fn passages(image: &Image, code: &Code, from: &str, to: &str) -> Result<Passages> {
    const LONGEST: Duration = Duration::from_secs(300);
    let mut seen =
        Seen { from: code.address(from)?, to: code.address(to)?, passage: None, passages: Passages::default() };
    let Some(machine) = image.platform.machine(image.model) else {
        let mut emulator = Rp2040::load(image)?;
        emulator.run(LONGEST, |(address, cycles)| seen.look(address, Some(cycles)))?;
        return Ok(seen.passages);
    };
    let file = std::env::temp_dir().join(format!("rtos-inspect-{}", std::process::id()));
    let read = emulator::trace(image, machine, &file, LONGEST).and_then(|_| seen.read(&file));
    // A trace that could not be written is not there.
    let _ = std::fs::remove_file(&file);
    read?;
    Ok(seen.passages)
}

/// What was seen so far.
struct Seen {
    from: u32,
    to: u32,
    passage: Option<(Vec<u32>, Option<u64>)>,
    passages: Passages,
}

impl Seen {
    /// The instruction at that address is executed next, and so many cycles have passed.
    fn look(&mut self, address: u32, cycles: Option<u64>) {
        if address == self.from {
            self.passage = Some((Vec::new(), cycles));
        } else if address == self.to {
            if let Some((instructions, began)) = self.passage.take() {
                let cycles = began.zip(cycles).map(|(began, ended)| ended - began);
                self.passages.each.push(Passage { instructions, cycles });
            }
        }
        if let Some((instructions, _)) = &mut self.passage {
            instructions.push(address);
        }
    }

    fn read(&mut self, trace: &Path) -> Result<()> {
        let file = File::open(trace).with_context(|| format!("cannot read the trace {}", trace.display()))?;
        for line in BufReader::new(file).lines() {
            if let Some(address) = executed(&line?) {
                self.look(address, None);
            }
        }
        Ok(())
    }
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
