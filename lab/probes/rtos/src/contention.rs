//! Contention: two processors that want the lock between them at once.

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};

use kizami_protocol::Report;
use rtos::{Error, InTask, Pinned, Shared, System};
use rtos_host::Host;

use crate::clock;
use crate::job::{Service, job};
use crate::sample::{begin, end, failed, say, stopped};

const STACK: usize = 128 * 1024;
type Cx = InTask<Shared>;
type Own = InTask<Pinned<0>>;

rtos::kernel! {
    pub struct App: Kernel<Port = Host, Model = rtos::Multi<2>>;
    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        OTHER: Shared = Task::create(other).priority(10).stack(STACK).on(1);
        OWN_MAIN: Pinned<0> = Task::create(own_main).priority(9).stack(STACK);
    }
    semaphores {
        SEMAPHORE: Shared = Semaphore::create(0, 1);
        OTHER_SEMAPHORE: Shared = Semaphore::create(0, 1);
        OWN_SEMAPHORE: Pinned<0> = Semaphore::create(0, 1);
    }
}

/// How often the other processor has come by.
static CALLS: AtomicU64 = AtomicU64::new(0);
static OVER: AtomicBool = AtomicBool::new(false);

#[inline(always)]
fn must<T>(what: &str, result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(what, error),
    }
}

fn main(cx: Cx) {
    must("act_tsk", OTHER.act(cx));
    while CALLS.load(Relaxed) == 0 {
        core::hint::spin_loop();
    }
    let before = CALLS.load(Relaxed);
    if job().service == Service::SigSemPinnedNoSwitch {
        must("act_tsk", OWN_MAIN.act(rtos::Anywhere));
    } else {
        repeat(|| SEMAPHORE.sig(cx), || SEMAPHORE.pol(cx));
    }
    let calls = CALLS.load(Relaxed) - before;
    OVER.store(true, Relaxed);
    say(&Report::Fact { name: "other_calls".into(), value: calls as f64 });
    say(&Report::Done {});
    System::<App>::ext_ker()
}

fn own_main(cx: Own) {
    repeat(|| OWN_SEMAPHORE.sig(cx), || OWN_SEMAPHORE.pol(cx));
}

fn repeat(service: impl Fn() -> Result<(), Error>, back: impl Fn() -> Result<(), Error>) {
    for round in 0..job().samples {
        if round % 1024 == 0 && stopped() {
            break;
        }
        begin();
        let result = service();
        end();
        must("sig_sem", result);
        must("pol_sem", back());
    }
}

fn other(cx: Cx) {
    let pause = job().pause_ns;
    while !OVER.load(Relaxed) {
        must("sig_sem", OTHER_SEMAPHORE.sig(cx));
        must("pol_sem", OTHER_SEMAPHORE.pol(cx));
        CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
        if pause > 0 {
            let begun = clock::before();
            while clock::nanoseconds(clock::before() - begun) < pause {}
        }
    }
}
