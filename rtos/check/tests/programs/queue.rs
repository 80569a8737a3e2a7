//! Data queues, event flags and memory pools: nothing is lost, and nothing is given out twice.

use rtos::{Anywhere, Mode, Timeout};
use rtos_check::program::{Program, meet, tell};
use rtos_check::world::{Who::*, data_queue, event_flag, handover, pool};

#[test]
fn a_word_is_handed_over() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sends", handover().snd(7, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("receives", handover().rcv(cx));
        })
        .in_every_order()
        .are(&["receives: Ok(7); sends: Ok(())"]);
}

#[test]
fn a_word_is_handed_over_while_time_passes() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sends", handover().tsnd(7, Timeout::micros(100).unwrap(), cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("receives", handover().prcv(cx));
        })
        .with_preemptions(3)
        .are(&["receives: Err(E_TMOUT); sends: Err(E_TMOUT)", "receives: Ok(7); sends: Ok(())"]);
}

#[test]
fn words_stay_in_order() {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("sends", (data_queue().snd(1, cx), data_queue().snd(2, cx)));
        })
        .active(Main1, |cx| {
            meet();
            tell("receives", (data_queue().rcv(cx), data_queue().rcv(cx)));
        })
        .after(|| tell("left", data_queue().refer(Anywhere)))
        .with_preemptions(3)
        .are(&["left: Ok((None, None, 0)); receives: (Ok(1), Ok(2)); sends: (Ok(()), Ok(()))"]);
}

#[test]
fn bits_are_set_by_two() {
    Program::new()
        .active(High0, |cx| tell("waits", event_flag().wai(0b11, Mode::All, cx)))
        .active(Main0, |cx| {
            meet();
            tell("0", event_flag().set(0b01, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", event_flag().set(0b10, cx));
        })
        .in_every_order()
        .are(&["0: Ok(()); 1: Ok(()); waits: Ok(3)"]);
}

#[test]
fn a_block_is_had_by_one() {
    Program::new()
        .active(Main0, |cx| {
            let block = pool().get(cx).unwrap();
            meet();
            tell("gives back", pool().rel(block, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("gets", pool().get(cx).is_ok());
        })
        .after(|| tell("left", pool().refer(Anywhere)))
        .in_every_order()
        .are(&["gets: true; gives back: Ok(()); left: Ok((None, 0))"]);
}
