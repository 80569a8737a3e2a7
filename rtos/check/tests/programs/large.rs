//! Large programs, with too many orders to try them all: some thousands of orders at random, and the orders with few
//! preemptions.

use rtos::{Anywhere, Current, Domain, Error, InTask, Time, Timeout};
use rtos_check::program::{Cx, Found, Program, meet, stay, tell};
use rtos_check::world::{App, EVERYBODY, Who, Who::*, alarm, data_queue, event_flag, mutex, semaphore, task};

const RUNS: usize = 6_000;

/// Says only that nothing was found; there are too many outcomes to name.
fn tried(found: Found) {
    assert!(found.runs >= RUNS && found.outcomes.len() > 1, "{found:?}");
}

fn everybody() -> impl std::fmt::Debug {
    EVERYBODY.map(|who| task(who).refer(Anywhere).map(|told| (told.state, told.processor)))
}

/// Takes both mutexes in that order, and gives them back.
fn use_both(cx: Cx, first: usize, second: usize) -> Result<(), Error> {
    mutex(first).loc(cx)?;
    let both = mutex(second).tloc(Timeout::micros(50)?, cx);
    if both.is_ok() {
        mutex(second).unl(cx)?;
    }
    mutex(first).unl(cx)?;
    both
}

#[test]
fn mutexes_are_taken_in_both_orders() {
    let found = Program::new()
        .active(Low0, |cx| {
            meet();
            tell("low", use_both(cx, 0, 1));
        })
        .active(Main1, |cx| {
            meet();
            tell("high", use_both(cx, 1, 0));
        })
        .dormant(High1, |cx| tell("highest", use_both(cx, 0, 1)))
        .dormant(Main0, |cx| tell("raises", task(Low0).chg_pri(Some(2), cx)))
        .active(High0, |cx| {
            let _ = Current::<App>::delay(40, cx);
            let _ = (task(High1).act(cx), task(Main0).act(cx));
        })
        .after(|| tell("owners", [0, 1].map(|number| mutex(number).refer(Anywhere))));
    tried(found.at_random(RUNS, 4));
}

#[test]
fn three_tasks_pass_words_on_while_they_are_moved() {
    let found = Program::new()
        .active(High0, |cx| {
            for word in 0..3 {
                let _ = data_queue().snd(word, cx);
            }
        })
        .active(Main0, |cx| {
            meet();
            tell("moves", task(High0).mig(Some(1), cx));
            tell("0", data_queue().trcv(Timeout::micros(30).unwrap(), cx));
        })
        .active(Main1, |cx| {
            meet();
            tell("1", data_queue().trcv(Timeout::micros(30).unwrap(), cx));
            tell("moves back", task(High0).mig(Some(0), cx));
        })
        .after(|| tell("left", data_queue().refer(Anywhere)));
    tried(found.at_random(RUNS, 4));
}

/// Waits so long, three times.
fn wait_often<D: Domain>(who: &str, micros: u32, cx: InTask<D>) {
    for _ in 0..3 {
        let _ = Current::<App>::delay(micros, cx);
    }
    tell(who, ());
}

/// A processor that has only deadlines of its own sets its timer without the giant lock, whoever gives it others meanwhile:
/// while it has others too, and when none of its own would let it look again.
#[test]
fn no_deadline_is_forgotten_whoever_sets_it() {
    let found = Program::new()
        .alarm(|_| tell("rings", ()))
        .active_pinned::<0>(|cx| {
            meet();
            wait_often("own of 0", 10, cx);
        })
        .active_pinned::<1>(|cx| wait_often("own of 1", 30, cx))
        .active(High0, |cx| wait_often("of 0", 15, cx))
        .active(Main1, |cx| {
            meet();
            let _ = alarm().msta(20, Some(0), cx);
            wait_often("of 1", 12, cx);
            let _ = Time::<App>::adjust(-10, cx);
            let _ = alarm().msta(15, Some(0), cx);
        })
        .with_slow_interrupts()
        .at_random(RUNS, 4);
    let all = "of 0: (); of 1: (); own of 0: (); own of 1: (); rings: ()";
    for outcome in found.outcomes.keys() {
        // The second start of the alarm may be before the first is due.
        assert!(outcome.starts_with(all), "{outcome}");
    }
}

/// What a task may do to another.
fn disturb(who: Who, cx: Cx, turn: u32) {
    let victim = task(who);
    let _ = match turn {
        0 => victim.sus(cx),
        1 => victim.chg_pri(Some(3), cx),
        2 => victim.rsm(cx),
        3 => victim.ras_ter(cx),
        4 => victim.act(cx),
        5 => victim.mig(Some(1), cx),
        6 => victim.rel_wai(cx),
        _ => victim.mact(Some(0), cx),
    };
}

#[test]
fn a_task_is_disturbed_by_both_processors() {
    for turns in [[0, 5, 2, 3], [3, 4, 5, 0], [1, 6, 3, 7], [5, 0, 2, 6]] {
        let found = Program::new()
            .active(High0, |cx| {
                tell("waits", semaphore().twai(Timeout::micros(20).unwrap(), cx));
                tell("sleeps", Current::<App>::sleep(cx));
                stay();
            })
            .active(Main0, move |cx| {
                meet();
                turns.iter().for_each(|&turn| disturb(High0, cx, turn));
            })
            .active(Main1, move |cx| {
                meet();
                turns.iter().for_each(|&turn| disturb(High0, cx, 7 - turn));
                let _ = (semaphore().sig(cx), event_flag().set(1, cx), task(High0).wup(cx));
            })
            .with_slow_interrupts()
            .after(|| tell("are", everybody()));
        tried(found.at_random(RUNS, 5));
    }
}
