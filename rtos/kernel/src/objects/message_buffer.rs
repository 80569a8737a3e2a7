//! Message buffers: messages of any length up to a limit, in the order in which they were sent.
//!
//! In the buffer each message is its length, in four bytes, and its bytes, rounded up to four. It may be cut by the end
//! of the memory and go on at its beginning.

use core::cell::UnsafeCell;

use crate::cell::{Cell, Held};
use crate::context::{Context, Domain};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::object::handle;
use crate::service::{Queue, Service};
use crate::task::{Class, Waiting};
use crate::time::Timeout;

handle! {
    /// A message buffer.
    MessageBuffer, MessageBufferBlock, message_buffers
}

/// All that the kernel keeps of a message buffer.
pub struct MessageBufferBlock<K: Kernel> {
    memory: *mut u8,
    size: usize,
    longest: usize,
    /// Where the oldest message begins.
    first: Cell<usize>,
    /// How many bytes are in use.
    used: Cell<usize>,
    count: Cell<usize>,
    /// The first waits because there is no room for its message; the others because they come after it.
    pub(crate) senders: Queue<K>,
    /// Tasks wait only while there is no message.
    pub(crate) receivers: Queue<K>,
}

// SAFETY: the memory is touched only under the lock.
unsafe impl<K: Kernel> Sync for MessageBufferBlock<K> {}

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
    pub const fn build<K: Kernel, const BYTES: usize>(self, memory: &'static Memory<BYTES>) -> MessageBufferBlock<K> {
        assert!(BYTES == self.size, "the memory is that which was asked for");
        let mut senders = Queue::new();
        senders.by_priority = self.by_priority;
        MessageBufferBlock {
            memory: memory.0.get().cast(),
            size: self.size,
            longest: self.longest,
            first: Cell::new(0),
            used: Cell::new(0),
            count: Cell::new(0),
            senders,
            receivers: Queue::new(),
        }
    }
}

/// What a message of that length takes in the buffer.
const fn room(length: usize) -> usize {
    4 + length.next_multiple_of(4)
}

impl<K: Kernel, D: Domain> MessageBuffer<K, D> {
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
        let service = self.enter_to_wait(cx)?;
        if message.is_empty() || message.len() > self.block.longest {
            return service.leave(Err(Error::PAR));
        }
        if self.put(&service, message) {
            return service.finish(Ok(()));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let waiting = Waiting::SendMessage(self.block, message.as_ptr(), message.len());
        service.block(waiting, Some(&self.block.senders), timeout).map(|_| ())
    }

