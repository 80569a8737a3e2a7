//! One random service, with random arguments.
//!
//! Objects are named by number, as C names them, so that every kind of caller meets every kind of object, pinned ones
//! of another processor too. The result of the service does not matter here, only the state that the service leaves
//! behind.
//!
//! The kernel has 12 players among its tasks, four semaphores, event flags, data queues and mutexes, and the other
//! objects that are used here.
#![no_std]

mod objects;

use rtos::{
    Anywhere, Current, Cyclic, DataQueue, Error, EventFlag, Kernel, MemoryPool, MessageBuffer, Mode, Mutex, Placed,
    PriorityDataQueue, Semaphore, SpinLock, System, Task, Time, Timeout,
};

/// Gives a random number below another.
pub type Random<'a> = &'a dyn Fn(u64) -> u64;

fn timeout(random: Random<'_>) -> Timeout {
    match random(6) {
        0 => Timeout::POLL,
        1 => Timeout::FOREVER,
        _ => Timeout::micros(random(800) as u32).unwrap_or(Timeout::POLL),
    }
}

/// One random service of the calling task, which has a message to send or room for one. Gives which service it was.
pub fn any<K: Kernel>(random: Random<'_>, message: &mut [u8; 12]) -> u64 {
    let r = random;
    let what = r(64);
    let player_task = Task::<K, Placed>::by_number(1 + r(12) as i32);
    let semaphore = Semaphore::<K, _>::by_number(1 + r(4) as i32);
    let flag = EventFlag::<K, _>::by_number(1 + r(4) as i32);
    let queue = DataQueue::<K, _>::by_number(1 + r(4) as i32);
    let priority_queue = PriorityDataQueue::<K, _>::by_number(1 + r(2) as i32);
    let mutex = Mutex::<K, _>::by_number(1 + r(4) as i32);
    let buffer = MessageBuffer::<K, _>::by_number(1 + r(4) as i32);
    let at = Anywhere;
    let mode = if r(2) == 0 { Mode::All } else { Mode::Any };
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
        20 if r(2) == 0 => player_task.and_then(|task| task.ter(at)),
        20 => player_task.and_then(|task| match r(3) {
            0 => task.stp_ovr(at),
            1 => task.ref_ovr(at).map(|_| ()),
            _ => task.sta_ovr(1 + r(900) as u32, at),
        }),
        21 => player_task.and_then(|task| task.ras_ter(at)),
        22 => Current::<K>::disable_termination(at),
        23 | 24 => Current::<K>::enable_termination(at),
        25 | 26 => Current::<K>::sleep_for(timeout(r), at),
        27 => Current::<K>::delay(r(500) as u32, at),
        28 | 29 => semaphore.and_then(|semaphore| semaphore.sig(at)),
        30 | 31 => semaphore.and_then(|semaphore| semaphore.twai(timeout(r), at)),
        32 => semaphore.and_then(|semaphore| if r(8) == 0 { semaphore.ini(at) } else { semaphore.pol(at) }),
        33 | 34 => flag.and_then(|flag| flag.set(r(8) as u32, at)),
        35 => flag.and_then(|flag| if r(8) == 0 { flag.ini(at) } else { flag.clr(r(8) as u32, at) }),
        36 | 37 => flag.and_then(|flag| flag.twai(1 + r(7) as u32, mode, timeout(r), at)).map(|_| ()),
        38 | 39 => queue.and_then(|queue| queue.tsnd(r(99) as usize, timeout(r), at)),
        40 | 41 => queue.and_then(|queue| queue.trcv(timeout(r), at)).map(|_| ()),
        42 => queue.and_then(|queue| if r(8) == 0 { queue.ini(at) } else { queue.fsnd(1, at) }),
        43 | 44 => priority_queue.and_then(|queue| queue.tsnd(1, 1 + r(6) as usize, timeout(r), at)),
        45 | 46 => priority_queue.and_then(|queue| queue.trcv(timeout(r), at)).map(|_| ()),
        47 => priority_queue.and_then(|queue| if r(8) == 0 { queue.ini(at) } else { queue.prcv(at).map(|_| ()) }),
        48..=50 => mutex.and_then(|mutex| mutex.tloc(timeout(r), at)),
        51 | 52 => mutex.and_then(|mutex| mutex.unl(at)),
        53 => mutex.and_then(|mutex| if r(8) == 0 { mutex.ini(at) } else { mutex.ploc(at) }),
        54 | 55 => buffer.and_then(|buffer| buffer.tsnd(&message[..1 + r(11) as usize], timeout(r), at)),
        56 | 57 => buffer.and_then(|buffer| buffer.trcv(message, timeout(r), at)).map(|_| ()),
        58 => buffer.and_then(|buffer| if r(8) == 0 { buffer.ini(at) } else { buffer.psnd(&message[..3], at) }),
        59 => memory::<K>(r),
        60 => dispatching::<K>(r),
        61 => time::<K>(r),
        62 => Cyclic::<K, _>::by_number(1 + r(2) as i32)
            .and_then(|cyclic| if r(4) == 0 { cyclic.stp(at) } else { cyclic.msta(Some(r(2) as usize), at) }),
        _ => spinning::<K>(r),
    };
    what
}

/// Takes a block and gives it back; sometimes the pool is made anew meanwhile, and giving back fails.
fn memory<K: Kernel>(random: Random<'_>) -> Result<(), Error> {
    let pool = MemoryPool::<K, _>::by_number(1)?;
    if random(16) == 0 {
        // SAFETY: nobody reads or writes a block.
        return unsafe { pool.ini(Anywhere) };
    }
    let block = pool.tget(timeout(random), Anywhere)?;
    let _ = Current::<K>::delay(random(50) as u32, Anywhere);
    pool.rel(block, Anywhere)
}

/// A section under a spin lock. Sometimes the task ends within.
fn spinning<K: Kernel>(random: Random<'_>) -> Result<(), Error> {
    let lock = SpinLock::<K, _>::by_number(1)?;
    lock.loc(Anywhere)?;
    if random(16) == 0 {
        // A handler cannot, and goes on.
        Current::<K>::exit_anywhere();
    }
    lock.unl(Anywhere)
}

/// A section without dispatching, or with interrupts held back.
fn dispatching<K: Kernel>(random: Random<'_>) -> Result<(), Error> {
    let woken = Task::<K, Placed>::by_number(1 + random(12) as i32);
    if random(2) == 0 {
        System::<K>::dis_dsp(Anywhere)?;
        let _ = woken.and_then(|task| task.wup(Anywhere));
        if random(4) == 0 {
            Current::<K>::enable_termination(Anywhere)?;
        }
        System::<K>::ena_dsp(Anywhere)
    } else {
        System::<K>::chg_ipm(-1 - random(7) as i32, Anywhere)?;
        let _ = woken.and_then(|task| task.wup(Anywhere));
        System::<K>::chg_ipm(0, Anywhere)
    }
}

fn time<K: Kernel>(random: Random<'_>) -> Result<(), Error> {
    match random(3) {
        0 => Time::<K>::get(Anywhere).map(|_| ()),
        1 => Time::<K>::adjust(random(200) as i32 - 100, Anywhere),
        _ => System::<K>::mrot_rdq(random(2) as usize, Some(1 + random(16) as usize), Anywhere),
    }
}

/// The next of a row of random numbers (xorshift), below another. The row goes on from `state`, which is not zero.
pub fn next(state: u64, below: u64) -> (u64, u64) {
    let mut x = state;
    x ^= x << 13;
    x ^= x >> 7;
    x ^= x << 17;
    (x, (x >> 11) % below)
}
