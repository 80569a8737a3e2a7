//! Arithmetic on every processor, at the priority of the process: the plainest competitor for processor time.

use super::load::{Load, LoadBench, allowed_cpus};
use crate::bench::Failure;
use crate::os::cpus;

pub(super) static LOAD: Load = Load {
    name: "cpu",
    about: "Keeps every allowed processor busy with integer arithmetic, one pinned thread each, at normal priority. An \
            operation is 65536 steps of a linear congruential generator.",
    run,
};

const STEPS: u32 = 65_536;

fn run(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let mut cpus = allowed_cpus()?;
    let own = cpus.remove(0);
    std::thread::scope(|scope| {
        for cpu in cpus {
            let thread = std::thread::Builder::new().name(format!("load-cpu{cpu}"));
            if let Err(source) = thread.spawn_scoped(scope, move || turn(bench, cpu)) {
                return Err(Failure::Os { doing: format!("start the load's thread for processor {cpu}"), source });
            }
        }
        turn(bench, own);
        Ok(())
    })
}

fn turn(bench: &LoadBench<'_>, cpu: usize) {
    // Unpinned the load would still be there, only less evenly: no reason to give up.
    let _ = cpus::pin(cpu);
    let mut state = cpu as u64;
    while !bench.stopped() {
        for _ in 0..STEPS {
            state = state.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1_442_695_040_888_963_407);
        }
        std::hint::black_box(state);
        bench.did(1);
    }
}
