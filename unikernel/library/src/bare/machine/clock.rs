//! The time, by the time stamp counter: how fast it counts is told by whoever started the machine, by a clock that the hypervisor keeps, by
//! the processor, or by the timer that most such machines have.

use core::arch::x86_64::{__cpuid, _rdtsc};
use core::cell::Cell;

use super::port;
use super::shared_clock::SharedClock;

/// How fast the timer counts.
const TIMER_HZ: u64 = 1_193_182;
const TIMER: u16 = 0x40;
const TIMER_COMMAND: u16 = 0x43;
/// So far the timer counts while the counter is compared with it: a two hundredth of a second.
const WINDOW: u64 = TIMER_HZ / 200;
/// Of so many looks that counts which took the shortest.
const LOOKS: u32 = 3;
/// A timer that says the same so often is none.
const STILL: u32 = 1000;
/// So many comparisons at most, until two of them agree.
const COMPARISONS: u32 = 50;

#[derive(Clone, Copy)]
enum Source {
    /// Nobody says how fast it counts.
    None,
    /// The counter, which counts so often in a second.
    Counter {
        hz: u64,
        start: u64,
    },
    Shared {
        clock: SharedClock,
        start: i64,
    },
}

struct Clock {
    source: Cell<Source>,
    /// Nanoseconds since 1970 at the start.
    then: Cell<u64>,
    /// What was told last, before which there is nothing.
    last: Cell<u64>,
}

// SAFETY: there is one thread, and nothing interrupts it.
unsafe impl Sync for Clock {}

static CLOCK: Clock = Clock { source: Cell::new(Source::None), then: Cell::new(0), last: Cell::new(0) };

fn ticks() -> u64 {
    // SAFETY: every processor of this kind has the instruction, and the program has all privileges.
    unsafe { _rdtsc() }
}

/// With what is known of it from outside.
pub fn start(hz: Option<u64>, now: Option<u64>) {
    let start = ticks();
    let shared = SharedClock::find();
    let told = || hz.filter(|hz| *hz > 0).map(|hz| Source::Counter { hz, start });
    let kept = || shared.map(|clock| Source::Shared { clock, start: clock.monotonic() });
    let found = || by_processor().or_else(by_timer).map(|hz| Source::Counter { hz, start });
    CLOCK.source.set(told().or_else(kept).or_else(found).unwrap_or(Source::None));
    let by_hypervisor = || shared.map(|clock| (clock.begin(), clock.monotonic())).filter(|(begin, _)| *begin > 0);
    let by_calendar = || by_calendar() * 1_000_000_000;
    CLOCK.then.set(now.unwrap_or_else(|| {
        by_hypervisor().map_or_else(by_calendar, |(begin, since)| begin.saturating_add_signed(since))
    }));
}

/// What the processor says of its counter, or a hypervisor of what it lends.
fn by_processor() -> Option<u64> {
    let most = __cpuid(0).eax;
    if most >= 0x15 {
        let told = __cpuid(0x15);
        if told.eax > 0 && told.ebx > 0 && told.ecx > 0 {
            return Some(u64::from(told.ecx) * u64::from(told.ebx) / u64::from(told.eax));
        }
    }
    let is_lent = __cpuid(1).ecx >> 31 & 1 == 1;
    if is_lent && __cpuid(0x4000_0000).eax >= 0x4000_0010 {
        return Some(u64::from(__cpuid(0x4000_0010).eax) * 1000).filter(|hz| *hz > 0);
    }
    None
}

/// By comparing the counter with the timer. The host may leave this machine between any two instructions, and for so long that the timer
/// has gone round: two comparisons in a row have to agree. `None` if there is no timer, or none do.
fn by_timer() -> Option<u64> {
    const COUNT_DOWN: u8 = 0b0011_0000;
    port::write_8(TIMER_COMMAND, COUNT_DOWN);
    port::write_8(TIMER, 0xff);
    port::write_8(TIMER, 0xff);
    let mut before = None;
    for _ in 0..COMPARISONS {
        let hz = compared()?;
        if let Some(other) = before.replace(hz)
            && hz.abs_diff(other) < hz / 200
        {
            return Some(hz.midpoint(other));
        }
    }
    None
}

fn compared() -> Option<u64> {
    let (start, first) = look();
    let (mut last, mut still) = (start, 0);
    while still < STILL {
        let (timer, now) = look();
        // It counts down.
        let gone = u64::from(start.wrapping_sub(timer));
        if gone >= WINDOW {
            return Some((u128::from(now - first) * u128::from(TIMER_HZ) / u128::from(gone)) as u64);
        }
        still = if timer == last { still + 1 } else { 0 };
        last = timer;
    }
    None
}

/// What the timer and the counter said at the same moment, as nearly as it can be had.
fn look() -> (u16, u64) {
    const LATCH: u8 = 0;
    let once = |_| {
        let before = ticks();
        port::write_8(TIMER_COMMAND, LATCH);
        let took = ticks() - before;
        let low = port::read_8(TIMER);
        (took, u16::from_le_bytes([low, port::read_8(TIMER)]), before + took / 2)
    };
    let (_, timer, at) = (0..LOOKS).map(once).min().unwrap_or_default();
    (timer, at)
}

/// Seconds since 1970, by the clock that runs on when the machine is off; 0 if there is none.
fn by_calendar() -> u64 {
    let register = |number: u8| {
        port::write_8(0x70, number);
        port::read_8(0x71)
    };
    let all = || [0, 2, 4, 7, 8, 9].map(register);
    // While it counts up what is read is neither of the two.
    let mut found = all();
    for _ in 0..1000 {
        let again = all();
        if register(10) & 0x80 == 0 && again == found {
            break;
        }
        found = again;
    }
    let is_binary = register(11) & 4 != 0;
    let [second, minute, hour, day, month, year] =
        found.map(|value| u64::from(if is_binary { value } else { (value >> 4) * 10 + (value & 15) }));
    if !(1..=12).contains(&month) || !(1..=31).contains(&day) || hour > 23 || minute > 59 || second > 60 || year > 99 {
        return 0;
    }
    let days = days_since_1970(2000 + year, month, day);
    ((days * 24 + hour) * 60 + minute) * 60 + second
}

/// Of the calendar that is in use.
fn days_since_1970(year: u64, month: u64, day: u64) -> u64 {
    // Years that begin with March have the day that is sometimes there at their end.
    let (year, month) = if month > 2 { (year, month - 3) } else { (year - 1, month + 9) };
    365 * year + year / 4 - year / 100 + year / 400 + (153 * month + 2) / 5 + day - 1 - 719_468
}

pub fn monotonic() -> u64 {
    let now = match CLOCK.source.get() {
        // A program that waits would wait for ever.
        Source::None => panic!(
            "nothing says how fast the clock of this machine counts: start it with tsc_hz=HZ in its command line"
        ),
        Source::Counter { hz, start } => {
            (u128::from(ticks().saturating_sub(start)) * 1_000_000_000 / u128::from(hz)) as u64
        }
        Source::Shared { clock, start } => (clock.monotonic() - start).max(0).unsigned_abs(),
    };
    CLOCK.last.set(now.max(CLOCK.last.get()));
    CLOCK.last.get()
}

pub fn wall() -> u64 {
    CLOCK.then.get() + monotonic()
}
