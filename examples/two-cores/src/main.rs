//! A producer on one processor and a consumer on the other.
//!
//! `cargo run -p two-cores`
//!
//! - Blocks of memory go round: the producer takes a block from the pool, fills it and sends its address; the consumer adds the
//!   block up and gives it back. When the consumer is behind, the pool is empty, and the producer waits.
//! - Each processor also has a pinned task, which counts how often its own cyclic notification called it. A pinned task takes no
//!   lock between processors, so the two do not disturb each other.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};

use rtos::{Current, Error, InHandler, InTask, Pinned, Shared, System};
use rtos_host::{Host, print};

const BLOCKS: u32 = 1_000;
const STACK: usize = 128 * 1024;

rtos::kernel! {
    /// Two processors.
    pub struct Pair: Kernel<Port = Host, Model = rtos::Multi<2>>;

    tasks {
        CONSUMER: Shared = Task::create(consumer).priority(5).stack(STACK).only_on(0b01).active();
        PRODUCER: Shared = Task::create(producer).priority(5).stack(STACK).only_on(0b10).active();
        COUNT_0: Pinned<0> = Task::create(|cx: InTask<Pinned<0>>| count(0, || Current::<Pair>::sleep(cx)))
            .priority(2).stack(STACK).active();
        COUNT_1: Pinned<1> = Task::create(|cx: InTask<Pinned<1>>| count(1, || Current::<Pair>::sleep(cx)))
            .priority(2).stack(STACK).active();
    }
    data_queues {
        FULL: Shared = DataQueue::create(8);
    }
    memory_pools {
        EMPTY: Shared = MemoryPool::create(8, 64);
    }
    cyclics {
        BEAT_0: Pinned<0> = Cyclic::create(1_000, |cx: InHandler<Pinned<0>>| { let _ = COUNT_0.wup(cx); }).started();
        BEAT_1: Pinned<1> = Cyclic::create(1_000, |cx: InHandler<Pinned<1>>| { let _ = COUNT_1.wup(cx); }).started();
    }
}

static BEATS: [AtomicU32; 2] = [const { AtomicU32::new(0) }; 2];

fn count(processor: usize, sleep: impl Fn() -> Result<(), Error>) {
    while sleep().is_ok() {
        BEATS[processor].fetch_add(1, Relaxed);
    }
}

fn producer(cx: InTask<Shared>) {
    for number in 0..BLOCKS {
        let Ok(mut block) = EMPTY.get(cx) else { return };
        block.bytes().fill(number as u8);
        if FULL.snd(block.into_address(), cx).is_err() {
            return;
        }
    }
}

fn consumer(cx: InTask<Shared>) {
    let mut sum = 0_u64;
    for _ in 0..BLOCKS {
        let Ok(address) = FULL.rcv(cx) else { return };
        // SAFETY: the producer has sent the address of a block that it owned, and sends each only once.
        let mut block = unsafe { EMPTY.block_at(address) };
        sum += block.bytes().iter().map(|&byte| u64::from(byte)).sum::<u64>();
        if EMPTY.rel(block, cx).is_err() {
            return;
        }
    }
    let place = System::<Pair>::get_pid(cx).unwrap_or(99);
    let [one, two] = [&BEATS[0], &BEATS[1]].map(|beats| beats.load(Relaxed));
    print(format_args!("{BLOCKS} blocks from processor 1 to processor {place}, the sum is {sum}\n"));
    print(format_args!("meanwhile {one} and {two} beats\n"));
    System::<Pair>::ext_ker()
}

fn main() {
    rtos_host::run::<Pair>()
}
