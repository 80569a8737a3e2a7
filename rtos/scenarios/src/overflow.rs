//! A task of the last processor that uses more stack than it has. The kernel names the task, and ends with an error.
//!
//! The program that includes this file gives `Port`, `Model`, `STACK`, `print` and `exit`.

use core::hint::black_box;

use rtos::{Current, InTask, Shared, System, Timeout};

use crate::{Model, Port, STACK, exit, print};

const LAST: usize = <Model as rtos::Model>::PROCESSORS - 1;
type Cx = InTask<Shared>;

rtos::kernel! {
    pub struct App: Kernel<Port = Port, Model = Model>;

    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        // So that the number that is told is not that of the only other one.
        UNUSED: Shared = Task::create(|_: Cx| ()).priority(6).stack(STACK);
        GREEDY: Shared = Task::create(greedy).priority(5).stack(STACK).on(LAST);
    }
}

fn main(cx: Cx) {
    let _ = GREEDY.act(cx);
    let _ = Current::<App>::delay(2_000_000, cx);
    print(format_args!("the overflow went unseen\n"));
    exit(2)
}

fn greedy(cx: Cx) {
    let number = System::<App>::get_tid(cx).ok().flatten().unwrap_or(0);
    // The lowest address of its stack.
    let (limit, _) = rtos::entry::stacks::<App>().nth(number - 1).unwrap_or((0, 0));
    black_box(dig(limit - 64, cx));
}

/// Calls itself until a little more than the stack is used, and then gives way: where no hardware guards the stack, the
/// kernel looks then.
#[inline(never)]
fn dig(until: usize, cx: Cx) -> u32 {
    let room = black_box([1u32; 8]);
    if (&raw const room) as usize > until {
        return dig(until, cx) + black_box(room)[0];
    }
    let _ = Current::<App>::sleep_for(Timeout::millis(1), cx);
    black_box(room)[1]
}
