//! Purpose: fixed-size memory pools.
//!
//! - (A) get_mpf gives blocks that do not overlap and hold what is written; rel_mpf takes them back
//! - (B) get_mpf without a free block: the task waits, and is given the next block that comes back
//! - (C) pget_mpf and tget_mpf: E_TMOUT
//! - (D) rel_mpf: E_PAR for a block of another pool or a free block
//! - (E) ini_mpf: the waits end with E_DLT, and every block is free

use super::*;

pub(super) fn run(cx: Cx) {
    // (A)
    for _ in 0..3 {
        let (Ok(mut one), Ok(mut two)) = (POOL.get(cx), POOL.pget(cx)) else { return check(false) };
        same(POOL.refer(cx), Ok((None, 0)));
        same(one.bytes().len() >= 20 && two.bytes().len() >= 20, true);
        one.bytes().fill(1);
        two.bytes().fill(2);
        check(one.bytes().iter().all(|&byte| byte == 1));
        check(one.as_ptr().align_offset(8) == 0 && two.as_ptr().align_offset(8) == 0);
        same(POOL.rel(one, cx), Ok(()));
        same(POOL.refer(cx), Ok((None, 1)));
        same(POOL.rel(two, cx), Ok(()));
        same(POOL.refer(cx), Ok((None, 2)));
    }

    // (B) and (C)
    let (Ok(one), Ok(two)) = (POOL.get(cx), POOL.get(cx)) else { return check(false) };
    check(matches!(POOL.pget(cx), Err(Error::TMOUT)));
    check(matches!(POOL.tget(Timeout::POLL, cx), Err(Error::TMOUT)));
    check(matches!(POOL.tget(Timeout::millis(1), cx), Err(Error::TMOUT)));
    play(HIGH, |cx| {
        let Ok(block) = POOL.get(cx) else { return check(false) };
        step(2);
        same(POOL.rel(block, cx), Ok(()));
    });
    same(HIGH.act(cx), Ok(()));
    same(POOL.refer(cx), Ok((Some(2), 0)));
    step(1);
    let start = two.as_ptr();
    same(POOL.rel(two, cx), Ok(()));
    step(3);

    // (D)
    let not_given_out =
        [start, one.as_ptr().wrapping_add(1), core::ptr::null_mut(), core::ptr::without_provenance_mut(usize::MAX)];
    for address in not_given_out {
        // SAFETY: there is no block of that address.
        same(unsafe { POOL.rel_at(address, cx) }, Err(Error::PAR));
    }
    same(POOL.rel(one, cx), Ok(()));

    // (E)
    play(HIGH, |cx| {
        let (_one, _two) = (POOL.get(cx), POOL.get(cx));
        check(matches!(POOL.get(cx), Err(Error::DLT)));
        step(4);
    });
    same(HIGH.act(cx), Ok(()));
    // SAFETY: HIGH does not use its blocks any more.
    same(unsafe { POOL.ini(cx) }, Ok(()));
    same(POOL.refer(cx), Ok((None, 2)));
    step(5);
}
