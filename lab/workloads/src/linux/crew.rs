//! A crew: threads that measure at the same time, each on its processor.
//!
//! All threads are set up (pinned, known to the watch) before the window opens, and start at a common moment that is
//! planned ahead. They inherit policy, priority and timer slack from the calling thread.

use std::io;
use std::sync::atomic::AtomicBool;
use std::sync::{Condvar, Mutex, PoisonError};
use std::thread;
use std::time::Duration;

use kizami_recording::Recorder;

use crate::bench::{Bench, Failure, clock_ns};
use crate::os::cpus;
use crate::os::watch::Watch;

const STACK: usize = 128 * 1024;

/// Where the threads wait until all are there.
#[derive(Default)]
struct Gate {
    state: Mutex<State>,
    changed: Condvar,
}

#[derive(Default)]
struct State {
    ready: usize,
    done: usize,
    /// Whether those that are done may end.
    leave: bool,
    /// The common start, or that there will be none.
    go: Option<Option<u64>>,
}

impl Gate {
    fn pass(&self) -> Option<u64> {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.ready += 1;
        self.changed.notify_all();
        let state = self.changed.wait_while(state, |s| s.go.is_none());
        state.unwrap_or_else(PoisonError::into_inner).go.flatten()
    }

    fn wait_for(&self, came: impl Fn(&State) -> bool) {
        let state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        drop(self.changed.wait_while(state, |s| !came(s)));
    }

    fn open(&self, start: u64) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.go = Some(Some(start));
        self.changed.notify_all();
    }

    /// Lets all threads end; those that have not begun never will.
    fn close(&self) {
        let mut state = self.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.go.get_or_insert(None);
        state.leave = true;
        self.changed.notify_all();
    }
}

/// Closes the gate, also when not all threads could be started.
struct Closed<'a>(&'a Gate);

impl Drop for Closed<'_> {
    fn drop(&mut self) {
        self.0.close();
    }
}

/// Says that a thread is done, also when its work panics, and keeps it until all are: the end of a thread is the
/// system's work, allocates, and must not fall into what the others still measure.
struct Done<'a>(&'a Gate);

impl Drop for Done<'_> {
    fn drop(&mut self) {
        let mut state = self.0.state.lock().unwrap_or_else(PoisonError::into_inner);
        state.done += 1;
        self.0.changed.notify_all();
        drop(self.0.changed.wait_while(state, |s| !s.leave));
    }
}

/// Runs `work(index, recorder, start, stop)` in a thread for each job, which is pinned to the job's processor if it names
/// one, and gives back what they returned. `start` is a time on [`clock_ns`]'s clock, `lead` after the gate opened; the
/// threads are there before it. The window is open from before that until the work of all is done.
///
/// # Errors
/// When a thread cannot be started. One that cannot be pinned runs, and is reported as such.
pub fn run<'a, T: Send>(
    bench: &mut Bench<'a>,
    jobs: Vec<(Option<usize>, Recorder<'a>)>,
    lead: Duration,
    work: impl Fn(usize, Recorder<'a>, u64, &AtomicBool) -> T + Sync,
) -> Result<Vec<T>, Failure> {
    let (stop, count, gate) = (bench.stop(), jobs.len(), Gate::default());
    let pinned: Mutex<Vec<(usize, io::Result<()>)>> = Mutex::new(Vec::with_capacity(count));
    let mut results = Vec::with_capacity(count);
    Watch::during(stop, count, |watch| {
        thread::scope(|scope| {
            let closed = Closed(&gate);
            let mut threads = Vec::with_capacity(count);
            for (index, (cpu, recorder)) in jobs.into_iter().enumerate() {
                let (gate, pinned, work) = (&gate, &pinned, &work);
                let name = cpu.map_or_else(|| "measure".into(), |cpu| format!("measure-{cpu}"));
                let thread = thread::Builder::new().name(name).stack_size(STACK).spawn_scoped(scope, move || {
                    if let Some(cpu) = cpu {
                        let result = cpus::pin(cpu);
                        pinned.lock().unwrap_or_else(PoisonError::into_inner).push((cpu, result));
                    }
                    watch.include();
                    let _done = Done(gate);
                    gate.pass().map(|start| work(index, recorder, start, stop))
                });
                threads.push(thread.map_err(Failure::os("start a thread that measures"))?);
            }
            gate.wait_for(|state| state.ready == count);
            bench.window(|_| {
                gate.open(clock_ns() + lead.as_nanos() as u64);
                gate.wait_for(|state| state.done == count);
            });
            drop(closed);
            for thread in threads {
                match thread.join() {
                    Ok(result) => results.extend(result),
                    Err(panic) => std::panic::resume_unwind(panic),
                }
            }
            Ok(())
        })
    })??;
    for (cpu, result) in pinned.into_inner().unwrap_or_else(PoisonError::into_inner) {
        if let Err(error) = result {
            let why = format!("the thread of part cpu{cpu} could not be pinned to its processor: {error}");
            bench.effective(&format!("affinity of cpu{cpu}"), "not pinned", false, &why);
        }
    }
    Ok(results)
}
