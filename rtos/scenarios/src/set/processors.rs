//! Purpose: tasks on several processors. With one, every processor is this one, and the same must come out.
//!
//! - (A) act_tsk of a task of another processor: it runs there
//! - (B) two processors at the same time, if there are two
//! - (C) mact_tsk: the task runs on that processor, and stays there; queued, it does so when it begins anew
//! - (D) mig_tsk of the caller: it goes on on that processor
//! - (E) mig_tsk of another task: ready, waiting with a deadline, dormant
//! - (F) mig_tsk of a task of another processor: E_OBJ
//! - (G) objects between processors: semaphore, data queue, mutex
//! - (H) ter_tsk and ras_ter of a task of another processor: E_OBJ
//! - (I) sus_tsk and rsm_tsk of a task that runs on another processor
//! - (J) chg_pri of a task of another processor
//! - (K) mig_tsk to the task's own processor: it is the last of its priority; E_CTX for the caller that may not give way

use super::*;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

type S = System<App>;

static PLACE: AtomicU32 = AtomicU32::new(99);
static COUNT: AtomicU32 = AtomicU32::new(0);
static ENOUGH: AtomicBool = AtomicBool::new(false);

fn place<C: rtos::Context>(cx: C) -> u32 {
    S::get_pid(cx).map_or(98, |place| place as u32)
}

fn note_place(cx: Cx) {
    PLACE.store(place(cx), Relaxed);
}

/// Counts until it is enough.
fn count(_: Cx) {
    while !ENOUGH.load(Relaxed) {
        COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
        core::hint::spin_loop();
    }
}

/// Whether the counter goes on.
fn counts(cx: Cx) -> bool {
    let before = COUNT.load(Relaxed);
    same(Current::<App>::delay(20_000, cx), Ok(()));
    COUNT.load(Relaxed) != before
}

