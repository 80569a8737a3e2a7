//! The monitor's side of the rings: takes requests of all devices, does them, and says what became of them.
//!
//! Everything that the guest writes is copied once, then checked, then used; the monitor's own counts are its own, and what the guest
//! has of them is a copy. A guest that counts up what cannot be has broken the rules, and is ended; whatever else it asks gets a status.

use std::io;
use std::sync::atomic::{AtomicBool, Ordering, fence};
use std::time::{Duration, Instant};

use unikernel_abi::ring::{self, Completion, Control, Request, SEGMENTS, Segment, place};
use unikernel_abi::{RINGS, Status};

use crate::backend::{self, Backend, Statistics};
use crate::disk::Disk;
use crate::event::Event;
use crate::guest::{Engine, Rings};
use crate::memory::{Buffer, Memory};
use crate::uring::{Ended, Uring};

/// The guest put more into a ring than it has places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct Broken;

/// How requests are done.
enum Work {
    /// One after the other, each when it is taken.
    Plain,
    /// Many at once.
    Uring(Box<Uring>),
}

/// One device.
struct Queue<'a> {
    backend: Backend<'a>,
    work: Work,
    base: u64,
    asked: Control<'a>,
    told: Control<'a>,
    taken: u32,
    completed: u32,
}

/// The devices of a guest, at work.
pub(crate) struct Server<'a> {
    memory: &'a Memory,
    queues: Vec<Queue<'a>>,
    /// The guest has put something there while the monitor slept.
    doorbell: &'a Event,
    /// The monitor has, while the guest slept.
    wake: &'a Event,
    /// How long it looks for requests before it sleeps.
    poll: Duration,
}

/// What the rings of a device take.
pub(crate) const SIZE: u64 = place::SIZE;

/// Where the rings of a device begin.
pub(crate) fn base(device: usize) -> u64 {
    RINGS + device as u64 * place::STRIDE
}

impl<'a> Server<'a> {
    /// With the devices of a guest whose memory that is.
    pub fn new(
        memory: &'a Memory,
        disks: &'a [Disk],
        doorbell: &'a Event,
        wake: &'a Event,
        Rings { poll, engine }: Rings,
    ) -> io::Result<Self> {
        let queue = |(device, disk): (usize, &'a Disk)| {
            let base = base(device);
            let word = |place| memory.word(base + place).ok_or(io::ErrorKind::OutOfMemory);
            let control = |count, sleeps| io::Result::Ok(Control { count: word(count)?, sleeps: word(sleeps)? });
            let asked = control(place::SUBMITTED, place::MONITOR_SLEEPS)?;
            let told = control(place::COMPLETED, place::GUEST_SLEEPS)?;
            let work = Work::of(engine, disk, memory, doorbell)?;
            Ok(Queue { backend: Backend::new(disk)?, work, base, asked, told, taken: 0, completed: 0 })
        };
        let queues = disks.iter().enumerate().map(queue).collect::<io::Result<_>>()?;
        Ok(Self { memory, queues, doorbell, wake, poll })
    }

    /// Serves the guest until it has ended, which `ended` says after the doorbell was rung.
    pub fn run(&mut self, ended: &AtomicBool) -> Result<(), Broken> {
        let mut idle = Instant::now();
        loop {
            let did = self.round()?;
            if ended.load(Ordering::Acquire) {
                return Ok(());
            }
            if did {
                idle = Instant::now();
            } else if idle.elapsed() < self.poll {
                // The guest may have been put on this very processor, and would stand still until the monitor sleeps.
                std::thread::yield_now();
            } else {
                if self.queues.iter_mut().all(Queue::may_sleep) {
                    self.doorbell.wait();
                }
                self.queues.iter_mut().for_each(Queue::awake);
                idle = Instant::now();
            }
        }
    }

    /// The descriptors of the logs of its disks.
    pub fn logs(&self) -> Vec<i32> {
        self.queues.iter().filter_map(|queue| queue.backend.log()).collect()
    }

    /// Looks at every device once. True if there was something to be done.
    fn round(&mut self) -> Result<bool, Broken> {
        let mut did = false;
        for queue in &mut self.queues {
            did |= queue.serve(self.memory, self.wake)?;
        }
        Ok(did)
    }

    pub fn statistics(&self) -> Vec<Statistics> {
        self.queues.iter().map(|queue| queue.backend.statistics).collect()
    }
}

impl Work {
    fn of(engine: Engine, disk: &Disk, memory: &Memory, doorbell: &Event) -> io::Result<Self> {
        // What lies in the cache is copied, by whoever asks for it; there is nothing to wait for beside.
        let wanted = engine == Engine::Uring || (engine == Engine::Auto && disk.is_direct());
        // In a log one stands behind the other.
        if !wanted || disk.log().is_some() {
            return Ok(Self::Plain);
        }
        match Uring::new(disk, memory, doorbell) {
            Ok(ring) => Ok(Self::Uring(Box::new(ring))),
            // Some systems have turned it off.
            Err(_) if engine == Engine::Auto => Ok(Self::Plain),
            Err(why) => {
                let what = "io_uring cannot be used here; --engine plain needs none";
                Err(io::Error::new(why.kind(), format!("{what} ({why})")))
            }
        }
    }
}

