//! act_tsk, ext_tsk and mact_tsk: each activation is served or refused.

use rtos::Anywhere;
use rtos_check::program::{Program, meet, tell};
use rtos_check::world::{Who::*, task};

#[test]
fn two_processors_activate_a_task() {
    Program::new()
        .dormant(High0, |_| tell("begins", ()))
        .active(Main0, |cx| {
            meet();
            tell("0", task(High0).act(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", task(High0).act(cx));
        })
        .with_preemptions(4)
        .are(&["0: Ok(()); 1: Ok(()); begins: (); begins: ()"]);
}

#[test]
fn an_activation_meets_the_end() {
    Program::new()
        .active(Main0, |_| {
            tell("begins", ());
            meet();
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(Main0).act(cx));
        })
        .in_every_order()
        .are(&["activates: Ok(()); begins: (); begins: ()"]);
}

#[test]
fn an_activation_elsewhere_meets_the_end() {
    Program::new()
        .active(Main0, |cx| {
            tell("begins on", rtos::System::<rtos_check::world::App>::get_pid(cx));
            meet();
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(Main0).mact(Some(1), cx));
        })
        .after(|| tell("is on", task(Main0).refer(Anywhere).map(|told| told.processor)))
        .in_every_order()
        .are(&["activates: Ok(()); begins on: Ok(0); begins on: Ok(1); is on: Ok(1)"]);
}

#[test]
fn an_activation_elsewhere_meets_one_here() {
    Program::new()
        .dormant(Low0, |cx| tell("begins on", rtos::System::<rtos_check::world::App>::get_pid(cx)))
        .active(Main0, |cx| {
            meet();
            tell("0", task(Low0).act(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", task(Low0).mact(Some(1), cx));
        })
        .in_every_order()
        .are(&[
            "0: Ok(()); 1: Ok(()); begins on: Ok(0); begins on: Ok(1)",
            "0: Ok(()); 1: Ok(()); begins on: Ok(1); begins on: Ok(1)",
        ]);
}
