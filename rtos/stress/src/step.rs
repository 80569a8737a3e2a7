//! One random service.
//!
//! Objects are named by number, as C names them, so that every kind of caller meets every kind of object, pinned ones of
//! another processor too. What a service answers does not matter here; what it leaves behind does.

use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use rtos::{
    Alarm, Anywhere, Context, Current, Cyclic, DataQueue, Domain, EventFlag, InHandler, InTask, MemoryPool,
    MessageBuffer, Mode, Mutex, Placed, PriorityDataQueue, Semaphore, Shared, SpinLock, System, Task, Time, Timeout,
};

use crate::objects::{App, JANITOR, PLAYERS};
use crate::{AUDITS, BEGUN, OVER, SEED, STEPS};

type C = Current<App>;

/// The random numbers of each player: xorshift, seeded with the seed and its number.
static NUMBERS: [AtomicU64; 20] = [const { AtomicU64::new(0) }; 20];

fn random(player: usize, below: u64) -> u64 {
    let number = &NUMBERS[player];
    let mut x = number.load(Relaxed);
    if x == 0 {
        x = SEED.load(Relaxed).wrapping_mul(0x9E37_79B9_7F4A_7C15).wrapping_add(player as u64) | 1;
    }
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    number.store(x, Relaxed);
    (x >> 11) % below
}

/// Looks whether everything fits, and ends the program if it does not.
fn look(player: usize, did: u64) {
    STEPS.fetch_add(1, Relaxed);
    match rtos::audit::<App>() {
        Ok(true) => {
            AUDITS.fetch_add(1, Relaxed);
        }
        Ok(false) => {}
        Err(finding) => {
            let seed = SEED.load(Relaxed);
            rtos_host::print(format_args!("finding: {finding:?}, after step {did} of player {player}, seed {seed}\n"));
            std::process::exit(1);
        }
    }
}

/// What a shared task does, until it is ended or ends itself.
pub fn worker(player: usize, cx: InTask<Shared>) {
    BEGUN.fetch_add(1, Relaxed);
    loop {
        let did = step(player, cx);
        look(player, did);
        if random(player, 300) == 0 {
            return;
        }
    }
}

/// What a pinned task does.
pub fn own_worker<D: Domain>(player: usize, cx: InTask<D>) {
    BEGUN.fetch_add(1, Relaxed);
    loop {
        let did = step(player, cx);
        look(player, did);
        // The shared tasks below it want to run too.
        if random(player, 4) == 0 {
            let _ = C::delay(random(player, 300) as u32, cx);
        }
    }
}

/// Sees that nobody waits for ever: every millisecond it ends a wait, a suspension, or lets a task begin.
pub fn janitor(cx: InTask<Shared>) {
    loop {
        let _ = C::delay(1_000, cx);
        for number in 1..=PLAYERS as i32 {
            let Ok(task) = Task::<App, Placed>::by_number(number) else { continue };
            let _ = task.act(cx);
            let _ = task.rsm(cx);
            if random(0, 8) == 0 {
                let _ = task.rel_wai(cx);
            }
        }
        for number in 9..=12 {
            if let Ok(task) = Task::<App, Placed>::by_number(number) {
                let _ = task.act(Anywhere);
                let _ = task.rsm(Anywhere);
                let _ = task.rel_wai(Anywhere);
            }
        }
        look(0, 0);
    }
}

/// What a handler does.
pub fn in_handler(player: usize, cx: InHandler<Shared>) {
    if OVER.load(Relaxed) {
        return;
    }
    for _ in 0..2 {
        let did = random(player, 10);
        let task = 1 + random(player, PLAYERS as u64) as i32;
        let object = 1 + random(player, 4) as i32;
        let _ = match did {
            0 => Task::<App, _>::by_number(task).and_then(|task| task.act(cx)),
            1 => Task::<App, _>::by_number(task).and_then(|task| task.wup(cx)),
            2 => Task::<App, _>::by_number(task).and_then(|task| task.rel_wai(cx)),
            3 => Semaphore::<App, _>::by_number(object).and_then(|object| object.sig(Anywhere)),
            4 => EventFlag::<App, _>::by_number(object).and_then(|flag| flag.set(1 << random(player, 3), Anywhere)),
            5 => DataQueue::<App, _>::by_number(object).and_then(|queue| queue.psnd(1, Anywhere)),
            6 => DataQueue::<App, _>::by_number(object).and_then(|queue| queue.fsnd(2, Anywhere)),
            7 => System::<App>::rot_rdq(Some(8), cx),
            8 => {
                Alarm::<App, _>::by_number(1 + object % 2).and_then(|alarm| alarm.sta(random(player, 2_000) as u32, cx))
            }
            _ => Task::<App, _>::by_number(task).and_then(|task| task.mact(Some(random(player, 3) as usize), cx)),
        };
        look(player, 100 + did);
    }
}

fn timeout(player: usize) -> Timeout {
    match random(player, 6) {
        0 => Timeout::POLL,
        1 => Timeout::FOREVER,
        _ => Timeout::micros(random(player, 800) as u32).unwrap_or(Timeout::POLL),
    }
}

