//! Alarm notifications: a handler that is called once, after a time.

use crate::base::class::Class;
use crate::base::context::{Context, Domain, InHandler};
use crate::base::error::Error;
use crate::base::handler::Handler;
use crate::base::heap::LONGEST;
use crate::objects::handle::handle;
use crate::objects::notification::ahead;
use crate::state::processor::Event;
use crate::state::storage::Storage;
use crate::state::timer::{ONCE, Timer};

handle! {
    /// An alarm notification.
    Alarm, AlarmBlock
}

/// All that the kernel keeps of an alarm notification.
pub struct AlarmBlock<K: Storage> {
    pub(crate) timer: Timer<K>,
}

impl<K: Storage, D: Domain> Alarm<K, D> {
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
        self.msta_here(micros, Some(processor.unwrap_or(self.block.timer.class.initial())), cx)
    }

    fn msta_here<C: Context>(self, micros: u32, processor: Option<usize>, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        if let Err(error) = self.block.timer.check(processor) {
            return service.leave(Err(error));
        }
        if micros > LONGEST {
            return service.leave(Err(Error::PAR));
        }
        let home = self.block.timer.processor(&service);
        service.clear_deadline(home, Event::Timer(&self.block.timer));
        let home = self.block.timer.choose(processor, &service);
        service.set_deadline(home, Event::Timer(&self.block.timer), micros);
        service.leave(Ok(()))
    }

    /// stp_alm: it is not called any more.
    pub fn stp<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        let home = self.block.timer.processor(&service);
        service.clear_deadline(home, Event::Timer(&self.block.timer));
        service.leave(Ok(()))
    }

    /// The processor that calls the handler, counted from 0.
    pub fn processor<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        let number = self.block.timer.processor(&service).number();
        service.leave(Ok(number))
    }

    /// ref_alm: in how many microseconds it is due; none if it is stopped.
    pub fn refer<C: Context>(self, cx: C) -> Result<Option<u32>, Error> {
        let service = self.enter_in_task(cx)?;
        let left = ahead::<K>(&self.block.timer.deadline, service.held());
        service.leave(Ok(left))
    }
}

impl<K: Storage> AlarmBlock<K> {
    /// Describes an alarm notification with a handler of any origin.
    pub const fn foreign<D: Domain>(handler: Handler) -> Self {
        handler.check::<D>();
        AlarmBlock { timer: Timer::new(handler, ONCE, Class::of::<K::Model, D>()) }
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
}
