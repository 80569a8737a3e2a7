//! The verdict of a run, read from the run's output (`pump::world::World::verdict`).

use std::collections::BTreeMap;

#[derive(Clone, Debug, Default, PartialEq)]
pub struct Verdict {
    pub periods: u64,
    /// In how many of them the motor got a command.
    pub given: u64,
    /// The most periods in a row without one.
    pub longest: u64,
    /// How many faults came about.
    pub came: u64,
    /// For each fault, by its part and kind, in how many periods after it there was none.
    pub missed: BTreeMap<(String, String), Vec<u64>>,
}

impl Verdict {
    /// # Errors
    /// The text, where it says nothing of periods.
    pub fn read(text: &str) -> Result<Self, String> {
        let mut verdict = Self::default();
        for line in text.lines() {
            let words: Vec<&str> = line.split(' ').collect();
            let number = |at: usize| -> u64 { words.get(at).and_then(|word| word.parse().ok()).unwrap_or(0) };
            match words[..] {
                ["periods", _, "given", _, "longest", _] => {
                    (verdict.periods, verdict.given, verdict.longest) = (number(1), number(3), number(5));
                }
                ["came", _] => verdict.came = number(1),
                ["fault", part, kind, "missed", _] => {
                    verdict.missed.entry((part.to_owned(), kind.to_owned())).or_default().push(number(4));
                }
                _ => {}
            }
        }
        if verdict.periods == 0 { Err(format!("this is no verdict: {text:?}")) } else { Ok(verdict) }
    }

    pub fn availability(&self) -> f64 {
        self.given as f64 / self.periods as f64
    }
}
