//! A wire between two emulated machines: each frame that one sends reaches the other after as long as its bits take at the wire's rate, and
//! after a delay. What waits for the wire is bounded, as in a switch: a frame for which there is no room is lost, and counted.

use std::collections::VecDeque;
use std::io;
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::net::UnixDatagram;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

/// Larger than a frame of Ethernet.
const FRAME: usize = 2048;
/// What a frame takes on a wire beyond its bytes: preamble, checksum, and the gap before the next.
const AROUND: usize = 24;
/// So long it may wait for nothing before it looks whether it is over.
const LOOK: Duration = Duration::from_millis(20);

/// What a wire does to frames.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Kind {
    /// In bits a second; 0 takes no time.
    pub rate: u64,
    pub delay: Duration,
    /// Bytes that may wait for their turn in a direction.
    pub queue: usize,
}

/// What went through, of both directions.
#[derive(Debug, Default)]
pub(crate) struct Counts {
    pub frames: AtomicU64,
    pub lost: AtomicU64,
}

/// A wire. It is cut when it is dropped.
pub(crate) struct Wire {
    over: Arc<AtomicBool>,
    pub counts: Arc<Counts>,
    worker: Option<JoinHandle<()>>,
}

impl Wire {
    /// Lays one; gives the two ends for the machines.
    ///
    /// # Errors
    /// When the kernel gives no sockets.
    pub(crate) fn lay(kind: Kind) -> io::Result<(Self, [OwnedFd; 2])> {
        let ((here, one), (there, other)) = (UnixDatagram::pair()?, UnixDatagram::pair()?);
        for socket in [&here, &there] {
            socket.set_nonblocking(true)?;
        }
        let (over, counts) = (Arc::new(AtomicBool::new(false)), Arc::new(Counts::default()));
        let (is_over, counted) = (Arc::clone(&over), Arc::clone(&counts));
        let worker = thread::Builder::new().name("wire".into()).spawn(move || {
            let mut ways = [Way::new(kind), Way::new(kind)];
            while !is_over.load(Ordering::Relaxed) {
                carry(&mut ways, [&here, &there], &counted);
            }
        })?;
        Ok((Self { over, counts, worker: Some(worker) }, [one.into(), other.into()]))
    }
}

impl Drop for Wire {
    fn drop(&mut self) {
        self.over.store(true, Ordering::Relaxed);
        if let Some(worker) = self.worker.take() {
            let _ = worker.join();
        }
    }
}

/// Frames under way in one direction.
struct Way {
    kind: Kind,
    frames: VecDeque<(Instant, Vec<u8>)>,
    /// When the last of them will have left the sender.
    free: Option<Instant>,
}

impl Way {
    fn new(kind: Kind) -> Self {
        Self { kind, frames: VecDeque::new(), free: None }
    }

    /// A frame is sent at `now`: whether there was room for it.
    fn takes(&mut self, frame: Vec<u8>, now: Instant) -> bool {
        let waiting = self.free.map_or(Duration::ZERO, |free| free.saturating_duration_since(now));
        let bits = |bytes: usize| bytes as u128 * 8;
        let time = |bits: u128| match self.kind.rate {
            0 => Duration::ZERO,
            rate => Duration::from_nanos((bits * 1_000_000_000 / u128::from(rate)) as u64),
        };
        // What waits is what has not left the sender.
        if waiting + time(bits(frame.len())) > time(bits(self.kind.queue)) && self.kind.rate > 0 {
            return false;
        }
        let left = self.free.map_or(now, |free| free.max(now)) + time(bits(frame.len() + AROUND));
        self.free = Some(left);
        self.frames.push_back((left + self.kind.delay, frame));
        true
    }

    /// The next that has arrived by `now`.
    fn arrived(&mut self, now: Instant) -> Option<Vec<u8>> {
        let (due, _) = self.frames.front()?;
        if *due > now { None } else { self.frames.pop_front().map(|(_, frame)| frame) }
    }
}

/// Takes what both machines send, hands on what has arrived, and waits for either.
fn carry(ways: &mut [Way; 2], sockets: [&UnixDatagram; 2], counts: &Counts) {
    let now = Instant::now();
    for (way, (from, to)) in ways.iter_mut().zip([(sockets[0], sockets[1]), (sockets[1], sockets[0])]) {
        let mut frame = [0; FRAME];
        while let Ok(length) = from.recv(&mut frame) {
            let counter = if way.takes(frame[..length].to_vec(), now) { &counts.frames } else { &counts.lost };
            counter.fetch_add(1, Ordering::Relaxed);
        }
        while let Some(frame) = way.arrived(now) {
            // A machine that does not read its frames loses them, as one whose controller is full.
            if to.send(&frame).is_err() {
                counts.lost.fetch_add(1, Ordering::Relaxed);
            }
        }
    }
    let next = ways.iter().filter_map(|way| way.frames.front()).map(|(due, _)| *due).min();
    let wait = next.map_or(LOOK, |due| due.saturating_duration_since(Instant::now()).min(LOOK));
    let mut polled = sockets.map(|socket| libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 });
    let wait = libc::timespec { tv_sec: 0, tv_nsec: wait.as_nanos() as libc::c_long };
    // SAFETY: two entries and a time of ours.
    unsafe { libc::ppoll(polled.as_mut_ptr(), 2, &raw const wait, std::ptr::null()) };
}

#[cfg(test)]
mod tests {
    use super::*;

    const SLOW: Kind = Kind { rate: 8_000_000, delay: Duration::from_millis(3), queue: 3000 };

    #[test]
    fn a_frame_takes_the_time_of_its_bits_and_the_delay() {
        let (mut way, now) = (Way::new(SLOW), Instant::now());
        assert!(way.takes(vec![1; 976], now) && way.takes(vec![2; 976], now));
        let at = |microseconds| now + Duration::from_micros(microseconds);
        // A byte a microsecond.
        assert_eq!(way.arrived(at(3999)), None);
        assert_eq!(way.arrived(at(4000)), Some(vec![1; 976]));
        assert_eq!(way.arrived(at(4999)), None);
        assert_eq!(way.arrived(at(5000)), Some(vec![2; 976]));
    }

    #[test]
    fn what_finds_no_room_is_lost_and_what_comes_later_is_not() {
        let (mut way, now) = (Way::new(SLOW), Instant::now());
        let taken = (0..5).filter(|_| way.takes(vec![0; 976], now)).count();
        assert_eq!(taken, 3);
        assert!(way.takes(vec![0; 976], now + Duration::from_millis(2)));
        let mut free = Way::new(Kind { rate: 0, ..SLOW });
        assert!((0..1000).all(|_| free.takes(vec![0; 976], now)));
    }

    #[test]
    fn frames_reach_the_other_machine() {
        let (wire, [one, other]) = Wire::lay(Kind { delay: Duration::from_millis(1), ..SLOW }).expect("a wire");
        let [one, other] = [one, other].map(UnixDatagram::from);
        other.set_read_timeout(Some(Duration::from_secs(5))).expect("set");
        let begun = Instant::now();
        one.send(b"hello").expect("sent");
        let mut frame = [0; 64];
        assert_eq!(other.recv(&mut frame).expect("received"), 5);
        assert!(begun.elapsed() >= Duration::from_millis(1));
        assert_eq!(wire.counts.frames.load(Ordering::Relaxed), 1);
        drop(wire);
        assert!(one.send(b"into nothing").is_err());
    }
}
