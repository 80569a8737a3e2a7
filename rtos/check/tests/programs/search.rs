//! The search itself: what it leaves out makes no difference.

use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{Who::*, semaphore};

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

#[test]
fn every_order_has_the_outcomes_of_every_order_step_for_step() {
    let outcomes = ["signals: Ok(()); takes: Err(E_TMOUT)", "signals: Ok(()); takes: Ok(())"];
    let few = program().in_every_order().are(&outcomes);
    let all = program().in_every_order_step_for_step().are(&outcomes);
    assert!(few.runs < all.runs);
}
