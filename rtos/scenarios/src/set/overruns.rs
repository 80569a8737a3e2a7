//! Purpose: the overrun handler.
//!
//! - (A) sta_ovr: when a task has run for so long the handler is called, once, in handler context
//! - (B) the time of other tasks is not counted, nor the time in which the task sleeps
//! - (C) ref_ovr says what is left; stp_ovr ends the counting; sta_ovr again begins anew
//! - (D) the counting ends with the task
//! - (E) for a task that runs on the last processor
//! - (F) for a task that changes its processor
//! - (G) a dormant task: its time begins when it begins
//! - (H) errors: E_PAR for no time or too much

use super::*;
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

/// More than any of this takes, also in an emulator on a busy machine.
const LONG: u32 = 60_000_000;

static CALLS: AtomicU32 = AtomicU32::new(0);
static ON: AtomicU32 = AtomicU32::new(0);
static SLEEPS: AtomicBool = AtomicBool::new(false);
static RAN: AtomicU32 = AtomicU32::new(0);

pub(super) fn handler(cx: InHandler<Shared>, task: rtos::Task<App, rtos::Placed>) {
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
    check(System::<App>::sns_ctx());
    check(task.is(STRICT) || task.is(MAIN) || task.is(FAR_LOW));
    ON.store(System::<App>::get_pid(cx).map_or(99, |place| place as u32), Relaxed);
    same(task.stp_ovr(cx), Ok(()));
}

/// Runs for that long.
fn run_for(micros: u32) {
    let begin = Time::<App>::precise();
    while Time::<App>::precise().wrapping_sub(begin) < micros {
        core::hint::spin_loop();
    }
}

fn calls() -> u32 {
    CALLS.load(Relaxed)
}

pub(super) fn run(cx: Cx) {
    CALLS.store(0, Relaxed);
    // (A)
    let begin = Time::<App>::precise();
    same(MAIN.sta_ovr(2_000, cx), Ok(()));
    while calls() == 0 {
        core::hint::spin_loop();
    }
    check(Time::<App>::precise().wrapping_sub(begin) >= 2_000);
    same(MAIN.ref_ovr(cx), Ok(None));
    run_for(3_000);
    same(calls(), 1);
    step(1);

    // (B): the higher task takes none of the time of this one, which then sleeps.
    let begin = Time::<App>::precise();
    same(MAIN.sta_ovr(LONG, cx), Ok(()));
    let Ok(Some(before)) = MAIN.ref_ovr(cx) else { return check(false) };
    play(STRICT, |_| run_for(20_000));
    same(STRICT.act(cx), Ok(()));
    // The lower task tells how long it ran meanwhile.
    SLEEPS.store(true, Relaxed);
    play(LOW, |_| {
        let begin = Time::<App>::precise();
        while SLEEPS.load(Relaxed) {
            RAN.store(Time::<App>::precise().wrapping_sub(begin), Relaxed);
        }
    });
    RAN.store(0, Relaxed);
    same(LOW.act(cx), Ok(()));
    same(Current::<App>::delay(20_000, cx), Ok(()));
    SLEEPS.store(false, Relaxed);
    let Ok(Some(after)) = MAIN.ref_ovr(cx) else { return check(false) };
    let passed = Time::<App>::precise().wrapping_sub(begin);
    check(after <= before && before <= LONG && before - after <= passed - 19_990 - RAN.load(Relaxed));
    until_ended(cx, LOW);
    let Ok(Some(after)) = MAIN.ref_ovr(cx) else { return check(false) };
    run_for(5_000);
    // (C)
    let Ok(Some(last)) = MAIN.ref_ovr(cx) else { return check(false) };
    check(after - last >= 4_990);
    same(MAIN.stp_ovr(cx), Ok(()));
    same(MAIN.ref_ovr(cx), Ok(None));
    same(calls(), 1);
    step(2);

    // (D): it is given time, and ends before that is used up.
    play(STRICT, |cx| {
        same(STRICT.sta_ovr(LONG, cx), Ok(()));
        check(STRICT.ref_ovr(cx).is_ok_and(|left| left.is_some_and(|left| left <= LONG)));
    });
    same(STRICT.act(cx), Ok(()));
    play(STRICT, |cx| same(STRICT.ref_ovr(cx), Ok(None)));
    same(STRICT.act(cx), Ok(()));
    same(calls(), 1);
    // While it is ready: its time begins when it runs.
    same(System::<App>::dis_dsp(cx), Ok(()));
    play(STRICT, |_| while calls() == 1 {});
    same(STRICT.act(cx), Ok(()));
    same(STRICT.sta_ovr(2_000, cx), Ok(()));
    run_for(4_000);
    same(STRICT.ref_ovr(cx), Ok(Some(2_000)));
    same(System::<App>::ena_dsp(cx), Ok(()));
    same(calls(), 2);
    step(3);

    // (E)
    if PROCESSORS > 1 {
        play(FAR_LOW, |_| while calls() == 2 {});
        same(FAR_LOW.act(cx), Ok(()));
        same(FAR_LOW.sta_ovr(2_000, cx), Ok(()));
        until_ended(cx, FAR_LOW);
        same(ON.load(Relaxed), LAST as u32);
        // (F)
        play(FAR_LOW, |cx| {
            same(FAR_LOW.sta_ovr(LONG, cx), Ok(()));
            run_for(1_000);
            same(FAR_LOW.mig(Some(0), cx), Ok(()));
            check(FAR_LOW.ref_ovr(cx).is_ok_and(|left| left.is_some_and(|left| left <= LONG - 990)));
            same(FAR_LOW.sta_ovr(2_000, cx), Ok(()));
            while calls() == 3 {}
        });
        same(FAR_LOW.act(cx), Ok(()));
        until_ended(cx, FAR_LOW);
        same(ON.load(Relaxed), 0);
        play(FAR_LOW, |_| ());
        same(FAR_LOW.mact(Some(LAST), cx), Ok(()));
        until_ended(cx, FAR_LOW);
    }
    step(4);

    // (G)
    CALLS.store(0, Relaxed);
    same(STRICT.sta_ovr(2_000, cx), Ok(()));
    same(STRICT.ref_ovr(cx), Ok(Some(2_000)));
    same(STRICT.stp_ovr(cx), Ok(()));
    same(STRICT.ref_ovr(cx), Ok(None));
    same(STRICT.sta_ovr(2_000, cx), Ok(()));
    run_for(4_000);
    same(STRICT.ref_ovr(cx), Ok(Some(2_000)));
    same(calls(), 0);
    play(STRICT, |_| while calls() == 0 {});
    same(STRICT.act(cx), Ok(()));
    same(calls(), 1);
    same(STRICT.ref_ovr(cx), Ok(None));

    // (H)
    same(MAIN.sta_ovr(0, cx), Err(Error::PAR));
    same(MAIN.sta_ovr(rtos::LONGEST + 1, cx), Err(Error::PAR));
}
