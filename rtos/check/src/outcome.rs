//! The outcome of a run: the results that its tasks and handlers have reported, in no order; and the different outcomes
//! of all runs.

use std::cell::RefCell;
use std::collections::BTreeMap;
use std::fmt::Debug;

thread_local! {
    /// The reports of this run.
    static TOLD: RefCell<Vec<String>> = const { RefCell::new(Vec::new()) };
    static OUTCOMES: RefCell<BTreeMap<String, usize>> = const { RefCell::new(BTreeMap::new()) };
}

/// The outcomes of all runs.
#[derive(Debug)]
pub struct Found {
    /// How many runs there were.
    pub runs: usize,
    /// The different outcomes, and how often there was each.
    pub outcomes: BTreeMap<String, usize>,
}

impl Found {
    /// Asserts that these are the outcomes, no more and no fewer.
    pub fn are(self, outcomes: &[&str]) -> Self {
        let found: Vec<&str> = self.outcomes.keys().map(String::as_str).collect();
        let mut expected = outcomes.to_vec();
        expected.sort_unstable();
        assert_eq!(found, expected, "the outcomes of {} runs", self.runs);
        self
    }

    /// Asserts that there were at least so many runs: that something was tried at all.
    pub fn at_least(self, runs: usize) -> Self {
        assert!(self.runs >= runs, "there were only {} runs", self.runs);
        self
    }
}

/// Adds a report to the outcome of the run. The order of the reports does not matter.
pub fn tell(what: &str, answer: impl Debug) {
    TOLD.with_borrow_mut(|told| told.push(format!("{what}: {answer:?}")));
}

/// Forgets the outcomes of all runs.
pub(crate) fn clear() {
    OUTCOMES.take();
}

/// Forgets the reports of this run.
pub(crate) fn begin() {
    TOLD.take();
}

/// Ends this run; `more` is part of its outcome too.
pub(crate) fn end(more: Option<String>) {
    let mut told = TOLD.take();
    told.extend(more);
    told.sort_unstable();
    OUTCOMES.with_borrow_mut(|outcomes| *outcomes.entry(told.join("; ")).or_default() += 1);
}

/// The outcomes of all runs since [`clear`].
pub(crate) fn found() -> Found {
    let outcomes = OUTCOMES.take();
    Found { runs: outcomes.values().sum(), outcomes }
}
