//! A guest that hangs: it says nothing, and nothing when it is asked whether it is there.

use std::time::{Duration, Instant};

/// A guest that has said nothing for so long is asked. That is seldom enough to disturb no measurement.
const QUIET: Duration = Duration::from_secs(10);
/// So long it has for an answer. Its agent may have to wait for real-time threads, and the guest for its emulator.
pub(super) const TO_ANSWER: Duration = Duration::from_secs(30);

/// What a guest was heard to say while a probe runs.
#[derive(Debug)]
pub(super) struct Quiet {
    /// So many messages there were,
    heard: u64,
    /// and so long there was no other.
    since: Instant,
    asked: Option<Instant>,
}

#[derive(Debug, PartialEq, Eq)]
pub(super) enum Next {
    Listen,
    Ask,
    GiveUp,
}

impl Quiet {
    pub(super) fn new(heard: u64, now: Instant) -> Self {
        Self { heard, since: now, asked: None }
    }

    /// What to do, now that there were so many messages.
    pub(super) fn next(&mut self, heard: u64, now: Instant) -> Next {
        if heard != self.heard {
            *self = Self::new(heard, now);
        }
        match self.asked {
            Some(asked) if now - asked > TO_ANSWER => Next::GiveUp,
            None if now - self.since > QUIET => {
                self.asked = Some(now);
                Next::Ask
            }
            _ => Next::Listen,
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_that_is_silent_is_asked_once_and_then_given_up() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut quiet = Quiet::new(1, begun);
        assert_eq!(quiet.next(1, at(9)), Next::Listen);
        assert_eq!(quiet.next(1, at(11)), Next::Ask);
        assert_eq!(quiet.next(1, at(40)), Next::Listen);
        assert_eq!(quiet.next(1, at(42)), Next::GiveUp);
    }

    #[test]
    fn whatever_it_says_is_an_answer() {
        let begun = Instant::now();
        let at = |seconds| begun + Duration::from_secs(seconds);
        let mut quiet = Quiet::new(1, begun);
        assert_eq!(quiet.next(1, at(11)), Next::Ask);
        assert_eq!(quiet.next(2, at(40)), Next::Listen);
        assert_eq!(quiet.next(2, at(49)), Next::Listen);
        assert_eq!(quiet.next(2, at(51)), Next::Ask);
        assert_eq!(quiet.next(3, at(81)), Next::Listen);
    }
}
