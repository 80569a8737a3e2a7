//! Handlers of notifications: their services meet those of the other processor, and an alarm rings once or not at all.

use rtos::{Anywhere, Current, System, Timeout};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who::*, alarm, pinned_semaphore, semaphore, task};

fn tell_what_is_left() {
    tell("left", (semaphore().refer(Anywhere).map(|(_, count)| count), alarm().refer(Anywhere)));
}

#[test]
fn an_alarm_is_stopped_by_the_other_processor() {
    Program::new()
        .alarm(|cx| tell("rings", semaphore().sig(cx)))
        .active(Main0, |cx| {
            alarm().sta(100, cx).unwrap();
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("stops", alarm().stp(cx));
        })
        .after(tell_what_is_left)
        .in_every_order()
        .are(&["left: (Ok(0), Ok(None)); stops: Ok(())", "left: (Ok(1), Ok(None)); rings: Ok(()); stops: Ok(())"]);
}

#[test]
fn an_alarm_goes_over_to_the_other_processor() {
    Program::new()
        .alarm(|cx| tell("rings on", System::<App>::get_pid(cx)))
        .active(Main0, |cx| {
            alarm().sta(100, cx).unwrap();
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("starts", alarm().msta(200, Some(1), cx));
        })
        .after(tell_what_is_left)
        .with_preemptions(2)
        .are(&[
            "left: (Ok(0), Ok(None)); rings on: Ok(0); rings on: Ok(1); starts: Ok(())",
            "left: (Ok(0), Ok(None)); rings on: Ok(1); starts: Ok(())",
        ]);
}

#[test]
fn a_handler_and_the_other_processor_signal() {
    Program::new()
        .alarm(|cx| tell("rings", semaphore().sig(cx)))
        .active(High0, |cx| tell("waits", semaphore().wai(cx)))
        .active(Main0, |cx| {
            alarm().sta(100, cx).unwrap();
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
        })
        .after(tell_what_is_left)
        .with_preemptions(3)
        .are(&["left: (Ok(1), Ok(None)); rings: Ok(()); signals: Ok(()); waits: Ok(())"]);
}

#[test]
fn a_handler_wakes_who_ends() {
    Program::new()
        .alarm(|cx| tell("wakes", task(Main1).wup(cx)))
        .active(Main0, |cx| {
            alarm().sta(100, cx).unwrap();
            meet();
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("sleeps", Current::<App>::sleep_for(Timeout::micros(100).unwrap(), cx));
        })
        .after(|| tell("is", task(Main1).state(Anywhere)))
        .with_preemptions(2)
        .are(&[
            "is: Ok(Dormant); sleeps: Err(E_TMOUT); wakes: Err(E_OBJ)",
            "is: Ok(Dormant); sleeps: Err(E_TMOUT); wakes: Ok(())",
            "is: Ok(Dormant); sleeps: Ok(()); wakes: Ok(())",
        ]);
}

#[test]
fn a_handler_interrupts_a_pinned_task_that_waits() {
    Program::new()
        .alarm(|cx| tell("activates", task(Low0).act(cx)))
        .dormant(Low0, |cx| tell("signals", pinned_semaphore::<0>().sig(Anywhere).and(Current::<App>::delay(1, cx))))
        .active_pinned::<0>(|cx| {
            alarm().msta(100, Some(1), Anywhere).unwrap();
            meet();
            tell("waits", pinned_semaphore::<0>().wai(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("one more", task(Low0).act(cx));
        })
        .with_preemptions(1)
        .are(&["activates: Ok(()); one more: Ok(()); signals: Ok(()); signals: Ok(()); waits: Ok(())"]);
}
