//! Dropping states where nobody waits for it.
//!
//! The VM frees a state on the scheduler on which its process ended. A state of a million entries takes long to drop, and a `Drop` may wait
//! for something; until then no process of that scheduler runs. So states are dropped on threads of this file.
//!
//! One thread does all the work as long as each drop is short, and a second one is idle beside it. When a state has waited for
//! [`LONG`], the idle thread takes it, and another thread is started to be the idle one. A thread that was idle for [`STAYS`] ends.
//! An idle thread that has been woken looks again each [`MOMENT`] while there is work, so that where one process after the other ends it is
//! not woken for each.

use std::collections::VecDeque;
use std::sync::{Condvar, Mutex, MutexGuard, PoisonError};
use std::thread;
use std::time::{Duration, Instant};

use crate::process::panic::caught;

/// As many drops that wait for something hold up all others.
const MOST_THREADS: usize = 16;
const LONG: Duration = Duration::from_millis(5);
const MOMENT: Duration = Duration::from_millis(1);
const STAYS: Duration = Duration::from_secs(5);

type Work = Box<dyn FnOnce() + Send>;

/// What is to be dropped, since when, and who does it.
struct Queue {
    waiting: VecDeque<(Instant, Work)>,
    threads: usize,
    /// Those of them that drop something.
    busy: usize,
    /// Those of them that sleep until they are woken.
    asleep: usize,
}

static QUEUE: Mutex<Queue> = Mutex::new(Queue { waiting: VecDeque::new(), threads: 0, busy: 0, asleep: 0 });
static WAKE: Condvar = Condvar::new();

fn lock() -> MutexGuard<'static, Queue> {
    QUEUE.lock().unwrap_or_else(PoisonError::into_inner)
}

impl Queue {
    /// Sees to it that a thread is idle, if there can be one.
    fn keep_one_idle(&mut self) {
        if self.busy == self.threads && self.threads < MOST_THREADS {
            let started = thread::Builder::new().name("otp drops".to_owned()).spawn(run);
            self.threads += usize::from(started.is_ok());
        }
    }

    /// The next, for a thread that is idle.
    fn next(&mut self) -> Option<Work> {
        let (since, _) = self.waiting.front()?;
        if self.busy > 0 && since.elapsed() < LONG {
            return None;
        }
        Some(self.waiting.pop_front()?.1)
    }
}

/// Has a thread do this; where the system gives none, it is done now.
pub(crate) fn elsewhere(work: impl FnOnce() + Send + 'static) {
    let mut queue = lock();
    queue.keep_one_idle();
    if queue.threads == 0 {
        drop(queue);
        return work();
    }
    queue.waiting.push_back((Instant::now(), Box::new(work)));
    if queue.asleep > 0 && queue.asleep == queue.threads - queue.busy {
        WAKE.notify_one();
    }
}

/// What each thread does.
fn run() {
    let mut queue = lock();
    loop {
        if let Some(work) = queue.next() {
            queue.busy += 1;
            queue.keep_one_idle();
            drop(queue);
            // The rest of a state of which a part panics is dropped all the same, and the panic has been told.
            let _ = caught(work);
            queue = lock();
            queue.busy -= 1;
        } else if !queue.waiting.is_empty() {
            drop(queue);
            thread::sleep(MOMENT);
            queue = lock();
        } else {
            queue.asleep += 1;
            let woken = WAKE.wait_timeout_while(queue, STAYS, |queue| queue.waiting.is_empty());
            queue = woken.unwrap_or_else(PoisonError::into_inner).0;
            queue.asleep -= 1;
            if queue.waiting.is_empty() {
                queue.threads -= 1;
                return;
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use std::sync::mpsc;

    use super::{MOST_THREADS, elsewhere, lock};

    /// Each waits for the one after it, so as many threads are needed as there are.
    #[test]
    fn one_that_waits_holds_up_no_other_and_none_is_lost() {
        let (done, ended) = mpsc::channel();
        let mut held = Vec::new();
        for n in 0..MOST_THREADS - 1 {
            let (release, wait) = mpsc::channel::<()>();
            held.push(release);
            let done = done.clone();
            elsewhere(move || {
                let _ = wait.recv();
                done.send(n).expect("it is waited for");
            });
        }
        for n in 100..1100 {
            let done = done.clone();
            elsewhere(move || done.send(n).expect("it is waited for"));
        }
        elsewhere(|| panic!("a drop panics"));
        let short: Vec<usize> = ended.iter().take(1000).collect();
        assert!(short.iter().copied().eq(100..1100), "in the order in which they came: {short:?}");
        drop(held);
        let mut long: Vec<usize> = ended.iter().take(MOST_THREADS - 1).collect();
        long.sort_unstable();
        assert!(long.into_iter().eq(0..MOST_THREADS - 1));
        assert!(lock().threads <= MOST_THREADS);
    }
}
