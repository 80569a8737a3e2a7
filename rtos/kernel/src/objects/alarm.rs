//! Alarm notifications: a handler that is called once, after a time.

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
    /// An alarm notification.
    Alarm, AlarmBlock, alarms
}

/// All that the kernel keeps of an alarm notification.
pub struct AlarmBlock<K: Kernel> {
    handler: Handler,
    pub(crate) deadline: Deadline,
    pub(crate) home: <K::Model as Model>::Only<TimerHome<K>>,
    pub(crate) class: Class,
}

impl<K: Kernel, D: Domain> Alarm<K, D> {
    /// Describes a notification that calls this function, which must not capture anything.
    pub const fn create<F: Fn(InHandler<D>) + Copy + 'static>(handler: F) -> AlarmBlock<K> {
        AlarmBlock::foreign::<D>(Handler::new::<D, F>(handler))
    }

    /// sta_alm: the handler is called in that many microseconds, whatever was asked before. E_PAR above [`LONGEST`].
    pub fn sta<C: Context>(self, micros: u32, cx: C) -> Result<(), Error> {
        self.msta_here(micros, None, cx)
    }

    /// msta_alm: as sta_alm, on that processor, counted from 0, or the first one of its class if none is given. E_ID if
    /// there is no such processor, E_PAR if the class does not allow it.
    pub fn msta<C: Context>(self, micros: u32, processor: Option<usize>, cx: C) -> Result<(), Error> {
        self.msta_here(micros, Some(processor.unwrap_or(self.block.class.initial())), cx)
    }

    fn msta_here<C: Context>(self, micros: u32, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        if let Err(error) = crate::notify::check_processor::<K>(self.block.class, processor) {
            return service.leave(Err(error));
        }
        if micros > LONGEST {
            return service.leave(Err(Error::PAR));
        }
        let home = TimerHome::get(&self.block.home, &service);
        service.clear_deadline(home, Event::Alarm(self.block));
        let home = TimerHome::choose(&self.block.home, processor, &service);
        service.set_deadline(home, Event::Alarm(self.block), micros);
        service.leave(Ok(()))
    }

    /// stp_alm: it is not called any more.
    pub fn stp<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        let home = TimerHome::get(&self.block.home, &service);
        service.clear_deadline(home, Event::Alarm(self.block));
        service.leave(Ok(()))
    }

    /// The processor that calls the handler, counted from 0.
    pub fn processor<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        let number = TimerHome::get(&self.block.home, &service).number();
        service.leave(Ok(number))
    }

    /// ref_alm: in how many microseconds it is due; none if it is stopped.
    pub fn refer<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let left = crate::notify::ahead::<K>(&self.block.deadline, service.held());
        service.leave(Ok(left))
    }
}

impl<K: Kernel> AlarmBlock<K> {
    /// Describes an alarm notification with a handler of any origin.
    pub const fn foreign<D: Domain>(handler: Handler) -> Self {
        handler.check::<D>();
        AlarmBlock {
            handler,
            deadline: Deadline::new(),
            home: <<K::Model as Model>::Only<TimerHome<K>> as Only<TimerHome<K>>>::INITIAL,
            class: Class::of::<K::Model, D>(),
        }
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
}

/// It is due, and was taken out of the heap.
pub(crate) fn due<K: Kernel, D: Domain, C: Context>(alarm: &'static AlarmBlock<K>, service: Service<K, D, C>) {
    service.leave(());
    alarm.handler.call::<K>();
}
