//! A handler on the last processor that uses more stack than there is. The kernel reports the overflow, and ends with
//! an error.
//!
//! The program that includes this file gives `Port`, `Model`, `STACK`, `HANDLERS`, `print` and `exit`.

use core::hint::black_box;

use rtos::{Current, InTask, Shared};

use crate::{HANDLERS, Model, Port, STACK, exit, print};

const LAST: usize = <Model as rtos::Model>::PROCESSORS - 1;
type Cx = InTask<Shared>;

rtos::kernel! {
    pub struct App: Kernel<Port = Port, Model = Model>;

    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
    }
    alarms {
        GREEDY: Shared = Alarm::create(|_| greedy()).on(LAST);
    }
}

fn main(cx: Cx) {
    let _ = GREEDY.sta(1_000, cx);
    let _ = Current::<App>::delay(2_000_000, cx);
    print(format_args!("the overflow went unseen\n"));
    exit(2)
}

fn greedy() {
    let here = black_box(0u32);
    black_box(dig((&raw const here) as usize - HANDLERS));
}

/// Calls itself until that address is reached, which is below the stack: something lies on it already.
#[inline(never)]
fn dig(until: usize) -> u32 {
    let room = black_box([1u32; 8]);
    if (&raw const room) as usize > until {
        return dig(until) + black_box(room)[0];
    }
    black_box(room)[1]
}
