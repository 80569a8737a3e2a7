//! ter_tsk and ras_ter: who is to end does, once, whatever it does meanwhile.

use rtos::{Anywhere, Current};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who, Who::*, semaphore, task};

fn tell_state(who: Who) {
    tell("state", task(who).state(Anywhere));
}

#[test]
fn a_task_that_runs_is_asked_to_end() {
    Program::new()
        .active(Main0, |_| {
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Main0).ras_ter(cx));
        })
        .after(|| tell_state(Main0))
        .in_every_order()
        .are(&["asks: Ok(()); state: Ok(Dormant)"]);
}

#[test]
fn a_task_that_begins_to_wait_is_asked_to_end() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("waits", semaphore().wai(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Main0).ras_ter(cx));
        })
        .after(|| tell_state(Main0))
        .in_every_order()
        .are(&["asks: Ok(()); state: Ok(Dormant)"]);
}

#[test]
fn a_task_that_does_not_let_itself_be_ended_is_asked() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("disables", Current::<App>::disable_termination(cx));
            tell("sleeps", Current::<App>::sleep(cx));
            tell("enables", Current::<App>::enable_termination(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Main0).ras_ter(cx));
        })
        .after(|| tell_state(Main0))
        .in_every_order()
        .are(&[
            "asks: Ok(()); disables: Ok(()); sleeps: Err(E_RASTER); state: Ok(Dormant)",
            "asks: Ok(()); state: Ok(Dormant)",
        ]);
}

#[test]
fn a_task_that_migrates_is_asked_to_end() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            let _ = task(Main0).mig(Some(1), cx);
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Main0).ras_ter(cx));
        })
        .after(|| tell_state(Main0))
        .with_preemptions(4)
        .are(&["asks: Ok(()); state: Ok(Dormant)"]);
}

#[test]
fn a_task_that_is_moved_is_asked_to_end() {
    Program::new()
        .active(Low0, |_| stay())
        .active(Main0, |cx| {
            meet();
            let _ = task(Low0).mig(Some(1), cx);
        })
        .active(Main1, |cx| {
            meet();
            tell("asks", task(Low0).ras_ter(cx));
        })
        .after(|| tell_state(Low0))
        .with_preemptions(4)
        .are(&["asks: Ok(()); state: Ok(Dormant)"]);
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

#[test]
fn two_tasks_ask_each_other_to_end() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("0", task(Main1).ras_ter(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("1", task(Main0).ras_ter(cx));
            stay();
        })
        .after(|| {
            tell_state(Main0);
            tell_state(Main1);
        })
        .with_preemptions(4)
        .are(&[
            "0: Ok(()); state: Ok(Dormant); state: Ok(Dormant)",
            "0: Ok(()); state: Ok(Dormant); state: Ok(Running)",
            "1: Ok(()); state: Ok(Dormant); state: Ok(Dormant)",
            "1: Ok(()); state: Ok(Dormant); state: Ok(Running)",
            "state: Ok(Dormant); state: Ok(Dormant)",
        ]);
}
