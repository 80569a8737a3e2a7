//! slp_tsk, wup_tsk, rel_wai, sus_tsk and rsm_tsk: no wake-up is lost.

use rtos::{Anywhere, Current, Timeout};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who::*, task};

type C = Current<App>;

#[test]
fn a_wake_up_meets_a_sleep() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sleeps", C::sleep(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("wakes", task(Main0).wup(cx));
        })
        .after(|| tell("runs", task(Main0).state(Anywhere)))
        .in_every_order()
        .are(&["runs: Ok(Running); sleeps: Ok(()); wakes: Ok(())"]);
}

#[test]
fn a_wake_up_meets_a_sleep_whose_time_passes() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sleeps", C::sleep_for(Timeout::micros(100).unwrap(), cx));
            tell("queued", task(Main0).refer(cx).map(|told| told.woken));
        })
        .active(Main1, |cx| {
            meet();
            tell("wakes", task(Main0).wup(cx));
        })
        .with_preemptions(3)
        .are(&[
            "queued: Ok(false); sleeps: Err(E_TMOUT); wakes: Err(E_OBJ)",
            "queued: Ok(false); sleeps: Err(E_TMOUT); wakes: Ok(())",
            "queued: Ok(false); sleeps: Ok(()); wakes: Ok(())",
            "queued: Ok(true); sleeps: Err(E_TMOUT); wakes: Ok(())",
        ]);
}

#[test]
fn two_deadlines_on_two_processors() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("0", C::delay(100, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", C::delay(100, cx));
        })
        .with_preemptions(2)
        .are(&["0: Ok(()); 1: Ok(())"]);
}

#[test]
fn a_suspension_meets_a_sleep() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sleeps", C::sleep(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Main0).sus(cx));
            tell("resumes", task(Main0).rsm(cx));
        })
        .after(|| tell("is", task(Main0).state(Anywhere)))
        .with_preemptions(4)
        .are(&["is: Ok(Waiting); resumes: Ok(()); suspends: Ok(())"]);
}

#[test]
fn a_task_that_is_about_to_run_is_suspended() {
    Program::new()
        .active(Low0, |_| stay())
        .active(Main0, |cx| {
            meet();
            tell("sleeps", C::sleep(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Low0).sus(cx));
            tell("resumes", task(Low0).rsm(cx));
        })
        .after(|| tell("is", task(Low0).state(Anywhere)))
        .with_preemptions(4)
        .are(&["is: Ok(Running); resumes: Ok(()); suspends: Ok(())"]);
}

#[test]
fn a_suspension_meets_its_end() {
    Program::new()
        .active(High0, |_| stay())
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(High0).sus(cx));
        })
        .active(Low0, |cx| {
            tell("resumes", task(High0).rsm(cx));
            stay();
        })
        .after(|| tell("is", task(High0).state(Anywhere)))
        .in_every_order()
        .are(&["is: Ok(Running); suspends: Ok(())"]);
}

#[test]
fn a_suspension_meets_the_end() {
    Program::new()
        .dormant(Peer0, |_| stay())
        .active(Main0, |cx| {
            task(Peer0).act(cx).unwrap();
            meet();
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Main0).sus(cx));
        })
        .after(|| tell("are", (task(Main0).state(Anywhere), task(Peer0).state(Anywhere))))
        .in_every_order()
        .are(&[
            "are: (Ok(Dormant), Ok(Running)); suspends: Err(E_OBJ)",
            "are: (Ok(Dormant), Ok(Running)); suspends: Ok(())",
            "are: (Ok(Suspended), Ok(Running)); suspends: Ok(())",
        ]);
}
