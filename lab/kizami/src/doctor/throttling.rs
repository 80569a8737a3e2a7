//! Throttling of real-time threads: what the files say, and what a busy real-time thread meets.
//!
//! The files are not believed. Until Linux 6.11 `sched_rt_runtime_us` is what all real-time threads of a processor may use of
//! each period; since 6.12 a deadline server gives ordinary threads their share instead (`fair_server` in debugfs), whatever
//! that file says. So a thread of SCHED_FIFO uses one processor without a pause for two periods, beside an ordinary thread that
//! waits for the same processor, and the time in which the kernel ran something else instead is counted.
//!
//! The machine cannot hang by it: the thread ends by the clock, after [`LONGEST`] at most, and when it is asked to.

use std::collections::BTreeMap;
use std::sync::atomic::{AtomicBool, Ordering};
use std::thread;
use std::time::Duration;

use kizami_recording::folder::Effective;
use kizami_recording::quantity::Quantity;
use kizami_settings::process::{InChild, Rights};
use kizami_settings::{Root, Settings, cpus, system};
use kizami_workloads::clock_ns;

use super::listening::switches;

/// No measurement takes longer, however long a period of the machine is.
const LONGEST: Duration = Duration::from_secs(4);
/// So often it is measured at most.
const MOST_TIMES: usize = 4;
/// The kernel's own period, where it does not tell it.
const PERIOD: Duration = Duration::from_secs(1);
/// The priority of the busy thread: above what is usual, and below what the kernel's own threads have.
const PRIORITY: u64 = 80;
/// A shorter gap is an interrupt, or a thread of the kernel that had to run.
const STOP: u64 = 1_000_000;
/// After a gap of this length it is looked up whether the kernel ran something else.
const GAP: u64 = 20_000;

const PERIOD_FILE: &str = "proc/sys/kernel/sched_rt_period_us";
const SERVERS: &str = "sys/kernel/debug/sched/fair_server";

/// What a busy real-time thread met. Times in nanoseconds.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Stops {
    pub cpu: usize,
    pub priority: u64,
    pub period: u64,
    /// How long it was busy.
    pub watched: u64,
    /// All stops together, the longest, and how many there were.
    pub stopped: u64,
    pub longest: u64,
    pub times: u64,
}

impl Stops {
    /// What it had of a period, in whole hundredths of it: the scheduler acts at a tick, and finer would differ each time.
    fn runtime(&self) -> u64 {
        let stopped = u128::from(self.stopped) * u128::from(self.period) / u128::from(self.watched.max(1));
        let runtime = self.period.saturating_sub(stopped as u64);
        let step = (self.period / 100).max(1);
        (runtime + step / 2) / step * step
    }

    /// Whether that is what it was said to have. Other threads of the machine have their share too.
    fn is(&self, said: u64) -> bool {
        said.abs_diff(self.runtime()) <= self.period / 50
    }

    pub fn words(&self) -> String {
        let ms = |ns: u64| match ns {
            0..1_000_000_000 => format!("{:.0} ms", ns as f64 / 1e6),
            _ => format!("{:.1} s", ns as f64 / 1e9),
        };
        let who = format!("a busy fifo:{} thread on processor {}", self.priority, self.cpu);
        match self.times {
            0 => format!("{who} was never stopped in {}", ms(self.watched)),
            1 => format!("{who} was stopped once in {}, for {}", ms(self.watched), ms(self.longest)),
            n => format!(
                "{who} was stopped {n} times in {}, for {} together and {} at most",
                ms(self.watched),
                ms(self.stopped),
                ms(self.longest)
            ),
        }
    }
}

/// What a busy real-time thread meets. Whatever else the machine does can only add to what the kernel stops it for: where it had less than the
/// files say, that is measured again, until it had the same twice, and what it was stopped for least counts. `stop` ends it early.
///
/// # Errors
/// A sentence that says why it was not measured.
pub fn measure(root: &Root, stop: &AtomicBool) -> Result<Stops, String> {
    let said = allowed(root).map(|(runtime, _)| runtime);
    agreed(said, || once(root, stop), || stop.load(Ordering::Relaxed))
}

fn agreed(
    said: Option<u64>,
    mut once: impl FnMut() -> Result<Stops, String>,
    is_over: impl Fn() -> bool,
) -> Result<Stops, String> {
    let mut met = once()?;
    for _ in 1..MOST_TIMES {
        let said = said.unwrap_or(met.period);
        if met.is(said) || met.runtime() > said || is_over() {
            break;
        }
        let again = once()?;
        let is_same = met.runtime().abs_diff(again.runtime()) <= met.period / 100;
        if again.runtime() > met.runtime() {
            met = again;
        }
        if is_same {
            break;
        }
    }
    Ok(met)
}

