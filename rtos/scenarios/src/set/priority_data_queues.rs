//! Purpose: priority data queues.
//!
//! - (A) words come out in the order of their priorities, and in the order in which they were sent
//! - (B) a task that sends to a full queue waits; a task that receives from an empty queue waits
//! - (C) psnd_pdq, tsnd_pdq, prcv_pdq, trcv_pdq: E_TMOUT
//! - (D) E_PAR without such a priority
//! - (E) ini_pdq: the waits end with E_DLT, and it is empty

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    for _ in 0..3 {
        same(PQUEUE.snd(1, 5, cx), Ok(()));
        same(PQUEUE.snd(2, 1, cx), Ok(()));
        same(PQUEUE.snd(3, 5, cx), Ok(()));
        same(PQUEUE.refer(cx), Ok((None, None, 3)));
        same(PQUEUE.rcv(cx), Ok((2, 1)));
        same(PQUEUE.snd(4, 8, cx), Ok(()));
        same(PQUEUE.rcv(cx), Ok((1, 5)));
        same(PQUEUE.rcv(cx), Ok((3, 5)));
        same(PQUEUE.rcv(cx), Ok((4, 8)));
    }

    // (B)
    play(HIGH, |cx| {
        same(PQUEUE.snd(9, 2, cx), Ok(()));
        step(2);
        same(PQUEUE.rcv(cx), Ok((2, 3)));
        same(PQUEUE.rcv(cx), Ok((3, 3)));
        same(PQUEUE.rcv(cx), Ok((9, 2)));
    });
    for word in 1..=3 {
        same(PQUEUE.snd(word, 3, cx), Ok(()));
    }
    same(HIGH.act(cx), Ok(()));
    same(PQUEUE.refer(cx), Ok((Some(2), None, 3)));
    same(HIGH.sus(cx), Ok(()));
    step(1);
    same(PQUEUE.rcv(cx), Ok((1, 3)));
    same(PQUEUE.rcv(cx), Ok((9, 2)));
    same(HIGH.rsm(cx), Ok(()));
    step(3);
    same(PQUEUE.refer(cx), Ok((None, Some(2), 0)));
    same(PQUEUE.snd(9, 2, cx), Ok(()));
    same(PQUEUE.refer(cx), Ok((None, None, 0)));

    // (C)
    same(PQUEUE.prcv(cx), Err(Error::TMOUT));
    same(PQUEUE.trcv(Timeout::POLL, cx), Err(Error::TMOUT));
    same(PQUEUE.trcv(Timeout::millis(1), cx), Err(Error::TMOUT));
    for word in 1..=3 {
        same(PQUEUE.psnd(word, 3, cx), Ok(()));
    }
    same(PQUEUE.psnd(4, 3, cx), Err(Error::TMOUT));
    same(PQUEUE.tsnd(4, 3, Timeout::POLL, cx), Err(Error::TMOUT));
    same(PQUEUE.tsnd(4, 3, Timeout::millis(1), cx), Err(Error::TMOUT));

    // (D)
    for priority in [0, 9, usize::MAX] {
        same(PQUEUE.snd(1, priority, cx), Err(Error::PAR));
        same(PQUEUE.psnd(1, priority, cx), Err(Error::PAR));
    }

    // (E)
    play(HIGH, |cx| {
        same(PQUEUE.snd(3, 1, cx), Err(Error::DLT));
        step(4);
        same(PQUEUE.rcv(cx), Err(Error::DLT));
        step(6);
    });
    same(HIGH.act(cx), Ok(()));
    same(PQUEUE.ini(cx), Ok(()));
    step(5);
    same(PQUEUE.ini(cx), Ok(()));
    same(PQUEUE.refer(cx), Ok((None, None, 0)));
    step(7);
}
