//! Purpose: cyclic notifications.
//!
//! - (A) a notification that is started with the kernel: its handler is called
//! - (B) sta_cyc: first after the phase, then after every period, none left out
//! - (C) stp_cyc: the handler is not called any more
//! - (D) ref_cyc
//! - (E) msta_cyc: the handler is called on that processor; E_ID for a processor that there is not

use super::*;
use core::sync::atomic::Ordering::Relaxed;

static CALLS: AtomicU32 = AtomicU32::new(0);
static PLACE: AtomicU32 = AtomicU32::new(0);
static FROM_THE_START: AtomicU32 = AtomicU32::new(0);

pub(super) fn handler(cx: InHandler<Shared>) {
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
    PLACE.store(System::<App>::get_pid(cx).map_or(99, |place| place as u32), Relaxed);
}

pub(super) fn from_the_start(_: InHandler<Shared>) {
    FROM_THE_START.store(FROM_THE_START.load(Relaxed) + 1, Relaxed);
}

pub(super) fn run(cx: Cx) {
    // (A)
    until(cx, || FROM_THE_START.load(Relaxed) >= 2);
    step(1);

    // (B) and (D)
    same(CYCLIC.refer(cx), Ok(None));
    let before = Time::<App>::precise();
    same(CYCLIC.sta(cx), Ok(()));
    check(matches!(CYCLIC.refer(cx), Ok(Some(left)) if left <= 10_001));
    until(cx, || CALLS.load(Relaxed) >= 1);
    let first = Time::<App>::precise().wrapping_sub(before);
    check(first >= 10_000);
    until(cx, || CALLS.load(Relaxed) >= 4);
    let fourth = Time::<App>::precise().wrapping_sub(before);
    check(fourth >= 25_000);
    check(matches!(CYCLIC.refer(cx), Ok(Some(left)) if left <= 5_000));

    // (C)
    same(CYCLIC.stp(cx), Ok(()));
    let calls = CALLS.load(Relaxed);
    same(CYCLIC.refer(cx), Ok(None));
    same(CYCLIC.stp(cx), Ok(()));
    same(Current::<App>::delay(12_000, cx), Ok(()));
    same(CALLS.load(Relaxed), calls);
    step(2);

    // (E)
    for place in [LAST, 0] {
        CALLS.store(0, Relaxed);
        same(CYCLIC.msta(Some(place), cx), Ok(()));
        until(cx, || CALLS.load(Relaxed) >= 2);
        same(PLACE.load(Relaxed), place as u32);
        same(CYCLIC.stp(cx), Ok(()));
    }
    same(CYCLIC.msta(Some(PROCESSORS), cx), Err(Error::ID));
    same(CYCLIC.refer(cx), Ok(None));
    step(3);
}
