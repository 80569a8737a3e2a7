//! Purpose: alarm notifications.
//!
//! - (A) sta_alm: the handler is called once, not before the time has passed
//! - (B) sta_alm of an alarm that is set: only the new time counts
//! - (C) stp_alm: the handler is not called
//! - (D) ref_alm
//! - (E) a handler wakes a task, which runs when the handler is left
//! - (F) E_PAR for a time that is too long
//! - (G) msta_alm: the handler is called on that processor; E_ID for a processor that there is not
//! - (H) a handler that returns with the processor locked, or with a spin lock held: both are released

use super::*;
use core::sync::atomic::Ordering::Relaxed;

static CALLS: AtomicU32 = AtomicU32::new(0);
static PLACE: AtomicU32 = AtomicU32::new(0);
/// What the handler keeps locked: nothing, the processor, a spin lock.
static KEEPS: AtomicU32 = AtomicU32::new(0);

pub(super) fn handler(cx: InHandler<Shared>) {
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
    PLACE.store(System::<App>::get_pid(cx).map_or(99, |place| place as u32), Relaxed);
    check(System::<App>::sns_ctx());
    let _ = MAIN.wup(cx);
    match KEEPS.load(Relaxed) {
        0 => {}
        1 => same(System::<App>::loc_cpu(cx), Ok(())),
        _ => same(SPIN.loc(cx), Ok(())),
    }
}

pub(super) fn run(cx: Cx) {
    CALLS.store(0, Relaxed);
    // (A) and (E)
    let before = Time::<App>::precise();
    same(ALARM.sta(2_000, cx), Ok(()));
    // An emulator that was held up for so long has its time behind it.
    check(ALARM.refer(cx).is_ok_and(|left| left.is_none_or(|left| left <= 2_001)));
    same(Current::<App>::sleep(cx), Ok(()));
    check(Time::<App>::precise().wrapping_sub(before) >= 2_000);
    same(CALLS.load(Relaxed), 1);
    same(ALARM.refer(cx), Ok(None));

    // (B)
    same(ALARM.sta(rtos::LONGEST, cx), Ok(()));
    check(matches!(ALARM.refer(cx), Ok(Some(left)) if left > rtos::LONGEST - 10_000_000));
    same(ALARM.sta(0, cx), Ok(()));
    same(Current::<App>::sleep(cx), Ok(()));
    same(CALLS.load(Relaxed), 2);

    // (C) and (D)
    same(ALARM.sta(3_000, cx), Ok(()));
    same(ALARM.stp(cx), Ok(()));
    same(ALARM.stp(cx), Ok(()));
    same(ALARM.refer(cx), Ok(None));
    same(Current::<App>::sleep_for(Timeout::millis(5), cx), Err(Error::TMOUT));
    same(CALLS.load(Relaxed), 2);

    // (F)
    same(ALARM.sta(rtos::LONGEST + 1, cx), Err(Error::PAR));
    same(ALARM.refer(cx), Ok(None));

    // (G)
    for place in [LAST, 0] {
        same(ALARM.msta(1_000, Some(place), cx), Ok(()));
        same(Current::<App>::sleep(cx), Ok(()));
        same(PLACE.load(Relaxed), place as u32);
    }
    same(ALARM.msta(0, Some(PROCESSORS), cx), Err(Error::ID));
    same(ALARM.refer(cx), Ok(None));
    step(1);

    // (H)
    for keeps in [1, 2, 0] {
        KEEPS.store(keeps, Relaxed);
        same(ALARM.sta(1_000, cx), Ok(()));
        same(Current::<App>::sleep(cx), Ok(()));
        check(!System::<App>::sns_loc());
        same(SPIN.try_loc(cx), Ok(()));
        same(SPIN.unl(cx), Ok(()));
    }
    step(2);
}
