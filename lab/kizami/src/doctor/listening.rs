//! Gaps in a busy clock: on every processor a thread reads the clock without a pause for a second, and a gap between two
//! readings is time in which something else ran. The algorithm is that of oslat and osnoise.

use std::collections::BTreeMap;
use std::thread;
use std::time::Duration;

use kizami_settings::process::InChild;
use kizami_settings::{Settings, cpus};
use kizami_workloads::clock_ns;

/// How long every thread listens.
pub(super) const LISTEN: Duration = Duration::from_secs(1);
/// What counts as a gap, in nanoseconds: osnoise's own threshold.
pub(super) const GAP: u64 = 5_000;

/// What one processor's thread heard.
#[derive(Debug, Clone, Copy, Default)]
pub(super) struct Heard {
    pub(super) cpu: usize,
    /// Nanoseconds.
    pub(super) longest: u64,
    /// Nanoseconds in all gaps.
    pub(super) lost: u64,
    /// Nanoseconds from when it was to begin to its last reading, which a gap may have put off.
    pub(super) elapsed: u64,
    pub(super) gaps: u64,
    /// How often the kernel ran something else on its processor instead.
    pub(super) switches: u64,
}

/// Listens on every processor at once.
pub(super) fn listen() -> Vec<Heard> {
    let begin = clock_ns() + 10_000_000;
    let end = begin + LISTEN.as_nanos() as u64;
    let threads: Vec<_> = cpus::allowed()
        .into_iter()
        .map(|cpu| thread::Builder::new().spawn(move || listen_on(cpu, begin, end)))
        .collect();
    threads.into_iter().flatten().filter_map(|thread| thread.join().ok()).collect()
}

fn listen_on(cpu: usize, begin: u64, end: u64) -> Heard {
    if let Ok(pinned) = Settings::new(&BTreeMap::from([("affinity".to_owned(), cpu.to_string())])) {
        InChild::new(&pinned).apply();
    }
    let mut heard = Heard { cpu, ..Heard::default() };
    while clock_ns() < begin {}
    let before = switches();
    // Whatever kept it from beginning then is a gap as well.
    let mut last = begin;
    while last < end {
        let now = clock_ns();
        let gap = now - last;
        if gap > GAP {
            heard.gaps += 1;
            heard.lost += gap;
            heard.longest = heard.longest.max(gap);
        }
        last = now;
    }
    heard.elapsed = last - begin;
    heard.switches = switches() - before;
    heard
}

/// How often the calling thread had to give up its processor.
pub(super) fn switches() -> u64 {
    // SAFETY: an all-zero rusage is a valid one, and the call fills it; RUSAGE_THREAD cannot fail.
    let usage = unsafe {
        let mut usage: libc::rusage = std::mem::zeroed();
        libc::getrusage(libc::RUSAGE_THREAD, &raw mut usage);
        usage
    };
    usage.ru_nivcsw as u64
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_thread_that_listens_hears_no_more_than_the_time_that_passed() {
        let cpu = cpus::allowed()[0];
        let begin = clock_ns();
        let heard = listen_on(cpu, begin, begin + 20_000_000);
        assert!(heard.longest <= heard.lost && heard.lost <= heard.elapsed && heard.elapsed <= clock_ns() - begin);
        assert_eq!(heard.gaps == 0, heard.longest == 0);
    }

    #[test]
    fn a_thread_that_begins_late_has_lost_that_time() {
        let end = clock_ns();
        let heard = listen_on(cpus::allowed()[0], end - 20_000_000, end);
        assert!(heard.lost >= 20_000_000 && heard.gaps == 1 && heard.lost == heard.elapsed, "{heard:?}");
    }
}
