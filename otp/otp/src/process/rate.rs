//! The message rate of a process, and the larger heap that a busy process is given.
//!
//! A process begins with a young heap of some two kilobytes, which fifteen messages fill. With a heap of that size the states of a few
//! hundred actors fit in a processor's cache; a process that takes message after message, however, spends its time in garbage
//! collections. A larger heap makes these rare. There is processor time for only a few such busy processes at once, so the memory that
//! they get is little in all.

use std::sync::OnceLock;
use std::time::Instant;

use crate::atom;
use crate::data::Data;
use crate::process::turn::{Turn, current};

/// After as many messages a process is asked how busy it is.
const COUNTED: u32 = 1024;
/// So many within these milliseconds are those of a busy process.
const BUSY: u32 = 10;
/// The young heap of one, in words: one of the sizes that the VM has.
const NURSERY: u32 = 2586;

/// How many messages a process takes. It lies in the line of the cache where every message looks, so it is two small numbers.
#[derive(Debug, Default)]
pub(crate) struct MessageRate {
    messages: u32,
    /// When that was last looked at, in milliseconds since the first look of all, or one of the two below.
    looked: u32,
}

const NEVER: u32 = 0;
/// It was busy, and has its memory.
const IS_BUSY: u32 = u32::MAX;

impl MessageRate {
    /// One message more.
    #[inline]
    pub(crate) fn count(&mut self, turn: &Turn) {
        self.messages = self.messages.wrapping_add(1);
        if self.messages.is_multiple_of(COUNTED) {
            self.look(turn);
        }
    }

    #[cold]
    fn look(&mut self, turn: &Turn) {
        static BEGAN: OnceLock<Instant> = OnceLock::new();
        if self.looked == IS_BUSY {
            return;
        }
        let since = BEGAN.get_or_init(Instant::now).elapsed().as_millis();
        // They begin anew after seven weeks, which could only give somebody its memory early.
        let now = 1 + (since % u128::from(IS_BUSY - 1)) as u32;
        let before = std::mem::replace(&mut self.looked, now);
        if before != NEVER && now.wrapping_sub(before) < BUSY {
            self.looked = IS_BUSY;
            current(|env| turn.order(env, atom!("nursery"), &[NURSERY.encode(env)]));
        }
    }
}
