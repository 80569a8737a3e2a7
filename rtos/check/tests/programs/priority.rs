//! chg_pri and rot_rdq: a processor runs the first task of the highest priority.

use rtos::{Anywhere, System};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who::*, event_flag, semaphore, task};

#[test]
fn a_task_is_raised_while_the_one_that_runs_waits() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("waits", semaphore().wai(cx));
        })
        .active(Low0, |_| stay())
        .active(Main1, |cx| {
            meet();
            tell("raises", task(Low0).chg_pri(Some(3), cx));
        })
        .after(|| tell("runs", task(Low0).state(Anywhere)))
        .in_every_order()
        .are(&["raises: Ok(()); runs: Ok(Running)"]);
}

#[test]
fn two_processors_change_a_priority() {
    Program::new()
        .active(Low0, |_| stay())
        .active(Main0, |cx| {
            meet();
            tell("lowers", task(Low0).chg_pri(Some(14), cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("raises", task(Low0).chg_pri(Some(3), cx));
        })
        .after(|| tell("is", task(Low0).refer(Anywhere).map(|told| (told.priorities, told.state))))
        .in_every_order()
        .are(&[
            "is: Ok((Some((14, 14)), Ready)); lowers: Ok(()); raises: Ok(())",
            "is: Ok((Some((3, 3)), Running)); lowers: Ok(()); raises: Ok(())",
            "is: Ok((Some((3, 3)), Running)); raises: Ok(())",
        ]);
}

#[test]
fn a_queue_goes_round_while_it_grows() {
    Program::new()
        .dormant(Peer0, |_| stay())
        .active(Main0, |cx| {
            meet();
            tell("rotates", System::<App>::rot_rdq(Some(8), cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(Peer0).act(cx));
        })
        .after(|| tell("runs", task(Peer0).state(Anywhere)))
        .in_every_order()
        .are(&["activates: Ok(()); rotates: Ok(()); runs: Ok(Ready)", "activates: Ok(()); runs: Ok(Running)"]);
}

#[test]
fn a_higher_one_begins_where_dispatching_is_disabled() {
    Program::new()
        .dormant(High0, |cx| {
            tell("sets", event_flag().set(1, cx));
        })
        .active(Main0, |cx| {
            meet();
            let bits = || event_flag().refer(cx).map(|(_, bits)| bits);
            System::<App>::dis_dsp(cx).unwrap();
            tell("bits, and soon after", (bits(), bits()));
            System::<App>::ena_dsp(cx).unwrap();
            tell("bits in the end", bits());
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(High0).act(cx));
        })
        .with_unlocked_looks()
        .with_preemptions(4)
        .are(&[
            "activates: Ok(()); bits in the end: Ok(0); bits, and soon after: (Ok(0), Ok(0)); sets: Ok(())",
            "activates: Ok(()); bits in the end: Ok(1); bits, and soon after: (Ok(0), Ok(0)); sets: Ok(())",
            "activates: Ok(()); bits in the end: Ok(1); bits, and soon after: (Ok(1), Ok(1)); sets: Ok(())",
        ]);
}
