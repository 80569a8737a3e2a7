//! Every sequence of insertions, removals and rotations up to a length, on a few tasks of two priorities, against
//! lists.

use std::collections::VecDeque;
use std::vec::Vec;

use super::{PRIORITIES, Ready};
use crate::state::processor::Processor;
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;
use crate::testing::held;
use crate::testing::kernels::OfReady as App;

/// The priorities: the highest and the lowest.
const RANKS: [u8; 2] = [0, PRIORITIES as u8 - 1];
const TASKS: usize = 3;
/// How long sequences are, and how many there are at least. Under Miri each takes its time.
const LONGEST: usize = if cfg!(miri) { 3 } else { 7 };
const LEAST: usize = if cfg!(miri) { 100 } else { 1_000_000 };

#[derive(Clone, Copy, Debug)]
enum Step {
    Insert(usize, usize),
    InsertFront(usize, usize),
    Remove(usize),
    Rotate(usize),
}

fn task(number: usize) -> &'static Tcb<App> {
    App::tasks()[number].block
}

/// What the queues should be: the tasks of each priority, in order.
#[derive(Clone, Default)]
struct Lists([VecDeque<usize>; 2]);

impl Lists {
    fn top(&self) -> Option<usize> {
        self.0.iter().find_map(|list| list.front().copied())
    }

    /// Which steps there can be now.
    fn steps(&self) -> Vec<Step> {
        let mut steps = Vec::new();
        for number in 0..TASKS {
            if self.0.iter().any(|list| list.contains(&number)) {
                steps.push(Step::Remove(number));
            } else {
                for rank in 0..RANKS.len() {
                    steps.extend([Step::Insert(number, rank), Step::InsertFront(number, rank)]);
                }
            }
        }
        steps.extend([Step::Rotate(0), Step::Rotate(1)]);
        steps
    }

    fn take(&mut self, step: Step) {
        match step {
            Step::Insert(number, rank) => self.0[rank].push_back(number),
            Step::InsertFront(number, rank) => self.0[rank].push_front(number),
            Step::Remove(number) => self.0.iter_mut().for_each(|list| list.retain(|&other| other != number)),
            Step::Rotate(rank) => self.0[rank].rotate_left(usize::from(!self.0[rank].is_empty())),
        }
    }
}

/// Takes a step, and gives what is said of whether another task should run.
fn take(ready: &Ready<Tcb<App>>, step: Step) -> bool {
    match step {
        Step::Insert(number, rank) => {
            task(number).priority.set(RANKS[rank], held());
            ready.insert(task(number), held())
        }
        Step::InsertFront(number, rank) => {
            task(number).priority.set(RANKS[rank], held());
            ready.insert_front(task(number), held())
        }
        Step::Remove(number) => ready.remove(task(number), held()),
        Step::Rotate(rank) => ready.rotate(RANKS[rank], held()),
    }
}

fn compare(ready: &Ready<Tcb<App>>, lists: &Lists, steps: &[Step]) {
    let idle = Processor::<App>::of(0).idle();
    let top = lists.top().map_or(idle, task);
    assert!(core::ptr::eq(ready.top(), top), "the top, after {steps:?}");
    for (rank, list) in RANKS.into_iter().zip(&lists.0) {
        let queue = ready.queue_of(usize::from(rank));
        assert!(queue.is_sound(TASKS, held()), "the links, after {steps:?}");
        assert_eq!(ready.has(usize::from(rank), held()), !list.is_empty(), "the bit, after {steps:?}");
        assert_eq!(ready.count(rank, held()), list.len(), "the count, after {steps:?}");
        for (n, &number) in list.iter().enumerate() {
            let nth = ready.nth(rank, n, held());
            assert!(nth.is_some_and(|nth| core::ptr::eq(nth, task(number))), "the order, after {steps:?}");
        }
    }
}

/// Takes the steps anew, and then each that can follow, and so on. Gives how many sequences there were.
fn go_on(steps: &mut Vec<Step>, lists: &Lists) -> usize {
    let mut count = 0;
    for step in lists.steps() {
        let ready = Ready::new();
        ready.start(Processor::<App>::of(0).idle(), held());
        for &before in steps.iter() {
            take(&ready, before);
        }
        let before = lists.top();
        let mut lists = lists.clone();
        lists.take(step);
        let other = take(&ready, step);
        steps.push(step);
        assert_eq!(other, before != lists.top(), "whether another should run, after {steps:?}");
        compare(&ready, &lists, steps);
        count += 1;
        if steps.len() < LONGEST {
            count += go_on(steps, &lists);
        }
        steps.pop();
    }
    count
}

#[test]
fn every_sequence_leaves_what_lists_would() {
    let count = go_on(&mut Vec::new(), &Lists::default());
    assert!(count > LEAST, "only {count} sequences");
}
