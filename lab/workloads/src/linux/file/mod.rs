//! File input and output of any size: writing, writing through to the device, and reading.
//!
//! A sample is one whole operation: all of its `size` bytes in calls of `block` bytes, and for `write-fsync` one fsync
//! after them. Opening, closing, and the preparation of the page cache are not part of the sample. For `bs=BLOCK` with
//! `fsync=1`, and size and block equal, the sample is the sum of two figures of `fio`: the completion latency and the
//! sync latency.
//!
//! Before every cold sample the file's pages are written out and dropped, and the kernel is asked (mincore) which of
//! them are still there. For hot samples the kernel is asked before the first and after the last: a query between two
//! samples would itself cool the processor's caches. So `cache` is reported as it was found. Written data is stamped
//! with its place and the number of the sample, and read back at the end; read data is compared, after the sample, with
//! what the preparation wrote.

mod plan;
mod store;

use std::path::PathBuf;
use std::sync::atomic::AtomicBool;

use kizami_recording::Recorder;

use crate::bench::{Bench, Failure, clock_ns};
use crate::os::residency::{Pages, Residency};
use crate::spec::{Kind, Param, Params, Part, Workload};
use plan::{Cache, Op, Plan};
use store::{Block, Store};

pub static WORKLOAD: Workload = Workload {
    name: "file",
    title: "file write, write and fsync, read",
    about: "Writes or reads `size` bytes of a file in calls of `block` bytes; write-fsync ends with an fsync. The file is \
            open all the time. hot: the file's pages are in the page cache. cold: they are written out and dropped before \
            every sample, which mincore confirms; a cache of the disk's own or of a hypervisor may still have them. \
            direct: O_DIRECT, past the page cache. in-place works on the same bytes again and again; sequential on the \
            next ones each time: it reads through a file, or appends in a region that was reserved before. An fsync or a call that has begun is not cut \
            short by a stop.",
    reference: "fio",
    params: &[
        Param {
            name: "op",
            about: "what a sample does",
            kind: Kind::Choice(&["write", "write-fsync", "read"]),
            default: "write-fsync",
        },
        Param { name: "size", about: "bytes a sample", kind: Kind::size(16, 1 << 40), default: "4KiB" },
        Param {
            name: "block",
            about: "bytes a call; 0 for the size, at most 1MiB",
            kind: Kind::size(0, 1 << 30),
            default: "0",
        },
        Param {
            name: "cache",
            about: "where the bytes are before each sample",
            kind: Kind::Choice(&["hot", "cold", "direct"]),
            default: "hot",
        },
        Param {
            name: "place",
            about: "in-place: the same bytes each time; sequential: the next ones",
            kind: Kind::Choice(&["in-place", "sequential"]),
            default: "in-place",
        },
        Param { name: "samples", about: "how many", kind: Kind::count(1, 10_000_000), default: "200" },
    ],
    parts: |params, _| {
        let times = Part::times(params.number("samples"));
        // Where each is cold the first is like the others.
        vec![if params.choice("cache") == "cold" { times.cold(0) } else { times }]
    },
    seconds: |params| {
        let bytes = params.number("size") as f64 * params.number("samples") as f64;
        let calls = params.number("samples") as f64;
        match params.choice("op") {
            "write" => bytes / 1e9,
            "write-fsync" => bytes / 300e6 + calls * 2e-3,
            _ => bytes / 2e9,
        }
    },
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let mut recorder = bench.recorder(0)?;
    let plan = Plan::new(params)?;
    let store = Store::create(bench.scratch().join(format!("file-{}", std::process::id())), &plan)?;
    let mut block = Block::new(plan.block)?;
    if !store.prepare(&mut block, &plan, bench.stop())? {
        return Ok(());
    }
    let mut residency = store.residency(&plan)?;
    let mut run = Run { plan: &plan, store: &store, block: &mut block, samples: 0, pages: Pages::default() };
    let hot = plan.cache == Cache::Hot && !plan.appends();
    if hot {
        run.pages += cached(&mut residency, 0, plan.region)?;
    }
    bench.window(|bench| run.samples(bench, &mut residency, &mut recorder))?;
    if hot {
        run.pages += cached(&mut residency, 0, plan.region)?;
    }
    let Run { samples, pages, .. } = run;
    bench.fact("bytes", (samples * plan.size) as f64);
    say_cache(&plan, pages, bench);
    if plan.op != Op::Read && samples > 0 {
        store.verify(&mut block, (samples - 1) * plan.step, plan.size, samples, bench.stop())?;
    }
    Ok(())
}

