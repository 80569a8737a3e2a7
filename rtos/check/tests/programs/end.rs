//! ter_tsk and ras_ter: a task that is to end does end, once, whatever it does meanwhile.

use rtos::{Anywhere, Current};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who, Who::*, semaphore, task};

fn tell_state(who: Who) {
    tell("state", task(who).state(Anywhere));
}

#[test]
fn a_task_that_does_not_let_itself_be_ended_is_asked_and_woken() {
    Program::new()
        .active(High0, |cx| {
            tell("disables", Current::<App>::disable_termination(cx));
            tell("waits", semaphore().wai(cx));
            tell("sleeps", Current::<App>::sleep(cx));
        })
        .active(Main0, |cx| {
            meet();
            tell("asks", task(High0).ras_ter(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(|| tell_state(High0))
        .in_every_order()
        .are(&[
            "asks: Ok(()); disables: Ok(()); signals: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant); waits: Err(E_RASTER)",
            "asks: Ok(()); disables: Ok(()); signals: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant); waits: Ok(())",
        ]);
}

#[test]
fn a_task_that_does_not_let_itself_be_ended_is_asked_and_suspended() {
    Program::new()
        .active(High0, |cx| {
            tell("disables", Current::<App>::disable_termination(cx));
            tell("sleeps", Current::<App>::sleep(cx));
        })
        .active(Main0, |cx| {
            meet();
            tell("asks", task(High0).ras_ter(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(High0).sus(cx));
        })
        .after(|| tell_state(High0))
        .in_every_order()
        .are(&[
            "asks: Ok(()); disables: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant); suspends: Err(E_OBJ)",
            "asks: Ok(()); disables: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant); suspends: Err(E_RASTER)",
            "asks: Ok(()); disables: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant); suspends: Ok(())",
        ]);
}

#[test]
fn a_task_that_is_moved_is_asked_to_end() {
    Program::new()
        .active(Low0, |_| stay())
        .active(Main0, |cx| {
            meet();
            tell("moves", task(Low0).mig(Some(1), cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Low0).ras_ter(cx));
        })
        .after(|| tell_state(Low0))
        .with_preemptions(4)
        .are(&[
            "asks: Err(E_OBJ); moves: Ok(()); state: Ok(Running)",
            "asks: Ok(()); moves: Ok(()); state: Ok(Dormant)",
        ]);
}

#[test]
fn a_task_is_ended_and_activated() {
    Program::new()
        .dormant(Low0, |_| tell("begins", ()))
        .active(Main0, |cx| {
            task(Low0).act(cx).unwrap();
            meet();
            tell("ends", task(Low0).ter(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(Low0).act(cx));
        })
        .in_every_order()
        .are(&["activates: Ok(()); begins: (); ends: Ok(())"]);
}

#[test]
fn a_task_that_is_woken_is_ended() {
    Program::new()
        .active(High0, |cx| {
            tell("waits", semaphore().wai(cx));
        })
        .active(Main0, |cx| {
            meet();
            tell("ends", task(High0).ter(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(|| tell("left", semaphore().refer(Anywhere).map(|(_, count)| count)))
        .in_every_order()
        .are(&[
            "ends: Err(E_OBJ); left: Ok(0); signals: Ok(()); waits: Ok(())",
            "ends: Ok(()); left: Ok(0); signals: Ok(())",
            "ends: Ok(()); left: Ok(1); signals: Ok(())",
        ]);
}
