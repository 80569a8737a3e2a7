//! Which functions took the instructions of a trial: stacks, as flame graphs are made of. A line has the functions of a stack from the
//! outermost on, joined by `;`, and how many instructions the last of them took.

use std::collections::BTreeMap;

use crate::foreign::printable;

/// More lines, or deeper stacks, are nobody's profile.
const MOST_LINES: usize = 200_000;
const DEEPEST: usize = 512;

/// A function as it was called from the functions above it in the tree.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Called {
    /// What it took itself.
    pub own: u64,
    pub calls: BTreeMap<String, Called>,
}

impl Called {
    /// What it took with everything that it called.
    pub fn all(&self) -> u64 {
        self.calls.values().fold(self.own, |sum, called| sum.saturating_add(called.all()))
    }
}

/// A profile: the tree of what was called, below nothing.
#[derive(Debug, Default, Clone, PartialEq, Eq)]
pub struct Profile(Called);

impl Profile {
    /// Reads the text of a file.
    ///
    /// # Errors
    /// The line that is none, and why.
    pub fn parse(text: &str) -> Result<Self, String> {
        let mut profile = Self::default();
        for (index, line) in text.lines().enumerate().filter(|(_, line)| !line.trim().is_empty()) {
            let wrong = |why: &str| format!("line {}: {why}", index + 1);
            if index >= MOST_LINES {
                return Err(wrong("there are more stacks than a profile has"));
            }
            let (stack, count) = line.rsplit_once(' ').ok_or_else(|| wrong("it has no number at its end"))?;
            let count: u64 = count.parse().map_err(|_| wrong("it has no number at its end"))?;
            let mut at = &mut profile.0;
            for (depth, function) in stack.split(';').enumerate() {
                if depth >= DEEPEST {
                    return Err(wrong("its stack is deeper than a profile has"));
                }
                at = at.calls.entry(printable(function).into_owned()).or_default();
            }
            at.own = at.own.saturating_add(count);
        }
        Ok(profile)
    }

    /// Everything, as if one function had called it.
    pub fn root(&self) -> &Called {
        &self.0
    }

    /// All instructions.
    pub fn total(&self) -> u64 {
        self.0.all()
    }

    /// What each function took itself, wherever it was called from; those that took most first.
    pub fn functions(&self) -> Vec<(&str, u64)> {
        fn add<'p>(called: &'p Called, sums: &mut BTreeMap<&'p str, u64>) {
            for (name, called) in &called.calls {
                let sum = sums.entry(name).or_default();
                *sum = sum.saturating_add(called.own);
                add(called, sums);
            }
        }
        let mut sums = BTreeMap::new();
        add(&self.0, &mut sums);
        let mut sums: Vec<(&str, u64)> = sums.into_iter().filter(|(_, sum)| *sum > 0).collect();
        sums.sort_by(|a, b| b.1.cmp(&a.1).then(a.0.cmp(b.0)));
        sums
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn stacks_are_a_tree_and_functions_their_sums() {
        let profile = Profile::parse("a 5\na;b 7\na;c;b 1\n\na;c 2\n").expect("a profile");
        assert_eq!(profile.total(), 15);
        assert_eq!(profile.functions(), [("b", 8), ("a", 5), ("c", 2)]);
        assert_eq!(profile.root().calls["a"].calls["c"].all(), 3);
        assert_eq!(Profile::parse("").expect("an empty one").total(), 0);
    }

    #[test]
    fn what_is_no_profile_is_told_with_its_line() {
        assert!(Profile::parse("a;b 7\nnonsense\n").is_err_and(|why| why.starts_with("line 2:")));
        assert!(Profile::parse("a -1\n").is_err());
        assert!(Profile::parse(&format!("{} 1", "a;".repeat(600))).is_err_and(|why| why.contains("deeper")));
        let name = Profile::parse("\u{1b}[31m 1\n").expect("a profile").functions()[0].0.to_owned();
        assert!(!name.contains('\u{1b}'));
    }
}