/// Makes the file of such a job at `path`, prepared as for a Linux process, for another system that has it as its disk, and says what of
/// it is in the page cache then: what is to be so, of cold and hot files.
///
/// # Errors
/// As the workload has them.
pub fn prepare(params: &Params, path: PathBuf, stop: &AtomicBool) -> Result<Option<Pages>, Failure> {
    let plan = Plan::new(params)?;
    let store = Store::create(path, &plan)?;
    store.prepare(&mut Block::new(plan.block)?, &plan, stop)?;
    if plan.cache == Cache::Cold && !plan.appends() {
        store.drop_cached(plan.op != Op::Read)?;
    }
    let looks = plan.cache != Cache::Direct && !plan.appends();
    let pages = looks.then(|| cached(&mut store.residency(&plan)?, 0, plan.region)).transpose()?;
    store.keep();
    Ok(pages)
}

fn cached(residency: &mut Residency, at: u64, len: u64) -> Result<Pages, Failure> {
    let doing = || "ask which pages of the file are in the page cache".to_owned();
    residency.of(at, len).map_err(|source| Failure::Os { doing: doing(), source })
}

/// Says what the cache really held.
fn say_cache(plan: &Plan, pages: Pages, bench: &mut Bench<'_>) {
    if plan.cache == Cache::Direct {
        return bench.effective("cache", "direct", true, "the file was opened with O_DIRECT");
    }
    if plan.appends() {
        let why = "the samples write where nothing was before, so no page of the file can be cached";
        return bench.effective("cache", "new pages", true, why);
    }
    if pages.all == 0 {
        return;
    }
    let share = pages.cached as f64 * 100.0 / pages.all as f64;
    bench.fact("resident_percent", share);
    let (wanted, when, as_requested) = match plan.cache {
        Cache::Cold => ("cold", "before every sample", pages.cached == 0),
        _ => ("hot", "before the first and after the last sample", pages.cached == pages.all),
    };
    if as_requested {
        return bench.effective("cache", wanted, true, &format!("found with mincore {when}"));
    }
    let why = format!(
        "found with mincore {when}; a file system in memory keeps its pages, and a cache that is too small loses them"
    );
    bench.effective("cache", format!("{share:.2} % of the pages in the cache"), false, &why);
}

struct Run<'p> {
    plan: &'p Plan,
    store: &'p Store,
    block: &'p mut Block,
    /// How many samples were taken.
    samples: u64,
    /// What was found in the cache where there was reason to look.
    pages: Pages,
}

impl Run<'_> {
    fn samples(
        &mut self,
        bench: &Bench<'_>,
        residency: &mut Residency,
        recorder: &mut Recorder<'_>,
    ) -> Result<(), Failure> {
        for sample in 0..self.plan.samples {
            if bench.stopped() {
                break;
            }
            let at = sample * self.plan.step;
            if self.plan.cache == Cache::Cold && !self.plan.appends() {
                self.store.drop_cached(self.plan.op != Op::Read)?;
                self.pages += cached(residency, at, self.plan.size)?;
            }
            let Some(time) = self.one(at, sample + 1, bench)? else { break };
            recorder.push(time);
            self.samples += 1;
        }
        Ok(())
    }

    /// One operation at `at`, or nothing when it was stopped in its middle.
    fn one(&mut self, at: u64, stamp: u64, bench: &Bench<'_>) -> Result<Option<u64>, Failure> {
        let end = at + self.plan.size;
        let mut offset = at;
        let before = clock_ns();
        while offset < end {
            let len = self.plan.block.min((end - offset) as usize);
            match self.plan.op {
                Op::Read => self.store.read(self.block.bytes_mut(len), offset)?,
                Op::Write | Op::WriteFsync => self.store.write(self.block.stamped(len, offset, stamp), offset)?,
            }
            offset += len as u64;
            if offset < end && bench.stopped() {
                return Ok(None);
            }
        }
        if self.plan.op == Op::WriteFsync {
            self.store.sync()?;
        }
        let time = clock_ns() - before;
        if self.plan.op == Op::Read {
            let last = ((self.plan.size - 1) % self.plan.block as u64 + 1) as usize;
            self.block.check(last, end - last as u64, 0, self.store)?;
        }
        Ok(Some(time))
    }
}
