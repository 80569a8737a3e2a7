//! Spin locks: one processor at a time is in a section, and a task that ends in a section leaves it.

use std::cell::Cell;

use rtos::{Anywhere, Current, System};
use rtos_check::program::{Program, meet, tell};
use rtos_check::world::{App, Who::*, spin_lock, task};

thread_local! {
    /// How many processors are in the section. A run that is given up may leave it so.
    static INSIDE: Cell<usize> = const { Cell::new(0) };
}

/// What is done in the section; the other processor can go on meanwhile.
fn section() {
    INSIDE.set(INSIDE.get() + 1);
    assert!(System::<App>::sns_loc(), "the processor is locked in the section");
    assert_eq!(INSIDE.get(), 1, "how many processors are in the section");
    INSIDE.set(INSIDE.get() - 1);
}

#[test]
fn one_processor_at_a_time_is_in_the_section() {
    Program::new()
        .active(Main0, |cx| {
            INSIDE.set(0);
            meet();
            tell("0", (spin_lock().loc(cx), section(), spin_lock().unl(cx)));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", (spin_lock().loc(cx), section(), spin_lock().unl(cx)));
        })
        .after(|| tell("taken", spin_lock().refer(Anywhere)))
        .in_every_order()
        .are(&["0: (Ok(()), (), Ok(())); 1: (Ok(()), (), Ok(())); taken: Ok(false)"])
        .at_least(10);
}

#[test]
fn who_tries_gets_it_or_does_not() {
    Program::new()
        .active(Main0, |cx| {
            INSIDE.set(0);
            meet();
            tell("0", spin_lock().try_loc(cx).map(|()| (section(), spin_lock().unl(cx))));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", spin_lock().try_loc(cx).map(|()| (section(), spin_lock().unl(cx))));
        })
        .in_every_order()
        .are(&[
            "0: Ok(((), Ok(()))); 1: Err(E_OBJ)",
            "0: Ok(((), Ok(()))); 1: Ok(((), Ok(())))",
            "0: Err(E_OBJ); 1: Ok(((), Ok(())))",
        ]);
}

#[test]
fn who_ends_in_the_section_leaves_it() {
    Program::new()
        .active(Main0, |cx| {
            INSIDE.set(0);
            meet();
            spin_lock().loc(cx).unwrap();
            Current::<App>::exit(cx)
        })
        .active(Main1, |cx| {
            meet();
            tell("takes", (spin_lock().loc(cx), section(), spin_lock().unl(cx)));
            tell("activates", task(Low0).act(cx));
        })
        .dormant(Low0, |_| tell("runs", ()))
        .after(|| tell("taken", spin_lock().refer(Anywhere)))
        .in_every_order()
        .are(&["activates: Ok(()); runs: (); taken: Ok(false); takes: (Ok(()), (), Ok(()))"]);
}
