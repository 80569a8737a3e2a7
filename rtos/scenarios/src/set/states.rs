//! Purpose: the state of the system.
//!
//! - (A) loc_cpu, unl_cpu, sns_loc: a task that became the highest meanwhile runs afterwards
//! - (B) dis_dsp, ena_dsp, sns_dsp: the same
//! - (C) chg_ipm, get_ipm: the same; E_PAR without such a priority
//! - (D) dis_dsp and chg_ipm together: both must be over
//! - (E) sns_ctx, sns_dpn
//! - (F) a task that ends takes none of these with it
//! - (G) get_tid, get_pid
//! - (H) the routines before the first task and after the last: at the start the kernel's, then each
//!   processor's; at the end each processor's, then the kernel's

use super::*;
use core::sync::atomic::{AtomicBool, Ordering::Relaxed};

type S = System<App>;

static BEGUN: AtomicBool = AtomicBool::new(false);
static EACH_BEGUN: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];
static EACH_ENDED: [AtomicBool; 2] = [const { AtomicBool::new(false) }; 2];

/// What these routines find: no kernel runs, and the processor is the one that they are told.
#[track_caller]
fn outside_of_the_kernel(processor: usize) {
    same((S::sns_ker(), S::sns_ctx(), S::sns_loc()), (true, true, true));
    same(S::processor(), processor);
    same(S::get_pid(Anywhere), Err(Error::CTX));
}

/// Whether the routine has run on every processor.
fn all(of: &[AtomicBool; 2]) -> bool {
    of.iter().take(PROCESSORS).all(|each| each.load(Relaxed))
}

pub(super) fn at_the_beginning() {
    outside_of_the_kernel(0);
    check(!BEGUN.load(Relaxed));
    BEGUN.store(true, Relaxed);
}

pub(super) fn at_the_beginning_of_each(processor: usize) {
    outside_of_the_kernel(processor);
    check(BEGUN.load(Relaxed) && !EACH_BEGUN[processor].load(Relaxed));
    EACH_BEGUN[processor].store(true, Relaxed);
}

pub(super) fn at_the_end_of_each(processor: usize) {
    outside_of_the_kernel(processor);
    check(!EACH_ENDED[processor].load(Relaxed));
    EACH_ENDED[processor].store(true, Relaxed);
}

pub(super) fn at_the_end() {
    outside_of_the_kernel(0);
    check(all(&EACH_ENDED));
    print(format_args!("the end\n"));
}

pub(super) fn run(cx: Cx) {
    // (H)
    same((all(&EACH_BEGUN), all(&EACH_ENDED), S::sns_ker()), (true, false, false));

    // (A) and (E)
    same((S::sns_loc(), S::sns_dsp(), S::sns_ctx(), S::sns_dpn()), (false, false, false, false));
    same(S::loc_cpu(cx), Ok(()));
    same((S::sns_loc(), S::sns_dpn()), (true, true));
    same(S::loc_cpu(cx), Ok(()));
    same(S::unl_cpu(cx), Ok(()));
    same(S::sns_loc(), false);
    same(S::unl_cpu(cx), Ok(()));
    same(S::with_cpu_locked(cx, S::sns_loc), Ok(true));
    same(S::sns_loc(), false);

    // (B)
    play(HIGH, |_| step(steps() + 1));
    same(S::dis_dsp(cx), Ok(()));
    same((S::sns_dsp(), S::sns_dpn(), S::sns_loc()), (true, true, false));
    same(HIGH.act(cx), Ok(()));
    same(HIGH.state(cx), Ok(TaskState::Ready));
    same(steps(), 0);
    same(S::ena_dsp(cx), Ok(()));
    same(steps(), 1);
    same((S::sns_dsp(), S::sns_dpn()), (false, false));

    // (C)
    same(S::get_ipm(cx), Ok(0));
    same(S::chg_ipm(-1, cx), Ok(()));
    same(S::get_ipm(cx), Ok(-1));
    same((S::sns_dsp(), S::sns_dpn()), (false, true));
    same(HIGH.act(cx), Ok(()));
    same(steps(), 1);
    for priority in [1, -100, i32::MIN, i32::MAX] {
        same(S::chg_ipm(priority, cx), Err(Error::PAR));
    }
    same(S::get_ipm(cx), Ok(-1));
    same(S::chg_ipm(0, cx), Ok(()));
    same(steps(), 2);

    // (D)
    same(S::dis_dsp(cx), Ok(()));
    same(S::chg_ipm(-1, cx), Ok(()));
    same(HIGH.act(cx), Ok(()));
    same(S::ena_dsp(cx), Ok(()));
    same(steps(), 2);
    same(S::dis_dsp(cx), Ok(()));
    same(S::chg_ipm(0, cx), Ok(()));
    same(steps(), 2);
    same(S::ena_dsp(cx), Ok(()));
    same(steps(), 3);

    // (F)
    play(HIGH, |cx| {
        step(4);
        same(S::dis_dsp(cx), Ok(()));
        same(S::loc_cpu(cx), Ok(()));
        Current::<App>::exit(cx)
    });
    same(HIGH.act(cx), Ok(()));
    same((S::sns_loc(), S::sns_dsp(), S::sns_dpn()), (false, false, false));
    play(HIGH, |cx| {
        step(5);
        same(S::chg_ipm(-1, cx), Ok(()));
        Current::<App>::exit(cx)
    });
    same(HIGH.act(cx), Ok(()));
    same(S::get_ipm(cx), Ok(0));
    same(S::sns_dpn(), false);

    // (G)
    same(S::get_tid(cx), Ok(Some(1)));
    same(S::get_pid(cx), Ok(0));
    play(HIGH, |cx| same(S::get_tid(cx), Ok(Some(2))));
    same(HIGH.act(cx), Ok(()));
    step(6);
}