/// Keeps one processor busy for two periods with a real-time thread.
fn once(root: &Root, stop: &AtomicBool) -> Result<Stops, String> {
    if !root.is_machine() {
        return Err("a recorded tree does not tell it".into());
    }
    let rights = Rights::own();
    let priority = if rights.sys_nice { PRIORITY } else { rights.rtprio.min(PRIORITY) };
    if priority == 0 {
        return Err("a real-time policy needs CAP_SYS_NICE or a higher RLIMIT_RTPRIO (ulimit -r)".into());
    }
    if limited_time() {
        return Err("RLIMIT_RTTIME would end a real-time thread that does not sleep (ulimit -R)".into());
    }
    // Not the first: that has most of the machine's interrupts.
    let cpu = *cpus::allowed().last().ok_or("the processors that may be used are not known")?;
    let period = root.get(PERIOD_FILE).and_then(|text| text.parse::<u64>().ok()).filter(|us| *us > 0);
    let period = period.map_or(PERIOD.as_nanos() as u64, |us| us.saturating_mul(1_000));
    let window = period.saturating_mul(2).min(LONGEST.as_nanos() as u64);
    let done = AtomicBool::new(false);
    let stops = thread::scope(|scope| {
        let busy = thread::Builder::new().spawn_scoped(scope, || {
            // Where it waits for the processor, the kernel has somebody to stop the other for.
            pinned(cpu, "other").apply();
            while !done.load(Ordering::Relaxed) {
                std::hint::spin_loop();
            }
        });
        let watched = thread::Builder::new().spawn_scoped(scope, || watch(cpu, priority, period, window, stop));
        let watched = watched.map(|thread| thread.join());
        done.store(true, Ordering::Relaxed);
        busy.and(watched).map_err(|e| format!("a thread could not be started: {e}"))
    });
    stops?.map_err(|_| "the thread ended early".to_owned())?
}

fn pinned(cpu: usize, policy: &str) -> InChild {
    let values = [("affinity", cpu.to_string()), ("policy", policy.to_owned())];
    let values: BTreeMap<String, String> = values.into_iter().map(|(n, v)| (n.to_owned(), v)).collect();
    InChild::new(&Settings::new(&values).unwrap_or_default())
}

fn watch(cpu: usize, priority: u64, period: u64, window: u64, stop: &AtomicBool) -> Result<Stops, String> {
    pinned(cpu, &format!("fifo:{priority}")).apply();
    // SAFETY: asks for the policy of the calling thread.
    let policy = unsafe { libc::sched_getscheduler(0) };
    if policy != libc::SCHED_FIFO {
        return Err("the kernel refused the real-time policy".into());
    }
    let mut stops = Stops { cpu, priority, period, watched: 0, stopped: 0, longest: 0, times: 0 };
    let begin = clock_ns();
    let (mut last, mut switched) = (begin, switches());
    while last - begin < window {
        if stop.load(Ordering::Relaxed) {
            return Err("it was interrupted".into());
        }
        let now = clock_ns();
        let gap = now - last;
        last = now;
        if gap > GAP {
            let switched_now = switches();
            // A gap without a switch is a hypervisor's or firmware's.
            if gap > STOP && switched_now > switched {
                stops.times += 1;
                stops.stopped += gap;
                stops.longest = stops.longest.max(gap);
            }
            switched = switched_now;
        }
    }
    stops.watched = last - begin;
    Ok(stops)
}

/// Whether the kernel would end a thread that is busy as long as [`measure`] has it.
fn limited_time() -> bool {
    // SAFETY: the kernel fills the structure, which is a valid one before.
    let (got, limit) = unsafe {
        let mut limit = libc::rlimit { rlim_cur: libc::RLIM_INFINITY, rlim_max: libc::RLIM_INFINITY };
        (libc::getrlimit(libc::RLIMIT_RTTIME, &raw mut limit), limit)
    };
    got == 0 && limit.rlim_cur != libc::RLIM_INFINITY && limit.rlim_cur < LONGEST.as_micros() as u64 * 2
}

/// The server that gives ordinary threads time beside real-time ones, on one processor.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Server {
    /// The kernel has none, or it is switched off.
    None,
    /// The kernel has one (Linux 6.12 and later), and does not tell its times.
    Untold,
    /// Nanoseconds of each period.
    Told { runtime: u64, period: u64 },
}

impl Server {
    pub fn of(root: &Root, cpu: usize) -> Self {
        let number = |file: &str| root.get(&format!("{SERVERS}/cpu{cpu}/{file}"))?.parse::<u64>().ok();
        match (number("runtime"), number("period")) {
            (Some(0), _) => Self::None,
            (Some(runtime), Some(period)) => Self::Told { runtime, period },
            _ if linux(root) >= Some((6, 12)) => Self::Untold,
            _ => Self::None,
        }
    }

