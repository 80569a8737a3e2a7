//! Purpose: semaphores.
//!
//! - (A) wai_sem takes what there is, sig_sem gives back, up to the most: E_QOVR
//! - (B) tasks wait in the order in which they came
//! - (C) or in that of their priorities, and among equals in which they came
//! - (D) pol_sem and twai_sem: E_TMOUT
//! - (E) rel_wai and ter_tsk of a task in the middle of the queue
//! - (F) ini_sem: the waits end with E_DLT, the count is the first one

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    same(SEM.refer(cx), Ok((None, 1)));
    same(SEM.wai(cx), Ok(()));
    same(SEM.refer(cx), Ok((None, 0)));
    for _ in 0..3 {
        same(SEM.sig(cx), Ok(()));
    }
    same(SEM.sig(cx), Err(Error::QOVR));
    for _ in 0..3 {
        same(SEM.wai(cx), Ok(()));
    }

    // (B)
    play(STRICT, |cx| {
        same(SEM.wai(cx), Ok(()));
        step(1);
    });
    play(HIGH, |cx| {
        same(SEM.wai(cx), Ok(()));
        step(2);
    });
    same(STRICT.act(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(SEM.refer(cx), Ok((Some(5), 0)));
    same(SEM.sig(cx), Ok(()));
    same(SEM.sig(cx), Ok(()));
    step(3);

    // (C)
    play(STRICT, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(5);
    });
    play(HIGH, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(4);
    });
    same(STRICT.act(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(SEM_PRI.refer(cx), Ok((Some(2), 0)));
    same(SEM_PRI.sig(cx), Ok(()));
    same(SEM_PRI.sig(cx), Ok(()));
    step(6);
    play(STRICT, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(7);
    });
    play(HIGH, |cx| {
        same(HIGH.chg_pri(Some(6), cx), Ok(()));
        same(SEM_PRI.wai(cx), Ok(()));
        step(8);
    });
    play(PEER, |cx| {
        same(PEER.chg_pri(Some(6), cx), Ok(()));
        same(SEM_PRI.wai(cx), Ok(()));
        step(9);
    });
    same(STRICT.act(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(PEER.act(cx), Ok(()));
    same(PEER.chg_pri(Some(9), cx), Ok(()));
    for _ in 0..3 {
        same(SEM_PRI.sig(cx), Ok(()));
    }
    step(10);

    // (D)
    same(SEM.pol(cx), Err(Error::TMOUT));
    same(SEM.twai(Timeout::POLL, cx), Err(Error::TMOUT));
    let before = Time::<App>::precise();
    same(SEM.twai(Timeout::millis(2), cx), Err(Error::TMOUT));
    check(Time::<App>::precise().wrapping_sub(before) >= 2_000);
    same(SEM.refer(cx), Ok((None, 0)));

    // (E)
    play(STRICT, |cx| {
        same(SEM.wai(cx), Ok(()));
        step(12);
    });
    play(HIGH, |cx| {
        same(SEM.wai(cx), Err(Error::RLWAI));
        step(11);
    });
    play(PEER, |cx| {
        let _ = SEM.wai(cx);
        check(false);
    });
    same(PEER.act(cx), Ok(()));
    same(PEER.chg_pri(Some(9), cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(SEM.refer(cx), Ok((Some(3), 0)));
    same(HIGH.rel_wai(cx), Ok(()));
    same(PEER.ter(cx), Ok(()));
    same(SEM.refer(cx), Ok((Some(5), 0)));
    same(SEM.sig(cx), Ok(()));

    // (F)
    play(HIGH, |cx| {
        same(SEM.wai(cx), Err(Error::DLT));
        step(13);
    });
    same(HIGH.act(cx), Ok(()));
    same(SEM.ini(cx), Ok(()));
    same(SEM.refer(cx), Ok((None, 1)));
    step(14);
}
