//! Classes: on which processors a task, or the handler of a notification, may run.

use crate::base::context::{Domain, Known};
use crate::base::model::Model;

/// On which processors a task may run.
#[derive(Clone, Copy)]
pub struct Class {
    initial: u8,
    affinity: u32,
    pinned: bool,
}

impl Class {
    /// The class of an object that lives where the domain says.
    pub(crate) const fn of<M: Model, D: Domain>() -> Class {
        match D::KNOWN {
            Known::Pinned(place) => {
                assert!(place < M::PROCESSORS, "the class names a processor that this kernel does not have");
                Class { initial: place as u8, affinity: 1 << place, pinned: true }
            }
            _ => Class { initial: 0, affinity: ((1u64 << M::PROCESSORS) - 1) as u32, pinned: false },
        }
    }

    /// The processor that it is pinned to.
    #[inline(always)]
    pub(crate) const fn pinned(self) -> Option<usize> {
        if self.pinned { Some(self.initial as usize) } else { None }
    }

    pub(crate) const fn initial(self) -> usize {
        self.initial as usize
    }

    pub(crate) const fn allows(self, processor: usize) -> bool {
        processor < 32 && self.affinity & (1 << processor) != 0
    }

    /// Begins on that processor.
    pub(crate) const fn starting_on<M: Model>(self, processor: usize) -> Class {
        assert!(processor < M::PROCESSORS, "the class names a processor that this kernel does not have");
        assert!(self.allows(processor), "the initial processor is not one that the class allows");
        Class { initial: processor as u8, affinity: self.affinity, pinned: self.pinned }
    }

    pub(crate) const fn only_on<M: Model>(self, processors: u32) -> Class {
        assert!(processors != 0, "the class allows no processor");
        assert!(
            (processors as u64) < 1u64 << M::PROCESSORS,
            "the class allows a processor that this kernel does not have"
        );
        Class { initial: processors.trailing_zeros() as u8, affinity: processors, pinned: self.pinned }
    }
}
