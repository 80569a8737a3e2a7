//! Message buffers: messages of any length up to a limit, in the order in which they were sent.
//!
//! How they lie in memory is said in `state/messages.rs`.

use core::cell::UnsafeCell;

use crate::base::cell::Held;
use crate::base::class::Class;
use crate::base::context::{Context, Domain};
use crate::base::error::Error;
use crate::base::timeout::Timeout;
use crate::objects::handle::handle;
use crate::service::frame::Service;
use crate::state::messages::{Messages, room};
use crate::state::queue::Queue;
use crate::state::storage::Storage;
use crate::state::tcb::Tcb;
use crate::state::waiting::Waiting;

handle! {
    /// A message buffer.
    MessageBuffer, MessageBufferBlock
}

/// All that the kernel keeps of a message buffer.
pub struct MessageBufferBlock<K: Storage> {
    pub(crate) messages: Messages<Tcb<K>>,
    longest: usize,
    /// Tasks wait only while there is no message.
    pub(crate) receivers: Queue<Tcb<K>>,
}

/// The memory of a message buffer.
#[repr(C, align(4))]
pub struct Memory<const BYTES: usize>(UnsafeCell<[u8; BYTES]>);

// SAFETY: it is touched only under the lock.
unsafe impl<const BYTES: usize> Sync for Memory<BYTES> {}

impl<const BYTES: usize> Memory<BYTES> {
    /// Memory in which nothing is.
    pub const NEW: Self = Memory(UnsafeCell::new([0; BYTES]));
}

/// A description of a message buffer, from which `kernel!` makes it.
#[derive(Clone, Copy)]
pub struct MessageBufferSetup {
    longest: usize,
    size: usize,
    by_priority: bool,
}

impl MessageBufferSetup {
    /// Senders wait in the order of their priorities: TA_TPRI.
    pub const fn by_priority(mut self) -> Self {
        self.by_priority = true;
        self
    }

    /// How many bytes of memory it has.
    pub const fn size(&self) -> usize {
        self.size
    }

    /// The message buffer itself, with that memory.
    pub const fn build<K: Storage, const BYTES: usize>(self, memory: &'static Memory<BYTES>) -> MessageBufferBlock<K> {
        assert!(BYTES == self.size, "the memory is that which was asked for");
        let mut senders = Queue::new();
        senders.by_priority = self.by_priority;
        MessageBufferBlock {
            messages: Messages::new(memory.0.get().cast(), self.size, senders),
            longest: self.longest,
            receivers: Queue::new(),
        }
    }
}

impl<K: Storage, D: Domain> MessageBuffer<K, D> {
    /// Describes a message buffer of `size` bytes for messages of up to `longest` bytes. Each message takes its length
    /// rounded up to four, and four more. With no memory, who sends waits for who receives.
    pub const fn create(longest: usize, size: usize) -> MessageBufferSetup {
        const { Class::of::<K::Model, D>() };
        assert!(longest >= 1, "a message has at least one byte");
        assert!(size.is_multiple_of(4), "the size of a message buffer is a multiple of four");
        MessageBufferSetup { longest, size, by_priority: false }
    }

    /// How long a message can be.
    pub fn longest(self) -> usize {
        self.block.longest
    }

    /// snd_mbf: sends a message, waiting for room if need be. E_PAR if it is empty or too long.
    pub fn snd<C: Context>(self, message: &[u8], cx: C) -> Result<(), Error> {
        self.tsnd(message, Timeout::FOREVER, cx)
    }

