//! Priority data queues: words, in the order of the priorities that they were sent with.

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
    /// A priority data queue.
    PriorityDataQueue, PriorityDataQueueBlock
}

/// All that the kernel keeps of a priority data queue.
pub struct PriorityDataQueueBlock<K: Storage> {
    /// The first `used` have been in use; those of them that are free now are linked from `free`, and those that hold a
    /// word, in their order, from `first`.
    entries: &'static [Entry],
    used: Cell<usize>,
    free: Cell<Option<&'static Entry>>,
    first: Cell<Option<&'static Entry>>,
    count: Cell<usize>,
    lowest: u8,
    /// Tasks wait to send only while it is full, and to receive only while it is empty.
    pub(crate) senders: Queue<Tcb<K>>,
    pub(crate) receivers: Queue<Tcb<K>>,
}

/// Memory for a word of a priority data queue.
pub struct Entry {
    word: Cell<usize>,
    priority: Cell<u8>,
    next: Cell<Option<&'static Entry>>,
}

impl Entry {
    /// Memory in which nothing is.
    pub const EMPTY: Entry = Entry { word: Cell::new(0), priority: Cell::new(0), next: Cell::new(None) };
}

/// A description of a priority data queue, from which `kernel!` makes it.
#[derive(Clone, Copy)]
pub struct PriorityDataQueueSetup {
    words: usize,
    lowest: u8,
    by_priority: bool,
}

impl PriorityDataQueueSetup {
    /// Senders wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.by_priority = true;
        self
    }

    /// How many words it has room for.
    pub const fn words(&self) -> usize {
        self.words
    }

    /// The priority data queue itself, in that memory.
    pub const fn build<K: Storage>(self, entries: &'static [Entry]) -> PriorityDataQueueBlock<K> {
        let mut senders = Queue::new();
        senders.by_priority = self.by_priority;
        PriorityDataQueueBlock {
            entries,
            used: Cell::new(0),
            free: Cell::new(None),
            first: Cell::new(None),
            count: Cell::new(0),
            lowest: self.lowest,
            senders,
            receivers: Queue::new(),
        }
    }
}

impl<K: Storage, D: Domain> PriorityDataQueue<K, D> {
    /// Describes a queue with room for that many words, with priorities from 1, the highest, to `lowest`, at most 16.
    pub const fn create(words: usize, lowest: usize) -> PriorityDataQueueSetup {
        const { Class::of::<K::Model, D>() };
        assert!(lowest >= 1 && lowest <= 16, "a priority is from 1 to 16");
        PriorityDataQueueSetup { words, lowest: lowest as u8, by_priority: false }
    }

    /// snd_pdq: sends a word with a priority, waiting for room if need be. E_PAR if there is no such priority.
    pub fn snd<C: Context>(self, word: usize, priority: usize, cx: C) -> Result<(), Error> {
        self.tsnd(word, priority, Timeout::FOREVER, cx)
    }