    /// psnd_mbf: sends a message if there is room; E_TMOUT if not.
    pub fn psnd<C: Context>(self, message: &[u8], cx: C) -> Result<(), Error> {
        let service = self.enter_in_task(cx)?;
        if message.is_empty() || message.len() > self.block.longest {
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
        let service = self.enter_to_wait(cx)?;
        if buffer.len() < self.block.longest {
            return service.leave(Err(Error::PAR));
        }
        if let Some(length) = self.take(&service, buffer.as_mut_ptr()) {
            return service.finish(Ok(length));
        }
        if timeout.is_poll() {
            return service.leave(Err(Error::TMOUT));
        }
        let waiting = Waiting::ReceiveMessage(self.block, buffer.as_mut_ptr());
        service.block(waiting, Some(&self.block.receivers), timeout)
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
        while service.wake_first(&self.block.senders.tasks, Err(Error::DLT)) {}
        while service.wake_first(&self.block.receivers.tasks, Err(Error::DLT)) {}
        self.block.used.set(0, held);
        self.block.count.set(0, held);
        service.finish(Ok(()))
    }

    /// ref_mbf: the first tasks that wait to send and to receive, how many messages there are, and how many bytes are
    /// free.
    pub fn refer<C: Context>(self, cx: C) -> Result<(Option<usize>, Option<usize>, usize, usize), Error> {
        let service = self.enter_in_task(cx)?;
        let held = service.held();
        let (senders, receivers) = (self.block.senders.first_number(held), self.block.receivers.first_number(held));
        let (count, free) = (self.block.count.get(held), self.block.size - self.block.used.get(held));
        service.leave(Ok((senders, receivers, count, free)))
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
        let turn = match self.block.senders.tasks.first(held) {
            None => true,
            Some(first) => self.block.senders.by_priority && service.running().priority.get() < first.priority.get(),
        };
        turn && self.block.push(message, held)
    }

    /// Takes the oldest message, and lets those who wait to send do so.
    fn take<C: Context>(self, service: &Service<K, D, C>, buffer: *mut u8) -> Option<usize> {
        let held = service.held();
        if let Some(length) = self.block.pop(buffer, held) {
            serve_senders(service, self.block);
            return Some(length);
        }
        // Without memory, or with too little for it, the message goes from one task to the other.
        let sender = self.block.senders.tasks.first(held)?;
        let Waiting::SendMessage(_, message, length) = sender.waiting.get(held) else { return None };
        // SAFETY: the caller has room for the longest message, and the sender waits until it is woken.
        unsafe { core::ptr::copy_nonoverlapping(message, buffer, length) };
        service.wake_first(&self.block.senders.tasks, Ok(0));
        // The message of the next may fit where this one did not.
        serve_senders(service, self.block);
        Some(length)
    }
}

/// Lets those who wait to send do so, in their order, as long as there is room.
pub(crate) fn serve_senders<K: Kernel, D: Domain, C: Context>(
    service: &Service<K, D, C>,
    block: &'static MessageBufferBlock<K>,
) {
    let held = service.held();
    while let Some(sender) = block.senders.tasks.first(held) {
        let Waiting::SendMessage(_, message, length) = sender.waiting.get(held) else { return };
        // SAFETY: the sender lends its message until it is woken.
        if !block.push(unsafe { core::slice::from_raw_parts(message, length) }, held) {
            return;
        }
        service.wake_first(&block.senders.tasks, Ok(0));
    }
}

impl<K: Kernel> MessageBufferBlock<K> {
    /// Whether its messages add up to what is in use, and nobody waits who need not.
    pub(crate) fn is_sound(&self, held: Held<'_>) -> bool {
        let (mut place, mut used) = (self.first.get(held), 0);
        for _ in 0..self.count.get(held) {
            let mut length = [0; 4];
            for (offset, byte) in length.iter_mut().enumerate() {
                // SAFETY: a message begins there, if all is well; the place is below the size in any case.
                *byte = unsafe { self.memory.add((place + offset) % self.size.max(1)).read() };
            }
            let length = room((u32::from_ne_bytes(length) as usize).min(self.size));
            used += length;
            place = self.wrap((place + length).min(2 * self.size));
        }
        let first_fits = match self.senders.tasks.first(held).map(|sender| sender.waiting.get(held)) {
            Some(Waiting::SendMessage(_, _, length)) => room(length) <= self.size - used.min(self.size),
            _ => false,
        };
        let receivers = self.receivers.tasks.first(held).is_some();
        used == self.used.get(held) && !first_fits && !(receivers && self.count.get(held) > 0)
    }

    /// Keeps a message. False if there is no room.
    fn push(&self, message: &[u8], held: Held<'_>) -> bool {
        let used = self.used.get(held);
        if room(message.len()) > self.size - used {
            return false;
        }
        let start = self.wrap(self.first.get(held) + used);
        let length = (message.len() as u32).to_ne_bytes();
        let body = self.wrap(start + 4);
        for (offset, &byte) in length.iter().enumerate() {
            // SAFETY: four bytes at a multiple of four are not cut by the end.
            unsafe { self.memory.add(start + offset).write(byte) };
        }
        let head = message.len().min(self.size - body);
        // SAFETY: there is room for both parts, and the message is not in the buffer.
        unsafe {
            core::ptr::copy_nonoverlapping(message.as_ptr(), self.memory.add(body), head);
            core::ptr::copy_nonoverlapping(message.as_ptr().add(head), self.memory, message.len() - head);
        }
        self.used.set(used + room(message.len()), held);
        self.count.set(self.count.get(held) + 1, held);
        true
    }

    /// Takes the oldest message. Gives its length.
    fn pop(&self, buffer: *mut u8, held: Held<'_>) -> Option<usize> {
        if self.count.get(held) == 0 {
            return None;
        }
        let start = self.first.get(held);
        let mut length = [0; 4];
        for (offset, byte) in length.iter_mut().enumerate() {
            // SAFETY: four bytes at a multiple of four are not cut by the end.
            *byte = unsafe { self.memory.add(start + offset).read() };
        }
        let length = u32::from_ne_bytes(length) as usize;
        let body = self.wrap(start + 4);
        let head = length.min(self.size - body);
        // SAFETY: the message lies there, and the caller has room for the longest.
        unsafe {
            core::ptr::copy_nonoverlapping(self.memory.add(body), buffer, head);
            core::ptr::copy_nonoverlapping(self.memory, buffer.add(head), length - head);
        }
        self.first.set(self.wrap(start + room(length)), held);
        self.used.set(self.used.get(held) - room(length), held);
        self.count.set(self.count.get(held) - 1, held);
        Some(length)
    }

    fn wrap(&self, place: usize) -> usize {
        if place >= self.size { place - self.size } else { place }
    }
}
