//! Purpose: suspension.
//!
//! - (A) sus_tsk and rsm_tsk of a task that can run
//! - (B) of a task that waits: the wait goes on, and the task goes on when both have ended
//! - (C) of the caller
//! - (D) E_QOVR for a suspended task, E_OBJ for a dormant one and for rsm_tsk of one that is not suspended
//! - (E) a suspended task is activated, woken and asked as any other

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    play(LOW, |_| step(2));
    same(LOW.act(cx), Ok(()));
    same(LOW.sus(cx), Ok(()));
    same(LOW.state(cx), Ok(TaskState::Suspended));
    same(Current::<App>::delay(1_000, cx), Ok(()));
    step(1);
    same(LOW.rsm(cx), Ok(()));
    same(LOW.state(cx), Ok(TaskState::Ready));
    until_ended(cx, LOW);
    step(3);

    // (B)
    play(HIGH, |cx| {
        same(SEM_PRI.wai(cx), Ok(()));
        step(5);
        same(Current::<App>::sleep(cx), Ok(()));
        step(7);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.sus(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::WaitingSuspended));
    same(SEM_PRI.sig(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Suspended));
    step(4);
    same(HIGH.rsm(cx), Ok(()));
    step(6);
    same(HIGH.sus(cx), Ok(()));
    same(HIGH.rsm(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Waiting));
    same(HIGH.wup(cx), Ok(()));
    step(8);

    // (C)
    play(HIGH, |cx| {
        step(9);
        same(HIGH.sus(cx), Ok(()));
        step(11);
    });
    same(HIGH.act(cx), Ok(()));
    step(10);
    same(HIGH.rsm(cx), Ok(()));
    step(12);

    // (D) and (E)
    same(HIGH.sus(cx), Err(Error::OBJ));
    same(HIGH.rsm(cx), Err(Error::OBJ));
    same(MAIN.rsm(cx), Err(Error::OBJ));
    play(LOW, |cx| same(Current::<App>::sleep(cx), Ok(())));
    same(LOW.act(cx), Ok(()));
    same(LOW.sus(cx), Ok(()));
    same(LOW.sus(cx), Err(Error::QOVR));
    same(LOW.act(cx), Ok(()));
    same(LOW.can_act(cx), Ok(1));
    same(LOW.wup(cx), Ok(()));
    same(LOW.chg_pri(Some(13), cx), Ok(()));
    same(LOW.priority(cx), Ok(13));
    same(LOW.rsm(cx), Ok(()));
    until_ended(cx, LOW);
}
