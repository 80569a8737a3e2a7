//! What is known of a machine while it runs: its tasks, where each of them is, and what was counted between the two marks.

use std::collections::HashMap;
use std::fmt::Write as _;

use crate::stacks::{At, BOTTOM, Calls};
use crate::symbols::{Place, Symbols};

/// A block of code, as it was translated.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Block {
    pub place: Place,
    pub instructions: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Follower {
    symbols: Symbols,
    /// The function whose calls begin and end what is counted, and the one that goes from one task to another.
    mark: u32,
    switch: u32,
    calls: Calls,
    at: At,
    /// Where the others are, by the address of what the kernel saved last of each.
    others: HashMap<u64, At>,
    /// Where the switch has saved the last of one task, and where it has taken the last of the next from. It saves first; what it writes after it
    /// has read (which task runs now) is of none.
    saved: u64,
    taken: u64,
    takes: bool,
    counts: bool,
}

impl Follower {
    /// # Errors
    /// The name that is no function.
    pub fn new(symbols: Symbols, mark: &str, switch: &str) -> Result<Self, String> {
        let find = |name: &str| symbols.find(name).ok_or_else(|| format!("the kernel has no function {name}"));
        let (mark, switch) = (find(mark)?, find(switch)?);
        let others = HashMap::new();
        Ok(Self {
            symbols,
            mark,
            switch,
            calls: Calls::default(),
            at: BOTTOM,
            others,
            saved: 0,
            taken: 0,
            takes: false,
            counts: false,
        })
    }

    /// The block at `address`.
    #[must_use]
    pub fn block(&self, address: u64, instructions: u64) -> Block {
        Block { place: self.symbols.place(address), instructions }
    }

    /// Whether that is code of the function that goes from one task to another: its accesses to memory tell which.
    #[must_use]
    pub fn is_switch(&self, block: &Block) -> bool {
        block.place.function == self.switch
    }

    /// The switch wrote to memory, or read from it.
    pub fn accesses(&mut self, address: u64, writes: bool) {
        match (writes, self.takes) {
            (false, _) => (self.taken, self.takes) = (address, true),
            (true, false) => self.saved = address,
            (true, true) => {}
        }
    }

    /// A block runs. What was counted, at the second mark.
    pub fn runs(&mut self, block: &Block) -> Option<String> {
        let leaves = self.calls.function(self.at) == self.switch && self.at != BOTTOM;
        if leaves && block.place.function != self.switch && !block.place.begins {
            self.others.insert(self.saved, self.calls.below(self.at));
            self.at = self.others.remove(&self.taken).unwrap_or(BOTTOM);
        }
        if block.place.function == self.switch && block.place.begins {
            self.takes = false;
        }
        self.at = self.calls.step(self.at, block.place);
        if block.place.function == self.mark && block.place.begins {
            self.counts = !self.counts;
            if !self.counts {
                return Some(self.written());
            }
            self.calls.clear();
        }
        if self.counts {
            self.calls.count(self.at, block.instructions);
        }
        None
    }

    /// A line for each stack: the functions from the outermost on, and the instructions of the last.
    fn written(&self) -> String {
        let mut lines: Vec<String> = Vec::new();
        for (stack, count) in self.calls.each() {
            let mut line = String::new();
            for (n, function) in stack.iter().enumerate() {
                let _ = write!(line, "{}{}", if n > 0 { ";" } else { "" }, self.symbols.name(*function));
            }
            let _ = write!(line, " {count}");
            lines.push(line);
        }
        lines.sort();
        lines.join("\n") + "\n"
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TEXT: &str = "100 entry\n200 send\n300 switch\n400 mark\n500 checks\n600 end\n";

    fn machine() -> Follower {
        Follower::new(Symbols::read(TEXT), "mark", "switch").expect("its functions")
    }

    fn run(machine: &mut Follower, blocks: &[(u64, u64)]) -> Option<String> {
        let mut written = None;
        for (address, instructions) in blocks {
            let block = machine.block(*address, *instructions);
            written = machine.runs(&block).or(written);
        }
        written
    }

    #[test]
    fn what_lies_between_the_marks_is_counted_by_stacks() {
        let mut machine = machine();
        let before = [(0x1000, 50), (0x100, 3), (0x200, 70), (0x110, 4)];
        let between =
            [(0x400, 2), (0x110, 1), (0x1000, 9), (0x100, 3), (0x200, 11), (0x208, 5), (0x110, 2), (0x400, 6)];
        assert_eq!(run(&mut machine, &before), None);
        let written = run(&mut machine, &between).expect("two marks");
        assert_eq!(written, "program 9\nprogram;entry 6\nprogram;entry;mark 2\nprogram;entry;send 16\n");
    }

    #[test]
    fn each_task_has_its_own_calls() {
        let mut machine = machine();
        let switch = |machine: &mut Follower, saved: u64, taken: u64| {
            run(machine, &[(0x300, 1)]);
            machine.accesses(saved - 4, true);
            machine.accesses(saved, true);
            // The address of something else, and which task runs now.
            machine.accesses(0x310, false);
            machine.accesses(taken, false);
            machine.accesses(0x9000, true);
        };
        run(&mut machine, &[(0x1000, 1), (0x100, 1), (0x400, 1), (0x110, 1), (0x200, 10)]);
        // The first is in send; the second begins, and is in checks when it is left.
        switch(&mut machine, 0xa0, 0xb0);
        run(&mut machine, &[(0x1000, 1), (0x100, 1), (0x500, 100)]);
        switch(&mut machine, 0xb0, 0xa0);
        run(&mut machine, &[(0x208, 10)]);
        switch(&mut machine, 0xa0, 0xb0);
        let written = run(&mut machine, &[(0x508, 100), (0x110, 1), (0x400, 1)]).expect("two marks");
        assert!(written.contains("program;entry;send 20\n"), "{written}");
        assert!(written.contains("program;entry;checks 200\n"), "{written}");
    }

    #[test]
    fn a_kernel_without_such_functions_is_told() {
        let missing = Follower::new(Symbols::read(TEXT), "mark", "swap").expect_err("there is none");
        assert!(missing.contains("swap"));
    }
}