/// One random service. Gives which it was.
fn step<D: Domain>(player: usize, cx: InTask<D>) -> u64
where
    InTask<D>: Context,
{
    let r = |below: u64| random(player, below);
    let what = r(64);
    let player_task = Task::<App, Placed>::by_number(1 + r(12) as i32);
    let semaphore = Semaphore::<App, _>::by_number(1 + r(4) as i32);
    let flag = EventFlag::<App, _>::by_number(1 + r(4) as i32);
    let queue = DataQueue::<App, _>::by_number(1 + r(4) as i32);
    let priority_queue = PriorityDataQueue::<App, _>::by_number(1 + r(2) as i32);
    let mutex = Mutex::<App, _>::by_number(1 + r(4) as i32);
    let buffer = MessageBuffer::<App, _>::by_number(1 + r(2) as i32);
    let at = Anywhere;
    let mode = if r(2) == 0 { Mode::All } else { Mode::Any };
    let bytes = [r(256) as u8; 12];
    let _ = match what {
        0..=3 => player_task.and_then(|task| task.act(at)),
        4 => player_task.and_then(|task| task.can_act(at)).map(|_| ()),
        5 => player_task.and_then(|task| task.mact(Some(r(3) as usize), at)),
        6 | 7 => player_task.and_then(|task| task.mig(Some(r(2) as usize), at)),
        8 | 9 => player_task.and_then(|task| task.chg_pri((r(3) > 0).then(|| 3 + r(10) as usize), at)),
        10 => player_task.and_then(|task| task.refer(at)).map(|_| ()),
        11..=13 => player_task.and_then(|task| task.wup(at)),
        14 => player_task.and_then(|task| task.can_wup(at)).map(|_| ()),
        15 => player_task.and_then(|task| task.rel_wai(at)),
        16 => player_task.and_then(|task| task.sus(at)),
        17..=19 => player_task.and_then(|task| task.rsm(at)),
        20 => player_task.and_then(|task| task.ter(at)),
        21 => player_task.and_then(|task| task.ras_ter(at)),
        22 => C::disable_termination(cx),
        23 | 24 => C::enable_termination(cx),
        25 | 26 => C::sleep_for(timeout(player), cx),
        27 => C::delay(r(500) as u32, cx),
        28 | 29 => semaphore.and_then(|semaphore| semaphore.sig(at)),
        30 | 31 => semaphore.and_then(|semaphore| semaphore.twai(timeout(player), at)),
        32 => semaphore.and_then(|semaphore| if r(8) == 0 { semaphore.ini(at) } else { semaphore.pol(at) }),
        33 | 34 => flag.and_then(|flag| flag.set(r(8) as u32, at)),
        35 => flag.and_then(|flag| if r(8) == 0 { flag.ini(at) } else { flag.clr(r(8) as u32, at) }),
        36 | 37 => flag.and_then(|flag| flag.twai(1 + r(7) as u32, mode, timeout(player), at)).map(|_| ()),
        38 | 39 => queue.and_then(|queue| queue.tsnd(r(99) as usize, timeout(player), at)),
        40 | 41 => queue.and_then(|queue| queue.trcv(timeout(player), at)).map(|_| ()),
        42 => queue.and_then(|queue| if r(8) == 0 { queue.ini(at) } else { queue.fsnd(1, at) }),
        43 | 44 => priority_queue.and_then(|queue| queue.tsnd(1, 1 + r(6) as usize, timeout(player), at)),
        45 | 46 => priority_queue.and_then(|queue| queue.trcv(timeout(player), at)).map(|_| ()),
        47 => priority_queue.and_then(|queue| if r(8) == 0 { queue.ini(at) } else { queue.prcv(at).map(|_| ()) }),
        48..=50 => mutex.and_then(|mutex| mutex.tloc(timeout(player), at)),
        51 | 52 => mutex.and_then(|mutex| mutex.unl(at)),
        53 => mutex.and_then(|mutex| if r(8) == 0 { mutex.ini(at) } else { mutex.ploc(at) }),
        54 | 55 => buffer.and_then(|buffer| buffer.tsnd(&bytes[..1 + r(11) as usize], timeout(player), at)),
        56 | 57 => buffer.and_then(|buffer| buffer.trcv(&mut [0; 12], timeout(player), at)).map(|_| ()),
        58 => buffer.and_then(|buffer| if r(8) == 0 { buffer.ini(at) } else { buffer.psnd(&bytes[..3], at) }),
        59 => memory(player),
        60 => dispatching(player, cx),
        61 => time(player),
        62 => Cyclic::<App, _>::by_number(1 + r(2) as i32)
            .and_then(|cyclic| if r(4) == 0 { cyclic.stp(at) } else { cyclic.msta(Some(r(2) as usize), at) }),
        _ => SpinLock::<App, _>::by_number(1).and_then(|lock| lock.loc(at).and_then(|()| lock.unl(at))),
    };
    what
}

/// Takes blocks and gives them back; sometimes the pool is made anew meanwhile, and giving back fails.
fn memory(player: usize) -> Result<(), rtos::Error> {
    let pool = MemoryPool::<App, _>::by_number(1)?;
    if random(player, 16) == 0 {
        // SAFETY: nobody reads or writes a block.
        return unsafe { pool.ini(Anywhere) };
    }
    let block = pool.tget(timeout(player), Anywhere)?;
    let _ = C::delay(random(player, 50) as u32, Anywhere);
    pool.rel(block, Anywhere)
}

/// A section without dispatching, or with interrupts held back.
fn dispatching<D: Domain>(player: usize, cx: InTask<D>) -> Result<(), rtos::Error> {
    if random(player, 2) == 0 {
        System::<App>::dis_dsp(cx)?;
        let _ = JANITOR.wup(Anywhere);
        System::<App>::ena_dsp(cx)
    } else {
        System::<App>::chg_ipm(-1 - random(player, 7) as i32, cx)?;
        let _ = JANITOR.wup(Anywhere);
        System::<App>::chg_ipm(0, cx)
    }
}

fn time(player: usize) -> Result<(), rtos::Error> {
    match random(player, 3) {
        0 => Time::<App>::get(Anywhere).map(|_| ()),
        1 => Time::<App>::adjust(random(player, 200) as i32 - 100, Anywhere),
        _ => System::<App>::rot_rdq(Some(1 + random(player, 16) as usize), Anywhere),
    }
}
