//! A ring of requests in memory that a guest and its monitor share: how a guest asks a device without leaving what it does.
//!
//! The guest writes a [`Request`] into the next place of one ring and counts up [`place::SUBMITTED`]; the monitor does it and writes a
//! [`Completion`] into the next place of the other, in whatever order requests end, and counts up [`place::COMPLETED`]. Counts go round at 2^32,
//! and a place is the count modulo [`DEPTH`]. A guest has at most [`DEPTH`] requests under way, so that there is always room for their
//! completions. Each count has one writer and a cache line of its own.
//!
//! A side that has waited for a while sleeps, and says so before it looks a last time; the other one counts up before it looks whether
//! to wake it. One of the two sees the other ([`Control::publish`], [`Control::may_sleep`]), and nobody sleeps through a request.

#[cfg(not(test))]
use core::sync::atomic::{AtomicU32, Ordering, fence};
#[cfg(test)]
use loom::sync::atomic::{AtomicU32, Ordering, fence};

/// Places of each ring.
pub const DEPTH: u32 = 256;
/// Parts of a request's data.
pub const SEGMENTS: usize = 3;

/// Where what lies, in bytes from the beginning of a device's rings.
pub mod place {
    use super::{Completion, DEPTH, Request};

    /// The counts, each in a cache line of its own.
    pub const SUBMITTED: u64 = 0;
    pub const GUEST_SLEEPS: u64 = 64;
    pub const COMPLETED: u64 = 128;
    pub const MONITOR_SLEEPS: u64 = 192;
    pub const REQUESTS: u64 = 4096;
    pub const COMPLETIONS: u64 = REQUESTS + DEPTH as u64 * size_of::<Request>() as u64;
    pub const SIZE: u64 = COMPLETIONS + DEPTH as u64 * size_of::<Completion>() as u64;
    /// From the rings of one device to those of the next.
    pub const STRIDE: u64 = 0xC000;
}

const _: () = assert!(place::SIZE <= place::STRIDE);
const _: () = assert!(crate::RINGS + crate::MOST_DEVICES as u64 * place::STRIDE <= crate::IMAGE);

/// A part of the data of a request, in the guest's memory.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Segment {
    pub start: u64,
    /// Whole blocks.
    pub len: u64,
}

/// What a guest asks.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Request {
    /// A [`crate::call::Op`].
    pub op: u16,
    /// Of the data, in order.
    pub segments: u16,
    /// The guest's own, given back with the completion.
    pub id: u32,
    /// The first block.
    pub block: u64,
    pub data: [Segment; SEGMENTS],
}

/// What became of it.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Completion {
    pub id: u32,
    /// A [`crate::Status`].
    pub status: u32,
    pub reserved: u64,
}

/// Of one direction: a count, and whether who reads it sleeps.
#[derive(Clone, Copy, Debug)]
pub struct Control<'a> {
    /// What the writer has put there.
    pub count: &'a AtomicU32,
    /// 1 if the reader sleeps. The reader writes it.
    pub sleeps: &'a AtomicU32,
}

impl Control<'_> {
    /// The writer has put something there, up to this count. True if the reader has to be woken.
    pub fn publish(self, count: u32) -> bool {
        self.count.store(count, Ordering::Release);
        // Counting up comes before looking, for both sides: one of them sees what the other wrote.
        fence(Ordering::SeqCst);
        self.sleeps.load(Ordering::Relaxed) != 0
    }

    /// What the reader finds.
    pub fn published(self) -> u32 {
        self.count.load(Ordering::Acquire)
    }

    /// The reader has seen everything up to this count, and wants to sleep. False if there is more; else it sleeps until it is woken,
    /// and says then that it is [awake](Self::awake).
    pub fn may_sleep(self, seen: u32) -> bool {
        self.sleeps.store(1, Ordering::Relaxed);
        fence(Ordering::SeqCst);
        if self.published() == seen {
            return true;
        }
        self.awake();
        false
    }

    pub fn awake(self) {
        self.sleeps.store(0, Ordering::Relaxed);
    }
}

/// How many requests the guest has put there that the monitor has not taken: `None` if they are more than there can be, which no
/// guest does that keeps to the rules.
pub fn waiting(submitted: u32, taken: u32) -> Option<u32> {
    Some(submitted.wrapping_sub(taken)).filter(|waiting| *waiting <= DEPTH)
}

/// Where the place of that count begins, in bytes from the beginning of the device's rings.
pub fn request_at(count: u32) -> u64 {
    place::REQUESTS + u64::from(count % DEPTH) * size_of::<Request>() as u64
}

/// The same of a completion.
pub fn completion_at(count: u32) -> u64 {
    place::COMPLETIONS + u64::from(count % DEPTH) * size_of::<Completion>() as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_layout_stays() {
        assert_eq!((size_of::<Request>(), size_of::<Completion>()), (64, 16));
        assert_eq!((place::COMPLETIONS, place::SIZE), (4096 + 16384, 4096 + 16384 + 4096));
    }

    #[test]
    fn counts_go_round() {
        for taken in [0, 1, u32::MAX - 300, u32::MAX - 255, u32::MAX] {
            for more in 0..=DEPTH {
                assert_eq!(waiting(taken.wrapping_add(more), taken), Some(more));
            }
            for more in [DEPTH + 1, 1 << 31, u32::MAX] {
                assert_eq!(waiting(taken.wrapping_add(more), taken), None, "{more} behind {taken}");
            }
        }
    }

    #[test]
    fn every_place_is_its_own_and_within_the_rings() {
        for (at, size, start, end) in [
            (request_at as fn(u32) -> u64, 64, place::REQUESTS, place::COMPLETIONS),
            (completion_at, 16, place::COMPLETIONS, place::SIZE),
        ] {
            for count in (0..DEPTH).chain(u32::MAX - DEPTH..=u32::MAX) {
                let place = at(count);
                assert!(place >= start && place + size <= end && (place - start).is_multiple_of(size));
                assert_eq!(place, at(count.wrapping_add(DEPTH)));
                assert_eq!((place - start) / size, u64::from(count % DEPTH));
            }
        }
    }
}

/// Every order in which the two sides can come.
#[cfg(test)]
mod every_order {
    use super::*;
    use loom::sync::Arc;
    use loom::thread;

    /// The writer puts two things there, and wakes who sleeps; the reader sleeps when there is none. It sees both.
    #[test]
    fn nobody_sleeps_through_a_request() {
        loom::model(|| {
            let shared = Arc::new((
                AtomicU32::new(0),
                AtomicU32::new(0),
                loom::sync::Mutex::new(false),
                loom::sync::Condvar::new(),
            ));
            let writer = {
                let shared = shared.clone();
                thread::spawn(move || {
                    let control = Control { count: &shared.0, sleeps: &shared.1 };
                    for count in 1..=2 {
                        if control.publish(count) {
                            *shared.2.lock().unwrap() = true;
                            shared.3.notify_one();
                        }
                    }
                })
            };
            let control = Control { count: &shared.0, sleeps: &shared.1 };
            let mut seen = 0;
            while seen < 2 {
                seen = control.published();
                if seen < 2 && control.may_sleep(seen) {
                    let mut woken = shared.2.lock().unwrap();
                    while !*woken {
                        woken = shared.3.wait(woken).unwrap();
                    }
                    *woken = false;
                    control.awake();
                }
            }
            writer.join().unwrap();
        });
    }
}
