//! Memory orderings, which the programs do not check: those of the lock and of the interrupts between processors in the
//! port for Linux. loom tries what the language's memory model allows.
//!
//! loom has its own atomics, whose first value is not a constant, so the few lines of the port are repeated here. The
//! first test checks that they are the port's. The other ports' locks are in assembly, of which loom knows nothing.

use loom::cell::UnsafeCell;
use loom::sync::Arc;
use loom::sync::atomic::{AtomicBool, AtomicU64, AtomicUsize, Ordering};

#[test]
fn the_lines_are_the_ports() {
    let lock = include_str!("../../ports/host/src/lib.rs");
    let interrupts = include_str!("../../ports/host/src/interrupts.rs");
    for (source, line) in [
        (lock, "!self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)"),
        (lock, "self.0.store(false, Ordering::Release)"),
        (interrupts, "machine.pending.fetch_or(1 << line, Ordering::Release)"),
        (interrupts, "next(machine.pending.load(Ordering::Relaxed), mask)"),
        (interrupts, "machine.pending.fetch_and(!(1 << line), Ordering::Acquire)"),
    ] {
        assert!(source.contains(line), "the port does not say `{line}` any more");
    }
}

/// The lock, which is given back with that ordering.
struct Flag(AtomicBool, Ordering);

impl Flag {
    fn try_acquire(&self) -> bool {
        !self.0.load(Ordering::Relaxed) && !self.0.swap(true, Ordering::Acquire)
    }

    fn release(&self) {
        self.0.store(false, self.1);
    }
}

/// Two processors try to add to a number under the lock. loom sees whether they could meet, or one not see what the other
/// did.
///
/// They try three times in all. Trying until it is had has no end in loom, for which an old value may be seen for ever. And
/// with two tries each loom 0.7.3 names a race that cannot be: a swap that failed, by one, and then two turns of the other,
/// after which the first swaps again. What it finds there is what the last turn released.
fn add_under_a_lock(release: Ordering) {
    loom::model(move || {
        let shared = Arc::new((Flag(AtomicBool::new(false), release), UnsafeCell::new(0)));
        let add = |shared: &(Flag, UnsafeCell<i32>), times: usize| {
            let mut added = 0;
            for _ in 0..times {
                if shared.0.try_acquire() {
                    // SAFETY: the lock is taken; that this is enough is what is tested.
                    shared.1.with_mut(|number| unsafe { *number += 1 });
                    shared.0.release();
                    added += 1;
                }
            }
            added
        };
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || add(&shared, 1))
        };
        let added = add(&shared, 2) + other.join().unwrap();
        // SAFETY: the other has ended.
        shared.1.with(|number| assert_eq!(unsafe { *number }, added));
    });
}

#[test]
fn one_at_a_time_has_the_lock_and_sees_what_was_written_before() {
    add_under_a_lock(Ordering::Release);
}

#[test]
#[should_panic(expected = "Causality violation")]
fn a_lock_that_orders_nothing_is_found() {
    add_under_a_lock(Ordering::Relaxed);
}

/// One processor stores which task should run and interrupts another, which then looks which it is.
fn look_when_interrupted(take: Ordering) {
    loom::model(move || {
        let shared = Arc::new((AtomicUsize::new(0), AtomicU64::new(0)));
        let other = {
            let shared = Arc::clone(&shared);
            loom::thread::spawn(move || {
                shared.0.store(1, Ordering::Relaxed);
                shared.1.fetch_or(1, Ordering::Release);
            })
        };
        if shared.1.load(Ordering::Relaxed) != 0 {
            shared.1.fetch_and(!1, take);
            assert_eq!(shared.0.load(Ordering::Relaxed), 1, "an old task was seen");
        }
        other.join().unwrap();
    });
}

#[test]
fn who_is_interrupted_sees_what_it_was_interrupted_for() {
    look_when_interrupted(Ordering::Acquire);
}

#[test]
#[should_panic(expected = "an old task was seen")]
fn an_interrupt_that_orders_nothing_is_found() {
    look_when_interrupted(Ordering::Relaxed);
}
