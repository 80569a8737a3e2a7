//! Data queues: words, in the order in which they were sent.

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
    /// A data queue.
    DataQueue, DataQueueBlock
}

/// All that the kernel keeps of a data queue. The queue that receivers wait in stands first, so that the two have one
/// address.
#[repr(C)]
pub struct DataQueueBlock<K: Storage> {
    /// Tasks wait to send only while it is full, and to receive only while it is empty.
    pub(crate) receivers: Queue<Tcb<K>>,
    pub(crate) senders: Queue<Tcb<K>>,
    words: &'static [Word],
    /// Where the oldest word is.
    first: Cell<usize>,
    count: Cell<usize>,
}

/// Memory for a word of a data queue.
pub struct Word(Cell<usize>);

impl Word {
    /// Memory in which nothing is.
    pub const EMPTY: Word = Word(Cell::new(0));
}

/// A description of a data queue, from which `kernel!` makes it.
#[derive(Clone, Copy)]
pub struct DataQueueSetup {
    words: usize,
    by_priority: bool,
}

impl DataQueueSetup {
    /// Senders wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.by_priority = true;
        self
    }

    /// How many words it has room for.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// The data queue itself, in that memory.
    pub const fn build<K: Storage>(self, words: &'static [Word]) -> DataQueueBlock<K> {
        let mut senders = Queue::new();
        senders.by_priority = self.by_priority;
        DataQueueBlock { words, first: Cell::new(0), count: Cell::new(0), senders, receivers: Queue::new() }
    }
}

impl<K: Storage, D: Domain> DataQueue<K, D> {
    /// Describes a data queue with room for that many words. With none, who sends waits for who receives.
    pub const fn create(words: usize) -> DataQueueSetup {
        const { Class::of::<K::Model, D>() };
        DataQueueSetup { words, by_priority: false }
    }

    /// snd_dtq: sends a word, waiting for room if need be.
    #[inline(always)]
    pub fn snd<C: Context>(self, word: usize, cx: C) -> Result<(), Error> {
        self.tsnd(word, Timeout::FOREVER, cx)
    }

    /// tsnd_dtq: as snd_dtq, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn tsnd<C: Context>(self, word: usize, timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = self.enter_to_wait(cx)?;
        if self.put(&service, word) {
            return service.finish(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        service.block(Waiting::Send(&self.block.senders, word), timeout).map(|_| ())
    }

    /// psnd_dtq: sends a word if there is room; E_TMOUT if not. Handlers may too.
    #[inline(always)]
    pub fn psnd<C: Context>(self, word: usize, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        if self.put(&service, word) { service.finish(Ok(())) } else { service.leave(Err(Error::TMOUT)) }
    }

    /// fsnd_dtq: sends a word in any case: if there is no room, the oldest one is lost. E_ILUSE if the queue has no
    /// room at all.
    pub fn fsnd<C: Context>(self, word: usize, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        if self.block.words.is_empty() {
            return service.leave(Err(Error::ILUSE));
        }
        if !self.put(&service, word) {
            let held = service.held();
            self.block.pop(held);
            self.block.push(word, held);
        }
        service.finish(Ok(()))
    }

    /// rcv_dtq: receives the oldest word, waiting for one if need be.
    #[inline(always)]
    pub fn rcv<C: Context>(self, cx: C) -> Result<usize, Error> {
        self.trcv(Timeout::FOREVER, cx)
    }

    /// trcv_dtq: as rcv_dtq, with E_TMOUT when the time has passed.
    #[inline(always)]
    pub fn trcv<C: Context>(self, timeout: Timeout, cx: C) -> Result<usize, Error> {
        let service = self.enter_to_wait(cx)?;
        if let Some(word) = self.take(&service) {
            return service.finish(Ok(word));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        service.block(Waiting::Object(&self.block.receivers), timeout)
    }

    /// prcv_dtq: receives the oldest word if there is one; E_TMOUT if not.
    #[inline(always)]
    pub fn prcv<C: Context>(self, cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        let word = self.take(&service);
        service.finish(word.ok_or(Error::TMOUT))
    }

    /// ini_dtq: empties it. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        while service.wake_first(&self.block.senders.tasks, Err(Error::DLT)) {}
        while service.wake_first(&self.block.receivers.tasks, Err(Error::DLT)) {}
        self.block.count.set(0, service.held());
        service.finish(Ok(()))
    }

    /// ref_dtq: the first tasks that wait to send and to receive, and how many words there are.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, Option<usize>, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let (senders, receivers) = (self.block.senders.first_number(held), self.block.receivers.first_number(held));
        let count = self.block.count.get(held);
        service.leave(Ok((senders, receivers, count)))
    }

    /// Gives a word to who waits for one, or keeps it. False if there is no room.
    #[inline(always)]
    fn put<C: Context>(self, service: &Service<K, D, C>, word: usize) -> bool {
        if service.wake_first(&self.block.receivers.tasks, Ok(word)) {
            return true;
        }
        let room = self.block.count.get(service.held()) < self.block.words.len();
        if room {
            self.block.push(word, service.held());
        }
        room
    }

    /// Takes the oldest word, and lets the first who waits to send do so.
    #[inline(always)]
    fn take<C: Context>(self, service: &Service<K, D, C>) -> Option<usize> {
        let held = service.held();
        let kept = self.block.pop(held);
        let Some(sender) = self.block.senders.tasks.first(held) else { return kept };
        let Waiting::Send(_, word) = sender.waiting.get(held) else { return kept };
        self.block.senders.tasks.remove(sender, held);
        service.wake(sender, Ok(0));
        if kept.is_some() {
            self.block.push(word, held);
        }
        kept.or(Some(word))
    }
}

impl<K: Storage> DataQueueBlock<K> {
    /// Whether tasks wait to send only while it is full, and to receive only while it is empty.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let (count, most) = (self.count.get(held), self.words.len());
        let (senders, receivers) =
            (self.senders.tasks.first(held).is_some(), self.receivers.tasks.first(held).is_some());
        count <= most && (!senders || count == most) && (!receivers || count == 0) && !(senders && receivers)
    }

    /// Keeps a word; there is room.
    #[inline(always)]
    fn push(&self, word: usize, held: Held<'_>) {
        let (first, count) = (self.first.get(held), self.count.get(held));
        let end = first + count;
        let place = if end >= self.words.len() { end - self.words.len() } else { end };
        if let Some(room) = self.words.get(place) {
            room.0.set(word, held);
        }
        self.count.set(count + 1, held);
    }

    /// Takes the oldest word.
    #[inline(always)]
    fn pop(&self, held: Held<'_>) -> Option<usize> {
        let (first, count) = (self.first.get(held), self.count.get(held));
        if count == 0 {
            return None;
        }
        let word = self.words.get(first)?.0.get(held);
        self.first.set(if first + 1 == self.words.len() { 0 } else { first + 1 }, held);
        self.count.set(count - 1, held);
        Some(word)
    }
}
