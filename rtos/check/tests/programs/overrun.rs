//! Overrun: the time of a task that another processor limits, or that migrates, is used up once. The kernel looks up
//! without the giant lock whether a task has such a time.

use rtos::{Anywhere, Current};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who::*, task};

/// A processor that has only deadlines of its own sets its timer, and hears of the limit before or afterwards.
#[test]
fn the_other_processor_limits_a_task() {
    Program::new()
        .active_pinned::<0>(|cx| {
            meet();
            tell("waits", Current::<App>::delay(20, cx));
        })
        .active(Low0, |_| stay())
        .active(Main1, |cx| {
            meet();
            tell("limits", task(Low0).sta_ovr(100, cx));
        })
        .with_slow_interrupts()
        .with_unlocked_looks()
        .with_preemptions(2)
        .are(&["limits: Ok(()); used up: Ok(Some(4)); waits: Ok(())"])
        .at_least(100);
}

#[test]
fn the_other_processor_ends_the_limit() {
    Program::new()
        .active(Main0, |cx| {
            tell("limits", task(Main0).sta_ovr(100, cx));
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("ends it", task(Main0).stp_ovr(cx));
        })
        .with_slow_interrupts()
        .with_unlocked_looks()
        .with_preemptions(3)
        .are(&["ends it: Ok(()); limits: Ok(())", "ends it: Ok(()); limits: Ok(()); used up: Ok(Some(2))"])
        .at_least(100);
}

#[test]
fn a_task_takes_its_limit_to_the_other_processor() {
    Program::new()
        .active(Main0, |cx| {
            tell("limits", task(Main0).sta_ovr(100, cx));
            meet();
            tell("moves", task(Main0).mig(Some(1), cx));
            stay();
        })
        .active(High1, |_| {
            meet();
            tell("is", task(Main0).ref_ovr(Anywhere).is_ok());
        })
        .with_slow_interrupts()
        .with_unlocked_looks()
        .with_preemptions(2)
        .are(&["is: true; limits: Ok(()); moves: Ok(()); used up: Ok(Some(2))"])
        .at_least(100);
}