    /// tsnd_mbf: as snd_mbf, with E_TMOUT when the time has passed.
    pub fn tsnd<C: Context>(self, message: &[u8], timeout: Timeout, cx: C) -> Result<(), Error> {
        let service = self.enter_to_wait_with(cx, self.fits(message))?;
        if self.put(&service, message) {
            return service.finish(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let waiting = Waiting::SendMessage(&self.block.messages, message.as_ptr(), message.len());
        service.block(waiting, timeout).map(|_| ())
    }

    /// psnd_mbf: sends a message if there is room; E_TMOUT if not.
    pub fn psnd<C: Context>(self, message: &[u8], cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        if !self.fits(message) {
            return service.leave(Err(Error::PAR));
        }
        if self.put(&service, message) { service.finish(Ok(())) } else { service.leave(Err(Error::TMOUT)) }
    }

    /// rcv_mbf: receives the oldest message into a buffer with room for the longest, waiting for one if need be. Gives
    /// its length. E_PAR if the buffer is too small.
    pub fn rcv<C: Context>(self, buffer: &mut [u8], cx: C) -> Result<usize, Error> {
        self.trcv(buffer, Timeout::FOREVER, cx)
    }

    /// trcv_mbf: as rcv_mbf, with E_TMOUT when the time has passed.
    pub fn trcv<C: Context>(self, buffer: &mut [u8], timeout: Timeout, cx: C) -> Result<usize, Error> {
        let service = self.enter_to_wait_with(cx, buffer.len() >= self.block.longest)?;
        if let Some(length) = self.take(&service, buffer.as_mut_ptr()) {
            return service.finish(Ok(length));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let waiting = Waiting::ReceiveMessage(&self.block.receivers, buffer.as_mut_ptr());
        service.block(waiting, timeout)
    }

    /// prcv_mbf: receives the oldest message if there is one; E_TMOUT if not.
    pub fn prcv<C: Context>(self, buffer: &mut [u8], cx: C) -> Result<usize, Error> {
        let service = self.enter_in_task(cx)?;
        if buffer.len() < self.block.longest {
            return service.leave(Err(Error::PAR));
        }
        let length = self.take(&service, buffer.as_mut_ptr());
        service.finish(length.ok_or(Error::TMOUT))
    }

    /// ini_mbf: empties it. The waits of tasks end with E_DLT.
    pub fn ini<C: Context>(self, cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        while service.wake_first(&self.block.messages.senders.tasks, Err(Error::DLT)) {}
        while service.wake_first(&self.block.receivers.tasks, Err(Error::DLT)) {}
        self.block.messages.used.set(0, held);
        self.block.messages.count.set(0, held);
        service.finish(Ok(()))
    }

    /// ref_mbf: the first tasks that wait to send and to receive, how many messages there are, and how many bytes are
    /// free.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, Option<usize>, usize, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let (senders, receivers) =
            (self.block.messages.senders.first_number(held), self.block.receivers.first_number(held));
        let (count, free) =
            (self.block.messages.count.get(held), self.block.messages.size - self.block.messages.used.get(held));
        service.leave(Ok((senders, receivers, count, free)))
    }

    /// Whether it is a message for this buffer, of a byte at least.
    fn fits(self, message: &[u8]) -> bool {
        (1..=self.block.longest).contains(&message.len())
    }

    /// Gives a message to who waits for one, or keeps it if nobody waits to send before. False if there is no room.
    fn put<C: Context>(self, service: &Service<K, D, C>, message: &[u8]) -> bool {
        let held = service.held();
        if let Some(receiver) = self.block.receivers.tasks.first(held) {
            if let Waiting::ReceiveMessage(_, buffer) = receiver.waiting.get(held) {
                // SAFETY: the receiver has room for the longest message and waits for it.
                unsafe { core::ptr::copy_nonoverlapping(message.as_ptr(), buffer, message.len()) };
            }
            return service.wake_first(&self.block.receivers.tasks, Ok(message.len()));
        }
        // Who waits to send comes first, unless the caller's priority is above and that is the order.
        let turn = match self.block.messages.senders.tasks.first(held) {
            None => true,
            Some(first) => {
                self.block.messages.senders.by_priority && service.running().priority.get() < first.priority.get()
            }
        };
        turn && self.block.messages.push(message, held)
    }

    /// Takes the oldest message, and lets those who wait to send do so.
    fn take<C: Context>(self, service: &Service<K, D, C>, buffer: *mut u8) -> Option<usize> {
        let held = service.held();
        if let Some(length) = self.block.messages.pop(buffer, held) {
            serve_senders(service, &self.block.messages);
            return Some(length);
        }
        // Without memory, or with too little for it, the message goes from one task to the other.
        let sender = self.block.messages.senders.tasks.first(held)?;
        let Waiting::SendMessage(_, message, length) = sender.waiting.get(held) else { return None };
        // SAFETY: the caller has room for the longest message, and the sender waits until it is woken.
        unsafe { core::ptr::copy_nonoverlapping(message, buffer, length) };
        service.wake_first(&self.block.messages.senders.tasks, Ok(0));
        // The message of the next may fit where this one did not.
        serve_senders(service, &self.block.messages);
        Some(length)
    }
}

/// Lets those who wait to send do so, in their order, as long as there is room.
pub(crate) fn serve_senders<K: Storage, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    messages: &'static Messages<Tcb<K>>,
) {
    let held = service.held();
    while let Some(sender) = messages.senders.tasks.first(held) {
        let Waiting::SendMessage(_, message, length) = sender.waiting.get(held) else { return };
        // SAFETY: the sender lends its message until it is woken.
        if !messages.push(unsafe { core::slice::from_raw_parts(message, length) }, held) {
            return;
        }
        service.wake_first(&messages.senders.tasks, Ok(0));
    }
}

impl<K: Storage> MessageBufferBlock<K> {
    /// Whether its messages add up to what is in use, and nobody waits who need not.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let messages = &self.messages;
        let (mut place, mut used) = (messages.first.get(held), 0);
        for _ in 0..messages.count.get(held) {
            let mut length = [0; 4];
            for (offset, byte) in length.iter_mut().enumerate() {
                // SAFETY: a message begins there, if all is well; the place is below the size in any case.
                *byte = unsafe { messages.byte((place + offset) % messages.size.max(1)) };
            }
            let length = room((u32::from_ne_bytes(length) as usize).min(messages.size));
            used += length;
            place = messages.wrap((place + length).min(2 * messages.size));
        }
        let first_fits = match messages.senders.tasks.first(held).map(|sender| sender.waiting.get(held)) {
            Some(Waiting::SendMessage(_, _, length)) => room(length) <= messages.size - used.min(messages.size),
            _ => false,
        };
        let receivers = self.receivers.tasks.first(held).is_some();
        used == messages.used.get(held) && !first_fits && !(receivers && messages.count.get(held) > 0)
    }
}
