//! Traces: counting the instructions that a program executes between two places.
//!
//! QEMU writes a line for each instruction; only those of processor 0 are counted. The emulator of the RP2040 is asked
//! after each instruction for the program counter, and counts cycles too.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufRead, BufReader};
use std::path::Path;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;

use anyhow::{Context, Result, bail};

use crate::code::Code;
use crate::emulator::{self, Told};
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

    /// The number of instructions that most passages have. Another processor that holds the lock, or an interrupt, can
    /// make a passage longer.
    pub fn usual(&self) -> Option<usize> {
        usual(self.counts())
    }

    /// The number of cycles that most passages take.
    pub fn usual_cycles(&self) -> Option<u64> {
        usual(self.cycles())
    }
}

/// The key that came most often; of several, the lowest.
fn usual<N: Ord>(counts: BTreeMap<N, usize>) -> Option<N> {
    counts.into_iter().max_by(|(a, times), (b, more)| times.cmp(more).then(b.cmp(a))).map(|(count, _)| count)
}

/// Runs a program and finds the passages from the first instruction of each of these functions to the first of another,
/// which is not counted.
pub fn passages(image: &Image, code: &Code, from: &[&str], to: &str) -> Result<Vec<Passages>> {
    const LONGEST: Duration = Duration::from_secs(300);
    let mut seen = Seen { to: code.address(to)?, ..Seen::default() };
    for (number, name) in from.iter().enumerate() {
        seen.from.insert(code.address(name)?, number);
        seen.passages.push(Passages::default());
    }
    let run = match image.platform.machine(image.model) {
        None => {
            Rp2040::load(image)?.run(LONGEST, Told::Afterwards, |(address, cycles)| seen.look(address, Some(cycles)))?
        }
        Some(machine) => {
            static NUMBER: AtomicUsize = AtomicUsize::new(0);
            let number = NUMBER.fetch_add(1, Ordering::Relaxed);
            let file = std::env::temp_dir().join(format!("rtos-inspect-{}-{number}", std::process::id()));
            let run = emulator::trace(image, machine, &file, LONGEST);
            let read = run.and_then(|run| if run.status == 0 { seen.read(&file).map(|()| run) } else { Ok(run) });
            // A trace that could not be written is not there.
            let _ = std::fs::remove_file(&file);
            read?
        }
    };
    if run.status != 0 {
        bail!("{} ended with status {}; it said:\n{}", image.path.display(), run.status, run.said);
    }
    Ok(seen.passages)
}

/// The instructions seen so far.
#[derive(Default)]
struct Seen {
    /// The addresses at which passages begin, and the number of each kind.
    from: BTreeMap<u32, usize>,
    to: u32,
    /// The passage that has begun: its number, its instructions, and how many cycles had passed.
    passage: Option<(usize, Vec<u32>, Option<u64>)>,
    passages: Vec<Passages>,
}

impl Seen {
    /// The instruction at that address is executed next, and so many cycles have passed.
    fn look(&mut self, address: u32, cycles: Option<u64>) {
        if let Some(&number) = self.from.get(&address) {
            self.passage = Some((number, Vec::new(), cycles));
        } else if address == self.to
            && let Some((number, instructions, began)) = self.passage.take()
        {
            let cycles = began.zip(cycles).map(|(began, ended)| ended - began);
            self.passages[number].each.push(Passage { instructions, cycles });
        }
        if let Some((_, instructions, _)) = &mut self.passage {
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
