//! Purpose: mutexes.
//!
//! - (A) loc_mtx and unl_mtx; the first task that waits is the next owner
//! - (B) E_OBJ for a mutex that the caller holds already, does not hold, or did not lock last
//! - (C) ploc_mtx and tloc_mtx: E_TMOUT
//! - (D) ceiling: the owner has at least that priority; E_ILUSE for a task with a higher one
//! - (E) chg_pri of the owner of a ceiling mutex, or of a task that waits for it: E_ILUSE above the ceiling; below,
//!   the new priority counts after the unlock
//! - (F) inheritance: the owner has at least the priority of the highest waiting task, until that task stops waiting
//! - (I) chg_pri of an owner that inherits: if the new base priority decides, the owner is the last of that priority
//! - (G) inheritance along a chain of mutexes
//! - (H) ini_mtx: the waits end with E_DLT, and the mutex has no owner

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    play(HIGH, |cx| {
        same(MUTEX.loc(cx), Ok(()));
        step(2);
        same(MUTEX.unl(cx), Ok(()));
        step(3);
    });
    same(MUTEX.loc(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(MUTEX.refer(cx), Ok((Some(1), Some(2))));
    step(1);
    same(MUTEX.unl(cx), Ok(()));
    step(4);
    same(MUTEX.refer(cx), Ok((None, None)));

    // (B)
    same(MUTEX.unl(cx), Err(Error::OBJ));
    same(MUTEX.loc(cx), Ok(()));
    same(MUTEX.loc(cx), Err(Error::OBJ));
    same(MUTEX.ploc(cx), Err(Error::OBJ));
    same(INHERIT.loc(cx), Ok(()));
    same(MUTEX.unl(cx), Err(Error::OBJ));
    same(INHERIT.unl(cx), Ok(()));

    // (C)
    play(HIGH, |cx| {
        same(MUTEX.ploc(cx), Err(Error::TMOUT));
        same(MUTEX.tloc(Timeout::POLL, cx), Err(Error::TMOUT));
        same(MUTEX.tloc(Timeout::millis(1), cx), Err(Error::TMOUT));
        step(5);
    });
    same(HIGH.act(cx), Ok(()));
    until_ended(cx, HIGH);
    same(MUTEX.unl(cx), Ok(()));
    step(6);

    // (D)
    same(CEILING.loc(cx), Ok(()));
    same(MAIN.priority(cx), Ok(3));
    play(HIGH, |_| step(8));
    same(HIGH.act(cx), Ok(()));
    step(7);
    same(CEILING.unl(cx), Ok(()));
    step(9);
    same(MAIN.priority(cx), Ok(10));
    same(MAIN.chg_pri(Some(2), cx), Ok(()));
    same(CEILING.loc(cx), Err(Error::ILUSE));
    same(CEILING.ploc(cx), Err(Error::ILUSE));
    same(MAIN.chg_pri(None, cx), Ok(()));

    // (E)
    same(CEILING.loc(cx), Ok(()));
    same(MAIN.chg_pri(Some(2), cx), Err(Error::ILUSE));
    same(MAIN.chg_pri(Some(12), cx), Ok(()));
    same(MAIN.priority(cx), Ok(3));
    play(PEER, |cx| {
        step(10);
        same(MAIN.priority(cx), Ok(12));
    });
    same(PEER.act(cx), Ok(()));
    same(CEILING.unl(cx), Ok(()));
    same(MAIN.chg_pri(None, cx), Ok(()));
    step(11);
    play(LOW, |cx| {
        same(CEILING.loc(cx), Ok(()));
        same(Current::<App>::sleep(cx), Ok(()));
        same(CEILING.unl(cx), Ok(()));
    });
    play(STRICT, |cx| {
        same(CEILING.loc(cx), Ok(()));
        same(STRICT.priority(cx), Ok(3));
        same(CEILING.unl(cx), Ok(()));
        same(STRICT.priority(cx), Ok(6));
    });
    same(LOW.act(cx), Ok(()));
    until(cx, || LOW.state(cx) == Ok(TaskState::Waiting));
    same(STRICT.act(cx), Ok(()));
    same(STRICT.chg_pri(Some(2), cx), Err(Error::ILUSE));
    same(LOW.wup(cx), Ok(()));
    until_ended(cx, LOW);

    // (F)
    same(INHERIT.loc(cx), Ok(()));
    play(STRICT, |cx| same(INHERIT.loc(cx), Err(Error::RLWAI)));
    play(HIGH, |cx| same(INHERIT.tloc(Timeout::millis(2), cx), Err(Error::TMOUT)));
    same(STRICT.act(cx), Ok(()));
    same(MAIN.priority(cx), Ok(6));
    same(HIGH.act(cx), Ok(()));
    same(MAIN.priority(cx), Ok(4));
    until_ended(cx, HIGH);
    same(MAIN.priority(cx), Ok(6));
    same(STRICT.chg_pri(Some(5), cx), Ok(()));
    same(MAIN.priority(cx), Ok(5));
    same(STRICT.rel_wai(cx), Ok(()));
    same(MAIN.priority(cx), Ok(10));
    play(HIGH, |cx| {
        same(INHERIT.loc(cx), Ok(()));
        step(12);
        same(MAIN.priority(cx), Ok(10));
        same(INHERIT.unl(cx), Ok(()));
    });
    same(HIGH.act(cx), Ok(()));
    same(MAIN.priority(cx), Ok(4));
    same(INHERIT.unl(cx), Ok(()));
    step(13);

    // (I)
    play(STRICT, |cx| {
        same(INHERIT.loc(cx), Ok(()));
        same(INHERIT.unl(cx), Ok(()));
    });
    play(PEER, |_| step(14));
    same(INHERIT.loc(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(MAIN.priority(cx), Ok(6));
    same(System::<App>::dis_dsp(cx), Ok(()));
    same(PEER.act(cx), Ok(()));
    same(PEER.chg_pri(Some(5), cx), Ok(()));
    same(MAIN.chg_pri(Some(5), cx), Ok(()));
    same(System::<App>::ena_dsp(cx), Ok(()));
    step(15);
    same(INHERIT.unl(cx), Ok(()));
    same(MAIN.chg_pri(None, cx), Ok(()));

    // (G)
    play(LOW, |cx| {
        same(INHERIT.loc(cx), Ok(()));
        same(Current::<App>::sleep(cx), Ok(()));
        same(INHERIT.unl(cx), Ok(()));
        same(LOW.priority(cx), Ok(14));
    });
    same(LOW.act(cx), Ok(()));
    until(cx, || LOW.state(cx) == Ok(TaskState::Waiting));
    play(STRICT, |cx| {
        same(INHERIT_TOO.loc(cx), Ok(()));
        same(INHERIT.loc(cx), Ok(()));
        same(STRICT.priority(cx), Ok(4));
        same(INHERIT.unl(cx), Ok(()));
        same(INHERIT_TOO.unl(cx), Ok(()));
    });
    same(STRICT.act(cx), Ok(()));
    same(LOW.priority(cx), Ok(6));
    play(HIGH, |cx| {
        same(INHERIT_TOO.loc(cx), Ok(()));
        same(INHERIT_TOO.unl(cx), Ok(()));
        step(16);
    });
    same(HIGH.act(cx), Ok(()));
    same(STRICT.priority(cx), Ok(4));
    same(LOW.priority(cx), Ok(4));
    same(LOW.wup(cx), Ok(()));
    until_ended(cx, LOW);
    step(17);

    // (H)
    play(HIGH, |cx| {
        same(INHERIT.loc(cx), Err(Error::DLT));
        step(18);
    });
    same(INHERIT.loc(cx), Ok(()));
    same(INHERIT_TOO.loc(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(MAIN.priority(cx), Ok(4));
    same(INHERIT.ini(cx), Ok(()));
    step(19);
    same(MAIN.priority(cx), Ok(10));
    same(INHERIT.refer(cx), Ok((None, None)));
    same(INHERIT_TOO.unl(cx), Ok(()));
}
