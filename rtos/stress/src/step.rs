//! The steps of tasks and handlers: random services, each followed by the oracle.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rtos::{
    Alarm, Anywhere, Current, DataQueue, Domain, EventFlag, InHandler, InTask, Kernel, Placed, Semaphore, Shared,
    System, Task,
};

use crate::progress::{AUDITS, BEGUN, OVER, SEED, STEPS};
use crate::watch;

/// How many shared tasks play.
const PLAYERS: usize = 8;

/// How many tasks play, shared or not.
const TASKS: i32 = 12;

/// The random numbers of each player: xorshift, seeded with the seed and its number.
static NUMBERS: [AtomicU64; 20] = [const { AtomicU64::new(0) }; 20];

/// The players from this one on are janitors: they end waits that would last for ever.
const JANITORS: usize = 18;

/// The number of a step that did nothing.
const RESTED: u64 = 99;

fn random(player: usize, below: u64) -> u64 {
    let number = &NUMBERS[player];
    let mut x = number.load(Relaxed);
    if x == 0 {
        x = SEED.load(Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(player as u64) | 1;
    }
    let (state, random) = rtos_stress::next(x, below);
    number.store(state, Relaxed);
    random
}

/// Checks that everything is consistent, and ends the program if it is not.
fn look<K: Kernel>(player: usize, did: u64) {
    let steps = STEPS.fetch_add(1, Relaxed);
    match rtos::audit::<K>() {
        Ok(true) => {
            AUDITS.fetch_add(1, Relaxed);
        }
        Ok(false) => {}
        Err(finding) => end(finding, player, did),
    }
    // Five times, since the other processor may change what this one is to do just before.
    let heard = || if System::<K>::sns_dpn() { Ok(()) } else { rtos::heard::<K>() };
    if steps.is_multiple_of(16)
        && let Some(finding) = (0..5).map_while(|_| heard().err()).nth(4)
    {
        end(finding, player, did);
    }
}

/// Reports what was found, and ends.
fn end(finding: rtos::Finding, player: usize, did: u64) -> ! {
    let seed = SEED.load(Relaxed);
    rtos_host::print(format_args!("finding: {finding:?}, after step {did} of player {player}, seed {seed}\n"));
    std::process::abort()
}

/// A random service, and what is to be looked at after it. From time to time everybody only waits for a moment instead:
/// then nothing but the timer of its processor lets a task go on, and it is seen if that was forgotten. Otherwise the next
/// interrupt makes up for it.
fn step<K: Kernel>(player: usize) {
    let did = if watch::quiet() {
        let _ = Current::<K>::delay(random(player, 400) as u32, Anywhere);
        RESTED
    } else {
        rtos_stress::any::<K>(&|below| random(player, below), &mut [player as u8; 12])
    };
    look::<K>(player, did);
}

/// The body of a shared task, until it is ended or ends itself.
pub fn worker<K: Kernel>(player: usize, _: InTask<Shared>) {
    BEGUN.fetch_add(1, Relaxed);
    loop {
        step::<K>(player);
        if !watch::quiet() && random(player, 300) == 0 {
            return;
        }
    }
}

/// The body of a pinned task.
pub fn own_worker<K: Kernel, D: Domain>(player: usize, cx: InTask<D>) {
    BEGUN.fetch_add(1, Relaxed);
    loop {
        step::<K>(player);
        // The shared tasks below it want to run too.
        if random(player, 4) == 0 {
            let _ = Current::<K>::delay(random(player, 300) as u32, cx);
        }
    }
}

/// Sees that no task of its processor waits for ever: every millisecond it ends a wait, a suspension, or begins a task.
pub fn janitor<K: Kernel, D: Domain>(processor: usize, cx: InTask<D>) {
    let player = JANITORS + processor;
    loop {
        let _ = Current::<K>::delay(1_000, cx);
        watch::goes_on(processor);
        // The other processor's own are refused.
        for task in (1..=TASKS).filter_map(|number| Task::<K, Placed>::by_number(number).ok()) {
            let _ = task.act(Anywhere);
            let _ = task.rsm(Anywhere);
            if !watch::quiet() && random(player, 8) == 0 {
                let _ = task.rel_wai(Anywhere);
            }
        }
        look::<K>(player, 0);
    }
}

/// The body of a handler.
pub fn in_handler<K: Kernel>(player: usize, cx: InHandler<Shared>) {
    if OVER.load(Relaxed) || watch::quiet() {
        return;
    }
    for _ in 0..2 {
        let did = random(player, 10);
        let task = 1 + random(player, PLAYERS as u64) as i32;
        let object = 1 + random(player, 4) as i32;
        let _ = match did {
            0 => Task::<K, _>::by_number(task).and_then(|task| task.act(cx)),
            1 => Task::<K, _>::by_number(task).and_then(|task| task.wup(cx)),
            2 => Task::<K, _>::by_number(task).and_then(|task| task.rel_wai(cx)),
            3 => Semaphore::<K, _>::by_number(object).and_then(|object| object.sig(Anywhere)),
            4 => EventFlag::<K, _>::by_number(object).and_then(|flag| flag.set(1 << random(player, 3), Anywhere)),
            5 => DataQueue::<K, _>::by_number(object).and_then(|queue| queue.psnd(1, Anywhere)),
            6 => DataQueue::<K, _>::by_number(object).and_then(|queue| queue.fsnd(2, Anywhere)),
            7 => System::<K>::rot_rdq(Some(8), cx),
            8 => Alarm::<K, _>::by_number(1 + object % 2).and_then(|alarm| alarm.sta(random(player, 2_000) as u32, cx)),
            _ => Task::<K, _>::by_number(task).and_then(|task| task.mact(Some(random(player, 3) as usize), cx)),
        };
        look::<K>(player, 100 + did);
    }
}

/// A task has used up its time: it may go on, with more.
pub fn overrun<K: Kernel>(cx: InHandler<Shared>, task: Task<K, Placed>) {
    let _ = task.sta_ovr(1 + random(17, 900) as u32, Anywhere);
    in_handler::<K>(17, cx);
}
