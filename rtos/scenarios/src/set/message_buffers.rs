//! Purpose: message buffers.
//!
//! - (A) messages of different lengths come out as they were sent, also across the end of the memory
//! - (B) a task that sends without room waits, and so does the next sender, though its message would fit
//! - (C) when the first waiting sender is released, those after it go on if there is room for their messages
//! - (D) a task that receives from an empty buffer waits, and is given the message directly
//! - (E) a buffer without memory: sender and receiver meet
//! - (F) psnd_mbf, tsnd_mbf, prcv_mbf, trcv_mbf: E_TMOUT
//! - (G) E_PAR for empty and too long messages, and for too small buffers
//! - (I) in the order of priorities: a sender that becomes the first by chg_pri goes on if its message fits
//! - (H) ini_mbf: the waits end with E_DLT, and it is empty

use super::*;

pub(super) fn run(cx: Cx) {
    let mut got = [0; 12];
    // (A)
    for round in 0..20u8 {
        let message = [round, round + 1, round + 2, round + 3, round + 4, round + 5, round + 6];
        let length = 1 + usize::from(round % 7);
        same(BUFFER.snd(&message[..length], cx), Ok(()));
        same(BUFFER.snd(&message, cx), Ok(()));
        same(BUFFER.rcv(&mut got, cx), Ok(length));
        same(&got[..length], &message[..length]);
        same(BUFFER.rcv(&mut got, cx), Ok(7));
        same(&got[..7], &message[..]);
    }
    same(BUFFER.refer(cx), Ok((None, None, 0, 32)));

    // (B)
    play(HIGH, |cx| {
        same(BUFFER.snd(&[3; 12], cx), Ok(()));
        step(2);
    });
    play(STRICT, |cx| {
        same(BUFFER.snd(&[4], cx), Ok(()));
        step(3);
    });
    same(BUFFER.snd(&[1; 12], cx), Ok(()));
    same(BUFFER.snd(&[2; 4], cx), Ok(()));
    same(BUFFER.refer(cx), Ok((None, None, 2, 8)));
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(BUFFER.refer(cx), Ok((Some(2), None, 2, 8)));
    step(1);
    same(BUFFER.rcv(&mut got, cx), Ok(12));
    step(4);
    for (length, byte) in [(4, 2), (12, 3), (1, 4)] {
        same(BUFFER.rcv(&mut got, cx), Ok(length));
        same(got[0], byte);
    }

    // (C)
    play(HIGH, |cx| {
        same(BUFFER.snd(&[3; 12], cx), Err(Error::RLWAI));
        step(6);
    });
    play(STRICT, |cx| {
        same(BUFFER.snd(&[4], cx), Ok(()));
        step(7);
    });
    same(BUFFER.snd(&[1; 12], cx), Ok(()));
    same(BUFFER.snd(&[2; 4], cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    step(5);
    same(HIGH.rel_wai(cx), Ok(()));
    step(8);
    for (length, byte) in [(12, 1), (4, 2), (1, 4)] {
        same(BUFFER.rcv(&mut got, cx), Ok(length));
        same(got[0], byte);
    }

    // (D)
    play(HIGH, |cx| {
        let mut got = [0; 12];
        same(BUFFER.rcv(&mut got, cx), Ok(2));
        same(&got[..2], &[8, 9]);
        step(9);
    });
    same(HIGH.act(cx), Ok(()));
    same(BUFFER.snd(&[8, 9], cx), Ok(()));
    step(10);

    // (E)
    play(HIGH, |cx| {
        same(BUFFER_NONE.snd(&[5, 6, 7], cx), Ok(()));
        step(11);
        let mut got = [0; 12];
        same(BUFFER_NONE.rcv(&mut got, cx), Ok(1));
        same(got[0], 4);
    });
    same(HIGH.act(cx), Ok(()));
    same(BUFFER_NONE.rcv(&mut got, cx), Ok(3));
    same(&got[..3], &[5, 6, 7]);
    same(BUFFER_NONE.psnd(&[4], cx), Ok(()));
    step(12);

    // (F)
    same(BUFFER.prcv(&mut got, cx), Err(Error::TMOUT));
    same(BUFFER.trcv(&mut got, Timeout::POLL, cx), Err(Error::TMOUT));
    same(BUFFER.trcv(&mut got, Timeout::millis(1), cx), Err(Error::TMOUT));
    same(BUFFER.psnd(&[0; 12], cx), Ok(()));
    same(BUFFER.psnd(&[0; 12], cx), Ok(()));
    same(BUFFER.psnd(&[0], cx), Err(Error::TMOUT));
    same(BUFFER.tsnd(&[0], Timeout::POLL, cx), Err(Error::TMOUT));
    same(BUFFER.tsnd(&[0], Timeout::millis(1), cx), Err(Error::TMOUT));

    // (G)
    same(BUFFER.snd(&[], cx), Err(Error::PAR));
    same(BUFFER.snd(&[0; 13], cx), Err(Error::PAR));
    same(BUFFER.psnd(&[0; 13], cx), Err(Error::PAR));
    same(BUFFER.rcv(&mut got[..11], cx), Err(Error::PAR));
    same(BUFFER.prcv(&mut got[..11], cx), Err(Error::PAR));

    // (I)
    same(BUFFER_PRI.snd(&[1; 12], cx), Ok(()));
    play(HIGH, |cx| {
        same(BUFFER_PRI.snd(&[3; 12], cx), Ok(()));
        step(15);
    });
    play(STRICT, |cx| {
        same(BUFFER_PRI.snd(&[4], cx), Ok(()));
        step(13);
    });
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(BUFFER_PRI.refer(cx), Ok((Some(2), None, 1, 8)));
    same(STRICT.chg_pri(Some(2), cx), Ok(()));
    same(BUFFER_PRI.refer(cx), Ok((Some(2), None, 2, 0)));
    step(14);
    same(BUFFER_PRI.rcv(&mut got, cx), Ok(12));
    step(16);
    for (length, byte) in [(1, 4), (12, 3)] {
        same(BUFFER_PRI.rcv(&mut got, cx), Ok(length));
        same(got[0], byte);
    }

    // (H)
    play(HIGH, |cx| {
        same(BUFFER.snd(&[3; 12], cx), Err(Error::DLT));
        step(17);
        same(BUFFER.rcv(&mut [0; 12], cx), Err(Error::DLT));
        step(19);
    });
    same(HIGH.act(cx), Ok(()));
    same(BUFFER.ini(cx), Ok(()));
    step(18);
    same(BUFFER.ini(cx), Ok(()));
    same(BUFFER.refer(cx), Ok((None, None, 0, 32)));
    step(20);
}
