//! What happened to a device.

use unikernel_abi::writes::{self, Entry, FLUSH, FUA, SECTOR};

/// What happened to a device.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Event {
    /// Blocks from `block` on were written.
    Write { block: u64, data: Vec<u8> },
    /// The same, and they were durable when that was done.
    Durable { block: u64, data: Vec<u8> },
    /// A flush that had begun after everything before it was done.
    Flush,
}

/// A device, and what happened to it.
///
/// A monitor's log of it is read by [`Trace::of_log`].
#[derive(Clone, Debug)]
pub struct Trace {
    pub block_size: usize,
    /// What it held before.
    pub before: Vec<u8>,
    pub events: Vec<Event>,
}

impl Trace {
    /// Of a log of writes to a device that held these bytes before; `None` if it is no log, or goes beyond the device. What comes with a
    /// flush was written after it.
    pub fn of_log(before: Vec<u8>, log: &[u8]) -> Option<Self> {
        let entries = writes::entries(log.get(..SECTOR)?)?;
        let (mut at, mut events) = (SECTOR, Vec::new());
        for _ in 0..entries {
            let Entry { sector, sectors, flags } = Entry::decode(log.get(at..at + SECTOR)?)?;
            at += SECTOR;
            let len = usize::try_from(sectors).ok()?.checked_mul(SECTOR)?;
            let data = log.get(at..at.checked_add(len)?)?.to_vec();
            at += len;
            let end = usize::try_from(sector).ok()?.checked_mul(SECTOR)?.checked_add(len)?;
            if end > before.len() {
                return None;
            }
            if flags & FLUSH != 0 {
                events.push(Event::Flush);
            }
            match (data.is_empty(), flags & FUA != 0) {
                (true, _) => {}
                (false, true) => events.push(Event::Durable { block: sector, data }),
                (false, false) => events.push(Event::Write { block: sector, data }),
            }
        }
        Some(Self { block_size: SECTOR, before, events })
    }

    /// The same of a device that writes larger blocks whole or not at all; `None` if anything was written that is no whole block.
    pub fn in_blocks(self, block_size: usize) -> Option<Self> {
        let factor = (block_size / self.block_size) as u64;
        let is_whole = |event: &Event| match event {
            Event::Write { block, data } | Event::Durable { block, data } => {
                block.is_multiple_of(factor) && data.len().is_multiple_of(block_size)
            }
            Event::Flush => true,
        };
        if !block_size.is_multiple_of(self.block_size) || !self.events.iter().all(is_whole) {
            return None;
        }
        let events = self.events.into_iter().map(|event| match event {
            Event::Write { block, data } => Event::Write { block: block / factor, data },
            Event::Durable { block, data } => Event::Durable { block: block / factor, data },
            Event::Flush => Event::Flush,
        });
        Some(Self { block_size, before: self.before, events: events.collect() })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_log_is_read_and_what_is_none_is_not() {
        let mut log = writes::first(4).to_vec();
        let mut entry = |sector, flags, data: &[u8]| {
            log.extend(Entry { sector, sectors: data.len() as u64 / 512, flags }.encode());
            log.extend(data);
        };
        entry(1, 0, &[1; 1024]);
        entry(0, FLUSH, &[]);
        entry(0, FLUSH | FUA, &[2; 512]);
        entry(3, 0, &[3; 512]);
        let trace = Trace::of_log(vec![0; 2048], &log).unwrap();
        let write = |block, byte, len| Event::Write { block, data: vec![byte; len] };
        let durable = Event::Durable { block: 0, data: vec![2; 512] };
        assert_eq!(trace.events, [write(1, 1, 1024), Event::Flush, Event::Flush, durable, write(3, 3, 512)]);
        assert!(trace.clone().in_blocks(1024).is_none());
        let coarse = Trace { events: vec![write(2, 1, 1024), Event::Flush], ..trace };
        assert_eq!(coarse.in_blocks(1024).unwrap().events, [write(1, 1, 1024), Event::Flush]);
        assert!(Trace::of_log(vec![0; 1024], &log).is_none());
        for end in [0, 511, 512, 1000, log.len() - 1] {
            assert!(Trace::of_log(vec![0; 2048], &log[..end]).is_none(), "{end}");
        }
    }
}