impl Queue<'_> {
    /// Does what is there now. Whatever the guest adds meanwhile is for the next time: the other devices come first.
    fn serve(&mut self, memory: &Memory, wake: &Event) -> Result<bool, Broken> {
        let mut did = self.tell_of_ended(memory, wake);
        let submitted = self.asked.published();
        if ring::waiting(submitted, self.taken).ok_or(Broken)? == 0 {
            return Ok(did);
        }
        while self.taken != submitted && self.has_room() {
            let at = self.base + ring::request_at(self.taken);
            let request = request(&memory.copy(at).ok_or(Broken)?);
            self.taken = self.taken.wrapping_add(1);
            if let Some(status) = self.begin(memory, &request) {
                // Each by itself: the guest goes on with what it has while the next is done.
                self.tell(memory, wake, request.id, status);
            }
            did = true;
        }
        if let Work::Uring(ring) = &mut self.work {
            // What the kernel has no room for now is there the next time.
            did |= ring.begin().is_err();
        }
        // What was in the cache has ended already.
        self.tell_of_ended(memory, wake);
        Ok(did)
    }

    /// Begins a request, and says what became of it if it is over already.
    fn begin(&mut self, memory: &Memory, request: &Request) -> Option<Status> {
        let (checked, data) = match self.check(memory, request) {
            Ok(checked) => checked,
            Err(status) => {
                let len = request.data.iter().fold(0u64, |sum, part| sum.saturating_add(part.len));
                self.backend.trace(request.op.into(), request.block, len, status, None);
                return Some(status);
            }
        };
        let data = &data[..usize::from(request.segments).min(SEGMENTS)];
        match &mut self.work {
            Work::Plain => Some(self.backend.perform(checked, data)),
            Work::Uring(ring) => {
                let over = self.backend.begin(checked);
                if over.is_none() {
                    ring.put(request.id, checked, data);
                }
                over
            }
        }
    }

    fn check(&self, memory: &Memory, request: &Request) -> Result<(backend::Request, [Buffer; SEGMENTS]), Status> {
        let parts = request.data.get(..usize::from(request.segments)).ok_or(Status::Invalid)?;
        let len = parts.iter().try_fold(0u64, |sum, part| sum.checked_add(part.len)).ok_or(Status::Invalid)?;
        let checked = self.backend.check(u32::from(request.op), request.block, len)?;
        let mut data = [Buffer::NOTHING; SEGMENTS];
        for (Segment { start, len }, buffer) in parts.iter().zip(&mut data) {
            *buffer = checked.buffer(memory, *start, *len).ok_or(Status::Invalid)?;
        }
        Ok((checked, data))
    }

    fn has_room(&self) -> bool {
        match &self.work {
            Work::Plain => true,
            Work::Uring(ring) => ring.has_room(),
        }
    }

    /// Tells the guest of requests that have ended meanwhile. True if there were any, or are some under way.
    fn tell_of_ended(&mut self, memory: &Memory, wake: &Event) -> bool {
        let Work::Uring(ring) = &mut self.work else { return false };
        if ring.is_idle() {
            return false;
        }
        let all = ring.ended().unwrap_or_default();
        let some = !all.is_empty();
        for Ended { id, request, result, time } in all {
            let status = self.backend.end(request, result, time);
            self.tell(memory, wake, id, status);
        }
        some
    }

    fn tell(&mut self, memory: &Memory, wake: &Event, id: u32, status: Status) {
        let completion = completion(Completion { id, status: status as u32, reserved: 0 });
        memory.put(self.base + ring::completion_at(self.completed), &completion);
        self.completed = self.completed.wrapping_add(1);
        if self.told.publish(self.completed) {
            wake.tell();
        }
    }

    /// False if there is something to be done.
    fn may_sleep(&mut self) -> bool {
        if let Work::Uring(ring) = &mut self.work {
            ring.tell(true);
            fence(Ordering::SeqCst);
            if ring.has_ended() {
                return false;
            }
        }
        // Where there is no room for another request, one that ends wakes the monitor.
        !self.has_room() || self.asked.may_sleep(self.taken)
    }

    fn awake(&mut self) {
        if let Work::Uring(ring) = &mut self.work {
            ring.tell(false);
        }
        self.asked.awake();
    }
}

fn request(bytes: &[u8; size_of::<Request>()]) -> Request {
    let word = |n: usize| bytes[8 * n..8 * n + 8].iter().rev().fold(0, |word, byte| word << 8 | u64::from(*byte));
    let segment = |n: usize| Segment { start: word(2 + 2 * n), len: word(3 + 2 * n) };
    Request {
        op: word(0) as u16,
        segments: (word(0) >> 16) as u16,
        id: (word(0) >> 32) as u32,
        block: word(1),
        data: [segment(0), segment(1), segment(2)],
    }
}

fn completion(Completion { id, status, reserved }: Completion) -> [u8; 16] {
    let mut out = [0; 16];
    out[..4].copy_from_slice(&id.to_le_bytes());
    out[4..8].copy_from_slice(&status.to_le_bytes());
    out[8..].copy_from_slice(&reserved.to_le_bytes());
    out
}

#[cfg(test)]
mod fuzz;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn requests_and_completions_are_read_and_written_as_they_lie_in_memory() {
        let read = request(&std::array::from_fn(|n| n as u8));
        assert_eq!((read.op, read.segments, read.id), (0x0100, 0x0302, 0x0706_0504));
        assert_eq!((read.block, read.data[0].start), (0x0f0e_0d0c_0b0a_0908, 0x1716_1514_1312_1110));
        assert_eq!(read.data[2].len, 0x3f3e_3d3c_3b3a_3938);
        let written = completion(Completion { id: 0x0403_0201, status: 5, reserved: 0 });
        assert_eq!(written[..8], [1, 2, 3, 4, 5, 0, 0, 0]);
    }
}
