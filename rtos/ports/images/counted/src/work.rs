use crate::{Model, Port, STACK};
use rtos::{Anywhere, InTask, Pinned, Shared};

rtos::kernel! {
    pub struct App: Kernel<Port = Port, Model = Model>;
    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        HIGH: Shared = Task::create(high).priority(5).stack(STACK);
        LOW: Shared = Task::create(low).priority(12).stack(STACK);
        PINNED_MAIN: Pinned<0> = Task::create(pinned_main).priority(9).stack(STACK);
        PINNED_HIGH: Pinned<0> = Task::create(pinned_high).priority(5).stack(STACK);
    }
    semaphores {
        SEM: Shared = Semaphore::create(0, 1);
    }
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn count_act_switch(cx: &InTask<Shared>) -> i32 {
    rtos::code(HIGH.act(*cx))
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn count_act_anywhere() -> i32 {
    rtos::code(HIGH.act(Anywhere))
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn count_act_no_switch(cx: &InTask<Shared>) -> i32 {
    rtos::code(LOW.act(*cx))
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn count_act_pinned(cx: &InTask<Pinned<0>>) -> i32 {
    rtos::code(PINNED_HIGH.act(*cx))
}

#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn woken_high() {
    // SAFETY: does nothing.
    unsafe { core::arch::asm!("nop") };
}

fn main(cx: InTask<Shared>) {
    for _ in 0..20 {
        count_act_switch(&cx);
        count_act_anywhere();
    }
    count_act_no_switch(&cx);
    let _ = PINNED_MAIN.act(Anywhere);
}

fn pinned_main(cx: InTask<Pinned<0>>) {
    for _ in 0..20 {
        count_act_pinned(&cx);
    }
    crate::terminal::print(format_args!("done {:?}\n", LOW.state(cx)));
    rtos::System::<App>::ext_ker();
}

fn high(_: InTask<Shared>) {
    woken_high();
}

fn pinned_high(_: InTask<Pinned<0>>) {
    woken_high();
}

fn low(_: InTask<Shared>) {}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo) -> ! {
    crate::terminal::print(format_args!("{info}\n"));
    crate::terminal::exit(1)
}
