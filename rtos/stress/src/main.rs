//! The long stress: tasks on two processors call random services on random objects, with random arguments. After each
//! service the oracle checks that everything that the kernel keeps fits together. Handlers do the same meanwhile.
//!
//! `cargo run --release -p kizami-rtos-stress -- --seconds 3600`

mod kernel;
mod progress;
mod step;
mod watch;

use std::sync::atomic::Ordering::Relaxed;
use std::time::Duration;

use clap::Parser;

/// Random services on two processors of this machine, with an oracle after each.
#[derive(Parser)]
#[command(name = "rtos-stress", version)]
struct Arguments {
    /// For how long
    #[arg(long, default_value_t = 60)]
    seconds: u64,
    /// What the random numbers begin with; which of them meet, the machine decides
    #[arg(long)]
    seed: Option<u64>,
}

fn main() {
    let arguments = Arguments::parse();
    let seed = arguments.seed.unwrap_or_else(|| {
        let now = std::time::SystemTime::now().duration_since(std::time::UNIX_EPOCH);
        now.map_or(1, |now| now.as_nanos() as u64)
    });
    progress::SEED.store(seed, Relaxed);
    println!("two processors, seed {seed}, {} s", arguments.seconds);
    watch::begin(Duration::from_secs(arguments.seconds));
    rtos_host::run::<kernel::App>()
}
