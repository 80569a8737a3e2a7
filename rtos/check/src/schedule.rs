//! Scheduling: the choice of the thread that goes on.
//!
//! If only one thread can go on, nothing is chosen. Otherwise there are two ways.
//!
//! [`Every`] tries every order, depth first. Of orders that differ only in steps that touch nothing in common it tries
//! only one, with the *sleep sets* of Godefroid (Partial-Order Methods for the Verification of Concurrent Systems,
//! 1996, chapter 5): when all that follows a choice has been tried, that choice sleeps while its siblings are tried,
//! until a step is done that touches something in common with it. A run in which all choices sleep is given up.
//!
//! [`Choices`] lets a scheduler of shuttle's choose. The number of times that a processor is left although it could go
//! on may be bounded: most errors need only a few such preemptions.

use shuttle::scheduler::{Schedule, Scheduler, Task, TaskId};

use crate::machine::{self, Decision};
use crate::step::Able;

fn decide(runnable: &[&Task], current: Option<TaskId>) -> Decision {
    let threads: Vec<usize> = runnable.iter().map(|task| usize::from(task.id())).collect();
    machine::decide(&threads, current.map(usize::from))
}

/// Tries every order.
#[derive(Default)]
pub struct Every {
    /// The choices of this run.
    choices: Vec<Choice>,
    depth: usize,
    begun: bool,
}

/// A choice: what could go on, which of these does, and which sleep.
struct Choice {
    able: Vec<Able>,
    taken: usize,
    asleep: Vec<Able>,
}

impl Choice {
    /// The first that can go on and does not sleep.
    fn next(&self) -> Option<usize> {
        self.able.iter().position(|able| self.asleep.iter().all(|asleep| asleep.actor != able.actor))
    }

    /// The choices that sleep after it.
    fn asleep_after(&self) -> Vec<Able> {
        let taken = self.able[self.taken];
        let sleeps = |able: &&Able| able.actor != taken.actor && able.touches.nothing_of(taken.touches);
        self.asleep.iter().filter(sleeps).copied().collect()
    }
}

impl Every {
    /// Nothing was tried yet.
    pub fn new() -> Self {
        Self::default()
    }

    /// Changes the last choice that can be changed. False if there is none.
    fn step_back(&mut self) -> bool {
        while let Some(mut last) = self.choices.pop() {
            last.asleep.push(last.able[last.taken]);
            if let Some(next) = last.next() {
                last.taken = next;
                self.choices.push(last);
                return true;
            }
        }
        false
    }
}

impl Scheduler for Every {
    fn new_execution(&mut self) -> Option<Schedule> {
        let more = !self.begun || self.step_back();
        (self.begun, self.depth) = (true, 0);
        more.then(|| Schedule::new(0))
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
        let able = match decide(runnable, current) {
            Decision::Only(thread) => return Some(TaskId::from(thread)),
            Decision::Choose(able) => able,
        };
        if self.depth == self.choices.len() {
            let asleep = self.choices.last().map_or(Vec::new(), Choice::asleep_after);
            let mut choice = Choice { able: able.clone(), taken: 0, asleep };
            match choice.next() {
                Some(next) => choice.taken = next,
                None => {
                    machine::give_up();
                    return Some(TaskId::from(able[0].thread));
                }
            }
            self.choices.push(choice);
        }
        let choice = &self.choices[self.depth];
        assert_eq!(choice.able, able, "the same choices lead to the same state");
        self.depth += 1;
        Some(TaskId::from(able[choice.taken].thread))
    }

    fn next_u64(&mut self) -> u64 {
        0
    }
}

/// Lets another scheduler choose, where there is a choice.
pub struct Choices<S> {
    choose: S,
    /// How many preemptions a run may have.
    bound: usize,
    preemptions: usize,
}

impl<S> Choices<S> {
    /// `choose` chooses, with at most so many preemptions in a run.
    pub fn new(choose: S, bound: usize) -> Self {
        Choices { choose, bound, preemptions: 0 }
    }
}

impl<S: Scheduler> Scheduler for Choices<S> {
    fn new_execution(&mut self) -> Option<Schedule> {
        self.preemptions = 0;
        self.choose.new_execution()
    }

    fn next_task(&mut self, runnable: &[&Task], current: Option<TaskId>, _: bool) -> Option<TaskId> {
        let able = match decide(runnable, current) {
            Decision::Only(thread) => return Some(TaskId::from(thread)),
            Decision::Choose(able) if able.len() == 1 => return Some(TaskId::from(able[0].thread)),
            Decision::Choose(able) => able,
        };
        let going = current.filter(|&current| usize::from(current) == able[0].thread);
        if going.is_some() && self.preemptions >= self.bound {
            return going;
        }
        let task = |able: &Able| runnable.iter().copied().find(|task| usize::from(task.id()) == able.thread);
        let tasks: Vec<&Task> = able.iter().filter_map(task).collect();
        let next = self.choose.next_task(&tasks, current, false)?;
        self.preemptions += usize::from(going.is_some_and(|going| going != next));
        Some(next)
    }

    fn next_u64(&mut self) -> u64 {
        self.choose.next_u64()
    }
}
