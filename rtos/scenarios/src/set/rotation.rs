//! Purpose: the queue of tasks that can run.
//!
//! - (A) rot_rdq of the caller's priority: the next task of it runs
//! - (B) rot_rdq of another priority
//! - (C) rot_rdq of a priority without tasks
//! - (D) rot_rdq, get_lod, get_nth: E_PAR without such a priority
//! - (E) get_lod and get_nth
//! - (F) a task that was preempted goes on before others of its priority

use super::*;

type S = System<App>;

pub(super) fn run(cx: Cx) {
    // (A) and (F)
    play(HIGH, |_| step(2));
    play(PEER, |cx| {
        step(1);
        same(HIGH.act(cx), Ok(()));
        step(3);
    });
    same(PEER.act(cx), Ok(()));
    same(S::rot_rdq(None, cx), Ok(()));
    step(4);

    // (E)
    play(PEER, |_| step(5));
    same(PEER.act(cx), Ok(()));
    same(S::get_lod(Some(10), cx), Ok(2));
    same(S::get_lod(None, cx), Ok(2));
    same(S::get_lod(Some(9), cx), Ok(0));
    same(S::get_nth(Some(10), 0, cx), Ok(Some(1)));
    same(S::get_nth(None, 1, cx), Ok(Some(3)));
    same(S::get_nth(None, 2, cx), Ok(None));
    same(S::rot_rdq(Some(10), cx), Ok(()));
    step(6);

    // (B)
    play(LOW, |_| step(8));
    play(PEER, |_| step(7));
    same(LOW.act(cx), Ok(()));
    same(PEER.act(cx), Ok(()));
    same(PEER.chg_pri(Some(14), cx), Ok(()));
    same(S::get_nth(Some(14), 0, cx), Ok(Some(4)));
    same(S::rot_rdq(Some(14), cx), Ok(()));
    same(S::get_nth(Some(14), 0, cx), Ok(Some(3)));
    same(S::get_nth(Some(14), 1, cx), Ok(Some(4)));
    until_ended(cx, LOW);
    step(9);

    // (C)
    same(S::rot_rdq(Some(1), cx), Ok(()));
    same(S::rot_rdq(Some(16), cx), Ok(()));

    // (D)
    for priority in [0, 17, usize::MAX] {
        same(S::rot_rdq(Some(priority), cx), Err(Error::PAR));
        same(S::get_lod(Some(priority), cx), Err(Error::PAR));
        same(S::get_nth(Some(priority), 0, cx), Err(Error::PAR));
    }
}
