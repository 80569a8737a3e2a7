//! mig_tsk: a task is on one processor at a time, and nothing that is meant for the task is lost on the way.

use rtos::{Anywhere, Current, Timeout};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who, Who::*, semaphore, task};

fn tell_place(who: Who) {
    tell("is", task(who).refer(Anywhere).map(|told| (told.processor, told.state)));
}

#[test]
fn a_task_moves_and_is_woken() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("moves", task(Main0).mig(Some(1), cx));
            tell("sleeps", Current::<App>::sleep(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("wakes", task(Main0).wup(cx));
        })
        .after(|| tell_place(Main0))
        .in_every_order()
        .are(&["is: Ok((1, Running)); moves: Ok(()); sleeps: Ok(()); wakes: Ok(())"]);
}

#[test]
fn a_task_moves_and_is_suspended() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("moves", task(Main0).mig(Some(1), cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Main0).sus(cx));
        })
        .after(|| tell_place(Main0))
        .in_every_order()
        .are(&["is: Ok((0, Suspended)); suspends: Ok(())", "is: Ok((1, Suspended)); suspends: Ok(())"]);
}

#[test]
fn a_task_is_moved_while_it_waits_for_a_time() {
    Program::new()
        .active(High0, |cx| {
            tell("waits", semaphore().twai(Timeout::micros(100).unwrap(), cx));
            stay();
        })
        .active(Main0, |cx| {
            meet();
            tell("moves", task(High0).mig(Some(1), cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(|| tell_place(High0))
        .with_preemptions(3)
        .are(&[
            "is: Ok((0, Running)); signals: Ok(()); waits: Err(E_TMOUT)",
            "is: Ok((0, Running)); signals: Ok(()); waits: Ok(())",
            "is: Ok((1, Running)); moves: Ok(()); signals: Ok(()); waits: Ok(())",
            "is: Ok((1, Running)); moves: Ok(()); waits: Err(E_TMOUT)",
            "is: Ok((1, Running)); moves: Ok(()); waits: Ok(())",
        ]);
}

#[test]
fn two_tasks_change_places() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("0", task(Main0).mig(Some(1), cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("1", task(Main1).mig(Some(0), cx));
            stay();
        })
        .after(|| {
            tell("0", task(Main0).refer(Anywhere).map(|told| (told.processor, told.state)));
            tell("1", task(Main1).refer(Anywhere).map(|told| (told.processor, told.state)));
        })
        .in_every_order()
        .are(&["0: Ok(()); 0: Ok((1, Running)); 1: Ok(()); 1: Ok((0, Running))"]);
}

#[test]
fn a_task_moves_and_ends_there() {
    Program::new()
        .active(Main0, |cx| {
            tell("begins", ());
            if task(Main0).refer(cx).unwrap().processor == 0 {
                meet();
                tell("moves", task(Main0).mig(Some(1), cx));
            }
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(Main0).mact(Some(0), cx));
        })
        .with_preemptions(4)
        .are(&["activates: Ok(()); begins: (); begins: (); moves: Ok(()); moves: Ok(())"]);
}
