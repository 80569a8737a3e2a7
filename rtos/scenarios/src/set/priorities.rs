//! Purpose: priorities of tasks.
//!
//! - (A) get_pri: the present priority; E_OBJ for a dormant task
//! - (B) chg_pri of the caller below another task: that runs
//! - (C) chg_pri of another task above the caller: it runs
//! - (D) chg_pri to the same priority: the task becomes the last of it
//! - (E) chg_pri to the initial priority
//! - (F) chg_pri of a task that waits in the order of priorities: it goes where it belongs
//! - (G) chg_pri: E_PAR without such a priority, E_OBJ for a dormant task

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    same(MAIN.priority(cx), Ok(10));
    same(HIGH.priority(cx), Err(Error::OBJ));

    // (B)
    play(LOW, |_| step(2));
    same(LOW.act(cx), Ok(()));
    step(1);
    same(MAIN.chg_pri(Some(15), cx), Ok(()));
    step(3);
    same(MAIN.priority(cx), Ok(15));

    // (E)
    same(MAIN.chg_pri(None, cx), Ok(()));
    same(MAIN.priority(cx), Ok(10));

    // (C)
    play(LOW, |cx| {
        step(5);
        same(LOW.priority(cx), Ok(9));
    });
    same(LOW.act(cx), Ok(()));
    step(4);
    same(LOW.chg_pri(Some(9), cx), Ok(()));
    step(6);

    // (D)
    play(PEER, |_| step(8));
    same(PEER.act(cx), Ok(()));
    step(7);
    same(MAIN.chg_pri(Some(10), cx), Ok(()));
    step(9);

    // (F)
    play(HIGH, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(11);
    });
    play(STRICT, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(10);
    });
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(SEM_PRI.refer(cx), Ok((Some(2), 0)));
    same(HIGH.chg_pri(Some(7), cx), Ok(()));
    same(SEM_PRI.refer(cx), Ok((Some(5), 0)));
    same(SEM_PRI.sig(cx), Ok(()));
    same(SEM_PRI.sig(cx), Ok(()));
    step(12);

    // (G)
    for priority in [0, 17, usize::MAX] {
        same(MAIN.chg_pri(Some(priority), cx), Err(Error::PAR));
    }
    same(HIGH.chg_pri(Some(5), cx), Err(Error::OBJ));
    same(MAIN.priority(cx), Ok(10));
}
