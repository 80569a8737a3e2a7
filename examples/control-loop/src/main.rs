//! A control loop that runs every two milliseconds, and a monitor that counts the rounds that were too slow.
//!
//! `cargo run -p control-loop`
//!
//! - `PERIOD` wakes `CONTROL`, which sets the alarm `DEADLINE` and stops it when the work of the round is done.
//! - If the alarm rings first, it wakes `MONITOR`, a task above the loop, which counts and could switch to a safe state.
//! - Every tenth round the loop works too long, so that there is something to see.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rtos::{Current, InHandler, InTask, Shared, System, Time};
use rtos_host::{Host, print};

const PERIOD_MICROS: u32 = 2_000;
const DEADLINE_MICROS: u32 = 1_000;
const ROUNDS: u32 = 100;
const STACK: usize = 128 * 1024;

rtos::kernel! {
    /// One processor, three tasks.
    pub struct Plant: Kernel<Port = Host, Model = rtos::Uni>;

    tasks {
        CONTROL: Shared = Task::create(control).priority(5).stack(STACK).active();
        MONITOR: Shared = Task::create(monitor).priority(2).stack(STACK).active();
        IDLE_WORK: Shared = Task::create(idle_work).priority(16).stack(STACK).active();
    }
    semaphores {
        TOO_SLOW: Shared = Semaphore::create(0, 1_000);
    }
    cyclics {
        PERIOD: Shared = Cyclic::create(PERIOD_MICROS, |cx: InHandler<Shared>| {
            // E_QOVR says that the last round still runs and another is asked for already: a lost period.
            if CONTROL.wup(cx).is_err() {
                LOST.fetch_add(1, Relaxed);
            }
        }).started();
    }
    alarms {
        DEADLINE: Shared = Alarm::create(|cx: InHandler<Shared>| {
            let _ = TOO_SLOW.sig(cx);
        });
    }
}

static LOST: AtomicU32 = AtomicU32::new(0);
static MISSED: AtomicU32 = AtomicU32::new(0);
static SPARE: AtomicU32 = AtomicU32::new(0);

fn control(cx: InTask<Shared>) {
    let (mut level, mut valve) = (80_i32, 0_i32);
    for round in 1..=ROUNDS {
        if Current::<Plant>::sleep(cx).is_err() {
            return;
        }
        let _ = DEADLINE.sta(DEADLINE_MICROS, cx);
        // A tank: the valve lets out, the inflow is ten.
        level += 10 - valve;
        valve = (level - 50) / 4;
        work(if round % 10 == 0 { 1_300 } else { 100 });
        let _ = DEADLINE.stp(cx);
    }
    let (missed, lost) = (MISSED.load(Relaxed), LOST.load(Relaxed));
    print(format_args!("{ROUNDS} rounds, {missed} of them too slow, {lost} periods lost; the level is {level}\n"));
    print(format_args!("the lowest task ran {} times in between\n", SPARE.load(Relaxed)));
    System::<Plant>::ext_ker()
}

/// Keeps the processor busy that long.
fn work(micros: u32) {
    let began = Time::<Plant>::precise();
    while Time::<Plant>::precise().wrapping_sub(began) < micros {
        std::hint::spin_loop();
    }
}

fn monitor(cx: InTask<Shared>) {
    while TOO_SLOW.wai(cx).is_ok() {
        MISSED.fetch_add(1, Relaxed);
    }
}

fn idle_work(cx: InTask<Shared>) {
    loop {
        SPARE.fetch_add(1, Relaxed);
        let _ = System::<Plant>::rot_rdq(None, cx);
        work(50);
    }
}

fn main() {
    rtos_host::run::<Plant>()
}
