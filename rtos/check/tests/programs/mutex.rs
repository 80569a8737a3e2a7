//! Mutexes with inheritance: one owner, which has the priority of the highest task that waits.

use rtos::{Anywhere, Timeout};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{Who, Who::*, mutex, task};

fn tell_priority(who: Who) {
    tell("priorities", task(who).refer(Anywhere).map(|told| told.priorities));
}

#[test]
fn two_want_it() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("0", (mutex(0).loc(cx), mutex(0).unl(cx)));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", (mutex(0).loc(cx), mutex(0).unl(cx)));
        })
        .after(|| tell("owner", mutex(0).refer(Anywhere)))
        .in_every_order()
        .are(&["0: (Ok(()), Ok(())); 1: (Ok(()), Ok(())); owner: Ok((None, None))"]);
}

#[test]
fn the_owner_lets_go_while_a_higher_one_comes() {
    Program::new()
        .active(Low0, |cx| {
            mutex(0).loc(cx).unwrap();
            meet();
            tell("low", mutex(0).unl(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("high", mutex(0).loc(cx));
            stay();
        })
        .after(|| {
            tell("owner", mutex(0).refer(Anywhere));
            tell_priority(Low0);
        })
        .in_every_order()
        .are(&["high: Ok(()); low: Ok(()); owner: Ok((Some(6), None)); priorities: Ok(Some((12, 12)))"]);
}

#[test]
fn the_time_passes_of_who_is_inherited_from() {
    Program::new()
        .active(Low0, |cx| {
            mutex(0).loc(cx).unwrap();
            meet();
            tell("low", mutex(0).unl(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("high", mutex(0).tloc(Timeout::micros(100).unwrap(), cx));
            stay();
        })
        .after(|| {
            tell("owner", mutex(0).refer(Anywhere));
            tell_priority(Low0);
        })
        .with_preemptions(3)
        .are(&[
            "high: Err(E_TMOUT); low: Ok(()); owner: Ok((None, None)); priorities: Ok(Some((12, 12)))",
            "high: Ok(()); low: Ok(()); owner: Ok((Some(6), None)); priorities: Ok(Some((12, 12)))",
        ]);
}

#[test]
fn who_waits_gets_another_priority() {
    Program::new()
        .active(Low0, |cx| {
            mutex(0).loc(cx).unwrap();
            meet();
            tell("changes", task(Main1).chg_pri(Some(3), cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("high", mutex(0).loc(cx));
        })
        .after(|| tell_priority(Low0))
        .in_every_order()
        .are(&["changes: Ok(()); priorities: Ok(Some((3, 12)))"]);
}

#[test]
fn the_owner_is_ended_while_others_wait() {
    Program::new()
        .active(Low0, |cx| {
            mutex(0).loc(cx).unwrap();
            stay();
        })
        .active(Main0, |cx| {
            meet();
            tell("ends", task(Low0).ter(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("has it", mutex(0).loc(cx));
            stay();
        })
        .after(|| tell("owner", mutex(0).refer(Anywhere)))
        .in_every_order()
        .are(&["ends: Ok(()); has it: Ok(()); owner: Ok((Some(6), None))"]);
}
