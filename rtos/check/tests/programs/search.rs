//! The search itself: the orders that it leaves out make no difference.

use rtos::Anywhere;
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{Who::*, semaphore, task};

fn program() -> Program {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("takes", semaphore().pol(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
            stay();
        })
}

/// One processor takes an interrupt in the midst of a service, and switches.
fn program_with_an_interrupt() -> Program {
    Program::new()
        .dormant(High0, |_| {
            tell("runs", semaphore().refer(Anywhere).map(|(_, count)| count));
            stay();
        })
        .active(Main0, |cx| {
            meet();
            tell("signals", semaphore().sig(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(High0).act(cx));
            stay();
        })
}

/// A task that calls a service is suspended.
fn program_with_a_suspension() -> Program {
    Program::new()
        .active(Main0, |cx| {
            meet();
            tell("takes", semaphore().pol(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Main0).sus(cx));
            stay();
        })
}

/// Both ways to try every order find the same, down to what each processor did and who had the lock when.
fn both_ways(program: fn() -> Program, at_least: usize) {
    let few = program().telling_steps().in_every_order();
    let all = program().telling_steps().in_every_order_step_for_step();
    assert!(few.outcomes.keys().eq(all.outcomes.keys()), "{few:?}, but {all:?}");
    assert!(few.runs < all.runs && few.outcomes.len() >= at_least, "{few:?}");
}

#[test]
fn what_is_left_out_makes_no_difference() {
    both_ways(program, 4);
    both_ways(program_with_an_interrupt, 10);
    both_ways(program_with_a_suspension, 10);
}

#[test]
fn there_are_both_outcomes() {
    program().in_every_order().are(&["signals: Ok(()); takes: Err(E_TMOUT)", "signals: Ok(()); takes: Ok(())"]);
}
