//! Interrupts: those of the timer, and those between processors.

use crate::journal::note;
use crate::machine::{Phase, enter, now, of_mine, with};
use crate::processor::{BUSY, LOCKED, MAILBOX, OPEN, TIMER};
use crate::step::Step;
use crate::threads::point;

pub(crate) fn set_alarm(after: u32) {
    let now = now();
    of_mine(|processor| {
        if after == 0 {
            processor.pending |= TIMER;
        } else {
            processor.alarm = Some(now.wrapping_add(after));
        }
    });
}

pub(crate) fn interrupt(processor: usize) {
    with(|machine| {
        let wires = machine.wires && machine.phase == Phase::Open;
        let processor = &mut machine.processors[processor];
        if wires {
            processor.sent |= MAILBOX;
        } else {
            processor.pending |= MAILBOX;
        }
    });
}

/// Serves what has come, if the processor is not locked, and lets a task that should run do so. Perhaps on another
/// processor afterwards.
pub(crate) fn take_interrupts(tick: fn(), interrupted: fn(), preempt: fn()) {
    while of_mine(|processor| processor.mask == OPEN && processor.pending != 0) {
        loop {
            let line = of_mine(|processor| {
                let line = if processor.pending & MAILBOX != 0 { MAILBOX } else { processor.pending & TIMER };
                processor.pending &= !line;
                processor.mask = if line == 0 { LOCKED } else { BUSY };
                processor.depth += u32::from(line != 0);
                line
            });
            match line {
                MAILBOX => {
                    note("serves the other processor");
                    interrupted();
                }
                TIMER => {
                    note("serves the timer");
                    tick();
                }
                _ => break,
            }
            of_mine(|processor| (processor.mask, processor.depth) = (LOCKED, processor.depth - 1));
        }
        point(Step::GiveWay);
        preempt();
        of_mine(|processor| processor.mask = OPEN);
    }
}

/// Does something on this processor as if it was unlocked, no interrupt had come and nothing else went on. Not in a run's
/// last part, which is so itself.
pub(crate) fn aside<T>(what: impl FnOnce() -> T) -> Option<T> {
    let phase = with(|machine| machine.phase);
    if phase == Phase::After {
        return None;
    }
    enter(Phase::After);
    let (mask, pending) = of_mine(|mine| (std::mem::replace(&mut mine.mask, OPEN), std::mem::take(&mut mine.pending)));
    let result = what();
    of_mine(|processor| (processor.mask, processor.pending) = (mask, pending));
    enter(phase);
    Some(result)
}
