//! Purpose: event flags.
//!
//! - (A) wai_flg for all bits and for any; the pattern that ended the wait
//! - (B) set_flg wakes every task that has what it waits for, and no other
//! - (C) a flag that clears wakes only the first
//! - (D) clr_flg
//! - (E) pol_flg and twai_flg: E_TMOUT
//! - (F) E_PAR for no bits, E_ILUSE for a second task where only one may wait
//! - (G) ini_flg: the waits end with E_DLT, the pattern is the first one

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    same(FLAG.set(0b0101, cx), Ok(()));
    same(FLAG.wai(0b0101, Mode::All, cx), Ok(0b0101));
    same(FLAG.wai(0b0011, Mode::Any, cx), Ok(0b0101));
    same(FLAG.pol(0b0011, Mode::All, cx), Err(Error::TMOUT));
    same(FLAG.pol(0b1010, Mode::Any, cx), Err(Error::TMOUT));

    // (D)
    same(FLAG.clr(0b0100, cx), Ok(()));
    same(FLAG.refer(cx), Ok((None, 0b0100)));
    same(FLAG.clr(0, cx), Ok(()));

    // (B)
    play(HIGH, |cx| {
        same(FLAG.wai(0b11, Mode::All, cx), Ok(0b111));
        step(4);
    });
    play(STRICT, |cx| {
        same(FLAG.wai(0b110, Mode::Any, cx), Ok(0b110));
        step(2);
    });
    play(PEER, |cx| {
        same(FLAG.wai(0b1000, Mode::Any, cx), Ok(0b1111));
        step(6);
    });
    same(HIGH.act(cx), Ok(()));
    same(STRICT.act(cx), Ok(()));
    same(PEER.act(cx), Ok(()));
    same(PEER.chg_pri(Some(9), cx), Ok(()));
    same(FLAG.refer(cx), Ok((Some(2), 0)));
    step(1);
    same(FLAG.set(0b110, cx), Ok(()));
    step(3);
    same(FLAG.set(0b001, cx), Ok(()));
    step(5);
    same(FLAG.set(0b1000, cx), Ok(()));
    step(7);

    // (C) and (F)
    same(FLAG_ONE.wai(0x30, Mode::Any, cx), Ok(0x10));
    same(FLAG_ONE.refer(cx), Ok((None, 0)));
    play(HIGH, |cx| {
        same(FLAG_ONE.wai(1, Mode::Any, cx), Ok(3));
        step(8);
    });
    same(HIGH.act(cx), Ok(()));
    same(FLAG_ONE.wai(2, Mode::Any, cx), Err(Error::ILUSE));
    same(FLAG_ONE.pol(2, Mode::Any, cx), Err(Error::ILUSE));
    same(FLAG_ONE.set(3, cx), Ok(()));
    same(FLAG_ONE.refer(cx), Ok((None, 0)));
    same(FLAG.wai(0, Mode::Any, cx), Err(Error::PAR));
    same(FLAG.pol(0, Mode::All, cx), Err(Error::PAR));
    step(9);

    // (E)
    same(FLAG.clr(0, cx), Ok(()));
    same(FLAG.twai(1, Mode::All, Timeout::POLL, cx), Err(Error::TMOUT));
    same(FLAG.twai(1, Mode::All, Timeout::millis(1), cx), Err(Error::TMOUT));
    same(FLAG.refer(cx), Ok((None, 0)));

    // (G)
    play(HIGH, |cx| {
        same(FLAG_ONE.wai(1, Mode::Any, cx), Err(Error::DLT));
        step(10);
    });
    same(HIGH.act(cx), Ok(()));
    same(FLAG_ONE.ini(cx), Ok(()));
    same(FLAG_ONE.refer(cx), Ok((None, 0x10)));
    step(11);
}
