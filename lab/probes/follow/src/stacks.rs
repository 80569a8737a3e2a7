//! Who called whom, from the blocks of code that run, one after the other.
//!
//! A block at the beginning of a function was called (or jumped to): the function lies above the one before. A block in the middle of a
//! function that lies below was returned to: what lies above it has ended. Any other block in the middle of a function is of one with more
//! than one beginning, as those in assembly language have: it was called, too. A program was called by nobody.

use std::collections::HashMap;

use crate::symbols::Place;

/// Deeper is a mistake of ours, such as a function that jumps to its own beginning.
const DEEPEST: u32 = 200;

/// A function, as it was called from the functions below.
#[derive(Debug)]
struct Node {
    function: u32,
    below: u32,
    depth: u32,
    count: u64,
}

/// Where a task is in its calls: a node.
pub type At = u32;

/// No function of the kernel's: a program.
const OUTSIDE: u32 = 0;

/// Below all calls.
pub const BOTTOM: At = 0;

/// Every way in which functions were called.
#[derive(Debug)]
pub struct Calls {
    nodes: Vec<Node>,
    above: HashMap<(At, u32), At>,
}

impl Default for Calls {
    fn default() -> Self {
        Self { nodes: vec![Node { function: 0, below: BOTTOM, depth: 0, count: 0 }], above: HashMap::new() }
    }
}

impl Calls {
    fn called(&mut self, from: At, function: u32) -> At {
        let depth = self.nodes[from as usize].depth + 1;
        if depth > DEEPEST {
            return from;
        }
        let new = self.nodes.len() as At;
        let at = *self.above.entry((from, function)).or_insert(new);
        if at == new {
            self.nodes.push(Node { function, below: from, depth, count: 0 });
        }
        at
    }

    /// Where a task that was `at` is when a block of `place` runs.
    #[must_use]
    pub fn step(&mut self, at: At, place: Place) -> At {
        let of = |at: At| self.nodes[at as usize].function;
        if at != BOTTOM && of(at) == place.function {
            return at;
        }
        if place.begins {
            return self.called(at, place.function);
        }
        let mut below = at;
        while below != BOTTOM && of(below) != place.function {
            below = self.nodes[below as usize].below;
        }
        match below {
            // Programs are below everything, and so end what began before it was looked at.
            BOTTOM if place.function == OUTSIDE => self.called(BOTTOM, place.function),
            BOTTOM => self.called(at, place.function),
            below => below,
        }
    }

    /// What `at` was called from.
    #[must_use]
    pub fn below(&self, at: At) -> At {
        self.nodes[at as usize].below
    }

    #[must_use]
    pub fn function(&self, at: At) -> u32 {
        self.nodes[at as usize].function
    }

    /// Instructions of the function that `at` is in.
    pub fn count(&mut self, at: At, instructions: u64) {
        self.nodes[at as usize].count += instructions;
    }

    /// Forgets what was counted, but not where tasks are.
    pub fn clear(&mut self) {
        self.nodes.iter_mut().for_each(|node| node.count = 0);
    }

    /// The functions of each stack, from the outermost on, with the instructions of the last.
    pub fn each(&self) -> impl Iterator<Item = (Vec<u32>, u64)> {
        let counted = self.nodes.iter().enumerate().filter(|(_, node)| node.count > 0);
        counted.map(|(at, node)| {
            let mut stack = Vec::new();
            let mut at = at as At;
            while at != BOTTOM {
                stack.push(self.nodes[at as usize].function);
                at = self.nodes[at as usize].below;
            }
            stack.reverse();
            (stack, node.count)
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn enters(function: u32) -> Place {
        Place { function, begins: true }
    }

    fn goes_on(function: u32) -> Place {
        Place { function, begins: false }
    }

    fn stack_of(calls: &Calls, mut at: At) -> Vec<u32> {
        let mut stack = Vec::new();
        while at != BOTTOM {
            stack.insert(0, calls.function(at));
            at = calls.below(at);
        }
        stack
    }

    #[test]
    fn calls_and_returns_are_told_by_where_blocks_begin() {
        let mut calls = Calls::default();
        let mut at = BOTTOM;
        let mut seen = |place, expected: &[u32]| {
            at = calls.step(at, place);
            assert_eq!(stack_of(&calls, at), expected, "after {place:?}");
        };
        seen(goes_on(9), &[9]);
        seen(enters(1), &[9, 1]);
        seen(enters(2), &[9, 1, 2]);
        seen(goes_on(2), &[9, 1, 2]);
        // A jump to its own beginning is no call.
        seen(enters(2), &[9, 1, 2]);
        seen(goes_on(1), &[9, 1]);
        // A function that jumps to another at its end is not returned to.
        seen(enters(3), &[9, 1, 3]);
        seen(enters(4), &[9, 1, 3, 4]);
        seen(goes_on(1), &[9, 1]);
        seen(goes_on(9), &[9]);
        // It has another beginning.
        seen(goes_on(7), &[9, 7]);
        seen(goes_on(9), &[9]);
        // What lies below was not seen from the beginning, until a program runs.
        seen(goes_on(0), &[0]);
        seen(enters(1), &[0, 1]);
        seen(goes_on(0), &[0]);
    }

    #[test]
    fn what_never_returns_is_not_followed_for_ever() {
        let mut calls = Calls::default();
        let mut at = BOTTOM;
        for round in 0..10_000 {
            at = calls.step(at, enters(1 + round % 2));
        }
        assert!(calls.nodes.len() < 300);
    }

    #[test]
    fn instructions_are_those_of_the_last() {
        let mut calls = Calls::default();
        let one = calls.step(BOTTOM, enters(1));
        let two = calls.step(one, enters(2));
        calls.count(one, 5);
        calls.count(two, 7);
        calls.count(two, 1);
        assert_eq!(calls.each().collect::<Vec<_>>(), [(vec![1], 5), (vec![1, 2], 8)]);
        calls.clear();
        assert_eq!(calls.each().count(), 0);
    }
}
