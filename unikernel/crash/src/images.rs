//! The images that a trace allows.

use std::collections::BTreeMap;

use crate::trace::{Event, Trace};

impl Trace {
    /// What the device may hold if power fails when so many events have happened: at most `most` images, all of them if there are no
    /// more than that.
    pub fn images(&self, happened: usize, most: usize, random: &mut fastrand::Rng) -> Images {
        Images::of(self, happened, most, random)
    }
}

/// The images of a device after a power cut, one after the other.
#[derive(Debug)]
pub struct Images {
    block_size: usize,
    /// What is there for certain.
    durable: Vec<u8>,
    /// The blocks that may be there, with their versions.
    loose: Vec<(u64, Vec<Vec<u8>>)>,
    /// Which version of each block: 0 is what was durable.
    choices: Box<dyn Choices>,
}

trait Choices: std::fmt::Debug {
    fn next(&mut self, of: &[usize]) -> Option<Vec<usize>>;
}

/// Every one, as a counter goes through all numbers.
#[derive(Debug, Default)]
struct Every {
    last: Option<Vec<usize>>,
}

/// None of the blocks, all of them, each alone, all but each, and then at random.
#[derive(Debug)]
struct Sampled {
    told: usize,
    most: usize,
    random: fastrand::Rng,
}

impl Choices for Every {
    fn next(&mut self, of: &[usize]) -> Option<Vec<usize>> {
        let next = match self.last.take() {
            None => vec![0; of.len()],
            Some(mut digits) => {
                let carried = digits.iter().zip(of).take_while(|(digit, versions)| **digit == **versions).count();
                *digits.get_mut(carried)? += 1;
                digits[..carried].fill(0);
                digits
            }
        };
        self.last = Some(next.clone());
        Some(next)
    }
}

impl Choices for Sampled {
    fn next(&mut self, of: &[usize]) -> Option<Vec<usize>> {
        let n = self.told;
        self.told += 1;
        let blocks = of.len();
        let newest = |keep: &dyn Fn(usize) -> bool| (0..blocks).map(|b| if keep(b) { of[b] } else { 0 }).collect();
        match n {
            _ if n >= self.most => None,
            0 => Some(newest(&|_| false)),
            1 => Some(newest(&|_| true)),
            // Half of what there is room for, so that there is chance as well.
            _ if n < (2 + 2 * blocks).min(self.most / 2) && n.is_multiple_of(2) => Some(newest(&|b| b == n / 2 - 1)),
            _ if n < (2 + 2 * blocks).min(self.most / 2) => Some(newest(&|b| b != n / 2 - 1)),
            _ => Some(of.iter().map(|versions| self.random.usize(..=*versions)).collect()),
        }
    }
}

impl Images {
    pub(crate) fn of(trace: &Trace, happened: usize, most: usize, random: &mut fastrand::Rng) -> Self {
        let events = &trace.events[..happened];
        let flushed = events.iter().rposition(|event| *event == Event::Flush).unwrap_or(0);
        let (before, since) = events.split_at(flushed);
        let mut durable = trace.before.clone();
        let size = trace.block_size;
        for (block, data) in blocks(before, size) {
            let at = block as usize * size;
            durable[at..at + size].copy_from_slice(data);
        }
        let mut loose = BTreeMap::<u64, Vec<Vec<u8>>>::new();
        for (event, (block, data)) in
            since.iter().flat_map(|event| blocks([event], size).map(move |block| (event, block)))
        {
            let at = block as usize * size;
            if matches!(event, Event::Durable { .. }) {
                durable[at..at + size].copy_from_slice(data);
                loose.remove(&block);
                continue;
            }
            let versions = loose.entry(block).or_default();
            // What is written as it was makes no other image.
            if versions.last().map_or(&durable[at..at + size], Vec::as_slice) != data {
                versions.push(data.to_vec());
            }
        }
        let loose: Vec<_> = loose.into_iter().filter(|(_, versions)| !versions.is_empty()).collect();
        let all = loose.iter().try_fold(1usize, |all, (_, versions)| all.checked_mul(versions.len() + 1));
        let choices: Box<dyn Choices> = if all.is_some_and(|all| all <= most) {
            Box::new(Every::default())
        } else {
            Box::new(Sampled { told: 0, most, random: random.fork() })
        };
        Self { block_size: size, durable, loose, choices }
    }
}

