//! The services whose instructions are counted.
//!
//! Each `count_` function calls one service. A passage begins with the first instruction of such a function and ends
//! with the first instruction of `mark`. `mark` is called by the task that the service wakes, or by the caller when the
//! service has returned. Besides the service, a passage holds the two to four instructions that lead to and from such a
//! call.

use core::sync::atomic::{AtomicI32, Ordering::Relaxed};

use rtos::{Current, InHandler, InTask, Mode, Pinned, Shared, System, TaskState};

use crate::{LINE, Model, Port, STACK, terminal};

const LAST: usize = <Model as rtos::Model>::PROCESSORS - 1;
type Cx = InTask<Shared>;
type Own = InTask<Pinned<0>>;

rtos::kernel! {
    pub struct App: Kernel<Port = Port, Model = Model>;
    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        WOKEN: Shared = Task::create(woken).priority(5).stack(STACK);
        LOW: Shared = Task::create(low).priority(12).stack(STACK);
        WAITER: Shared = Task::create(waiter).priority(4).stack(STACK);
        FAR: Shared = Task::create(far).priority(5).stack(STACK).on(LAST);
        OWN_MAIN: Pinned<0> = Task::create(own_main).priority(9).stack(STACK);
        OWN_WOKEN: Pinned<0> = Task::create(own_woken).priority(5).stack(STACK);
        OWN_WAITER: Pinned<0> = Task::create(own_waiter).priority(4).stack(STACK);
    }
    semaphores {
        SEMAPHORE: Shared = Semaphore::create(0, 1);
        OWN_SEMAPHORE: Pinned<0> = Semaphore::create(0, 1);
    }
    event_flags {
        FLAG: Shared = EventFlag::create(0).clearing();
    }
    data_queues {
        QUEUE: Shared = DataQueue::create(1);
    }
    mutexes {
        MUTEX: Shared = Mutex::create();
        CEILING: Shared = Mutex::create().ceiling(3);
    }
    interrupts {
        rtos::Interrupt::create(LINE, rtos::Handler::new::<Shared, _>(handler)).priority(-2).enabled();
    }
}

/// How often each is counted.
const TIMES: u32 = 20;

/// Where a passage ends.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn mark() {
    // SAFETY: does nothing, but is there.
    unsafe { core::arch::asm!("nop") };
}

macro_rules! counted {
    ($($name:ident($cx:ident: $context:ty) $call:expr;)*) => {
        $(
            #[inline(never)]
            #[unsafe(no_mangle)]
            extern "C" fn $name($cx: &$context) -> i32 {
                // SAFETY: no instruction, but a function like no other, so that the compiler does not merge two of them.
                unsafe { core::arch::asm!(concat!("@ ", stringify!($name)), options(nomem, nostack, preserves_flags)) };
                rtos::code($call)
            }
        )*
    };
}

counted! {
    count_act_switch(cx: Cx) WOKEN.act(*cx);
    count_act_no_switch(cx: Cx) LOW.act(*cx);
    count_act_queued(cx: Cx) LOW.act(*cx);
    count_act_pinned_switch(cx: Own) OWN_WOKEN.act(*cx);
    count_act_remote(cx: Cx) FAR.act(*cx);
    count_act_in_handler(cx: InHandler<Shared>) WOKEN.act(*cx);
    count_slp_switch(cx: Cx) Current::<App>::sleep(*cx);
    count_wup_switch(cx: Cx) WAITER.wup(*cx);
    count_wup_pinned_switch(cx: Own) OWN_WAITER.wup(*cx);
    count_wup_no_switch(cx: Cx) LOW.wup(*cx);
    count_sig_sem_switch(cx: Cx) SEMAPHORE.sig(*cx);
    count_sig_sem_no_switch(cx: Cx) SEMAPHORE.sig(*cx);
    count_wai_sem_no_switch(cx: Cx) SEMAPHORE.wai(*cx);
    count_wai_sem_switch(cx: Cx) SEMAPHORE.wai(*cx);
    count_sig_sem_pinned_switch(cx: Own) OWN_SEMAPHORE.sig(*cx);
    count_set_flg_switch(cx: Cx) FLAG.set(1, *cx);
    count_set_flg_no_switch(cx: Cx) FLAG.set(1, *cx);
    count_snd_dtq_switch(cx: Cx) QUEUE.snd(7, *cx);
    count_snd_dtq_no_switch(cx: Cx) QUEUE.snd(7, *cx);
    count_rcv_dtq_switch(cx: Cx) QUEUE.rcv(*cx).map(|_| ());
    count_rcv_dtq_no_switch(cx: Cx) QUEUE.rcv(*cx).map(|_| ());
    count_loc_mtx(cx: Cx) MUTEX.loc(*cx);
    count_unl_mtx(cx: Cx) MUTEX.unl(*cx);
    count_loc_mtx_ceiling(cx: Cx) CEILING.loc(*cx);
    count_unl_mtx_ceiling(cx: Cx) CEILING.unl(*cx);
    count_mig_tsk(cx: Cx) LOW.mig(Some(LAST), *cx);
}

