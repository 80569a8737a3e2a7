//! The plan of a file workload: operation, places in the file, and state of the page cache, checked before a file is
//! made.

use crate::bench::Failure;
use crate::portable::stamp;
use crate::spec::Params;

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Op {
    Write,
    WriteFsync,
    Read,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Cache {
    Hot,
    Cold,
    Direct,
}

/// What is to be done, checked.
pub(super) struct Plan {
    pub(super) op: Op,
    pub(super) cache: Cache,
    pub(super) size: u64,
    pub(super) block: usize,
    pub(super) samples: u64,
    /// How far the next sample lies behind the one before.
    pub(super) step: u64,
    /// The bytes of the file.
    pub(super) region: u64,
}

impl Plan {
    pub(super) fn new(params: &Params) -> Result<Self, Failure> {
        let (size, samples) = (params.number("size"), params.number("samples"));
        let block = match params.number("block") {
            0 => size.min(1 << 20),
            block => block.min(size),
        };
        if block < stamp::LEAST as u64 {
            let why =
                format!("a block of {block} bytes is too small to be checked: at least {} are needed", stamp::LEAST);
            return Err(Failure::Impossible(why));
        }
        let step = if params.choice("place") == "sequential" { size } else { 0 };
        let region = step.checked_mul(samples - 1).and_then(|behind| behind.checked_add(size));
        let region = region.filter(|region| i64::try_from(*region).is_ok());
        let region =
            region.ok_or_else(|| Failure::Impossible("the file would be larger than any file can be".into()))?;
        let op = match params.choice("op") {
            "write" => Op::Write,
            "write-fsync" => Op::WriteFsync,
            _ => Op::Read,
        };
        let cache = match params.choice("cache") {
            "hot" => Cache::Hot,
            "cold" => Cache::Cold,
            _ => Cache::Direct,
        };
        Ok(Self { op, cache, size, block: block as usize, samples, step, region })
    }

    /// Where the samples begin, each place once.
    pub(super) fn places(&self) -> impl Iterator<Item = u64> + use<> {
        let (places, step) = if self.step == 0 { (1, 0) } else { (self.samples, self.step) };
        (0..places).map(move |place| place * step)
    }

    /// Whether every sample writes where nothing was written before, so that there is nothing that could be cached.
    pub(super) fn appends(&self) -> bool {
        self.op != Op::Read && self.step != 0
    }
}
