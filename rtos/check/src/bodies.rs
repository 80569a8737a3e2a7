//! The bodies of tasks and of the alarm: closures that a program gives them for its runs.

use std::cell::RefCell;
use std::rc::Rc;

use rtos::{InHandler, Shared};

type Body = Rc<dyn Fn()>;
type AlarmBody = Rc<dyn Fn(InHandler<Shared>)>;

/// What tasks do, and the alarm. A task without a body ends at once when it is activated.
#[derive(Clone, Default)]
pub(crate) struct Bodies {
    /// Of tasks, by their numbers, and whether they are active when the kernel starts.
    tasks: Vec<(usize, bool, Body)>,
    alarm: Option<AlarmBody>,
}

thread_local! {
    /// Those of the program that runs.
    static BODIES: RefCell<Bodies> = RefCell::default();
}

impl Bodies {
    /// Adds that of the task of that number.
    pub(crate) fn add(&mut self, number: usize, active: bool, body: impl Fn() + 'static) {
        self.tasks.push((number, active, Rc::new(body)));
    }

    /// Gives the alarm its own.
    pub(crate) fn set_alarm(&mut self, body: impl Fn(InHandler<Shared>) + 'static) {
        self.alarm = Some(Rc::new(body));
    }

    /// Whether the task of that number is active when the kernel starts.
    pub(crate) fn is_active(&self, number: usize) -> bool {
        self.tasks.iter().any(|&(other, active, _)| other == number && active)
    }
}

/// These are the bodies in the runs that follow.
pub(crate) fn set(bodies: Bodies) {
    BODIES.set(bodies);
}

/// What the task of that number does.
pub(crate) fn task(number: usize) -> impl Fn() {
    let body = BODIES.with_borrow(|bodies| {
        bodies.tasks.iter().find(|(other, ..)| *other == number).map(|(.., body)| Rc::clone(body))
    });
    move || body.iter().for_each(|body| body())
}

/// What the alarm does.
pub(crate) fn alarm() -> impl Fn(InHandler<Shared>) {
    let body = BODIES.with_borrow(|bodies| bodies.alarm.clone());
    move |cx| body.iter().for_each(|body| body(cx))
}
