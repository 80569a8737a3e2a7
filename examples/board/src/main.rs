//! A program for a board without an operating system: a cyclic notification wakes a task, and the task prints the time.
//!
//! `cargo run --release` in this folder, or `cargo run -p kizami-rtos-inspect -- run examples/board m33 uni`
#![no_std]
#![no_main]

use port::terminal::{exit, print};
use rtos::{Current, InHandler, InTask, Shared, System, Time};

type Board = port::CortexM33<port::boards::Mps2An505>;

/// What the port needs to save a task, and what the task needs itself.
const STACK: usize = <Board as rtos::Port>::MINIMUM_STACK + 8 * 1024;
const PERIOD_MICROS: u32 = 10_000;

rtos::kernel! {
    /// One processor, one task.
    pub struct Meter: Kernel<Port = Board, Model = rtos::Uni>;

    tasks {
        MEASURE: Shared = Task::create(measure).priority(3).stack(STACK).active();
    }
    cyclics {
        PERIOD: Shared = Cyclic::create(PERIOD_MICROS, |cx: InHandler<Shared>| { let _ = MEASURE.wup(cx); }).started();
    }
}

port::image!(Meter);

fn measure(cx: InTask<Shared>) {
    let began = Time::<Meter>::precise();
    for round in 1..=5 {
        if Current::<Meter>::sleep(cx).is_err() {
            break;
        }
        let passed = Time::<Meter>::precise().wrapping_sub(began);
        print(format_args!("round {round}: {passed} µs since the task began\n"));
    }
    System::<Meter>::ext_ker()
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    print(format_args!("{info}\n"));
    exit(1)
}
