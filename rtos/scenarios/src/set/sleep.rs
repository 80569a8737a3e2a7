//! Purpose: sleep, wake-up and delay.
//!
//! - (A) slp_tsk and wup_tsk
//! - (B) wup_tsk of a task that does not sleep: its next sleep ends at once; a second one is E_QOVR
//! - (C) can_wup: takes back what is queued, and says how many
//! - (D) tslp_tsk: E_TMOUT when the time has passed, at once for TMO_POL
//! - (E) rel_wai: the wait ends with E_RLWAI; E_OBJ for a task that does not wait
//! - (F) dly_tsk: never shorter than asked; wup_tsk does not end it, rel_wai does
//! - (G) E_OBJ for dormant tasks
//! - (H) a wake-up that is queued is forgotten when the task ends

use super::*;

type S = Current<App>;

pub(super) fn run(cx: Cx) {
    // (A)
    play(HIGH, |cx| {
        step(1);
        same(S::sleep(cx), Ok(()));
        step(3);
    });
    same(HIGH.act(cx), Ok(()));
    step(2);
    same(HIGH.state(cx), Ok(TaskState::Waiting));
    same(HIGH.wup(cx), Ok(()));
    step(4);

    // (B)
    same(MAIN.wup(cx), Ok(()));
    same(MAIN.wup(cx), Err(Error::QOVR));
    same(S::sleep(cx), Ok(()));

    // (C)
    same(MAIN.can_wup(cx), Ok(0));
    same(MAIN.wup(cx), Ok(()));
    same(MAIN.can_wup(cx), Ok(1));
    same(MAIN.can_wup(cx), Ok(0));

    // (D)
    same(S::sleep_for(Timeout::POLL, cx), Err(Error::TMOUT));
    let before = Time::<App>::precise();
    same(S::sleep_for(Timeout::millis(2), cx), Err(Error::TMOUT));
    check(Time::<App>::precise().wrapping_sub(before) >= 2_000);
    play(LOW, |cx| same(MAIN.wup(cx), Ok(())));
    same(LOW.act(cx), Ok(()));
    same(S::sleep_for(Timeout::millis(1_000_000), cx), Ok(()));
    until_ended(cx, LOW);

    // (E)
    play(HIGH, |cx| {
        same(S::sleep(cx), Err(Error::RLWAI));
        same(S::sleep_for(Timeout::millis(1_000_000), cx), Err(Error::RLWAI));
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.rel_wai(cx), Ok(()));
    same(HIGH.rel_wai(cx), Ok(()));
    same(HIGH.rel_wai(cx), Err(Error::OBJ));
    same(MAIN.rel_wai(cx), Err(Error::OBJ));

    // (F)
    for micros in [0, 1, 100, 3_000] {
        let before = Time::<App>::precise();
        same(S::delay(micros, cx), Ok(()));
        check(Time::<App>::precise().wrapping_sub(before) >= micros);
    }
    play(HIGH, |cx| {
        same(S::delay(rtos::LONGEST, cx), Err(Error::RLWAI));
        same(S::sleep(cx), Ok(()));
    });
    same(HIGH.act(cx), Ok(()));
    same(HIGH.wup(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Waiting));
    same(HIGH.rel_wai(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Dormant));

    // (G)
    same(HIGH.wup(cx), Err(Error::OBJ));
    same(HIGH.can_wup(cx), Err(Error::OBJ));
    same(HIGH.rel_wai(cx), Err(Error::OBJ));

    // (H)
    play(LOW, |cx| same(S::sleep_for(Timeout::POLL, cx), Err(Error::TMOUT)));
    same(LOW.act(cx), Ok(()));
    same(LOW.wup(cx), Ok(()));
    same(LOW.ter(cx), Ok(()));
    same(LOW.act(cx), Ok(()));
    until_ended(cx, LOW);
}
