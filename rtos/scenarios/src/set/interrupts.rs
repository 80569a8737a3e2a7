//! Purpose: interrupts.
//!
//! - (A) ras_int: the service is called, in handler context
//! - (B) a service activates a higher task: it runs when the service is left, before what was interrupted
//! - (C) dis_int: the interrupt waits; prb_int sees it; clr_int takes it away; ena_int lets it through
//! - (D) while the processor is locked the interrupt waits, and all of these services can be called
//! - (E) while chg_ipm masks it the interrupt waits, also after loc_cpu and unl_cpu, or a spin lock
//! - (G) a service is not interrupted by its own line, also after loc_cpu and unl_cpu, or a spin lock
//! - (F) E_OBJ for a line that is not configured, E_PAR for a line that does not exist

use super::*;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

static CALLS: AtomicU32 = AtomicU32::new(0);
static FAULT: AtomicBool = AtomicBool::new(false);
static AGAIN: AtomicBool = AtomicBool::new(false);
type Line = rtos::Line<App>;

/// The next call does what cannot be done.
pub(super) fn fault_next() {
    FAULT.store(true, Relaxed);
}

pub(super) fn handler(cx: InHandler<Shared>) {
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
    check(System::<App>::sns_ctx());
    if FAULT.load(Relaxed) {
        FAULT.store(false, Relaxed);
        return crate::trap();
    }
    if AGAIN.load(Relaxed) {
        AGAIN.store(false, Relaxed);
        let Ok(line) = Line::new(LINE) else { return check(false) };
        let before = CALLS.load(Relaxed);
        same(line.raise(cx), Ok(()));
        same(System::<App>::loc_cpu(cx), Ok(()));
        same(System::<App>::unl_cpu(cx), Ok(()));
        same(SPIN.loc(cx), Ok(()));
        same(SPIN.unl(cx), Ok(()));
        for _ in 0..1000 {
            same(CALLS.load(Relaxed), before);
        }
    }
    if steps() == 1 {
        step(2);
        same(HIGH.act(cx), Ok(()));
        step(3);
    }
}

/// The service has been called that often, soon.
#[track_caller]
fn calls(n: u32) {
    for _ in 0..10_000_000 {
        if CALLS.load(Relaxed) >= n {
            break;
        }
        core::hint::spin_loop();
    }
    same(CALLS.load(Relaxed), n);
}

pub(super) fn run(cx: Cx) {
    CALLS.store(0, Relaxed);
    let Ok(line) = Line::new(LINE) else { return check(false) };
    // (A)
    same(line.raise(cx), Ok(()));
    calls(1);

    // (B)
    play(HIGH, |_| step(4));
    step(1);
    same(line.raise(cx), Ok(()));
    calls(2);
    step(5);

    // (C)
    same(line.disable(cx), Ok(()));
    same(line.raise(cx), Ok(()));
    same(line.pending(cx), Ok(true));
    calls(2);
    same(line.clear(cx), Ok(()));
    same(line.pending(cx), Ok(false));
    same(line.enable(cx), Ok(()));
    calls(2);
    same(line.disable(cx), Ok(()));
    same(line.raise(cx), Ok(()));
    same(line.enable(cx), Ok(()));
    calls(3);

    // (D)
    same(System::<App>::loc_cpu(cx), Ok(()));
    same(line.disable(cx), Ok(()));
    same(line.raise(cx), Ok(()));
    same(line.pending(cx), Ok(true));
    same(line.enable(cx), Ok(()));
    for _ in 0..1000 {
        same(CALLS.load(Relaxed), 3);
    }
    same(System::<App>::unl_cpu(cx), Ok(()));
    calls(4);

    // (E)
    same(System::<App>::chg_ipm(-2, cx), Ok(()));
    same(line.raise(cx), Ok(()));
    same(System::<App>::loc_cpu(cx), Ok(()));
    same(System::<App>::unl_cpu(cx), Ok(()));
    same(SPIN.loc(cx), Ok(()));
    same(SPIN.unl(cx), Ok(()));
    for _ in 0..1000 {
        same(CALLS.load(Relaxed), 4);
    }
    same(System::<App>::chg_ipm(-1, cx), Ok(()));
    calls(5);
    same(System::<App>::chg_ipm(0, cx), Ok(()));

    // (G)
    AGAIN.store(true, Relaxed);
    same(line.raise(cx), Ok(()));
    calls(7);

    // (F)
    check(matches!(Line::new(LINE - 1), Err(Error::OBJ)));
    check(matches!(Line::new(u32::MAX), Err(Error::PAR)));
}
