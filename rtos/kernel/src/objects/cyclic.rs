//! Cyclic notifications: a handler that is called again and again.

use crate::cell::Cell;
use crate::context::{Context, Domain, InHandler};
use crate::error::Error;
use crate::heap::{Deadline, Event, LONGEST};
use crate::kernel::Kernel;
use crate::model::{Model, Only};
use crate::notify::{Handler, TimerHome};
use crate::object::handle;
use crate::service::Service;
use crate::task::Class;

handle! {
    /// A cyclic notification.
    Cyclic, CyclicBlock, cyclics
}

/// All that the kernel keeps of a cyclic notification.
pub struct CyclicBlock<K: Kernel> {
    handler: Handler,
    period: u32,
    /// How long after it is started, or after the kernel starts, it is first due.
    phase: u32,
    pub(crate) active: bool,
    started: Cell<bool>,
    pub(crate) deadline: Deadline,
    pub(crate) home: <K::Model as Model>::Only<TimerHome<K>>,
    pub(crate) class: Class,
}

impl<K: Kernel, D: Domain> Cyclic<K, D> {
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
        self.msta_here(Some(processor.unwrap_or(self.block.class.initial())), cx)
    }

    fn msta_here<C: Context>(self, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        if let Err(error) = crate::notify::check_processor::<K>(self.block.class, processor) {
            return service.leave(Err(error));
        }
        let home = TimerHome::get(&self.block.home, &service);
        service.clear_deadline(home, Event::Cyclic(self.block));
        let home = TimerHome::choose(&self.block.home, processor, &service);
        self.block.started.set(true, service.held());
        service.set_deadline(home, Event::Cyclic(self.block), self.block.phase);
        service.leave(Ok(()))
    }

    /// stp_cyc: stops it.
    pub fn stp<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let home = TimerHome::get(&self.block.home, &service);
        service.clear_deadline(home, Event::Cyclic(self.block));
        self.block.started.set(false, service.held());
        service.leave(Ok(()))
    }

    /// The processor that calls the handler, counted from 0.
    pub fn processor<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        let number = TimerHome::get(&self.block.home, &service).number();
        service.leave(Ok(number))
    }

    /// ref_cyc: in how many microseconds it is next due; none if it is stopped.
    pub fn refer<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let started = self.block.started.get(service.held());
        let left = crate::notify::ahead::<K>(&self.block.deadline, service.held());
        service.leave(Ok(if started { left } else { None }))
    }
}

impl<K: Kernel> CyclicBlock<K> {
    /// Describes a cyclic notification with a handler of any origin.
    pub const fn foreign<D: Domain>(period: u32, handler: Handler) -> Self {
        let class = Class::of::<K::Model, D>();
        handler.check::<D>();
        assert!(period >= 1 && period <= LONGEST, "a period is at least a microsecond and at most 4000 seconds");
        CyclicBlock {
            handler,
            period,
            phase: 0,
            active: false,
            started: Cell::new(false),
            deadline: Deadline::new(),
            home: <<K::Model as Model>::Only<TimerHome<K>> as Only<TimerHome<K>>>::INITIAL,
            class,
        }
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
        self.class = self.class.starting_on::<K::Model>(processor);
        self
    }

    /// It is called only on these processors, of which bit 0 is the first.
    pub const fn only_on(mut self, processors: u32) -> Self {
        self.class = self.class.only_on::<K::Model>(processors);
        self
    }

    /// Starts it with the kernel. The first moment is the phase after the kernel's start.
    pub(crate) fn start<D: Domain, C: Context>(&'static self, at: u32, service: &Service<K, D, C>) {
        self.started.set(true, service.held());
        let home = TimerHome::get(&self.home, service);
        service.set_deadline_at(home, Event::Cyclic(self), at.wrapping_add(self.phase), at);
    }
}

/// It is due, and was taken out of the heap: the next moment is a period after this one, however late it is now.
pub(crate) fn due<K: Kernel, D: Domain, C: Context>(
    cyclic: &'static CyclicBlock<K>,
    at: u32,
    service: Service<K, D, C>,
) {
    let now = K::common().clock.now::<K>();
    let home = TimerHome::get(&cyclic.home, &service);
    service.set_deadline_at(home, Event::Cyclic(cyclic), at.wrapping_add(cyclic.period), now);
    service.leave(());
    cyclic.handler.call::<K>();
}
