//! Pinned tasks: only their processor touches them, beside shared tasks that other processors change at the same time.

use rtos::{Anywhere, Current, System, Time, Timeout};
use rtos_check::program::{Program, meet, stay, tell};
use rtos_check::world::{App, Who::*, alarm, pinned_semaphore, pinned_task, semaphore, task};

type C = Current<App>;

#[test]
fn a_pinned_task_gives_way_to_one_that_is_activated_elsewhere() {
    Program::new()
        .dormant(High0, |_| tell("runs", ()))
        .active_pinned::<0>(|cx| {
            meet();
            tell("sleeps", C::sleep_for(Timeout::POLL, cx));
            tell("signals", pinned_semaphore::<0>().sig(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(High0).act(cx));
        })
        .with_preemptions(4)
        .are(&["activates: Ok(()); runs: (); signals: Ok(()); sleeps: Err(E_TMOUT)"])
        .at_least(20);
}

#[test]
fn what_a_pinned_task_gives_way_to_is_suspended() {
    Program::new()
        .active(Main0, |_| stay())
        .active_pinned::<0>(|_| meet())
        .active(Main1, |cx| {
            meet();
            tell("suspends", task(Main0).sus(cx));
            tell("resumes", task(Main0).rsm(cx));
        })
        .after(|| tell("is", task(Main0).state(Anywhere)))
        .with_preemptions(4)
        .are(&["is: Ok(Running); resumes: Ok(()); suspends: Ok(())"])
        .at_least(20);
}

#[test]
fn what_a_pinned_task_gives_way_to_gets_another_priority() {
    Program::new()
        .active(Main0, |_| stay())
        .active_pinned::<0>(|cx| {
            meet();
            tell("sleeps", C::sleep(cx));
            stay();
        })
        .active(Main1, |cx| {
            meet();
            tell("raises", task(Main0).chg_pri(Some(4), cx));
            tell("lowers", task(Main0).chg_pri(Some(9), cx));
        })
        .after(|| {
            tell("is", (task(Main0).priority(Anywhere), pinned_task::<0>().state(Anywhere)));
        })
        .with_preemptions(4)
        .are(&["is: (Ok(9), Ok(Waiting)); lowers: Ok(()); raises: Ok(())"]);
}

#[test]
fn pinned_tasks_of_both_processors_signal_a_shared_semaphore() {
    Program::new()
        .active(High0, |cx| {
            tell("takes", semaphore().wai(cx));
            tell("takes", semaphore().wai(cx));
        })
        .active_pinned::<0>(|cx| {
            meet();
            tell("0", semaphore().sig(cx));
        })
        .active_pinned::<1>(|cx| {
            meet();
            tell("1", semaphore().sig(cx));
        })
        .with_preemptions(4)
        .are(&["0: Ok(()); 1: Ok(()); takes: Ok(()); takes: Ok(())"]);
}

#[test]
fn the_time_of_a_pinned_task_passes_while_shared_ones_change() {
    Program::new()
        .dormant(High0, |_| tell("runs", ()))
        .active_pinned::<0>(|cx| {
            meet();
            tell("waits", pinned_semaphore::<0>().twai(Timeout::micros(100).unwrap(), cx));
            tell("is", System::<App>::get_tid(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", task(High0).act(cx));
        })
        .with_slow_interrupts()
        .with_preemptions(2)
        .are(&["activates: Ok(()); is: Ok(Some(9)); runs: (); waits: Err(E_TMOUT)"]);
}

/// Longer than any timer here is waited for.
const LONG: u32 = 1_500_000;

/// The timer of a processor without shared deadlines is set without the giant lock. This one gets a shared one meanwhile,
/// and nothing else would let it look again.
#[test]
fn a_shared_deadline_comes_to_a_processor_that_had_only_its_own() {
    Program::new()
        .alarm(|_| tell("rings", System::<App>::processor()))
        .active_pinned::<0>(|cx| {
            meet();
            tell("waits", Current::<App>::delay(20, cx));
            tell("long wait", Current::<App>::delay(LONG, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("sets", alarm().msta(50, Some(0), cx));
        })
        .with_slow_interrupts()
        .with_preemptions(2)
        .are(&["rings: 0; sets: Ok(()); waits: Ok(())"])
        .at_least(100);
}

/// adj_tim moves the deadlines of the other processor too, which takes no lock for its own.
#[test]
fn a_deadline_comes_nearer_while_its_processor_sets_its_timer() {
    Program::new()
        .active_pinned::<0>(|cx| tell("long wait", Current::<App>::delay(LONG, cx)))
        .active(Main0, |cx| {
            meet();
            tell("waits", Current::<App>::delay(20, cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("moves", Time::<App>::adjust(900_000, cx));
        })
        .with_slow_interrupts()
        .with_preemptions(2)
        .are(&["long wait: Ok(()); moves: Ok(()); waits: Ok(())"])
        .at_least(100);
}

#[test]
fn a_task_moves_to_where_a_pinned_one_begins() {
    Program::new()
        .dormant_pinned::<1>(|_| tell("begins", ()))
        .active(Main0, |cx| {
            meet();
            tell("moves", task(Main0).mig(Some(1), cx));
            tell("is on", System::<App>::get_pid(cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("activates", pinned_task::<1>().act(Anywhere));
            tell("is of", task(Main0).refer(cx).map(|told| told.waits_for));
        })
        .with_preemptions(4)
        .are(&["activates: Ok(()); begins: (); is of: Ok(None); is on: Ok(1); moves: Ok(())"]);
}

#[test]
fn turns_are_given_among_pinned_and_shared_tasks() {
    Program::new()
        .active(Peer0, |_| tell("peer ends", ()))
        .active_pinned::<0>(|cx| {
            tell("lowers itself", pinned_task::<0>().chg_pri(Some(8), cx));
            meet();
            tell("gives its turn", System::<App>::rot_rdq(None, cx));
        })
        .active(Main0, |_| tell("main ends", ()))
        .active(Main1, |cx| {
            meet();
            tell("gives turns", System::<App>::mrot_rdq(0, Some(8), cx));
        })
        .with_preemptions(4)
        .are(&["gives its turn: Ok(()); gives turns: Ok(()); lowers itself: Ok(()); main ends: (); peer ends: ()"]);
}
