//! The receiver of UDP datagrams, in a process of its own.
//!
//! Each datagram names the interval in which it was sent, and is counted for that interval.

use std::net::UdpSocket;
use std::os::fd::FromRawFd;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use crate::os::net;
use crate::portable::datagrams::{self, Arrival};

/// What the receiver counted of the datagrams of one interval.
#[derive(Debug, Default)]
pub(in crate::linux) struct Counts {
    pub(super) received: AtomicU64,
    pub(super) reordered: AtomicU64,
    pub(super) duplicates: AtomicU64,
}

#[derive(Debug, Default)]
pub(in crate::linux) struct Talk {
    pub(super) ready: AtomicBool,
    pub(in crate::linux) enough: AtomicBool,
    /// The receiver did all of its part.
    pub(super) counted: AtomicBool,
    /// Datagrams that were not what this sender sends: there must be none.
    pub(super) foreign: AtomicU64,
}

/// How many numbers a receiver outside says of `intervals`.
pub(super) fn numbers(intervals: usize) -> usize {
    1 + 3 * intervals
}

/// What a receiver outside says.
pub(in crate::linux) fn written(talk: &Talk, counts: &[Counts]) -> Vec<u64> {
    let of = |c: &Counts| [&c.received, &c.reordered, &c.duplicates].map(|count| count.load(Ordering::Relaxed));
    std::iter::once(talk.foreign.load(Ordering::Relaxed)).chain(counts.iter().flat_map(of)).collect()
}

/// Takes over what one said.
pub(super) fn taken(said: &[u64], talk: &Talk, counts: &[Counts]) {
    let Some((foreign, rest)) = said.split_first() else { return };
    talk.foreign.store(*foreign, Ordering::Relaxed);
    for (counts, numbers) in counts.iter().zip(rest.chunks_exact(3)) {
        for (count, number) in [&counts.received, &counts.reordered, &counts.duplicates].into_iter().zip(numbers) {
            count.store(*number, Ordering::Relaxed);
        }
    }
    talk.counted.store(true, Ordering::Release);
}

/// Which sequence numbers came.
pub(in crate::linux) type Seen = datagrams::Seen<Vec<u64>>;

/// With room for so many datagrams.
pub(in crate::linux) fn seen(datagrams: u64) -> Seen {
    Seen::new(vec![0; datagrams::words_for(datagrams)])
}

/// The UDP socket that a forked partner has as descriptor 0. It stays open until the partner ends.
pub(super) fn as_first() -> std::mem::ManuallyDrop<UdpSocket> {
    // SAFETY: the partner was given the descriptor for all of its life, and this never closes it.
    std::mem::ManuallyDrop::new(unsafe { UdpSocket::from_raw_fd(0) })
}

/// The partner: counts what comes until it is told that it is enough.
pub(in crate::linux) fn receive(
    socket: &UdpSocket,
    datagram: &mut [u8],
    seen: &mut Seen,
    talk: &Talk,
    counts: &[Counts],
) -> std::io::Result<()> {
    // The memory is this process's own only after a first write, which should not cost the first datagrams.
    for word in seen.bits() {
        // SAFETY: a word of ours; volatile, so that the write is really done.
        unsafe { std::ptr::from_mut(word).write_volatile(0) };
    }
    talk.ready.store(true, Ordering::Release);
    while !talk.enough.load(Ordering::Relaxed) {
        let len = match socket.recv(datagram) {
            Ok(len) => len,
            Err(e) if net::is_pause(&e) => continue,
            Err(e) if e.kind() == std::io::ErrorKind::ConnectionRefused => continue,
            Err(e) => return Err(e),
        };
        let number = |place: usize| datagram[place * 8..][..8].iter().rfold(0u64, |n, byte| n << 8 | u64::from(*byte));
        let interval = usize::try_from(number(1)).ok().and_then(|interval| counts.get(interval));
        let (Some(counts), true) = (interval, len == datagram.len()) else {
            talk.foreign.fetch_add(1, Ordering::Relaxed);
            continue;
        };
        let counter = match seen.add(number(0)) {
            Arrival::InOrder => &counts.received,
            Arrival::Reordered => {
                counts.reordered.fetch_add(1, Ordering::Relaxed);
                &counts.received
            }
            Arrival::Duplicate => &counts.duplicates,
            Arrival::Foreign => &talk.foreign,
        };
        counter.fetch_add(1, Ordering::Relaxed);
    }
    talk.counted.store(true, Ordering::Release);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_receiver_says_is_what_is_taken_over() {
        let counts = |n: usize| (0..n).map(|_| Counts::default()).collect::<Vec<_>>();
        let (talk, told) = (Talk::default(), counts(2));
        talk.foreign.store(7, Ordering::Relaxed);
        told[0].received.store(3, Ordering::Relaxed);
        told[1].duplicates.store(5, Ordering::Relaxed);
        let said = written(&talk, &told);
        assert_eq!((said.len(), said.as_slice()), (numbers(2), &[7, 3, 0, 0, 0, 0, 5][..]));
        let (heard, here) = (Talk::default(), counts(2));
        taken(&said, &heard, &here);
        assert_eq!(written(&heard, &here), said);
        assert!(heard.counted.load(Ordering::Relaxed));
    }
}
