//! Purpose: the end of tasks.
//!
//! - (A) ext_tsk: the task ends where it is
//! - (B) ter_tsk of a task that waits: it leaves the queue that it waited in
//! - (C) ter_tsk of a task that can run, is suspended, or has an activation queued
//! - (D) ter_tsk: E_ILUSE for the caller, E_OBJ for a dormant task
//! - (E) a task that ends unlocks its mutexes
//! - (F) ras_ter of a task that lets itself be ended: it is dormant
//! - (G) ras_ter of a task that does not: its wait ends with E_RASTER, and so does every further one
//! - (H) ena_ter: the task ends there, if it was asked to; where it may not give way, when it may again
//! - (I) sns_ter, from any context
//! - (J) ras_ter: E_ILUSE for the caller, E_OBJ for a dormant task
//! - (K) ras_ter of a task that does not let itself be ended and is suspended: the suspension ends

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    play(HIGH, |cx| {
        step(1);
        Current::<App>::exit(cx)
    });
    same(HIGH.act(cx), Ok(()));
    step(2);

    // (B)
    play(HIGH, |cx| {
        step(steps() + 1);
        let _ = SEM_PRI.wai(cx);
        check(false);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Waiting));
    same(SEM_PRI.refer(cx), Ok((Some(2), 0)));
    same(HIGH.ter(cx), Ok(()));
    same(SEM_PRI.refer(cx), Ok((None, 0)));
    same(HIGH.state(cx), Ok(TaskState::Dormant));

    // (C)
    play(LOW, |_| check(false));
    same(LOW.act(cx), Ok(()));
    same(LOW.ter(cx), Ok(()));
    same(LOW.act(cx), Ok(()));
    same(LOW.sus(cx), Ok(()));
    same(LOW.ter(cx), Ok(()));
    same(LOW.state(cx), Ok(TaskState::Dormant));
    same(HIGH.act(cx), Ok(()));
    step(5);
    same(HIGH.act(cx), Ok(()));
    same(HIGH.ter(cx), Ok(()));
    step(7);
    same(HIGH.ter(cx), Ok(()));
    same(Current::<App>::delay(1_000, cx), Ok(()));

    // (D) and (J)
    same(MAIN.ter(cx), Err(Error::ILUSE));
    same(HIGH.ter(cx), Err(Error::OBJ));
    same(MAIN.ras_ter(cx), Err(Error::ILUSE));
    same(HIGH.ras_ter(cx), Err(Error::OBJ));

    // (E)
    play(HIGH, |cx| {
        same(MUTEX.loc(cx), Ok(()));
        same(CEILING.loc(cx), Ok(()));
    });
    same(HIGH.act(cx), Ok(()));
    same(MUTEX.refer(cx), Ok((None, None)));
    same(CEILING.refer(cx), Ok((None, None)));

    // (F)
    play(HIGH, |cx| {
        same(MUTEX.loc(cx), Ok(()));
        let _ = Current::<App>::sleep(cx);
        check(false);
    });
    same(HIGH.act(cx), Ok(()));
    same(MUTEX.refer(cx), Ok((Some(2), None)));
    same(HIGH.ras_ter(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Dormant));
    same(MUTEX.refer(cx), Ok((None, None)));

    // (G), (H) and (I)
    play(HIGH, |cx| {
        check(!Current::<App>::termination_disabled());
        same(Current::<App>::disable_termination(cx), Ok(()));
        check(Current::<App>::termination_disabled());
        same(System::<App>::with_cpu_locked(cx, Current::<App>::termination_disabled), Ok(true));
        step(8);
        same(Current::<App>::sleep(cx), Err(Error::RASTER));
        step(10);
        same(Current::<App>::sleep(cx), Err(Error::RASTER));
        same(SEM_PRI.wai(cx), Err(Error::RASTER));
        same(QUEUE.rcv(cx), Err(Error::RASTER));
        same(Current::<App>::delay(10, cx), Err(Error::RASTER));
        same(HIGH.sus(cx), Err(Error::RASTER));
        step(11);
        let _ = Current::<App>::enable_termination(cx);
        check(false);
    });
    same(HIGH.act(cx), Ok(()));
    step(9);
    same(HIGH.ras_ter(cx), Ok(()));
    step(12);
    same(HIGH.state(cx), Ok(TaskState::Dormant));

    // (H)
    play(HIGH, |cx| {
        same(Current::<App>::disable_termination(cx), Ok(()));
        same(Current::<App>::sleep(cx), Err(Error::RASTER));
        same(System::<App>::dis_dsp(cx), Ok(()));
        same(System::<App>::chg_ipm(-1, cx), Ok(()));
        same(Current::<App>::enable_termination(cx), Ok(()));
        same(System::<App>::ena_dsp(cx), Ok(()));
        step(13);
        let _ = System::<App>::chg_ipm(0, cx);
        check(false);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.ras_ter(cx), Ok(()));
    step(14);
    same(HIGH.state(cx), Ok(TaskState::Dormant));
    same((System::<App>::sns_dsp(), System::<App>::get_ipm(cx)), (false, Ok(0)));
    play(HIGH, |cx| {
        same(Current::<App>::disable_termination(cx), Ok(()));
        same(Current::<App>::sleep(cx), Err(Error::RASTER));
        same(System::<App>::dis_dsp(cx), Ok(()));
        same(Current::<App>::enable_termination(cx), Ok(()));
        // It changed its mind.
        same(Current::<App>::disable_termination(cx), Ok(()));
        same(System::<App>::ena_dsp(cx), Ok(()));
        step(15);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.ras_ter(cx), Ok(()));
    step(16);

    // (K)
    play(HIGH, |cx| {
        same(Current::<App>::disable_termination(cx), Ok(()));
        same(Current::<App>::sleep(cx), Err(Error::RASTER));
        step(17);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.sus(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::WaitingSuspended));
    same(HIGH.ras_ter(cx), Ok(()));
    step(18);
    play(HIGH, |cx| {
        same(Current::<App>::disable_termination(cx), Ok(()));
        same(Current::<App>::sleep(cx), Err(Error::RLWAI));
        same(HIGH.sus(cx), Err(Error::RASTER));
        step(19);
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.sus(cx), Ok(()));
    same(HIGH.rel_wai(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Suspended));
    same(HIGH.ras_ter(cx), Ok(()));
    step(20);
}
