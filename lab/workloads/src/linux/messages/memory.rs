//! Memory of the machine, sampled from /proc during a round.
//!
//! A process beside the coordinating one reads /proc/meminfo, /proc/slabinfo and the usage of a control group at a fixed
//! pace. All files are open and all buffers reserved before the sampling begins; the text is parsed in place. The cost
//! of the sampling is kept as its processor time.

use std::fs::File;
use std::io;
use std::os::unix::fs::FileExt;
use std::sync::atomic::{AtomicBool, AtomicU64, Ordering};

use kizami_recording::Recorder;

use crate::bench::{Failure, clock_ns};
use crate::os::sys::{self, Via};
use crate::portable::memory::{Split, slab_lines, word_number};

const MEMINFO: &str = "/proc/meminfo";
const SLABINFO: &str = "/proc/slabinfo";
/// The pace is slept in pieces, so that the end is seen.
const NAP: u64 = 50_000_000;

/// The names of the slab caches, sorted; none where the file is not there or may not be read.
pub(super) fn slab_caches() -> Vec<String> {
    let text = std::fs::read_to_string(SLABINFO).unwrap_or_default();
    let mut names: Vec<String> =
        slab_lines(text.as_bytes(), page()).map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
    names.sort();
    names.dedup();
    names
}

/// What the sampler is told while it runs.
#[derive(Debug, Default)]
pub(super) struct Control {
    pub(super) over: AtomicBool,
    /// How many groups run at this moment.
    pub(super) groups: AtomicU64,
    /// How many times it has read.
    pub(super) samples: AtomicU64,
    cpu_ns: AtomicU64,
}

impl Control {
    /// The processor time that sampling took so far, in seconds.
    pub(super) fn cpu_seconds(&self) -> f64 {
        self.cpu_ns.load(Ordering::Relaxed) as f64 / 1e9
    }
}

pub(super) struct Sampler<'a, 'f> {
    meminfo: Text,
    slabinfo: Option<(Text, Recorder<'a>, Vec<String>, Vec<u64>)>,
    recorder: Recorder<'a>,
    usage: Option<&'f File>,
    interval: u64,
}

impl<'a, 'f> Sampler<'a, 'f> {
    pub(super) fn new(
        recorder: Recorder<'a>,
        slabs: Option<(Recorder<'a>, &[String])>,
        usage: Option<&'f File>,
        interval: u64,
    ) -> Result<Self, Failure> {
        let meminfo = Text::open(MEMINFO).map_err(Failure::os(format!("read {MEMINFO}")))?;
        let slabinfo = match slabs {
            None => None,
            Some((recorder, columns)) => {
                let text = Text::open(SLABINFO).map_err(Failure::os(format!("read {SLABINFO}")))?;
                // Sorted when the columns were named; a cache that came since has none.
                let caches: Vec<String> = columns.iter().skip(1).cloned().collect();
                let row = vec![0; columns.len()];
                Some((text, recorder, caches, row))
            }
        };
        Ok(Self { meminfo, slabinfo, recorder, usage, interval })
    }


    /// Reads until it is over: at once, and then every interval.
    pub(super) fn run(&mut self, control: &Control) -> io::Result<()> {
        let start = clock_ns();
        let mut next = start;
        while !control.over.load(Ordering::Relaxed) {
            let now = clock_ns();
            if now < next {
                let until = next.min(now + NAP);
                sys::sleep_until(Via::Library, until, &control.over)?;
                continue;
            }
            self.sample(now - start, control.groups.load(Ordering::Relaxed))?;
            // A reader that was held up reads next when its turn comes, and does not make up for what it missed.
            next += ((clock_ns() - next) / self.interval + 1) * self.interval;
            control.samples.fetch_add(1, Ordering::Relaxed);
            control.cpu_ns.store(thread_cpu_ns(), Ordering::Relaxed);
        }
        Ok(())
    }

    fn sample(&mut self, when: u64, groups: u64) -> io::Result<()> {
        let text = self.meminfo.read()?;
        let [free, buffers, cached, slab, kernel, other] = Split::of(text).columns();
        let usage = match self.usage {
            Some(file) => number_in(file)?,
            None => 0,
        };
        self.recorder.push_row(&[when, free, buffers, cached, slab, kernel, other, groups, usage]);
        if let Some((text, recorder, caches, row)) = &mut self.slabinfo {
            row.fill(0);
            row[0] = when;
            for (name, bytes) in slab_lines(text.read()?, page()) {
                // A cache that came later has no column.
                if let Ok(column) = caches.binary_search_by(|cache| cache.as_bytes().cmp(name)) {
                    row[column + 1] += bytes;
                }
            }
            recorder.push_row(row);
        }
        Ok(())
    }
}

/// A file of /proc and room for its text.
struct Text {
    file: File,
    buffer: Vec<u8>,
}

impl Text {
    fn open(path: &str) -> io::Result<Self> {
        let now = std::fs::read(path)?.len();
        // Twice of what it is now: numbers get longer, and caches come. Ones, so that the pages are there.
        Ok(Self { file: File::open(path)?, buffer: vec![1; 2 * now + 4096] })
    }

    fn read(&mut self) -> io::Result<&[u8]> {
        let mut len = 0;
        while len < self.buffer.len() {
            match self.file.read_at(&mut self.buffer[len..], len as u64) {
                Ok(0) => break,
                Ok(more) => len += more,
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => return Err(e),
            }
        }
        Ok(&self.buffer[..len])
    }
}

fn number_in(file: &File) -> io::Result<u64> {
    let mut text = [0; 32];
    let len = file.read_at(&mut text, 0)?;
    Ok(word_number(&text[..len]))
}

fn page() -> u64 {
    // SAFETY: asks for a number.
    unsafe { libc::sysconf(libc::_SC_PAGESIZE) as u64 }
}

/// The processor time of the calling thread.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}
