//! The journal of a run: the steps that were done, each with its processor.

use std::cell::RefCell;

use crate::machine::{here, is_open};
use crate::processor::PROCESSORS;

thread_local! {
    static DONE: RefCell<Vec<(usize, &'static str)>> = const { RefCell::new(Vec::new()) };
}

/// Begins anew.
pub(crate) fn clear() {
    DONE.take();
}

/// Writes down what that processor does.
pub(crate) fn write(processor: usize, what: &'static str) {
    DONE.with_borrow_mut(|done| done.push((processor, what)));
}

/// Writes down what this processor does, if it is in the part of the run that has every order.
pub(crate) fn note(what: &'static str) {
    if is_open() {
        write(here(), what);
    }
}

/// The steps since the tasks met.
pub(crate) fn steps() -> String {
    DONE.with_borrow(|done| done.iter().map(|(here, what)| format!("  processor {here}: {what}\n")).collect())
}

/// The part of the journal that is the same in all orders that differ only in steps that touch nothing in common: the
/// steps of each processor, and the order in which they had locks. Not in a run in which time passes.
pub(crate) fn signature() -> String {
    DONE.with_borrow(|done| {
        let of = |here| done.iter().filter(move |step| step.0 == here).map(|step| step.1);
        let each: Vec<String> = (0..PROCESSORS).map(|here| of(here).collect::<Vec<_>>().join(", ")).collect();
        let locks = done.iter().filter(|step| step.1 == "has it").map(|step| step.0.to_string());
        format!("{}; locks: {}", each.join("; "), locks.collect::<String>())
    })
}
