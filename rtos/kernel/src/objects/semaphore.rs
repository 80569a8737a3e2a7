//! Semaphores: a count of resources, and the tasks that wait for one.

use crate::base::cell::{Cell, Held};
use crate::base::class::Class;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::timeout::Timeout;
use crate::objects::handle::handle;
use crate::service::frame::Service;
use crate::state::queue::Queue;
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;
use crate::state::waiting::Waiting;

handle! {
    /// A semaphore.
    Semaphore, SemaphoreBlock
}

/// All that the kernel keeps of a semaphore. The queue that tasks wait in stands first, so that the two have one
/// address.
#[repr(C)]
pub struct SemaphoreBlock<K: Storage> {
    pub(crate) waiting: Queue<Tcb<K>>,
    /// How many resources are free. Tasks wait only while it is zero.
    count: Cell<u32>,
    initial: u32,
    most: u32,
}

impl<K: Storage, D: Domain> Semaphore<K, D> {
    /// Describes a semaphore that begins with `initial` resources, of at most `most`.
    pub const fn create(initial: u32, most: u32) -> SemaphoreBlock<K> {
        const { Class::of::<K::Model, D>() };
        assert!(
            most >= 1 && initial <= most,
            "a semaphore has room for at least one resource, and for those it begins with"
        );
        SemaphoreBlock { count: Cell::new(initial), initial, most, waiting: Queue::new() }
    }

    /// sig_sem: gives a resource back, or to the first task that waits for one. E_QOVR if there are as many as can be.
    #[inline(always)]
    pub fn sig<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        if service.wake_first(&self.block.waiting.tasks, Ok(0)) {
            return service.finish(Ok(()));
        }
        let count = self.block.count.get(service.held());
        if count >= self.block.most {
            return service.leave(Err(Error::QOVR));
        }
        self.block.count.set(count + 1, service.held());
        service.leave(Ok(()))
    }

    /// wai_sem: takes a resource, waiting for it if need be.
    #[inline(always)]
    pub fn wai<C: Context>(self, cx: C) -> Result<(), Error> {
        self.twai(Timeout::FOREVER, cx)
    }

    /// twai_sem: as wai_sem, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn twai<C: Context>(self, timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = self.enter_to_wait(cx)?;
        if self.take(&service) {
            return service.leave(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        service.block(Waiting::Object(&self.block.waiting), timeout).map(|_| ())
    }

    /// pol_sem: takes a resource if there is one; E_TMOUT if not.
    #[inline(always)]
    pub fn pol<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let taken = self.take(&service);
        service.leave(if taken { Ok(()) } else { Err(Error::TMOUT) })
    }

    /// ini_sem: makes it as it was at first. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        while service.wake_first(&self.block.waiting.tasks, Err(Error::DLT)) {}
        self.block.count.set(self.block.initial, service.held());
        service.finish(Ok(()))
    }

    /// ref_sem: the first task that waits, and how many resources are free.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, u32), Error> {
        let service = self.enter_in_task(cx)?;
        let first = self.block.waiting.first_number(service.held());
        let count = self.block.count.get(service.held());
        service.leave(Ok((first, count)))
    }

    #[inline(always)]
    fn take<C: Context>(self, service: &Service<K, D, C>) -> bool {
        let count = self.block.count.get(service.held());
        if count > 0 {
            self.block.count.set(count - 1, service.held());
        }
        count > 0
    }
}

impl<K: Storage> SemaphoreBlock<K> {
    /// Whether tasks wait only while there is nothing, and there is not more than can be.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let count = self.count.get(held);
        count <= self.most && (count == 0 || self.waiting.tasks.first(held).is_none())
    }

    /// Tasks wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.waiting.by_priority = true;
        self
    }
}
