//! Purpose: activation of tasks.
//!
//! - (A) act_tsk of a higher task: it runs at once
//! - (B) act_tsk of a lower task: it runs when the caller waits
//! - (C) act_tsk of an active task: it begins anew when it has ended
//! - (D) act_tsk of a task whose activation is queued: E_QOVR
//! - (E) act_tsk of an active task that does not queue: E_QOVR
//! - (F) can_act: takes back what is queued, and says how many
//! - (G) a task that activates itself begins anew
//! - (H) a task begins with its initial priority, whatever it had when it ended

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    play(HIGH, |_| step(2));
    step(1);
    same(HIGH.act(cx), Ok(()));
    step(3);
    same(HIGH.state(cx), Ok(TaskState::Dormant));

    // (B)
    play(LOW, |_| step(5));
    same(LOW.act(cx), Ok(()));
    step(4);
    same(LOW.state(cx), Ok(TaskState::Ready));
    same(Current::<App>::delay(1_000, cx), Ok(()));
    until_ended(cx, LOW);
    step(6);

    // (C) and (D)
    play(LOW, |_| step(steps() + 1));
    same(LOW.act(cx), Ok(()));
    same(LOW.act(cx), Ok(()));
    same(LOW.act(cx), Err(Error::QOVR));
    until_ended(cx, LOW);
    step(9);

    // (E)
    play(STRICT, |cx| {
        step(10);
        same(STRICT.act(cx), Err(Error::QOVR));
    });
    same(STRICT.act(cx), Ok(()));
    step(11);

    // (F)
    play(LOW, |_| step(12));
    same(LOW.can_act(cx), Ok(0));
    same(LOW.act(cx), Ok(()));
    same(LOW.act(cx), Ok(()));
    same(LOW.can_act(cx), Ok(1));
    same(LOW.can_act(cx), Ok(0));
    until_ended(cx, LOW);
    step(13);

    // (G) and (H)
    play(HIGH, |cx| {
        same(HIGH.priority(cx), Ok(4));
        if steps() == 13 {
            step(14);
            same(HIGH.act(cx), Ok(()));
            same(HIGH.chg_pri(Some(2), cx), Ok(()));
            same(HIGH.priority(cx), Ok(2));
        } else {
            step(15);
        }
    });
    same(HIGH.act(cx), Ok(()));
    step(16);
}
