//! The services that cyclic and alarm notifications share.

use crate::base::cell::Held;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::heap::{Deadline, is_due};
use crate::base::model::{Model, Only};
use crate::service::dispatch::left;
use crate::service::frame::Service;
use crate::state::processor::{Event, Processor};
use crate::state::storage::Storage;
use crate::state::timer::{ONCE, Timer};

impl<K: Storage> Timer<K> {
    /// Gives it the first processor of its class. Before the kernel starts.
    pub(crate) fn place(&self, held: Held<'_>) {
        if let Some(home) = self.home.get() {
            home.0.set(Processor::<K>::of(self.class.initial()), held);
        }
    }

    /// The processor that calls the handler now.
    pub(crate) fn processor<D: Domain, C: Context>(&self, service: &Service<K, D, C>) -> &'static Processor<K> {
        self.home.get().map_or(service.here, |home| home.0.get())
    }

    /// The processor that calls the handler from now on, if one is named.
    pub(crate) fn choose<D: Domain, C: Context>(
        &self,
        processor: Option<usize>,
        service: &Service<K, D, C>,
    ) -> &'static Processor<K> {
        if let (Some(home), Some(number)) = (self.home.get(), processor) {
            home.0.set(Processor::<K>::of(number), service.held());
        }
        self.processor(service)
    }

    /// Whether its class allows that processor, counted from 0. E_ID if there is none, E_PAR if not.
    pub(crate) fn check(&self, processor: Option<usize>) -> Result<(), Error> {
        match processor {
            Some(number) if number >= K::Model::PROCESSORS => Err(Error::ID),
            Some(number) if !self.class.allows(number) => Err(Error::PAR),
            _ => Ok(()),
        }
    }

    /// It is due, and was taken out of the heap: the next moment is a period after this one, however late it is now.
    pub(crate) fn due<D: Domain, C: Context>(&'static self, at: u32, service: Service<K, D, C>) {
        if self.period != ONCE {
            let now = K::common().clock.now();
            let home = self.processor(&service);
            service.set_deadline_at(home, Event::Timer(self), at.wrapping_add(self.period), now);
        }
        service.leave(());
        self.handler.run();
        left::<K>();
    }
}

/// How many microseconds are left, of which the one that has begun is not one: never more than was asked.
pub(crate) fn ahead<K: Storage>(deadline: &Deadline, held: Held<'_>) -> Option<u32> {
    let now = K::common().clock.now().wrapping_add(1);
    let at = deadline.at.get(held);
    deadline.is_set(held).then(|| if is_due(at, now) { 0 } else { at.wrapping_sub(now) })
}
