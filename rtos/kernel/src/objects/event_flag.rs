//! Event flags: a pattern of bits, and the tasks that wait for some of them.

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
use crate::state::waiting::{Mode, Waiting};

handle! {
    /// An event flag.
    EventFlag, EventFlagBlock
}

/// All that the kernel keeps of an event flag.
pub struct EventFlagBlock<K: Storage> {
    pattern: Cell<u32>,
    initial: u32,
    /// Whether the bits are cleared when a task goes on.
    clears: bool,
    /// Whether more than one task may wait.
    many: bool,
    pub(crate) waiting: Queue<Tcb<K>>,
}

const fn satisfied(pattern: u32, wanted: u32, mode: Mode) -> bool {
    match mode {
        Mode::All => pattern & wanted == wanted,
        Mode::Any => pattern & wanted != 0,
    }
}

impl<K: Storage, D: Domain> EventFlag<K, D> {
    /// Describes an event flag that begins with that pattern.
    pub const fn create(initial: u32) -> EventFlagBlock<K> {
        const { Class::of::<K::Model, D>() };
        EventFlagBlock { pattern: Cell::new(initial), initial, clears: false, many: false, waiting: Queue::new() }
    }

    /// set_flg: sets bits. Every task that has what it waits for goes on; the first only, if the flag clears.
    pub fn set<C: Context>(self, bits: u32, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        let held = service.held();
        let block = self.block;
        block.pattern.set(block.pattern.get(held) | bits, held);
        block.waiting.tasks.visit(held, |task| {
            let Waiting::Flags(_, wanted, mode) = task.waiting.get(held) else { return false };
            let pattern = block.pattern.get(held);
            if !satisfied(pattern, wanted, mode) {
                return false;
            }
            block.waiting.tasks.remove(task, held);
            service.wake(task, Ok(pattern as usize));
            if block.clears {
                block.pattern.set(0, held);
            }
            block.clears
        });
        service.finish(Ok(()))
    }

    /// clr_flg: keeps only these bits.
    pub fn clr<C: Context>(self, keep: u32, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        self.block.pattern.set(self.block.pattern.get(held) & keep, held);
        service.leave(Ok(()))
    }

    /// wai_flg: waits for bits, and gives the pattern that ended the wait. E_PAR if no bit is named; E_ILUSE if another
    /// task waits and only one may.
    pub fn wai<C: Context>(self, wanted: u32, mode: Mode, cx: C) -> Result<u32, Error> {
        self.twai(wanted, mode, Timeout::FOREVER, cx)
    }

    /// twai_flg: as wai_flg, with E_TMOUT when the time has passed.
    pub fn twai<C: Context>(self, wanted: u32, mode: Mode, timeout: Timeout, cx: C) -> Result<u32, Error> {
        let service = self.enter_to_wait_with(cx, wanted != 0)?;
        match self.take(&service, wanted, mode) {
            Ok(None) if timeout.is_poll() => service.leave(Err(Error::TMOUT)),
            Ok(None) => {
                service.block(Waiting::Flags(&self.block.waiting, wanted, mode), timeout).map(|pattern| pattern as u32)
            }
            Ok(Some(pattern)) => service.leave(Ok(pattern)),
            Err(error) => service.leave(Err(error)),
        }
    }

    /// pol_flg: as wai_flg, with E_TMOUT instead of a wait.
    pub fn pol<C: Context>(self, wanted: u32, mode: Mode, cx: C) -> Result<u32, Error> {
        let service = self.enter_in_task(cx)?;
        if wanted == 0 {
            return service.leave(Err(Error::PAR));
        }
        let taken = self.take(&service, wanted, mode).and_then(|taken| taken.ok_or(Error::TMOUT));
        service.leave(taken)
    }

    /// ini_flg: makes it as it was at first. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        while service.wake_first(&self.block.waiting.tasks, Err(Error::DLT)) {}
        self.block.pattern.set(self.block.initial, service.held());
        service.finish(Ok(()))
    }

    /// ref_flg: the first task that waits, and the pattern.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, u32), Error> {
        let service = self.enter_in_task(cx)?;
        let first = self.block.waiting.first_number(service.held());
        let pattern = self.block.pattern.get(service.held());
        service.leave(Ok((first, pattern)))
    }

    fn take<C: Context>(self, service: &Service<K, D, C>, wanted: u32, mode: Mode) -> Result<Option<u32>, Error> {
        let held = service.held();
        if !self.block.many && self.block.waiting.tasks.first(held).is_some() {
            return Err(Error::ILUSE);
        }
        let pattern = self.block.pattern.get(held);
        if !satisfied(pattern, wanted, mode) {
            return Ok(None);
        }
        if self.block.clears {
            self.block.pattern.set(0, held);
        }
        Ok(Some(pattern))
    }
}

impl<K: Storage> EventFlagBlock<K> {
    /// Whether nobody waits for what is there.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let pattern = self.pattern.get(held);
        let mut waiting = self.waiting.tasks.iter(held);
        waiting.all(|task| match task.waiting.get(held) {
            Waiting::Flags(_, wanted, mode) => !satisfied(pattern, wanted, mode),
            _ => false,
        }) && (self.many || self.waiting.tasks.iter(held).count() <= 1)
    }

    /// Tasks wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.waiting.by_priority = true;
        self
    }

    /// More than one task may wait: TA_WMUL.
    pub const fn many(mut self) -> Self {
        self.many = true;
        self
    }

    /// The bits are cleared when a task goes on: TA_CLR.
    pub const fn clearing(mut self) -> Self {
        self.clears = true;
        self
    }
}
