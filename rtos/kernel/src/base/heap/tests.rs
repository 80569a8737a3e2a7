//! Deadlines around the wrap of the time: every order of a few, against a list.

use std::vec::Vec;

use super::{Heap, LONGEST, MARGIN, Slot, Timed, after};
use crate::state::processor::Event;
use crate::state::storage::Storage;
use crate::testing::held;
use crate::testing::kernels::{OfRemovals, OfSequences};

/// Moments at which the time, or what it is compared by, is about to wrap or just has.
const MOMENTS: [u32; 5] = [0, u32::MAX - 1, MARGIN - 1, MARGIN + 1, 1 << 31];
/// Deadlines, from such a moment on: as late as can be, now, in a while, and as far away as can be.
const DEADLINES: [u32; 4] = [MARGIN.wrapping_neg() + 10, 0, 1_000, LONGEST];

fn event<K: Storage>(number: usize) -> Event<K> {
    Event::Task(K::tasks()[number].block)
}

/// A heap and what should be in it: whose deadlines, and when.
struct Checked<K: Storage> {
    heap: Heap<Event<K>>,
    list: Vec<(usize, u32)>,
    now: u32,
}

impl<K: Storage> Checked<K> {
    fn new(now: u32) -> Self {
        let heap = Heap::new();
        heap.start(slots::<K>(), held());
        Checked { heap, list: Vec::new(), now }
    }

    /// How far the earliest deadline lies, if there is one.
    fn earliest(&self) -> Option<u32> {
        self.list.iter().map(|&(_, at)| after(at, self.now)).min()
    }

    fn insert(&mut self, number: usize, at: u32) {
        let first = self.earliest().is_none_or(|earliest| after(at, self.now) < earliest);
        assert_eq!(self.heap.insert(event(number), at, self.now, held()), first, "whether it is the earliest");
        self.list.push((number, at));
        self.compare();
    }

    fn remove(&mut self, number: usize) {
        let place = self.list.iter().position(|&(other, _)| other == number);
        let at = place.map(|place| self.list.remove(place).1);
        let was_first = self.heap.remove(event(number), self.now, held());
        let others = self.earliest();
        match at.map(|at| after(at, self.now)) {
            None => assert!(!was_first, "what is in no heap was the earliest"),
            Some(at) if others.is_none_or(|others| at < others) => assert!(was_first, "it was the earliest"),
            Some(at) => assert!(!was_first || Some(at) == others, "it was not the earliest"),
        }
        self.compare();
    }

    fn compare(&self) {
        assert!(self.heap.is_sound(self.now, held()), "the heap is in order: {:?}", self.list);
        let first = self.heap.first(held()).map(|(_, at)| after(at, self.now));
        assert_eq!(first, self.earliest(), "the earliest of {:?} at {}", self.list, self.now);
        for number in 0..K::tasks().len() {
            let there = self.list.iter().any(|&(other, _)| other == number);
            assert_eq!(event::<K>(number).deadline().is_set(held()), there, "who is in the heap");
        }
    }
}

fn slots<K: Storage>() -> &'static [Slot<Event<K>>] {
    K::slots(0)[0]
}

/// Calls `what` with each order of the numbers below `count`.
fn orders(count: usize, taken: &mut Vec<usize>, what: &mut impl FnMut(&[usize])) {
    if taken.len() == count {
        return what(taken);
    }
    for number in 0..count {
        if !taken.contains(&number) {
            taken.push(number);
            orders(count, taken, what);
            taken.pop();
        }
    }
}

/// Each of that many has one of the deadlines, in all ways; they are inserted, and removed in every order.
fn all_removals(count: usize, deadlines: &[u32], moments: &[u32]) -> usize {
    let mut tried = 0;
    for &now in moments {
        for which in 0..deadlines.len().pow(count as u32) {
            let at = |number: usize| {
                now.wrapping_add(deadlines[which / deadlines.len().pow(number as u32) % deadlines.len()])
            };
            orders(count, &mut Vec::new(), &mut |order| {
                let mut checked = Checked::<OfRemovals>::new(now);
                (0..count).for_each(|number| checked.insert(number, at(number)));
                order.iter().for_each(|&number| checked.remove(number));
                tried += 1;
            });
        }
    }
    tried
}

#[test]
fn what_is_inserted_is_removed_in_every_order() {
    if cfg!(miri) {
        assert_eq!(all_removals(3, &DEADLINES[..2], &MOMENTS), 5 * 8 * 6);
        return;
    }
    let tried = all_removals(4, &DEADLINES, &MOMENTS) + all_removals(6, &DEADLINES[..2], &MOMENTS[1..2]);
    assert_eq!(tried, 5 * 256 * 24 + 64 * 720);
}

#[derive(Clone, Copy)]
enum Step {
    Insert(usize, u32),
    Remove(usize),
    /// The time passes.
    Pass,
}

fn take(checked: &mut Checked<OfSequences>, step: Step) {
    match step {
        Step::Insert(number, deadline) => checked.insert(number, checked.now.wrapping_add(deadline)),
        Step::Remove(number) => checked.remove(number),
        Step::Pass => checked.now = checked.now.wrapping_add(1),
    }
}

/// How long sequences are, and how many there are at least. Under Miri each takes its time.
const STEPS: usize = if cfg!(miri) { 2 } else { 4 };
const LEAST: usize = if cfg!(miri) { 300 } else { 50_000 };

/// Takes the steps anew, and then each that can follow, and so on. Gives how many sequences there were.
fn go_on(steps: &mut Vec<Step>, longest: usize, moment: u32) -> usize {
    const TASKS: usize = 3;
    let mut count = 0;
    for step in (0..TASKS)
        .flat_map(|number| {
            let inserts = DEADLINES.map(|deadline| Step::Insert(number, deadline));
            inserts.into_iter().chain([Step::Remove(number)])
        })
        .chain([Step::Pass])
    {
        let mut checked = Checked::new(moment);
        steps.iter().for_each(|&step| take(&mut checked, step));
        let there = |number| checked.list.iter().any(|&(other, _)| other == number);
        if !matches!(step, Step::Insert(number, _) if there(number)) {
            take(&mut checked, step);
            count += 1;
            steps.push(step);
            if steps.len() < longest {
                empty(checked);
                count += go_on(steps, longest, moment);
                steps.pop();
                continue;
            }
            steps.pop();
        }
        empty(checked);
    }
    count
}

/// Takes out what is left, so that nothing is in a heap when the next one begins.
fn empty(mut checked: Checked<OfSequences>) {
    while let Some(&(number, _)) = checked.list.last() {
        checked.remove(number);
    }
}

#[test]
fn every_sequence_leaves_what_a_list_would() {
    let count: usize = MOMENTS[..3].iter().map(|&moment| go_on(&mut Vec::new(), STEPS, moment)).sum();
    assert!(count > LEAST, "only {count} sequences");
}
