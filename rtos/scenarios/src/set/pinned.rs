//! Purpose: objects of one processor.
//!
//! - (A) a pinned task is activated from code that does not know where it runs, on its processor
//! - (B) pinned tasks among themselves: activation, wake-up, semaphores, flags, queues, timeouts
//! - (C) a pinned task gives to shared objects, and a shared task is woken by it
//! - (D) at the same priority, a pinned task runs before a shared one; with one processor, the task that came first
//! - (E) with several processors: from another one, E_OACV; waiting for an object of the other kind, E_OACV

use super::*;
use rtos::Placed;

type P = InTask<Pinned<0>>;

pub(super) fn run(cx: Cx) {
    // (A)
    play_pinned(false, |_| step(2));
    step(1);
    same(PINNED.act(Anywhere), Ok(()));
    step(3);

    // (B)
    play_pinned(true, |cx: P| {
        play_pinned(false, |cx: P| {
            step(5);
            same(SEM_PINNED.wai(cx), Ok(()));
            step(7);
            same(FLAG_PINNED.wai(1, Mode::Any, cx), Ok(1));
            same(QUEUE_PINNED.rcv(cx), Ok(11));
            same(Current::<App>::sleep(cx), Ok(()));
            same(Current::<App>::sleep_for(Timeout::millis(1), cx), Err(Error::TMOUT));
            same(SEM_PINNED.twai(Timeout::millis(1), cx), Err(Error::TMOUT));
            step(9);
        });
        step(4);
        same(PINNED.act(cx), Ok(()));
        step(6);
        same(SEM_PINNED.sig(cx), Ok(()));
        same(FLAG_PINNED.set(1, cx), Ok(()));
        same(QUEUE_PINNED.snd(11, cx), Ok(()));
        same(FLAG_PINNED.clr(0, cx), Ok(()));
        same(PINNED.wup(cx), Ok(()));
        step(8);
        while PINNED.state(cx) != Ok(TaskState::Dormant) {
            same(Current::<App>::sleep_for(Timeout::millis(20), cx), Err(Error::TMOUT));
        }
        step(10);
    });
    same(PINNED_LOW.act(Anywhere), Ok(()));
    until(cx, || PINNED_LOW.state(Anywhere) == Ok(TaskState::Dormant));
    step(11);

    // (C)
    play(HIGH, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(13);
    });
    play_pinned(false, |cx: P| {
        step(12);
        same(SEM_PRI.sig(cx), Ok(()));
        step(14);
    });
    same(HIGH.act(cx), Ok(()));
    same(PINNED.act(Anywhere), Ok(()));
    step(15);

    // (D)
    play(STRICT, |_| step(if PROCESSORS > 1 { 17 } else { 16 }));
    play_pinned(false, |_| step(if PROCESSORS > 1 { 16 } else { 17 }));
    same(System::<App>::dis_dsp(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(STRICT.chg_pri(Some(5), cx), Ok(()));
    same(PINNED.act(Anywhere), Ok(()));
    same(System::<App>::ena_dsp(cx), Ok(()));
    step(18);

    // (E)
    if PROCESSORS > 1 {
        same(SEM_PINNED.twai(Timeout::POLL, Anywhere), Err(Error::OACV));
        play_pinned(false, |_: P| {
            same(SEM_PRI.twai(Timeout::POLL, Anywhere), Err(Error::OACV));
            same(MUTEX.ploc(Anywhere), Err(Error::OACV));
            same(CEILING.ploc(Anywhere), Err(Error::OACV));
        });
        same(PINNED.act(Anywhere), Ok(()));
        play(FAR_HIGH, |cx| {
            same(PINNED.act(Anywhere), Err(Error::OACV));
            same(SEM_PINNED.sig(Anywhere), Err(Error::OACV));
            same(FLAG_PINNED.set(1, Anywhere), Err(Error::OACV));
            // By number, from code that knows what it is.
            same(rtos::Task::<App, Placed>::by_number(8).and_then(|task| task.act(cx)), Err(Error::OACV));
            same(
                rtos::Semaphore::<App, Placed>::by_number(3).and_then(|semaphore| semaphore.sig(cx)),
                Err(Error::OACV),
            );
        });
        same(FAR_HIGH.act(cx), Ok(()));
        until_ended(cx, FAR_HIGH);
        same(PINNED.state(Anywhere), Ok(TaskState::Dormant));
    }
}
