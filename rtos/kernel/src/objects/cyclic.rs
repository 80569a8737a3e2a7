//! Cyclic notifications: a handler that is called again and again.

use crate::base::cell::Cell;
use crate::base::class::Class;
use crate::base::context::{Context, Domain, InHandler};
use crate::base::error::Error;
use crate::base::handler::Handler;
use crate::base::heap::LONGEST;
use crate::objects::handle::handle;
use crate::objects::notification::ahead;
use crate::service::frame::Service;
use crate::state::processor::Event;
use crate::state::storage::Storage;
use crate::state::timer::Timer;

handle! {
    /// A cyclic notification.
    Cyclic, CyclicBlock
}

/// All that the kernel keeps of a cyclic notification.
pub struct CyclicBlock<K: Storage> {
    pub(crate) timer: Timer<K>,
    /// How long after it is started, or after the kernel starts, it is first due.
    phase: u32,
    pub(crate) active: bool,
    started: Cell<bool>,
}

impl<K: Storage, D: Domain> Cyclic<K, D> {
    /// Describes a notification that calls this function, which must not capture anything, every `period` microseconds.
    pub const fn create<F: Fn(InHandler<D>) + Copy + 'static>(period: u32, handler: F) -> CyclicBlock<K> {
        CyclicBlock::foreign::<D>(period, Handler::new::<D, F>(handler))
    }

    /// sta_cyc: starts it, or starts it anew: it is first due after its phase.
    pub fn sta<C: Context>(self, cx: C) -> Result<(), Error> {
        self.msta_here(None, cx)
    }

    /// msta_cyc: as sta_cyc, on that processor, counted from 0, or the first one of its class if none is given. E_ID if
    /// there is no such processor, E_PAR if the class does not allow it.
    pub fn msta<C: Context>(self, processor: Option<usize>, cx: C) -> Result<(), Error> {
        self.msta_here(Some(processor.unwrap_or(self.block.timer.class.initial())), cx)
    }

    fn msta_here<C: Context>(self, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        if let Err(error) = self.block.timer.check(processor) {
            return service.leave(Err(error));
        }
        let home = self.block.timer.processor(&service);
        service.clear_deadline(home, Event::Timer(&self.block.timer));
        let home = self.block.timer.choose(processor, &service);
        self.block.started.set(true, service.held());
        service.set_deadline(home, Event::Timer(&self.block.timer), self.block.phase);
        service.leave(Ok(()))
    }

    /// stp_cyc: stops it.
    pub fn stp<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let home = self.block.timer.processor(&service);
        service.clear_deadline(home, Event::Timer(&self.block.timer));
        self.block.started.set(false, service.held());
        service.leave(Ok(()))
    }

    /// The processor that calls the handler, counted from 0.
    pub fn processor<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        let number = self.block.timer.processor(&service).number();
        service.leave(Ok(number))
    }

    /// ref_cyc: in how many microseconds it is next due; none if it is stopped.
    pub fn refer<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let started = self.block.started.get(service.held());
        let left = ahead::<K>(&self.block.timer.deadline, service.held());
        service.leave(Ok(if started { left } else { None }))
    }
}

impl<K: Storage> CyclicBlock<K> {
    /// Describes a cyclic notification with a handler of any origin.
    pub const fn foreign<D: Domain>(period: u32, handler: Handler) -> Self {
        let class = Class::of::<K::Model, D>();
        handler.check::<D>();
        assert!(period >= 1 && period <= LONGEST, "a period is at least a microsecond and at most 4000 seconds");
        CyclicBlock { timer: Timer::new(handler, period, class), phase: 0, active: false, started: Cell::new(false) }
    }

    /// How many microseconds after its start it is first due: at once, if nothing is said.
    pub const fn phase(mut self, micros: u32) -> Self {
        assert!(micros <= LONGEST, "a phase is at most 4000 seconds");
        self.phase = micros;
        self
    }

    /// It is started with the kernel: TA_STA.
    pub const fn started(mut self) -> Self {
        self.active = true;
        self
    }

    /// Its first processor, counted from 0.
    pub const fn on(mut self, processor: usize) -> Self {
        self.timer.class = self.timer.class.starting_on::<K::Model>(processor);
        self
    }

    /// It is called only on these processors, of which bit 0 is the first.
    pub const fn only_on(mut self, processors: u32) -> Self {
        self.timer.class = self.timer.class.only_on::<K::Model>(processors);
        self
    }

    /// Starts it with the kernel. The first moment is the phase after the kernel's start.
    pub(crate) fn start<D: Domain, C: Context>(&'static self, at: u32, service: &Service<K, D, C>) {
        self.started.set(true, service.held());
        let home = self.timer.processor(service);
        service.set_deadline_at(home, Event::Timer(&self.timer), at.wrapping_add(self.phase), at);
    }
}
