//! Purpose: CPU exceptions.
//!
//! - (A) the handler is called, in handler context, with the number and the address; it goes on behind the instruction
//! - (B) xsns_dpn: whether the interrupted code could give way: not with dis_dsp or chg_ipm, with the processor locked,
//!   or in a handler
//! - (C) with the processor locked, a service gives E_CTX in the handler
//! - (D) the handler activates a higher task, which ends the one at fault
//! - (E) the same of a pinned task, and of one of the last processor

use super::*;
use crate::{EXCEPTION, TRAP_SIZE, trap};
use core::sync::atomic::{AtomicBool, AtomicU32, Ordering::Relaxed};

static CALLS: AtomicU32 = AtomicU32::new(0);
static PENDING: AtomicBool = AtomicBool::new(false);
/// Whether the task at fault is to be ended, and not to go on.
static FATAL: AtomicBool = AtomicBool::new(false);
static REFUSED: AtomicBool = AtomicBool::new(false);
static CULPRIT: AtomicU32 = AtomicU32::new(0);

pub(super) fn handler(cx: InHandler<Shared>, raised: &rtos::Raised) {
    CALLS.store(CALLS.load(Relaxed) + 1, Relaxed);
    check(System::<App>::sns_ctx());
    same(raised.number(), EXCEPTION);
    same(raised.address(), trap as *const () as usize & !1);
    PENDING.store(raised.dispatch_pending(), Relaxed);
    if FATAL.load(Relaxed) {
        let culprit = System::<App>::get_tid(cx).ok().flatten();
        CULPRIT.store(culprit.map_or(0, |number| number as u32), Relaxed);
        same(HIGH.mact(System::<App>::get_pid(cx).ok(), cx), Ok(()));
        return;
    }
    if System::<App>::sns_loc() {
        REFUSED.store(HIGH.act(cx) == Err(Error::CTX), Relaxed);
    }
    // SAFETY: behind the instruction, the function returns.
    unsafe { raised.go_on_at(raised.address() + TRAP_SIZE) };
}

/// An instruction that cannot be done: the n-th. Says whether what was interrupted could not give way.
#[track_caller]
fn fault(n: u32) -> bool {
    trap();
    same(CALLS.load(Relaxed), n);
    PENDING.load(Relaxed)
}

/// Ends the task at fault.
fn mend(cx: Cx) {
    let Ok(culprit) = rtos::Task::<App, _>::by_number(CULPRIT.load(Relaxed) as i32) else { return check(false) };
    same(culprit.ras_ter(Anywhere), Ok(()));
    let _ = cx;
}

pub(super) fn run(cx: Cx) {
    CALLS.store(0, Relaxed);
    FATAL.store(false, Relaxed);
    // (A) (B)
    step(1);
    same(fault(1), false);
    step(2);
    same(System::<App>::dis_dsp(cx), Ok(()));
    same(fault(2), true);
    same(System::<App>::ena_dsp(cx), Ok(()));
    same(System::<App>::chg_ipm(-1, cx), Ok(()));
    same(fault(3), true);
    same(System::<App>::chg_ipm(0, cx), Ok(()));
    let Ok(line) = rtos::Line::<App>::new(LINE) else { return check(false) };
    super::interrupts::fault_next();
    same(line.raise(cx), Ok(()));
    until(cx, || CALLS.load(Relaxed) == 4);
    same(PENDING.load(Relaxed), true);
    // (C)
    same(System::<App>::loc_cpu(cx), Ok(()));
    same(fault(5), true);
    check(System::<App>::sns_loc());
    same(System::<App>::unl_cpu(cx), Ok(()));
    same(REFUSED.load(Relaxed), true);
    step(3);

    // (D)
    FATAL.store(true, Relaxed);
    play(HIGH, mend);
    play(STRICT, |_| {
        step(4);
        trap();
        check(false);
    });
    same(STRICT.act(cx), Ok(()));
    until_ended(cx, STRICT);
    same(PENDING.load(Relaxed), false);
    step(5);

    // (E)
    play_pinned(true, |_| {
        step(6);
        trap();
        check(false);
    });
    same(PINNED_LOW.act(Anywhere), Ok(()));
    until(cx, || PINNED_LOW.state(Anywhere) == Ok(TaskState::Dormant));
    step(7);
    play(FAR_LOW, |_| {
        step(8);
        trap();
        check(false);
    });
    same(FAR_LOW.act(cx), Ok(()));
    until_ended(cx, FAR_LOW);
    until_ended(cx, HIGH);
    same(CALLS.load(Relaxed), 8);
    step(9);
    play(HIGH, |_| step(10));
    same(HIGH.mact(Some(0), cx), Ok(()));
}
