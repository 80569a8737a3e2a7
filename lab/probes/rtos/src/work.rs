//! The measured services, for one build of the kernel: each with the calls around it that make it callable again.

use kizami_protocol::Report;
use rtos::{Current, Error, InHandler, InTask, Mode, Pinned, Shared, System, TaskState};
use rtos_host::Host;

use super::Model;
use crate::job::{Service, job};
use crate::sample::{begin, end, failed, say, stopped};

const LAST: usize = <Model as rtos::Model>::PROCESSORS - 1;
const STACK: usize = 128 * 1024;
const LINE: u32 = 20;
/// WOKEN is the second of the tasks below.
const WOKEN_NUMBER: i32 = 2;
type Cx = InTask<Shared>;
type Own = InTask<Pinned<0>>;

rtos::kernel! {
    pub struct App: Kernel<Port = Host, Model = Model>;
    tasks {
        MAIN: Shared = Task::create(main).priority(10).stack(STACK).active();
        WOKEN: Shared = Task::create(|_: Cx| end()).priority(5).stack(STACK);
        LOW: Shared = Task::create(low).priority(12).stack(STACK);
        WAITER: Shared = Task::create(waiter).priority(4).stack(STACK);
        FAR: Shared = Task::create(far).priority(5).stack(STACK).on(LAST);
        OWN_MAIN: Pinned<0> = Task::create(own_main).priority(9).stack(STACK);
        OWN_WOKEN: Pinned<0> = Task::create(|_: Own| end()).priority(5).stack(STACK);
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

/// What a service gives here, or the measurement fails.
#[inline(always)]
fn must<T>(what: &str, result: Result<T, Error>) -> T {
    match result {
        Ok(value) => value,
        Err(error) => failed(what, error),
    }
}

/// As often as samples are wanted.
fn repeat(mut once: impl FnMut()) {
    for round in 0..job().samples {
        if round % 1024 == 0 && stopped() {
            break;
        }
        once();
    }
}

/// A service that returns to its caller, and what takes it back.
fn repeat_call<T, U>(service: impl Fn() -> Result<T, Error>, back: impl Fn() -> Result<U, Error>) {
    repeat(|| {
        begin();
        let result = service();
        end();
        must("the service", result);
        must("what takes it back", back());
    });
}

/// A service after which another task runs first, which ends the sample.
fn repeat_switch<T>(service: impl Fn() -> Result<T, Error>) {
    repeat(|| {
        begin();
        must("the service", service());
    });
}

fn main(cx: Cx) {
    match job().service {
        Service::ActSwitch => repeat_switch(|| WOKEN.act(cx)),
        // As C calls: by a number that the compiler does not know, from a context that is not known either.
        Service::ActSwitchByNumber => {
            let number = core::hint::black_box(WOKEN_NUMBER);
            repeat(|| {
                begin();
                // SAFETY: act_tsk asks for nothing.
                let code = unsafe { rtos_c::act_tsk::<App>(number) };
                if code != 0 {
                    failed("act_tsk", code);
                }
            });
        }
        Service::ActNoSwitch => repeat_call(|| LOW.act(cx), || LOW.ter(cx)),
        Service::ActQueued => {
            must("act_tsk", LOW.act(cx));
            repeat_call(|| LOW.act(cx), || LOW.can_act(cx));
            must("ter_tsk", LOW.ter(cx));
        }
        Service::ActRemote => repeat_call(|| FAR.act(cx), || until_far_has_ended(cx)),
        Service::ActRemoteStart => repeat(|| {
            begin();
            must("act_tsk", FAR.act(cx));
            must("get_tst", until_far_has_ended(cx));
        }),
        Service::ActInHandler => {
            let line = must("the line", rtos::Line::<App>::new(LINE));
            repeat(|| {
                must("ras_int", line.raise(cx));
                while must("get_tst", WOKEN.state(cx)) != TaskState::Dormant {}
            });
        }
        Service::SlpSwitch => repeat(|| {
            must("act_tsk", LOW.act(cx));
            begin();
            must("slp_tsk", Current::<App>::sleep(cx));
        }),
        Service::WaiSemSwitch => repeat(|| {
            must("act_tsk", LOW.act(cx));
            begin();
            must("wai_sem", SEMAPHORE.wai(cx));
        }),
        Service::RcvDtqSwitch => repeat(|| {
            must("act_tsk", LOW.act(cx));
            begin();
            must("rcv_dtq", QUEUE.rcv(cx));
        }),
        Service::WupSwitch => with_waiter(cx, || WAITER.wup(cx)),
        Service::SigSemSwitch => with_waiter(cx, || SEMAPHORE.sig(cx)),
        Service::SetFlgSwitch => with_waiter(cx, || FLAG.set(1, cx)),
        Service::SndDtqSwitch => with_waiter(cx, || QUEUE.snd(7, cx)),
        Service::WupNoSwitch => {
            must("act_tsk", LOW.act(cx));
            repeat_call(|| LOW.wup(cx), || LOW.can_wup(cx));
            must("ter_tsk", LOW.ter(cx));
        }
        Service::SigSemNoSwitch => repeat_call(|| SEMAPHORE.sig(cx), || SEMAPHORE.pol(cx)),
        Service::WaiSemNoSwitch => {
            must("sig_sem", SEMAPHORE.sig(cx));
            repeat_call(|| SEMAPHORE.wai(cx), || SEMAPHORE.sig(cx));
        }
        Service::SetFlgNoSwitch => repeat_call(|| FLAG.set(1, cx), || FLAG.clr(0, cx)),
        Service::SndDtqNoSwitch => repeat_call(|| QUEUE.snd(7, cx), || QUEUE.prcv(cx)),
        Service::RcvDtqNoSwitch => {
            must("snd_dtq", QUEUE.snd(7, cx));
            repeat_call(|| QUEUE.rcv(cx), || QUEUE.psnd(7, cx));
        }
        Service::LocMtx => repeat_call(|| MUTEX.loc(cx), || MUTEX.unl(cx)),
        Service::UnlMtx => {
            must("loc_mtx", MUTEX.loc(cx));
            repeat_call(|| MUTEX.unl(cx), || MUTEX.loc(cx));
        }
        Service::LocMtxCeiling => repeat_call(|| CEILING.loc(cx), || CEILING.unl(cx)),
        Service::UnlMtxCeiling => {
            must("loc_mtx", CEILING.loc(cx));
            repeat_call(|| CEILING.unl(cx), || CEILING.loc(cx));
        }
        // A task that has moved is brought back by being activated here.
        Service::MigTsk => {
            must("act_tsk", LOW.act(cx));
            repeat_call(
                || LOW.mig(Some(LAST), cx),
                || {
                    if LAST == 0 {
                        return Ok(());
                    }
                    while LOW.state(cx)? != TaskState::Dormant {}
                    LOW.mact(Some(0), cx)
                },
            );
            must("ter_tsk", LOW.ter(cx));
        }
        Service::ActPinnedSwitch | Service::WupPinnedSwitch | Service::SigSemPinnedSwitch => {
            must("act_tsk", OWN_MAIN.act(rtos::Anywhere));
        }
        Service::SigSemPinnedNoSwitch => failed("the request", "of another measurement"),
    }
    say(&Report::Done {});
    System::<App>::ext_ker()
}

fn own_main(cx: Own) {
    match job().service {
        Service::ActPinnedSwitch => repeat_switch(|| OWN_WOKEN.act(cx)),
        Service::WupPinnedSwitch => {
            must("act_tsk", OWN_WAITER.act(cx));
            repeat_switch(|| OWN_WAITER.wup(cx));
        }
        _ => {
            must("act_tsk", OWN_WAITER.act(cx));
            repeat_switch(|| OWN_SEMAPHORE.sig(cx));
        }
    }
}

/// The waiter waits before the first call.
fn with_waiter<T>(cx: Cx, service: impl Fn() -> Result<T, Error>) {
    must("act_tsk", WAITER.act(cx));
    repeat_switch(service);
}

fn until_far_has_ended(cx: Cx) -> Result<(), Error> {
    while FAR.state(cx)? != TaskState::Dormant {
        core::hint::spin_loop();
    }
    Ok(())
}

fn far(_: Cx) {
    if job().service == Service::ActRemoteStart {
        end();
    }
}

/// Runs when the main task waits, and lets it go on when this one has ended.
fn low(cx: Cx) {
    let service = job().service;
    if service == Service::MigTsk {
        return;
    }
    end();
    must("dis_dsp", System::<App>::dis_dsp(cx));
    match service {
        Service::SlpSwitch => must("wup_tsk", MAIN.wup(cx)),
        Service::RcvDtqSwitch => must("snd_dtq", QUEUE.psnd(7, cx)),
        _ => must("sig_sem", SEMAPHORE.sig(cx)),
    }
}

fn waiter(cx: Cx) {
    loop {
        match job().service {
            Service::WupSwitch => must("slp_tsk", Current::<App>::sleep(cx)),
            Service::SigSemSwitch => must("wai_sem", SEMAPHORE.wai(cx)),
            Service::SetFlgSwitch => drop(must("wai_flg", FLAG.wai(1, Mode::Any, cx))),
            _ => drop(must("rcv_dtq", QUEUE.rcv(cx))),
        }
        end();
    }
}

fn own_waiter(cx: Own) {
    loop {
        match job().service {
            Service::WupPinnedSwitch => must("slp_tsk", Current::<App>::sleep(cx)),
            _ => must("wai_sem", OWN_SEMAPHORE.wai(cx)),
        }
        end();
    }
}

fn handler(cx: InHandler<Shared>) {
    begin();
    must("act_tsk", WOKEN.act(cx));
}
