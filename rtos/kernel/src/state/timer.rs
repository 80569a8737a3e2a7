//! The timer of a notification, cyclic or alarm: when its handler is called, and by which processor.

use crate::base::cell::Published;
use crate::base::class::Class;
use crate::base::handler::Handler;
use crate::base::heap::Deadline;
use crate::base::model::{Initial, Only};
use crate::state::config::{Config, IfMulti};

/// What cyclic and alarm notifications have in common.
pub struct Timer<K: Config> {
    pub(crate) handler: Handler,
    /// After how many microseconds it is called again, or [`ONCE`].
    pub(crate) period: u32,
    pub(crate) deadline: Deadline,
    pub(crate) home: IfMulti<K, TimerHome<K>>,
    pub(crate) class: Class,
}

/// The period of what is called once.
pub(crate) const ONCE: u32 = 0;

/// The processor that calls a notification's handler, if there is a choice.
pub struct TimerHome<K: Config>(pub(crate) Published<K::Processor>);

impl<K: Config> Initial for TimerHome<K> {
    const INITIAL: Self = TimerHome(Published::new());
}

impl<K: Config> Timer<K> {
    pub(crate) const fn new(handler: Handler, period: u32, class: Class) -> Self {
        Timer {
            handler,
            period,
            deadline: Deadline::new(),
            home: <IfMulti<K, TimerHome<K>> as Only<TimerHome<K>>>::INITIAL,
            class,
        }
    }
}
