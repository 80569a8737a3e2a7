//! Purpose: services from contexts that they may not be called from. Each gives E_CTX and changes nothing.
//!
//! - (A) with the processor locked: every service
//! - (B) where the task may not give way (dis_dsp, chg_ipm): every service that waits
//! - (C) in a handler: every service that waits, and those that only tasks may call
//! - (D) the same from code that does not know its context
//! - (E) in each of them with an argument that is wrong besides, such as an ITRON number: that is told after the context

use super::*;
use core::sync::atomic::Ordering::Relaxed;
use rtos::{Context, Needs};

type S = System<App>;

static CALLS: AtomicU32 = AtomicU32::new(0);

/// All that services can change, seen from a task.
fn everything(cx: Cx) -> impl PartialEq + Debug {
    (
        [HIGH, PEER, LOW, STRICT, FAR_HIGH, FAR_LOW, MAIN].map(|task| (task.state(cx), task.priority(cx))),
        (SEM.refer(cx), SEM_PRI.refer(cx), FLAG.refer(cx), FLAG_ONE.refer(cx)),
        (QUEUE.refer(cx), QUEUE_NONE.refer(cx), PQUEUE.refer(cx), BUFFER.refer(cx), BUFFER_NONE.refer(cx)),
        (MUTEX.refer(cx), CEILING.refer(cx), INHERIT.refer(cx), POOL.refer(cx)),
        (CYCLIC.refer(cx), ALARM.refer(cx).map(|left| left.is_some()), S::get_lod(Some(10), cx), S::get_ipm(cx)),
        (S::sns_loc(), S::sns_dsp(), S::sns_dpn(), S::sns_ctx()),
    )
}

#[track_caller]
fn refused<T: Debug>(result: Result<T, Error>) {
    if !matches!(result, Err(Error::CTX)) {
        super::fail(format_args!("it is {result:?} and should be E_CTX"));
    }
}

/// What may wait.
#[track_caller]
fn waiting<C: Context>(cx: C) {
    for timeout in [Timeout::POLL, Timeout::FOREVER, Timeout::millis(1)] {
        refused(SEM.twai(timeout, cx));
        refused(FLAG.twai(1, Mode::Any, timeout, cx));
        refused(QUEUE.tsnd(1, timeout, cx));
        refused(QUEUE.trcv(timeout, cx));
        refused(PQUEUE.tsnd(1, 1, timeout, cx));
        refused(PQUEUE.trcv(timeout, cx));
        refused(MUTEX.tloc(timeout, cx));
        refused(BUFFER.tsnd(&[1], timeout, cx));
        refused(BUFFER.trcv(&mut [0; 12], timeout, cx));
        refused(POOL.tget(timeout, cx).map(|_| ()));
    }
    refused(SEM.wai(cx));
    refused(FLAG.wai(1, Mode::Any, cx));
    refused(QUEUE.snd(1, cx));
    refused(QUEUE.rcv(cx));
    refused(PQUEUE.snd(1, 1, cx));
    refused(PQUEUE.rcv(cx));
    refused(MUTEX.loc(cx));
    refused(BUFFER.snd(&[1], cx));
    refused(BUFFER.rcv(&mut [0; 12], cx));
    refused(POOL.get(cx).map(|_| ()));
    // (E)
    refused(rtos::Semaphore::<App, _>::by_number_for(Needs::Dispatching, 99).map(|_| ()));
    refused(FLAG.wai(0, Mode::Any, cx));
    refused(PQUEUE.snd(1, 99, cx));
    refused(BUFFER.snd(&[], cx));
    refused(BUFFER.rcv(&mut [], cx));
}

/// What only tasks may call, and does not wait.
#[track_caller]
fn for_tasks<C: Context>(cx: C) {
    refused(HIGH.can_act(cx));
    refused(HIGH.state(cx));
    refused(HIGH.priority(cx));
    refused(HIGH.chg_pri(Some(5), cx));
    refused(HIGH.can_wup(cx));
    refused(HIGH.sus(cx));
    refused(HIGH.rsm(cx));
    refused(HIGH.ter(cx));
    refused(HIGH.ras_ter(cx));
    refused(HIGH.mig(Some(0), cx));
    refused(HIGH.ref_ovr(cx));
    refused(SEM.pol(cx));
    refused(SEM.ini(cx));
    refused(SEM.refer(cx));
    refused(FLAG.clr(0, cx));
    refused(FLAG.pol(1, Mode::Any, cx));
    refused(FLAG.ini(cx));
    refused(FLAG.refer(cx));
    refused(QUEUE.prcv(cx));
    refused(QUEUE.ini(cx));
    refused(QUEUE.refer(cx));
    refused(PQUEUE.prcv(cx));
    refused(PQUEUE.ini(cx));
    refused(PQUEUE.refer(cx));
    refused(MUTEX.ploc(cx));
    refused(MUTEX.unl(cx));
    refused(MUTEX.ini(cx));
    refused(MUTEX.refer(cx));
    refused(BUFFER.psnd(&[1], cx));
    refused(BUFFER.prcv(&mut [0; 12], cx));
    refused(BUFFER.ini(cx));
    refused(BUFFER.refer(cx));
    refused(POOL.pget(cx).map(|_| ()));
    // SAFETY: nobody uses a block.
    refused(unsafe { POOL.rel_at(core::ptr::null_mut(), cx) });
    // SAFETY: nobody uses a block.
    refused(unsafe { POOL.ini(cx) });
    refused(POOL.refer(cx));
    refused(CYCLIC.sta(cx));
    refused(CYCLIC.msta(Some(0), cx));
    refused(CYCLIC.stp(cx));
    refused(CYCLIC.refer(cx));
    refused(ALARM.refer(cx));
    refused(Time::<App>::get(cx));
    refused(Time::<App>::set(0, cx));
    refused(S::dis_dsp(cx));
    refused(S::ena_dsp(cx));
    refused(S::chg_ipm(0, cx));
    refused(S::get_ipm(cx));
    refused(S::get_lod(Some(10), cx));
    refused(S::get_nth(Some(10), 0, cx));
    // (E)
    refused(rtos::Task::<App, _>::by_number_for(Needs::Task, 99).map(|_| ()));
    refused(HIGH.chg_pri(Some(99), cx));
    refused(HIGH.mig(Some(99), cx));
    refused(FLAG.pol(0, Mode::Any, cx));
    refused(BUFFER.psnd(&[], cx));
    refused(CYCLIC.msta(Some(99), cx));
    refused(S::chg_ipm(99, cx));
    refused(S::get_lod(Some(99), cx));
    refused(S::mget_lod(99, Some(99), cx));
    refused(S::mget_nth(99, None, 0, cx));
}

