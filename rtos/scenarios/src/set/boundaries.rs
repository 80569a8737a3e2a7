//! Purpose: values at and beyond the limits.
//!
//! - (A) times: the longest is taken, one more is E_PAR
//! - (B) processors that there are not: E_ID; that the class does not allow: E_PAR
//! - (C) all bits of a pattern, all values of a word
//! - (D) the longest waits can be ended

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    check(Timeout::micros(rtos::LONGEST).is_ok());
    same(Timeout::micros(rtos::LONGEST + 1), Err(Error::PAR));
    same(Timeout::from_tmo(u32::MAX), Ok(Timeout::FOREVER));
    same(Timeout::from_tmo(u32::MAX - 1), Err(Error::PAR));
    same(Timeout::from_tmo(0), Ok(Timeout::POLL));
    same(Current::<App>::delay(rtos::LONGEST + 1, cx), Err(Error::PAR));
    same(Current::<App>::delay(u32::MAX, cx), Err(Error::PAR));

    // (B)
    for processor in [PROCESSORS, 31, 32, usize::MAX] {
        same(HIGH.mact(Some(processor), cx), Err(Error::ID));
        same(HIGH.mig(Some(processor), cx), Err(Error::ID));
    }
    same(HIGH.state(cx), Ok(TaskState::Dormant));

    // (C)
    same(FLAG.set(u32::MAX, cx), Ok(()));
    same(FLAG.wai(u32::MAX, Mode::All, cx), Ok(u32::MAX));
    same(FLAG.clr(0, cx), Ok(()));
    for word in [0, 1, usize::MAX, 1 << (usize::BITS - 1)] {
        same(QUEUE.snd(word, cx), Ok(()));
        same(QUEUE.rcv(cx), Ok(word));
        same(PQUEUE.snd(word, 8, cx), Ok(()));
        same(PQUEUE.rcv(cx), Ok((word, 8)));
    }

    // (D)
    play(HIGH, |cx| {
        let Ok(longest) = Timeout::micros(rtos::LONGEST) else { return check(false) };
        same(QUEUE.trcv(longest, cx), Ok(5));
        step(1);
        same(FLAG.twai(1, Mode::Any, longest, cx), Err(Error::RLWAI));
        step(2);
    });
    same(HIGH.act(cx), Ok(()));
    same(Current::<App>::delay(2_000, cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Waiting));
    same(QUEUE.snd(5, cx), Ok(()));
    same(HIGH.rel_wai(cx), Ok(()));
    step(3);
}
