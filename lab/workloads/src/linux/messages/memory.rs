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

const MEMINFO: &str = "/proc/meminfo";
const SLABINFO: &str = "/proc/slabinfo";
/// The pace is slept in pieces, so that the end is seen.
const NAP: u64 = 50_000_000;

/// The names of the slab caches, sorted; none where the file is not there or may not be read.
pub(super) fn slab_caches() -> Vec<String> {
    let text = std::fs::read_to_string(SLABINFO).unwrap_or_default();
    let mut names: Vec<String> =
        slab_lines(text.as_bytes()).map(|(name, _)| String::from_utf8_lossy(name).into_owned()).collect();
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
            for (name, bytes) in slab_lines(text.read()?) {
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

/// The columns of a row of meminfo, and how they follow from the file.
#[derive(Debug, Default, Clone, Copy, PartialEq, Eq)]
struct Split {
    total: u64,
    free: u64,
    buffers: u64,
    cached: u64,
    slab: u64,
    /// KernelStack, PageTables, SecPageTables and Percpu. Not VmallocUsed, which contains the stacks once more.
    kernel: u64,
}

impl Split {
    fn of(text: &[u8]) -> Self {
        let mut split = Self::default();
        for line in text.split(|b| *b == b'\n') {
            let Some(colon) = line.iter().position(|b| *b == b':') else { continue };
            let bytes = || word_number(&line[colon + 1..]) * 1024;
            match &line[..colon] {
                b"MemTotal" => split.total = bytes(),
                b"MemFree" => split.free = bytes(),
                b"Buffers" => split.buffers = bytes(),
                b"Cached" => split.cached = bytes(),
                b"Slab" => split.slab = bytes(),
                b"KernelStack" | b"PageTables" | b"SecPageTables" | b"Percpu" => split.kernel += bytes(),
                _ => {}
            }
        }
        split
    }

    /// `other` is what is left of all memory: the pages of programs, and what the kernel takes without accounting it.
    fn columns(&self) -> [u64; 6] {
        let named = self.free + self.buffers + self.cached + self.slab + self.kernel;
        let other = self.total.saturating_sub(named);
        [self.free, self.buffers, self.cached, self.slab, self.kernel, other]
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

/// The number that `text` begins with, after spaces; zero when there is none.
fn word_number(text: &[u8]) -> u64 {
    let digits = text.iter().skip_while(|b| **b == b' ').take_while(|b| b.is_ascii_digit());
    digits.fold(0, |number, digit| number * 10 + u64::from(digit - b'0'))
}

/// The caches in the text of slabinfo: name, and the bytes of all slabs.
fn slab_lines(text: &[u8]) -> impl Iterator<Item = (&[u8], u64)> {
    // SAFETY: asks for a number.
    let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
    // name <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables … : slabdata <active> <num> <shared>
    text.split(|b| *b == b'\n').filter_map(move |line| {
        let mut words = line.split(|b| *b == b' ').filter(|word| !word.is_empty());
        let name = words.next().filter(|name| *name != b"#" && *name != b"slabinfo")?;
        let pages = words.nth(4).map(word_number)?;
        let slabs = words.skip_while(|word| *word != b"slabdata").nth(2).map(word_number)?;
        Some((name, slabs * pages * page))
    })
}

/// The processor time of the calling thread.
fn thread_cpu_ns() -> u64 {
    let mut time = libc::timespec { tv_sec: 0, tv_nsec: 0 };
    // SAFETY: the pointer is to a timespec of ours; the clock exists on every Linux.
    unsafe { libc::clock_gettime(libc::CLOCK_THREAD_CPUTIME_ID, &raw mut time) };
    time.tv_sec as u64 * 1_000_000_000 + time.tv_nsec as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn all_memory_is_in_one_column_or_another() {
        let text = b"MemTotal:       1000 kB\nMemFree:         400 kB\nMemAvailable:    900 kB\nBuffers:          10 kB\n\
                     Cached:          200 kB\nSwapCached:        7 kB\nSlab:             50 kB\nKernelStack:       4 kB\n\
                     PageTables:        6 kB\nPercpu:            2 kB\n";
        let columns = Split::of(text).columns();
        assert_eq!(columns, [400, 10, 200, 50, 12, 328].map(|kib| kib * 1024));
        assert_eq!(columns.iter().sum::<u64>(), 1000 * 1024);
    }

    #[test]
    fn slabs_are_counted_in_bytes_of_whole_slabs() {
        let text = b"slabinfo - version: 2.1\n\
            # name            <active_objs> <num_objs> <objsize> <objperslab> <pagesperslab> : tunables <limit>\n\
            bio-312               12     12    320   12    1 : tunables    0    0    0 : slabdata      1      1      0\n\
            kmalloc-8k            40     44   8192    4    8 : tunables    0    0    0 : slabdata     10     11      0\n\
            broken 1 2\n";
        // SAFETY: asks for a number.
        let page = unsafe { libc::sysconf(libc::_SC_PAGESIZE) } as u64;
        let lines: Vec<_> = slab_lines(text).collect();
        assert_eq!(lines, [(&b"bio-312"[..], page), (&b"kmalloc-8k"[..], 88 * page)]);
    }
}
