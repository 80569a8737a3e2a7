//! Purpose: the state of the system.
//!
//! - (A) loc_cpu, unl_cpu, sns_loc: a task that became the highest meanwhile runs afterwards
//! - (B) dis_dsp, ena_dsp, sns_dsp: the same
//! - (C) chg_ipm, get_ipm: the same; E_PAR without such a priority
//! - (D) dis_dsp and chg_ipm together: both must be over
//! - (E) sns_ctx, sns_dpn
//! - (F) a task that ends takes none of these with it
//! - (G) get_tid, get_pid

use super::*;

type S = System<App>;

pub(super) fn run(cx: Cx) {
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