pub(super) fn run(cx: Cx) {
    // (A)
    play(FAR_HIGH, note_place);
    same(FAR_HIGH.act(cx), Ok(()));
    until_ended(cx, FAR_HIGH);
    same(PLACE.load(Relaxed), LAST as u32);

    // (B)
    if PROCESSORS > 1 {
        play(FAR_LOW, |_| {
            while COUNT.load(Relaxed) != 1 {
                core::hint::spin_loop();
            }
            COUNT.store(2, Relaxed);
        });
        COUNT.store(0, Relaxed);
        same(FAR_LOW.act(cx), Ok(()));
        COUNT.store(1, Relaxed);
        while COUNT.load(Relaxed) != 2 {
            core::hint::spin_loop();
        }
        until_ended(cx, FAR_LOW);
    }

    // (C)
    play(HIGH, note_place);
    for processor in [LAST, 0] {
        same(HIGH.mact(Some(processor), cx), Ok(()));
        until_ended(cx, HIGH);
        same(PLACE.load(Relaxed), processor as u32);
        PLACE.store(99, Relaxed);
        same(HIGH.act(cx), Ok(()));
        until_ended(cx, HIGH);
        same(PLACE.load(Relaxed), processor as u32);
    }
    play(LOW, note_place);
    same(LOW.act(cx), Ok(()));
    same(LOW.mact(Some(LAST), cx), Ok(()));
    same(LOW.mact(Some(0), cx), Err(Error::QOVR));
    PLACE.store(99, Relaxed);
    until(cx, || PLACE.load(Relaxed) == LAST as u32);
    until_ended(cx, LOW);
    same(LOW.mact(Some(0), cx), Ok(()));
    until_ended(cx, LOW);

    // (D)
    for _ in 0..100 {
        for processor in [LAST, 0] {
            same(MAIN.mig(Some(processor), cx), Ok(()));
            same(place(cx), processor as u32);
        }
    }
    same(MAIN.mig(None, cx), Ok(()));

    // (K)
    play(PEER, |cx| {
        step(1);
        same(MAIN.mig(Some(0), cx), Ok(()));
        step(2);
    });
    same(PEER.act(cx), Ok(()));
    same(MAIN.mig(Some(0), cx), Ok(()));
    step(3);
    play(PEER, |_| step(4));
    same(PEER.act(cx), Ok(()));
    same(S::dis_dsp(cx), Ok(()));
    same(MAIN.mig(Some(0), cx), Err(Error::CTX));
    same(S::ena_dsp(cx), Ok(()));
    same(MAIN.mig(None, cx), Ok(()));
    step(5);

    // (E)
    same(LOW.act(cx), Ok(()));
    same(LOW.mig(Some(LAST), cx), Ok(()));
    until_ended(cx, LOW);
    same(PLACE.load(Relaxed), LAST as u32);
    same(LOW.mact(Some(0), cx), Ok(()));
    until_ended(cx, LOW);
    play(HIGH, |cx| {
        same(Current::<App>::sleep_for(Timeout::millis(30), cx), Err(Error::TMOUT));
        note_place(cx);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.mig(Some(LAST), cx), Ok(()));
    until_ended(cx, HIGH);
    same(PLACE.load(Relaxed), LAST as u32);
    if PROCESSORS > 1 {
        same(HIGH.mig(Some(0), cx), Err(Error::OBJ));
    }
    same(HIGH.mact(Some(0), cx), Ok(()));
    until_ended(cx, HIGH);
    same(HIGH.mig(Some(LAST), cx), Ok(()));
    play(HIGH, note_place);
    same(HIGH.act(cx), Ok(()));
    until_ended(cx, HIGH);
    same(PLACE.load(Relaxed), LAST as u32);
    same(HIGH.mact(Some(0), cx), Ok(()));
    until_ended(cx, HIGH);

    // (G)
    play(FAR_HIGH, |cx| {
        for round in 0..200 {
            same(SEM_PRI.wai(cx), Ok(()));
            same(QUEUE.snd(round, cx), Ok(()));
            same(MUTEX.loc(cx), Ok(()));
            COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
            same(MUTEX.unl(cx), Ok(()));
        }
    });
    COUNT.store(0, Relaxed);
    same(FAR_HIGH.act(cx), Ok(()));
    for round in 0..200 {
        same(MUTEX.loc(cx), Ok(()));
        COUNT.store(COUNT.load(Relaxed) + 1, Relaxed);
        same(MUTEX.unl(cx), Ok(()));
        until(cx, || SEM_PRI.sig(cx) == Ok(()));
        same(QUEUE.rcv(cx), Ok(round));
    }
    until_ended(cx, FAR_HIGH);
    same(COUNT.load(Relaxed), 400);
    step(6);

    if PROCESSORS > 1 {
        on_another(cx);
    }
    same(PINNED.state(Anywhere), Ok(TaskState::Dormant));
}

/// What makes sense only while a task runs on another processor.
fn on_another(cx: Cx) {
    // (F) and (H)
    ENOUGH.store(false, Relaxed);
    play(FAR_LOW, |cx| {
        same(Current::<App>::sleep(cx), Ok(()));
        count(cx);
    });
    same(FAR_LOW.act(cx), Ok(()));
    until(cx, || FAR_LOW.state(cx) == Ok(TaskState::Waiting));
    for state in [TaskState::Waiting, TaskState::Running] {
        same(FAR_LOW.state(cx), Ok(state));
        same(FAR_LOW.mig(Some(0), cx), Err(Error::OBJ));
        same(FAR_LOW.ter(cx), Err(Error::OBJ));
        same(FAR_LOW.ras_ter(cx), Err(Error::OBJ));
        let _ = FAR_LOW.wup(cx);
        until(cx, || counts(cx));
    }
    same(FAR_LOW.can_wup(cx), Ok(1));

    // (I)
    same(FAR_LOW.sus(cx), Ok(()));
    until(cx, || !counts(cx));
    same(FAR_LOW.state(cx), Ok(TaskState::Suspended));
    same(FAR_LOW.rsm(cx), Ok(()));
    until(cx, || counts(cx));

    // (J)
    play(FAR_HIGH, note_place);
    PLACE.store(99, Relaxed);
    same(FAR_LOW.chg_pri(Some(3), cx), Ok(()));
    same(FAR_HIGH.act(cx), Ok(()));
    same(Current::<App>::delay(5_000, cx), Ok(()));
    same(PLACE.load(Relaxed), 99);
    same(FAR_LOW.chg_pri(None, cx), Ok(()));
    until_ended(cx, FAR_HIGH);
    same(PLACE.load(Relaxed), LAST as u32);
    ENOUGH.store(true, Relaxed);
    until_ended(cx, FAR_LOW);
    step(7);
}
