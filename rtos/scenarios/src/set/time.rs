//! Purpose: the clock.
//!
//! - (A) get_tim advances with the time that passes
//! - (B) set_tim changes the system time and moves no deadline
//! - (C) adj_tim forward: the system time and the deadlines move
//! - (D) adj_tim backward: the system time stands still until it has caught up, and never goes back
//! - (E) adj_tim: E_PAR beyond a second, E_OBJ when it is a second behind already
//! - (F) deadlines come in their order, whatever order they were set in

use super::*;
use core::sync::atomic::Ordering::Relaxed;

type T = Time<App>;
type S = Current<App>;

pub(super) fn run(cx: Cx) {
    // (A)
    let before = T::get(cx).unwrap_or(u64::MAX);
    same(S::delay(2_000, cx), Ok(()));
    let after = T::get(cx).unwrap_or(0);
    check(after >= before + 2_000);

    // (B)
    same(T::set(1 << 40, cx), Ok(()));
    check(matches!(T::get(cx), Ok(now) if (1 << 40..(1 << 40) + 10_000_000).contains(&now)));
    let before = T::precise();
    same(S::delay(1_000, cx), Ok(()));
    check(T::precise().wrapping_sub(before) >= 1_000);

    // (C)
    let before = T::get(cx).unwrap_or(u64::MAX);
    same(T::adjust(900_000, cx), Ok(()));
    let after = T::get(cx).unwrap_or(0);
    check(after >= before + 900_000);
    play(HIGH, |cx| same(S::delay(1_900_000, cx), Ok(())));
    let before = T::precise();
    same(HIGH.act(cx), Ok(()));
    for _ in 0..2 {
        same(T::adjust(900_000, cx), Ok(()));
        until(cx, || !matches!(T::adjust(0, cx), Err(Error::OBJ)));
    }
    until_ended(cx, HIGH);
    check(T::precise().wrapping_sub(before) < 1_800_000);

    // (D)
    let before = T::get(cx).unwrap_or(u64::MAX);
    same(T::adjust(-100_000, cx), Ok(()));
    for _ in 0..10 {
        let now = T::get(cx).unwrap_or(0);
        check(now >= before && now < before + 90_000);
    }
    let moment = T::precise();
    until(cx, || T::get(cx).is_ok_and(|now| now > before + 20_000));
    check(T::precise().wrapping_sub(moment) >= 100_000);

    // (E)
    for micros in [1_000_001, -1_000_001, i32::MAX, i32::MIN] {
        same(T::adjust(micros, cx), Err(Error::PAR));
    }
    same(T::adjust(-1_000_000, cx), Ok(()));
    let behind = T::adjust(-1_000_000, cx);
    check(behind == Ok(()) || behind == Err(Error::OBJ));
    same(T::adjust(-1_000_000, cx), Err(Error::OBJ));
    for _ in 0..2 {
        same(T::adjust(1_000_000, cx), Ok(()));
    }

    // (F)
    static ORDER: AtomicU32 = AtomicU32::new(0);
    fn sleeper<const MILLIS: u32>(cx: Cx) {
        same(S::delay(MILLIS * 1_000, cx), Ok(()));
        ORDER.store(ORDER.load(Relaxed) * 10 + MILLIS / 10, Relaxed);
    }
    let sleepers = [HIGH, STRICT, PEER, LOW];
    play(HIGH, sleeper::<30>);
    play(STRICT, sleeper::<10>);
    play(PEER, sleeper::<40>);
    play(LOW, sleeper::<20>);
    // Again if the processor stood still while the deadlines were set, as in an emulator it may.
    let mut in_time = false;
    while !in_time {
        ORDER.store(0, Relaxed);
        let before = T::precise();
        for task in sleepers {
            same(task.act(cx), Ok(()));
        }
        while sleepers.iter().any(|task| task.state(cx) == Ok(TaskState::Ready)) {
            same(S::delay(100, cx), Ok(()));
        }
        in_time = T::precise().wrapping_sub(before) < 9_000;
        // With the same priority they run in the order in which they have become ready. Some may have ended already.
        for task in sleepers {
            let changed = task.chg_pri(Some(12), cx);
            check(changed == Ok(()) || !in_time && changed == Err(Error::OBJ));
        }
        for task in sleepers {
            until_ended(cx, task);
        }
        check(!in_time || ORDER.load(Relaxed) == 1234);
    }
    step(1);
}
