//! Semaphores: a resource is held by one task, and no signal is lost.

use rtos::{Anywhere, Timeout};
use rtos_check::program::{Program, meet, tell};
use rtos_check::world::{Who::*, semaphore, task};

fn tell_what_is_left() {
    tell("left", semaphore().refer(Anywhere).map(|(_, count)| count));
}

#[test]
fn a_signal_meets_a_wait() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("waits", semaphore().wai(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(tell_what_is_left)
        .in_every_order()
        .are(&["left: Ok(0); signals: Ok(()); waits: Ok(())"])
        .at_least(400);
}

#[test]
fn a_signal_meets_a_wait_whose_time_passes() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("waits", semaphore().twai(Timeout::micros(100).unwrap(), cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(tell_what_is_left)
        .with_preemptions(3)
        .are(&["left: Ok(0); signals: Ok(()); waits: Ok(())", "left: Ok(1); signals: Ok(()); waits: Err(E_TMOUT)"]);
}

#[test]
fn two_want_what_there_is_once() {
    Program::new()
        .active(Main0, |cx| {
            semaphore().sig(cx).unwrap();
            meet();
            tell("0", semaphore().pol(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", semaphore().pol(cx));
        })
        .in_every_order()
        .are(&["0: Ok(()); 1: Err(E_TMOUT)", "0: Err(E_TMOUT); 1: Ok(())"]);
}

#[test]
fn a_signal_meets_the_end_of_the_wait_by_force() {
    Program::new()
        .active(High0, |cx| tell("waits", semaphore().wai(cx)))
        .active(Main0, |cx| {
            meet();
            tell("released", task(High0).rel_wai(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(tell_what_is_left)
        .in_every_order()
        .are(&[
            "left: Ok(0); released: Err(E_OBJ); signals: Ok(()); waits: Ok(())",
            "left: Ok(1); released: Ok(()); signals: Ok(()); waits: Err(E_RLWAI)",
        ]);
}

#[test]
fn two_signals_from_two_processors_wake_two() {
    Program::new()
        .active(High0, |cx| tell("waits on 0", semaphore().wai(cx)))
        .active(High1, |cx| tell("waits on 1", semaphore().wai(cx)))
        .active(Main0, |cx| {
            meet();
            tell("signals on 0", semaphore().sig(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals on 1", semaphore().sig(cx));
        })
        .after(tell_what_is_left)
        .with_preemptions(4)
        .are(&["left: Ok(0); signals on 0: Ok(()); signals on 1: Ok(()); waits on 0: Ok(()); waits on 1: Ok(())"]);
}

#[test]
fn a_signal_meets_a_wait_with_slow_interrupts() {
    Program::new()
        .active(High0, |cx| tell("waits", semaphore().wai(cx)))
        .active(Main0, |cx| {
            meet();
            tell("has one more", semaphore().pol(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .with_slow_interrupts()
        .with_preemptions(3)
        .are(&["has one more: Err(E_TMOUT); signals: Ok(()); waits: Ok(())"]);
}
