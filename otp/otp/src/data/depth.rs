//! The limit on how deep values may nest.
//!
//! Only a type that contains itself can nest without end, and it contains itself in a box, a list or a map. Reading one of these counts a
//! level, which costs little beside allocating it; numbers, tuples and texts count nothing. A term of a foreign process is refused
//! before decoding it takes more stack than there is, and no value is encoded that is nested deeper than can be decoded.

use std::cell::Cell;
use std::marker::PhantomData;

use super::Malformed;
use crate::nif;

/// As many boxes, lists, sets and maps of Rust can lie inside each other.
pub const DEPTH: u32 = 128;

/// Where a thread is.
struct Here {
    level: Cell<u32>,
    /// The address that its stack may grow down to; 1 until it is known.
    lowest: Cell<usize>,
}

thread_local! {
    static HERE: Here = const { Here { level: Cell::new(0), lowest: Cell::new(1) } };
}

/// One level deeper on this thread, for as long as this lives.
#[derive(Debug)]
pub struct Deeper(PhantomData<*const ()>);

impl Deeper {
    /// # Errors
    /// When that is too deep.
    #[inline]
    pub fn reading() -> Result<Self, Malformed> {
        Self::new().ok_or_else(|| {
            Malformed::expected(format!("at most {DEPTH} levels, and as many as the stack has room for"))
        })
    }

    /// # Panics
    /// When that is too deep.
    #[inline]
    pub fn writing() -> Self {
        Self::new()
            .unwrap_or_else(|| panic!("a value is to be sent that is deeper than {DEPTH} levels, or than the stack"))
    }

    #[inline]
    fn new() -> Option<Self> {
        let marker = 0_u8;
        let address = (&raw const marker).addr();
        HERE.with(|here| {
            let level = here.level.get();
            if level >= DEPTH || address < Self::lowest(here) {
                return None;
            }
            here.level.set(level + 1);
            Some(Self(PhantomData))
        })
    }

    #[inline]
    fn lowest(here: &Here) -> usize {
        if here.lowest.get() == 1 {
            here.lowest.set(nif::lowest());
        }
        here.lowest.get()
    }
}

impl Drop for Deeper {
    #[inline]
    fn drop(&mut self) {
        HERE.with(|here| here.level.set(here.level.get() - 1));
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn there_is_room_for_as_many_levels_as_are_promised_and_for_no_more() {
        for _ in 0..2 {
            let levels: Vec<_> = std::iter::from_fn(|| Deeper::reading().ok()).collect();
            assert_eq!(levels.len(), DEPTH as usize);
        }
    }

    #[test]
    fn a_stack_that_is_nearly_used_up_is_too_deep() {
        /// Goes down until there is no more room, without counting levels.
        fn down(steps: usize) -> usize {
            let room = std::hint::black_box([0_u8; 1024]);
            if Deeper::reading().is_err() || steps == 100_000 { steps } else { down(steps + 1) + usize::from(room[0]) }
        }
        let steps = std::thread::Builder::new().stack_size(512 * 1024).spawn(|| down(0)).expect("a thread").join();
        let steps = steps.expect("it did not overflow");
        // How many there are depends on the thread, which may be given the larger stack of one that has ended.
        assert!((1..100_000).contains(&steps), "{steps}");
    }
}