    /// Who stops real-time threads beside the limit for them, if anybody does.
    pub fn words(self, cpu: usize) -> Option<String> {
        let time = |ns| Quantity::Time.write(ns);
        match self {
            Self::None => None,
            Self::Untold => Some(format!(
                "the deadline server that Linux has for ordinary threads since 6.12, whatever sched_rt_runtime_us says \
                 (/{SERVERS}/cpu{cpu} tells its times, with debugfs mounted, to root)"
            )),
            Self::Told { runtime, period } => Some(format!(
                "the kernel's deadline server for ordinary threads, which gives them {} of every {}, whatever \
                 sched_rt_runtime_us says (/{SERVERS}/cpu{cpu})",
                time(runtime),
                time(period)
            )),
        }
    }

    /// The command that switches it off.
    pub fn switched_off(root: &Root) -> String {
        let off = format!("echo 0 | tee /{SERVERS}/cpu*/runtime");
        let mount = if root.exists(SERVERS) { "" } else { "mount -t debugfs none /sys/kernel/debug; " };
        format!("sudo sh -c '{mount}{off}'")
    }
}

/// The version of the kernel, as far as it says which scheduler it has.
fn linux(root: &Root) -> Option<(u32, u32)> {
    let release = root.get("proc/sys/kernel/osrelease")?;
    let mut numbers = release.split(['.', '-']).map_while(|word| word.parse().ok());
    Some((numbers.next()?, numbers.next()?))
}

/// What the files allow real-time threads: nanoseconds of each period, both the same where there is no limit; `None` where
/// they are not there.
pub fn allowed(root: &Root) -> Option<(u64, u64)> {
    let number = |file| root.get(file).and_then(|text| text.parse::<i64>().ok());
    let (runtime, period) = (number(system::RT_RUNTIME)?, number(PERIOD_FILE)?);
    let period = u64::try_from(period).ok()?.saturating_mul(1_000);
    Some((u64::try_from(runtime).map_or(period, |us| us.saturating_mul(1_000).min(period)), period))
}

/// The setting `rt_runtime` as it is in force, where its file reads as `read` and a busy real-time thread met `measured`;
/// `asked` says whether somebody wanted a value.
pub fn in_force(read: Effective, asked: bool, measured: &Result<Stops, String>, root: &Root) -> Effective {
    let stops = match measured {
        Ok(stops) => stops,
        Err(why) if read.why.is_empty() => {
            return Effective { why: format!("read from the file; not measured: {why}"), ..read };
        }
        Err(_) => return read,
    };
    let said = match Quantity::Time.parse(&read.value) {
        Ok(ns) => ns.min(stops.period),
        Err(_) => stops.period,
    };
    if stops.is(said) {
        return read;
    }
    let value = if stops.times == 0 { "off".to_owned() } else { Quantity::Time.write(stops.runtime()) };
    let by = Server::of(root, stops.cpu).words(stops.cpu).filter(|_| stops.runtime() < said);
    let by = by.map_or_else(String::new, |by| format!(", most likely by {by}"));
    let why = format!("the file reads back as {}, and yet {}{by}", read.value, stops.words());
    Effective { value, as_requested: !asked, why }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_the_machine_does_besides_is_not_taken_for_the_kernels_limit() {
        let met = |hundredths: u64| Stops {
            cpu: 1,
            priority: 80,
            period: 1_000_000_000,
            watched: 2_000_000_000,
            stopped: (100 - hundredths) * 20_000_000,
            longest: 50_000_000,
            times: 2,
        };
        let agreed = |said: u64, all: &[u64]| {
            let mut left = all.iter();
            let found =
                agreed(Some(said * 10_000_000), || left.next().map(|had| met(*had)).ok_or("no more".into()), || false);
            (found.map(|stops| stops.runtime() / 10_000_000), left.len())
        };
        assert_eq!(agreed(96, &[95, 50]), (Ok(95), 1));
        // Something else had the processor.
        assert_eq!(agreed(96, &[93, 95, 50]), (Ok(95), 1));
        assert_eq!(agreed(96, &[80, 93, 96, 50]), (Ok(96), 1));
        // The kernel's own, which it is each time.
        assert_eq!(agreed(100, &[95, 95, 50]), (Ok(95), 1));
        assert_eq!(agreed(100, &[90, 95, 94, 50]), (Ok(95), 1));
        assert_eq!(agreed(100, &[70, 80, 90, 60, 50]), (Ok(90), 1));
        // More than the file says has no other cause.
        assert_eq!(agreed(50, &[100, 100]), (Ok(100), 1));
    }
}
