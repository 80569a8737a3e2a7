//! Purpose: data queues.
//!
//! - (A) words come out in the order in which they were sent
//! - (B) a task that sends to a full queue waits; its word comes after those before it
//! - (C) a task that receives from an empty queue waits, and is given the word directly
//! - (D) a queue without room: sender and receiver meet, senders in the order of their priorities
//! - (E) psnd_dtq, tsnd_dtq, prcv_dtq, trcv_dtq: E_TMOUT
//! - (F) fsnd_dtq drops the oldest word; E_ILUSE without room
//! - (G) ini_dtq: the waits end with E_DLT, and it is empty

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    for round in 0..3 {
        same(QUEUE.snd(round, cx), Ok(()));
        same(QUEUE.snd(round + 100, cx), Ok(()));
        same(QUEUE.refer(cx), Ok((None, None, 2)));
        same(QUEUE.rcv(cx), Ok(round));
        same(QUEUE.rcv(cx), Ok(round + 100));
    }

    // (B)
    play(HIGH, |cx| {
        same(QUEUE.snd(3, cx), Ok(()));
        step(2);
    });
    same(QUEUE.snd(1, cx), Ok(()));
    same(QUEUE.snd(2, cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(QUEUE.refer(cx), Ok((Some(2), None, 2)));
    step(1);
    same(QUEUE.rcv(cx), Ok(1));
    step(3);
    same(QUEUE.rcv(cx), Ok(2));
    same(QUEUE.rcv(cx), Ok(3));

    // (C)
    play(HIGH, |cx| {
        same(QUEUE.rcv(cx), Ok(7));
        step(4);
    });
    same(HIGH.act(cx), Ok(()));
    same(QUEUE.refer(cx), Ok((None, Some(2), 0)));
    same(QUEUE.snd(7, cx), Ok(()));
    same(QUEUE.refer(cx), Ok((None, None, 0)));
    step(5);

    // (D)
    play(STRICT, |cx| {
        same(QUEUE_NONE.snd(2, cx), Ok(()));
        step(7);
    });
    play(HIGH, |cx| {
        same(QUEUE_NONE.snd(1, cx), Ok(()));
        step(6);
    });
    same(STRICT.act(cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(QUEUE_NONE.rcv(cx), Ok(1));
    same(QUEUE_NONE.rcv(cx), Ok(2));
    same(QUEUE_NONE.prcv(cx), Err(Error::TMOUT));
    same(QUEUE_NONE.psnd(1, cx), Err(Error::TMOUT));
    step(8);

    // (E)
    same(QUEUE.prcv(cx), Err(Error::TMOUT));
    same(QUEUE.trcv(Timeout::POLL, cx), Err(Error::TMOUT));
    same(QUEUE.trcv(Timeout::millis(1), cx), Err(Error::TMOUT));
    same(QUEUE.psnd(1, cx), Ok(()));
    same(QUEUE.psnd(2, cx), Ok(()));
    same(QUEUE.psnd(3, cx), Err(Error::TMOUT));
    same(QUEUE.tsnd(3, Timeout::POLL, cx), Err(Error::TMOUT));
    same(QUEUE.tsnd(3, Timeout::millis(1), cx), Err(Error::TMOUT));
    same(QUEUE.refer(cx), Ok((None, None, 2)));

    // (F)
    same(QUEUE.fsnd(9, cx), Ok(()));
    same(QUEUE.prcv(cx), Ok(2));
    same(QUEUE.prcv(cx), Ok(9));
    same(QUEUE_NONE.fsnd(1, cx), Err(Error::ILUSE));

    // (G)
    play(HIGH, |cx| {
        same(QUEUE.snd(3, cx), Err(Error::DLT));
        step(9);
        same(QUEUE.rcv(cx), Err(Error::DLT));
        step(11);
    });
    same(QUEUE.snd(1, cx), Ok(()));
    same(QUEUE.snd(2, cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(QUEUE.ini(cx), Ok(()));
    step(10);
    same(QUEUE.refer(cx), Ok((None, Some(2), 0)));
    same(QUEUE.ini(cx), Ok(()));
    same(QUEUE.refer(cx), Ok((None, None, 0)));
    step(12);
}
