//! Purpose: the queue of tasks that can run.
//!
//! - (A) rot_rdq of the caller's priority: the next task of it runs
//! - (B) rot_rdq of another priority
//! - (C) rot_rdq of a priority without tasks
//! - (D) rot_rdq, get_lod, get_nth: E_PAR without such a priority
//! - (E) get_lod and get_nth
//! - (G) mrot_rdq, mget_lod, mget_nth: the queue of the last processor; E_ID without such a processor
//! - (F) a task that was preempted goes on before others of its priority

use super::*;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

static GO: AtomicBool = AtomicBool::new(false);

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
    // (G)
    GO.store(false, Relaxed);
    play(FAR_HIGH, |_| {
        while !GO.load(Relaxed) {
            core::hint::spin_loop();
        }
    });
    play(FAR_LOW, |_| check(steps() == 9));
    play(LOW, |_| step(10));
    if PROCESSORS > 1 {
        same(FAR_HIGH.act(cx), Ok(()));
        same(FAR_LOW.act(cx), Ok(()));
        same(LOW.mact(Some(LAST), cx), Ok(()));
        same(S::mget_lod(LAST, Some(14), cx), Ok(2));
        same(S::mget_nth(LAST, Some(14), 0, cx), Ok(Some(7)));
        same(S::mrot_rdq(LAST, Some(14), cx), Ok(()));
        same(S::mget_nth(LAST, Some(14), 0, cx), Ok(Some(4)));
        same(S::mrot_rdq(LAST, Some(14), cx), Ok(()));
        same(S::mget_nth(LAST, Some(14), 1, cx), Ok(Some(4)));
        same(S::mget_nth(LAST, Some(14), 2, cx), Ok(None));
        GO.store(true, Relaxed);
        for task in [FAR_HIGH, FAR_LOW, LOW] {
            until_ended(cx, task);
        }
        step(11);
        // It belongs to the first processor again.
        play(LOW, |_| ());
        same(LOW.mact(Some(0), cx), Ok(()));
        until_ended(cx, LOW);
    }
    same(S::mget_lod(0, None, cx), Ok(1));
    same(S::mget_nth(0, Some(10), 0, cx), Ok(Some(1)));
    same(S::mrot_rdq(0, None, cx), Ok(()));
    for processor in [PROCESSORS, usize::MAX] {
        same(S::mrot_rdq(processor, Some(10), cx), Err(Error::ID));
        same(S::mget_lod(processor, Some(10), cx), Err(Error::ID));
        same(S::mget_nth(processor, Some(10), 0, cx), Err(Error::ID));
    }
}
