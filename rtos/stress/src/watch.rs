//! The watch over the stress, from outside the kernel: its progress, processors that stand still, and its end.

use std::fmt::Write;
use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::time::{Duration, Instant};
use std::{fs, thread};

use crate::progress::{AUDITS, BEGUN, OVER, STEPS};

/// How many processors there are.
pub const PROCESSORS: usize = 2;

/// How often it looks, and how often each CPU says that it goes on.
const PAUSE: Duration = Duration::from_millis(200);
/// A processor that does not go on for so many beats of its CPU stands still.
const STILL: u32 = 12;

/// How often the CPU of each processor has gone on. A virtual machine's may stand still for longer than any kernel would.
static BEATS: [AtomicU32; PROCESSORS] = [const { AtomicU32::new(0) }; PROCESSORS];

/// At which beat each processor has last gone on.
static WENT_ON: [AtomicU32; PROCESSORS] = [const { AtomicU32::new(0) }; PROCESSORS];

/// Says that a processor goes on.
pub fn goes_on(processor: usize) {
    WENT_ON[processor].store(BEATS[processor].load(Relaxed), Relaxed);
}

/// Whether it is time to rest: for five seconds of every thirteen.
pub fn quiet() -> bool {
    BEATS[0].load(Relaxed) % 64 < 24
}

/// Begins to watch, before the kernel runs.
pub fn begin(time: Duration) {
    for (processor, beats) in BEATS.iter().enumerate() {
        rtos_host::beside(processor, move || {
            loop {
                thread::sleep(PAUSE);
                beats.fetch_add(1, Relaxed);
            }
        });
    }
    thread::spawn(move || watch(time));
}

/// Says how far it is, sees that it does not stand still, and ends it. This thread is none of the kernel's.
fn watch(time: Duration) {
    let began = Instant::now();
    let mut told = Instant::now();
    while began.elapsed() < time {
        thread::sleep(PAUSE);
        let steps = STEPS.load(Relaxed);
        let stands_still = |processor: &usize| {
            let went_on = WENT_ON[*processor].load(Relaxed);
            BEATS[*processor].load(Relaxed) - went_on > STILL
        };
        if let Some(processor) = (0..PROCESSORS).find(stands_still) {
            println!("finding: processor {processor} stands still, after {steps} steps\n{}", threads());
            // With all that there is to be seen, for who lets the system keep it.
            std::process::abort();
        }
        if told.elapsed() > Duration::from_secs(10) {
            told = Instant::now();
            println!("{:>5} s: {steps} steps, {} audits", began.elapsed().as_secs(), AUDITS.load(Relaxed));
        }
    }
    OVER.store(true, Relaxed);
    let (steps, audits, begun) = (STEPS.load(Relaxed), AUDITS.load(Relaxed), BEGUN.load(Relaxed));
    println!("no finding in {} s: {steps} steps, {audits} audits, {begun} tasks begun", began.elapsed().as_secs());
    std::process::exit(0);
}

/// What the system knows of each thread: its state and its time, and the system call that it is in.
fn threads() -> String {
    let mut text = String::new();
    for thread in fs::read_dir("/proc/self/task").into_iter().flatten().flatten() {
        let of = |what| fs::read_to_string(thread.path().join(what)).unwrap_or_default();
        let (stat, call) = (of("stat"), of("syscall"));
        // After the name, which may have spaces: the state is the first, the ticks in user and system mode are the 12th and 13th.
        let fields: Vec<&str> = stat.rsplit(')').next().unwrap_or_default().split_whitespace().collect();
        let field = |at: usize| fields.get(at).copied().unwrap_or("?");
        let (user, system) = (field(11), field(12));
        let _ = write!(text, "thread {}: ", thread.file_name().display());
        let _ = writeln!(text, "{}, {user} and {system} ticks, in call {}", field(0), call.trim());
    }
    text
}