/// What handlers may call too.
#[track_caller]
fn for_all<C: Context>(cx: C) {
    refused(HIGH.act(cx));
    refused(HIGH.mact(None, cx));
    refused(HIGH.wup(cx));
    refused(HIGH.rel_wai(cx));
    refused(HIGH.sta_ovr(1, cx));
    refused(HIGH.stp_ovr(cx));
    refused(SEM.sig(cx));
    refused(FLAG.set(1, cx));
    refused(QUEUE.psnd(1, cx));
    refused(QUEUE.fsnd(1, cx));
    refused(PQUEUE.psnd(1, 1, cx));
    refused(ALARM.sta(0, cx));
    refused(ALARM.msta(0, None, cx));
    refused(ALARM.stp(cx));
    refused(Time::<App>::adjust(1, cx));
    refused(S::rot_rdq(Some(10), cx));
    refused(S::get_tid(cx));
    refused(S::get_pid(cx));
    refused(SPIN.loc(cx));
    refused(SPIN.try_loc(cx));
    // (E)
    refused(rtos::Semaphore::<App, _>::by_number(99).map(|_| ()));
    refused(rtos::Task::<App, _>::by_number(99).map(|_| ()));
    refused(HIGH.mact(Some(99), cx));
    refused(HIGH.sta_ovr(0, cx));
    refused(PQUEUE.psnd(1, 99, cx));
    refused(ALARM.sta(u32::MAX, cx));
    refused(Time::<App>::adjust(i32::MAX, cx));
    refused(S::rot_rdq(Some(99), cx));
    refused(S::rot_rdq(None, cx));
    refused(S::mrot_rdq(99, Some(99), cx));
}

pub(super) fn in_handler(cx: InHandler<Shared>) {
    waiting(cx);
    for_tasks(cx);
    waiting(Anywhere);
    for_tasks(Anywhere);
    same(S::loc_cpu(cx), Ok(()));
    waiting(cx);
    for_tasks(cx);
    for_all(cx);
    for_all(Anywhere);
    same(S::unl_cpu(cx), Ok(()));
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
}

pub(super) fn run(cx: Cx) {
    let before = everything(cx);
    // (A)
    same(S::loc_cpu(cx), Ok(()));
    waiting(cx);
    for_tasks(cx);
    for_all(cx);
    refused(Current::<App>::sleep(cx));
    refused(Current::<App>::sleep_for(Timeout::POLL, cx));
    refused(Current::<App>::delay(1, cx));
    refused(Current::<App>::disable_termination(cx));
    refused(Current::<App>::enable_termination(cx));
    // (D)
    refused(Current::<App>::sleep(Anywhere));
    refused(Current::<App>::delay(1, Anywhere));
    waiting(Anywhere);
    for_tasks(Anywhere);
    for_all(Anywhere);
    same(S::unl_cpu(cx), Ok(()));
    same(everything(cx) == before, true);

    // (B)
    type Change = fn(Cx) -> Result<(), Error>;
    let pausing: [(Change, Change); 2] = [(S::dis_dsp, S::ena_dsp), (|cx| S::chg_ipm(-1, cx), |cx| S::chg_ipm(0, cx))];
    for (begin, end) in pausing {
        same(begin(cx), Ok(()));
        waiting(cx);
        waiting(Anywhere);
        refused(Current::<App>::sleep(cx));
        refused(Current::<App>::sleep_for(Timeout::POLL, cx));
        refused(Current::<App>::delay(1, cx));
        refused(Current::<App>::delay(u32::MAX, cx));
        refused(MAIN.sus(cx));
        refused(MAIN.mig(Some(LAST), cx).map(|()| check(PROCESSORS == 1)).and(if PROCESSORS == 1 {
            Err(Error::CTX)
        } else {
            Ok(())
        }));
        same(end(cx), Ok(()));
        same(everything(cx) == before, true);
    }

    // (C)
    CALLS.store(0, Relaxed);
    same(ALARM_TOO.sta(0, cx), Ok(()));
    until(cx, || CALLS.load(Relaxed) == 1);
    same(everything(cx) == before, true);
    step(1);
}