    /// tsnd_pdq: as snd_pdq, with E_TMOUT when the time has passed.
    pub fn tsnd<C: Context>(self, word: usize, priority: usize, timeout: Timeout, cx: C) -> Result<(), Error> {
        let rank = self.rank(priority);
        let service = self.enter_to_wait_with(cx, rank.is_some())?;
        let rank = rank.unwrap_or(self.block.lowest - 1);
        if self.put(&service, word, rank) {
            return service.finish(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let waiting = Waiting::SendByPriority(&self.block.senders, word, rank);
        service.block(waiting, timeout).map(|_| ())
    }

    /// psnd_pdq: sends a word if there is room; E_TMOUT if not. Handlers may too.
    pub fn psnd<C: Context>(self, word: usize, priority: usize, cx: C) -> Result<(), Error> {
        let service = self.enter(cx)?;
        match self.rank(priority) {
            None => service.leave(Err(Error::PAR)),
            Some(rank) if self.put(&service, word, rank) => service.finish(Ok(())),
            Some(_) => service.leave(Err(Error::TMOUT)),
        }
    }

    /// rcv_pdq: receives the first word of the highest priority, and that priority, waiting for one if need be.
    pub fn rcv<C: Context>(self, cx: C) -> Result<(usize, usize), Error> {
        self.trcv(Timeout::FOREVER, cx)
    }

    /// trcv_pdq: as rcv_pdq, with E_TMOUT when the time has passed.
    pub fn trcv<C: Context>(self, timeout: Timeout, cx: C) -> Result<(usize, usize), Error> {
        let service = self.enter_to_wait(cx)?;
        if let Some(taken) = self.take(&service) {
            return service.finish(Ok(taken));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let me = service.running();
        let word = service.block(Waiting::Object(&self.block.receivers), timeout)?;
        Ok((word, usize::from(me.received.load(core::sync::atomic::Ordering::Relaxed)) + 1))
    }

    /// prcv_pdq: receives the first word of the highest priority if there is one; E_TMOUT if not.
    pub fn prcv<C: Context>(self, cx: C) -> Result<(usize, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let taken = self.take(&service);
        service.finish(taken.ok_or(Error::TMOUT))
    }

    /// ini_pdq: empties it. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        while service.wake_first(&self.block.senders.tasks, Err(Error::DLT)) {}
        while service.wake_first(&self.block.receivers.tasks, Err(Error::DLT)) {}
        while self.block.pop(held).is_some() {}
        service.finish(Ok(()))
    }

    /// ref_pdq: the first tasks that wait to send and to receive, and how many words there are.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, Option<usize>, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let (senders, receivers) = (self.block.senders.first_number(held), self.block.receivers.first_number(held));
        let count = self.block.count.get(held);
        service.leave(Ok((senders, receivers, count)))
    }

    /// The rank of a priority, if the queue has it.
    fn rank(self, priority: usize) -> Option<u8> {
        (1..=usize::from(self.block.lowest)).contains(&priority).then(|| priority as u8 - 1)
    }

    /// Gives a word to who waits for one, or keeps it. False if there is no room.
    fn put<C: Context>(self, service: &Service<K, D, C>, word: usize, rank: u8) -> bool {
        let held = service.held();
        if let Some(receiver) = self.block.receivers.tasks.first(held) {
            receiver.received.store(rank, core::sync::atomic::Ordering::Relaxed);
            return service.wake_first(&self.block.receivers.tasks, Ok(word));
        }
        self.block.push(word, rank, held)
    }

    /// Takes the first word, and lets the first who waits to send do so.
    fn take<C: Context>(self, service: &Service<K, D, C>) -> Option<(usize, usize)> {
        let held = service.held();
        let kept = self.block.pop(held);
        let Some(sender) = self.block.senders.tasks.first(held) else { return kept };
        let Waiting::SendByPriority(_, word, rank) = sender.waiting.get(held) else { return kept };
        self.block.senders.tasks.remove(sender, held);
        service.wake(sender, Ok(0));
        if kept.is_some() {
            self.block.push(word, rank, held);
        }
        kept.or(Some((word, usize::from(rank) + 1)))
    }
}

impl<K: Storage> PriorityDataQueueBlock<K> {
    /// Whether its words are in order and counted, and tasks wait to send only while it is full, and to receive only
    /// while it is empty.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let (count, most) = (self.count.get(held), self.entries.len());
        let (senders, receivers) =
            (self.senders.tasks.first(held).is_some(), self.receivers.tasks.first(held).is_some());
        let words = || core::iter::successors(self.first.get(held), move |entry| entry.next.get(held)).take(most + 1);
        let ordered = words().zip(words().skip(1)).all(|(a, b)| a.priority.get(held) <= b.priority.get(held));
        let waiting = (!senders || count == most) && (!receivers || count == 0) && !(senders && receivers);
        ordered && words().count() == count && waiting
    }

    /// Keeps a word behind those of its priority and above. False if there is no room.
    fn push(&self, word: usize, rank: u8, held: Held<'_>) -> bool {
        let entry = match self.free.get(held) {
            Some(entry) => {
                self.free.set(entry.next.get(held), held);
                entry
            }
            None => {
                let Some(entry) = self.entries.get(self.used.get(held)) else { return false };
                self.used.set(self.used.get(held) + 1, held);
                entry
            }
        };
        entry.word.set(word, held);
        entry.priority.set(rank, held);
        let mut link = &self.first;
        while let Some(other) = link.get(held).filter(|other| other.priority.get(held) <= rank) {
            link = &other.next;
        }
        entry.next.set(link.get(held), held);
        link.set(Some(entry), held);
        self.count.set(self.count.get(held) + 1, held);
        true
    }

    /// Takes the first word and its priority, from 1.
    fn pop(&self, held: Held<'_>) -> Option<(usize, usize)> {
        let entry = self.first.get(held)?;
        self.first.set(entry.next.get(held), held);
        entry.next.set(self.free.get(held), held);
        self.free.set(Some(entry), held);
        self.count.set(self.count.get(held) - 1, held);
        Some((entry.word.get(held), usize::from(entry.priority.get(held)) + 1))
    }
}
