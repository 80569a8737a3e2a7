//! How many messages a process takes, and the memory that it is given for that.
//!
//! A process begins with a young heap of some two kilobytes, which a few hundred actors can have in a processor's cache, and which
//! fifteen messages fill. What takes message after message is collected all the time then; with more room it is collected
//! less often. Few processes can be so busy at once, as many as there is time for, so what they are given more is little in all.

use std::time::{Duration, Instant};

use crate::atom;
use crate::data::Data;
use crate::vm::{Turn, current};

/// `process::PACE` messages within this time are those of a busy process.
const BUSY: Duration = Duration::from_millis(10);
/// The young heap of one, in words: one of the sizes that the VM has.
const NURSERY: u32 = 987;

/// How many messages a process takes.
#[derive(Debug, Default)]
pub(crate) struct Pace {
    looked: Option<Instant>,
    busy: bool,
}

impl Pace {
    /// So many messages have come again.
    #[cold]
    pub(crate) fn look(&mut self, turn: &Turn) {
        if self.busy {
            return;
        }
        let now = Instant::now();
        if self.looked.replace(now).is_some_and(|before| now.saturating_duration_since(before) < BUSY) {
            self.busy = true;
            current(|env| turn.order(env, atom!("nursery"), &[NURSERY.encode(env)]));
        }
    }
}
