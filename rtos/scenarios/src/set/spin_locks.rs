//! Purpose: spin locks for the user.
//!
//! - (A) loc_spn locks the processor; unl_spn unlocks it
//! - (B) try_spn; a second lock while one is held: E_CTX
//! - (C) unl_spn of a lock that is not held: E_ILUSE; unl_cpu while a lock is held: nothing
//! - (D) a task that ends gives its lock back
//! - (E) two processors in turn: never both in a section
//! - (F) ref_spn; try_spn of a lock that another processor holds: E_OBJ

use super::*;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

type S = System<App>;

static COUNT: AtomicU32 = AtomicU32::new(0);
static HELD: AtomicBool = AtomicBool::new(false);
const ROUNDS: u32 = 2_000;

fn count(cx: Cx) {
    for _ in 0..ROUNDS {
        same(SPIN.loc(cx), Ok(()));
        let before = COUNT.load(Relaxed);
        core::hint::spin_loop();
        COUNT.store(before + 1, Relaxed);
        same(SPIN.unl(cx), Ok(()));
    }
}

pub(super) fn run(cx: Cx) {
    // (A)
    same(SPIN.loc(cx), Ok(()));
    same((S::sns_loc(), S::sns_dpn()), (true, true));
    same(HIGH.act(cx), Err(Error::CTX));

    // (B) and (C)
    same(SPIN.loc(cx), Err(Error::CTX));
    same(SPIN_TOO.try_loc(cx), Err(Error::CTX));
    same(SPIN_TOO.unl(cx), Err(Error::ILUSE));
    same(S::unl_cpu(cx), Ok(()));
    same(S::sns_loc(), true);
    same(SPIN.unl(cx), Ok(()));
    same(S::sns_loc(), false);
    same(SPIN.unl(cx), Err(Error::ILUSE));
    same(S::sns_loc(), false);
    same(SPIN.try_loc(cx), Ok(()));
    same(SPIN.unl(cx), Ok(()));

    // (F)
    same(SPIN.refer(cx), Ok(false));
    same(SPIN.loc(cx), Ok(()));
    same(SPIN.refer(cx), Err(Error::CTX));
    same(SPIN.unl(cx), Ok(()));
    if PROCESSORS > 1 {
        HELD.store(true, Relaxed);
        play(FAR_LOW, |cx| {
            same(SPIN.loc(cx), Ok(()));
            while HELD.load(Relaxed) {
                core::hint::spin_loop();
            }
            same(SPIN.unl(cx), Ok(()));
        });
        same(FAR_LOW.act(cx), Ok(()));
        until(cx, || SPIN.refer(cx) == Ok(true));
        same(SPIN.try_loc(cx), Err(Error::OBJ));
        HELD.store(false, Relaxed);
        until_ended(cx, FAR_LOW);
        same(SPIN.refer(cx), Ok(false));
    }

    // (D)
    play(HIGH, |cx| {
        same(SPIN.loc(cx), Ok(()));
        Current::<App>::exit(cx)
    });
    same(HIGH.act(cx), Ok(()));
    same(SPIN.try_loc(cx), Ok(()));
    same(SPIN.unl(cx), Ok(()));

    // (E)
    play(FAR_LOW, count);
    same(FAR_LOW.act(cx), Ok(()));
    count(cx);
    until_ended(cx, FAR_LOW);
    same(COUNT.load(Relaxed), 2 * ROUNDS);
    step(1);
}