impl Iterator for Images {
    type Item = Vec<u8>;

    fn next(&mut self) -> Option<Vec<u8>> {
        let of: Vec<usize> = self.loose.iter().map(|(_, versions)| versions.len()).collect();
        let choice = self.choices.next(&of)?;
        let mut image = self.durable.clone();
        for ((block, versions), chosen) in self.loose.iter().zip(choice) {
            if chosen > 0 {
                let at = *block as usize * self.block_size;
                image[at..at + self.block_size].copy_from_slice(&versions[chosen - 1]);
            }
        }
        Some(image)
    }
}

/// The blocks that were written, in order.
fn blocks<'a>(events: impl IntoIterator<Item = &'a Event>, size: usize) -> impl Iterator<Item = (u64, &'a [u8])> {
    events.into_iter().flat_map(move |event| {
        let (first, data): (u64, &[u8]) = match event {
            Event::Write { block, data } | Event::Durable { block, data } => (*block, data),
            Event::Flush => (0, &[]),
        };
        data.chunks_exact(size).enumerate().map(move |(n, data)| (first + n as u64, data))
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    fn write(block: u64, bytes: &[u8]) -> Event {
        Event::Write { block, data: bytes.to_vec() }
    }

    fn trace(events: Vec<Event>) -> Trace {
        Trace { block_size: 1, before: b"....".to_vec(), events }
    }

    fn texts(trace: &Trace, happened: usize, most: usize) -> Vec<String> {
        let images = trace.images(happened, most, &mut fastrand::Rng::with_seed(1));
        images.map(|image| String::from_utf8(image).unwrap()).collect()
    }

    #[test]
    fn what_was_flushed_is_there_and_of_the_rest_anything() {
        let trace = trace(vec![write(0, b"ab"), Event::Flush, write(1, b"cd"), write(2, b"e"), Event::Flush]);
        assert_eq!(texts(&trace, 0, 100), ["...."]);
        assert_eq!(texts(&trace, 1, 100), ["....", "a...", ".b..", "ab.."]);
        assert_eq!(texts(&trace, 2, 100), ["ab.."]);
        assert_eq!(texts(&trace, 4, 100), ["ab..", "ac..", "abd.", "acd.", "abe.", "ace."]);
        assert_eq!(texts(&trace, 5, 100), ["ace."]);
    }

    #[test]
    fn what_was_durable_when_it_was_written_is_there_and_flushes_nothing_else() {
        let durable = Event::Durable { block: 1, data: b"D".to_vec() };
        let trace = trace(vec![write(0, b"ab"), durable, write(1, b"x")]);
        assert_eq!(texts(&trace, 2, 100), [".D..", "aD.."]);
        assert_eq!(texts(&trace, 3, 100), [".D..", "aD..", ".x..", "ax.."]);
    }

    #[test]
    fn where_there_are_too_many_the_corners_come_first() {
        let trace = trace(vec![write(0, b"abcd"), write(0, b"efgh")]);
        let all: BTreeSet<_> = texts(&trace, 2, 81).into_iter().collect();
        assert_eq!(all.len(), 81);
        let some = texts(&trace, 2, 40);
        assert_eq!(some.len(), 40);
        assert_eq!(some[..4], ["....", "efgh", "e...", ".fgh"]);
        assert!(some.iter().all(|image| all.contains(image)) && some.iter().any(|image| image.contains('a')));
    }
}