/// WOKEN is the second of the tasks above.
static WOKEN_NUMBER: AtomicI32 = AtomicI32::new(2);

/// As C calls: by a number that the compiler does not know, from a context that is not known either.
#[inline(never)]
#[unsafe(no_mangle)]
extern "C" fn count_act_switch_by_number(number: &AtomicI32) -> i32 {
    // SAFETY: act_tsk asks for nothing.
    unsafe { rtos_c::act_tsk::<App>(number.load(Relaxed)) }
}

fn main(cx: Cx) {
    let _ = WAITER.act(cx);
    for _ in 0..TIMES {
        count_act_switch(&cx);

        count_act_switch_by_number(&WOKEN_NUMBER);

        count_act_no_switch(&cx);
        mark();
        count_act_queued(&cx);
        mark();
        count_wup_no_switch(&cx);
        mark();
        let _ = LOW.can_act(cx);
        let _ = LOW.ter(cx);

        count_sig_sem_no_switch(&cx);
        mark();
        count_wai_sem_no_switch(&cx);
        mark();
        count_set_flg_no_switch(&cx);
        mark();
        let _ = FLAG.clr(0, cx);
        count_snd_dtq_no_switch(&cx);
        mark();
        count_rcv_dtq_no_switch(&cx);
        mark();
        count_loc_mtx(&cx);
        mark();
        count_unl_mtx(&cx);
        mark();
        count_loc_mtx_ceiling(&cx);
        mark();
        count_unl_mtx_ceiling(&cx);
        mark();

        // The waiter waits for each in turn; LOW marks when it and MAIN wait.
        count_wup_switch(&cx);
        count_sig_sem_switch(&cx);
        count_set_flg_switch(&cx);
        count_snd_dtq_switch(&cx);

        if let Ok(line) = rtos::Line::<App>::new(LINE) {
            let _ = line.raise(cx);
        }
        while WOKEN.state(cx) != Ok(TaskState::Dormant) {}

        // LOW runs, and wakes MAIN, when MAIN waits.
        let _ = LOW.act(cx);
        count_slp_switch(&cx);
        until_low_has_ended(cx);
        let _ = LOW.act(cx);
        count_wai_sem_switch(&cx);
        until_low_has_ended(cx);
        let _ = LOW.act(cx);
        count_rcv_dtq_switch(&cx);
        until_low_has_ended(cx);

        count_act_remote(&cx);
        mark();
        while FAR.state(cx) != Ok(TaskState::Dormant) {}
        let _ = LOW.act(cx);
        count_mig_tsk(&cx);
        mark();
        until_low_has_ended(cx);
        let _ = LOW.mact(Some(0), cx);
        let _ = LOW.ter(cx);
    }
    let _ = OWN_MAIN.act(rtos::Anywhere);
}

fn until_low_has_ended(cx: Cx) {
    while LOW.state(cx) != Ok(TaskState::Dormant) {
        let _ = Current::<App>::delay(1_000, cx);
    }
}

fn woken(_: Cx) {
    mark();
}

fn far(_: Cx) {}

/// Wakes whatever MAIN waits for.
fn low(cx: Cx) {
    mark();
    let _ = MAIN.wup(cx);
    let _ = SEMAPHORE.sig(cx);
    let _ = SEMAPHORE.pol(cx);
    let _ = QUEUE.psnd(7, cx);
    let _ = QUEUE.prcv(cx);
    let _ = MAIN.can_wup(cx);
}

fn waiter(cx: Cx) {
    loop {
        let _ = Current::<App>::sleep(cx);
        mark();
        let _ = SEMAPHORE.wai(cx);
        mark();
        let _ = FLAG.wai(1, Mode::Any, cx);
        mark();
        let _ = QUEUE.rcv(cx);
        mark();
    }
}

fn handler(cx: InHandler<Shared>) {
    count_act_in_handler(&cx);
}

fn own_main(cx: Own) {
    let _ = OWN_WAITER.act(cx);
    for _ in 0..TIMES {
        count_act_pinned_switch(&cx);
        count_wup_pinned_switch(&cx);
        count_sig_sem_pinned_switch(&cx);
    }
    terminal::print(format_args!("done\n"));
    System::<App>::ext_ker()
}

fn own_woken(_: Own) {
    mark();
}

fn own_waiter(cx: Own) {
    loop {
        let _ = Current::<App>::sleep(cx);
        mark();
        let _ = OWN_SEMAPHORE.wai(cx);
        mark();
    }
}

#[panic_handler]
fn panic(info: &core::panic::PanicInfo<'_>) -> ! {
    terminal::print(format_args!("{info}\n"));
    terminal::exit(1)
}
