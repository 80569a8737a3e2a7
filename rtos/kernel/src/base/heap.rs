//! Deadlines, in a binary heap.
//!
//! Times are microseconds that wrap after 2³². Two times are compared by their distances from a moment 200 seconds ago,
//! so that deadlines up to 4 000 seconds ahead, and deadlines up to 200 seconds late, are in the right order.
//!
//! A deadline is a field of the task or the object that it belongs to, together with its place in the heap, so that it
//! can be taken out without a search. The heap's memory has a slot for everything that can have a deadline, so it is
//! never full.

#[cfg(test)]
mod tests;

use core::sync::atomic::{AtomicU32, Ordering::Relaxed};

use crate::base::cell::{Cell, Held};

/// The longest time that a service can be given, in microseconds.
pub const LONGEST: u32 = 4_000_000_000;

/// How late a deadline may be, in microseconds.
const MARGIN: u32 = 200_000_000;

/// A moment, and where it stands in a heap: from 1, or 0 if it is in none.
pub(crate) struct Deadline {
    pub(crate) at: Cell<u32>,
    place: Cell<u32>,
}

impl Deadline {
    pub(crate) const fn new() -> Self {
        Deadline { at: Cell::new(0), place: Cell::new(0) }
    }

    #[inline(always)]
    pub(crate) fn is_set(&self, held: Held<'_>) -> bool {
        self.place.get(held) != 0
    }
}

/// What has a deadline: the heap knows no more of it.
pub(crate) trait Timed: Copy + 'static {
    fn deadline(self) -> &'static Deadline;
}

/// Memory for one deadline. The `kernel!` macro makes as many for each heap as can ever be in it.
pub struct Slot<E: 'static>(Cell<Option<E>>);

impl<E: Copy> Slot<E> {
    /// Memory in which nothing is.
    pub const EMPTY: Slot<E> = Slot(Cell::new(None));
}

/// The deadlines of a processor, the earliest first.
pub(crate) struct Heap<E: Timed> {
    slots: Cell<&'static [Slot<E>]>,
    /// Written under the lock; other processors look at it without.
    length: AtomicU32,
}

impl<E: Timed> Heap<E> {
    pub(crate) const fn new() -> Self {
        Heap { slots: Cell::new(&[]), length: AtomicU32::new(0) }
    }

    pub(crate) fn start(&self, slots: &'static [Slot<E>], held: Held<'_>) {
        self.slots.set(slots, held);
    }

    /// Whether there is none, for who does not hold the lock. Whoever adds one on another processor interrupts that
    /// afterwards.
    #[inline(always)]
    pub(crate) fn seems_empty(&self) -> bool {
        self.length.load(Relaxed) == 0
    }

    /// The earliest deadline, and when it is.
    pub(crate) fn first(&self, held: Held<'_>) -> Option<(E, u32)> {
        if self.length.load(Relaxed) == 0 {
            return None;
        }
        let event = self.slots.get(held).first()?.0.get(held)?;
        Some((event, event.deadline().at.get(held)))
    }

    /// Adds a deadline that is not in a heap. True if it is the earliest now.
    pub(crate) fn insert(&self, event: E, at: u32, now: u32, held: Held<'_>) -> bool {
        let length = self.length.load(Relaxed) + 1;
        self.length.store(length, Relaxed);
        event.deadline().at.set(at, held);
        self.rise(length, event, now, held) == 1
    }

    /// Takes a deadline out, if it is there. True if it was the earliest.
    pub(crate) fn remove(&self, event: E, now: u32, held: Held<'_>) -> bool {
        let place = event.deadline().place.get(held);
        if place == 0 {
            return false;
        }
        event.deadline().place.set(0, held);
        let length = self.length.load(Relaxed);
        self.length.store(length - 1, Relaxed);
        if place < length {
            // The last takes its place, and from there finds its own.
            if let Some(last) = self.at(length, held)
                && self.rise(place, last, now, held) == place
            {
                self.sink(place, last, now, held);
            }
        }
        place == 1
    }

    /// Whether every deadline knows its place, and none is before the one above it.
    pub(crate) fn is_sound(&self, now: u32, held: Held<'_>) -> bool {
        (1..=self.length.load(Relaxed)).all(|place| {
            let Some(event) = self.at(place, held) else { return false };
            let Some(parent) = self.at((place / 2).max(1), held) else { return false };
            let when = |event: E| after(event.deadline().at.get(held), now);
            event.deadline().place.get(held) == place && when(parent) <= when(event)
        })
    }

    #[inline(always)]
    fn at(&self, place: u32, held: Held<'_>) -> Option<E> {
        self.slots.get(held).get(place as usize - 1)?.0.get(held)
    }

    #[inline(always)]
    fn put(&self, place: u32, event: E, held: Held<'_>) {
        if let Some(slot) = self.slots.get(held).get(place as usize - 1) {
            slot.0.set(Some(event), held);
            event.deadline().place.set(place, held);
        }
    }

    /// Puts an event at that place or above, where it belongs; the place is free. Gives where that is.
    fn rise(&self, mut place: u32, event: E, now: u32, held: Held<'_>) -> u32 {
        let at = after(event.deadline().at.get(held), now);
        while place > 1 {
            let Some(parent) = self.at(place / 2, held) else { break };
            if after(parent.deadline().at.get(held), now) <= at {
                break;
            }
            self.put(place, parent, held);
            place /= 2;
        }
        self.put(place, event, held);
        place
    }

    /// Puts an event at that place or below, where it belongs; the place is free.
    fn sink(&self, mut place: u32, event: E, now: u32, held: Held<'_>) {
        let at = after(event.deadline().at.get(held), now);
        let length = self.length.load(Relaxed);
        let when = |event: E| after(event.deadline().at.get(held), now);
        while place * 2 <= length {
            let Some(mut child) = self.at(place * 2, held) else { break };
            let mut lower = place * 2;
            if lower < length
                && let Some(other) = self.at(lower + 1, held).filter(|&other| when(other) < when(child))
            {
                child = other;
                lower += 1;
            }
            if at <= when(child) {
                break;
            }
            self.put(place, child, held);
            place = lower;
        }
        self.put(place, event, held);
    }
}

/// What times are compared by.
#[inline(always)]
pub(crate) fn after(at: u32, now: u32) -> u32 {
    at.wrapping_sub(now.wrapping_sub(MARGIN))
}

/// Whether that moment has come.
#[inline(always)]
pub(crate) fn is_due(at: u32, now: u32) -> bool {
    after(at, now) <= MARGIN
}
