//! Real-time mode: the VM's threads under a real-time policy, on processors of their own, with all memory locked in RAM.
//!
//! The variable `OTP_REALTIME`, which `cargo otp run --realtime` sets, says what is asked for, as in
//! `policy=fifo priority=80 lock_memory=true cpus=2,3`. The settings are applied before the root of the application starts, and read
//! back: what is reported is what took effect.
//!
//! There are no more schedulers than processors: under the policy fifo two on one processor take no turns (`realtime/0` of the Erlang
//! half).
//!
//! The policy is that of the threads that run processes, of those that wait for files and sockets, and of the helpers of both.
//! Dirty schedulers keep the ordinary policy, because work that may take long must not hold up work that must not wait.

use std::collections::BTreeSet;
use std::io;

use crate::atom;
use crate::data::Data;
use crate::nif::abi::RawTerm;
use crate::nif::threads::{self, Thread};
use crate::nif::{Env, Term};

const VARIABLE: &str = "OTP_REALTIME";

/// What is asked for.
#[derive(Debug, Default, PartialEq, Eq)]
struct Wanted {
    /// Its name, and its number in the kernel.
    policy: Option<(String, i32)>,
    priority: i32,
    lock_memory: bool,
    processors: Vec<u32>,
}

/// What became of one thing that was asked for.
#[derive(Debug)]
enum Effect {
    InForce(String),
    Not(String),
}

/// `[{notice | warning, Text}]`: what became of each thing that was asked for; empty when nothing was.
pub(crate) fn apply(env: Env<'_>) -> Term<'_> {
    let effects = match std::env::var(VARIABLE) {
        Err(_) => Vec::new(),
        Ok(text) => match Wanted::read(&text) {
            Ok(wanted) => wanted.put_in_force(),
            Err(why) => vec![Effect::Not(format!("{VARIABLE} is {text:?}, and {why}"))],
        },
    };
    let told: Vec<RawTerm> = effects
        .iter()
        .map(|effect| {
            let (level, text) = match effect {
                Effect::InForce(text) => (atom!("notice"), text),
                Effect::Not(text) => (atom!("warning"), text),
            };
            env.tuple(&[level.raw(env), format!("real-time: {text}").encode(env).raw()]).raw()
        })
        .collect();
    env.list(&told)
}

/// The most schedulers for which there are processors, where that matters; otherwise more than any VM has.
pub(crate) fn schedulers(env: Env<'_>) -> Term<'_> {
    let wanted = std::env::var(VARIABLE).ok().and_then(|text| Wanted::read(&text).ok());
    wanted.and_then(|wanted| wanted.schedulers()).unwrap_or(u32::MAX).encode(env)
}

impl Wanted {
    /// How many schedulers there are processors for, if they are chosen, or each is given away for as long as a thread likes.
    fn schedulers(&self) -> Option<u32> {
        let chosen = self.processors.iter().collect::<BTreeSet<_>>().len();
        let kept = self.policy.as_ref().is_some_and(|(_, policy)| *policy == libc::SCHED_FIFO);
        let here = kept.then(|| std::thread::available_parallelism().map_or(usize::MAX, usize::from));
        let processors = Some(chosen).filter(|chosen| *chosen > 0).or(here)?;
        Some(u32::try_from(processors).unwrap_or(u32::MAX))
    }

    fn read(text: &str) -> Result<Self, String> {
        let mut wanted = Self::default();
        for word in text.split_whitespace() {
            let (key, value) = word.split_once('=').ok_or_else(|| format!("{word:?} is not of the form key=value"))?;
            let number = |value: &str| value.parse::<u32>().map_err(|_| format!("{key} is no number: {value:?}"));
            match key {
                "policy" => {
                    let policies = [("other", libc::SCHED_OTHER), ("fifo", libc::SCHED_FIFO), ("rr", libc::SCHED_RR)];
                    let policy = policies.iter().find(|(name, _)| *name == value);
                    let (name, policy) = policy.ok_or_else(|| format!("there is no policy {value:?}"))?;
                    wanted.policy = Some(((*name).to_owned(), *policy));
                }
                "priority" => wanted.priority = number(value)?.min(99) as i32,
                "lock_memory" => wanted.lock_memory = value == "true",
                "cpus" => wanted.processors = value.split(',').map(number).collect::<Result<_, _>>()?,
                // A flag of the VM, which was given to it.
                "busy_wait" => {}
                _ => return Err(format!("there is no setting {key:?}")),
            }
        }
        if wanted.policy.as_ref().is_some_and(|(_, policy)| *policy != libc::SCHED_OTHER) && wanted.priority == 0 {
            wanted.priority = 50;
        }
        Ok(wanted)
    }

    fn put_in_force(&self) -> Vec<Effect> {
        let threads = match threads::all() {
            Ok(threads) => threads,
            Err(error) => return vec![Effect::Not(format!("the threads of the VM are unknown: {error}"))],
        };
        let mut effects = Vec::new();
        if let Some((name, policy)) = &self.policy {
            let timely: Vec<_> = threads.iter().filter(|thread| is_timely(&thread.name)).collect();
            let what = match self.priority {
                0 => format!("policy {name}"),
                priority => format!("policy {name}:{priority}"),
            };
            let set = |thread: &Thread| thread.set_policy(*policy, self.priority);
            let is = |thread: &Thread| Ok(thread.policy()? == (*policy, self.priority));
            let hint = "it takes root, CAP_SYS_NICE, or a limit of that priority (RLIMIT_RTPRIO)";
            effects.push(on_each(&what, &timely, set, is, hint));
        }
        if !self.processors.is_empty() {
            let all: Vec<_> = threads.iter().collect();
            let what = format!("processors {:?}", self.processors);
            let set = |thread: &Thread| thread.set_processors(&self.processors);
            let is = |thread: &Thread| thread.has_processors(&self.processors);
            effects.push(on_each(&what, &all, set, is, "are there such processors, and may this process use them?"));
        }
        if self.lock_memory {
            effects.push(match threads::lock_memory() {
                Ok(()) => Effect::InForce(format!("memory locked, {} of it now", locked())),
                Err(error) => Effect::Not(format!(
                    "memory is not locked: {error}; it takes root, CAP_IPC_LOCK, or a higher limit (RLIMIT_MEMLOCK)"
                )),
            });
        }
        effects
    }
}

/// Whether processes wait for this thread: by its name, of OTP 25 (`1_scheduler`) or newer (`erts_sched_1`).
fn is_timely(name: &str) -> bool {
    let has = |part| name.contains(part);
    (has("sched") || has("aux") || has("poll")) && !has("dirty")
}

/// Sets something of each thread, and looks whether it is so.
fn on_each(
    what: &str,
    threads: &[&Thread],
    set: impl Fn(&Thread) -> io::Result<()>,
    is: impl Fn(&Thread) -> io::Result<bool>,
    hint: &str,
) -> Effect {
    let error = threads.iter().find_map(|thread| set(thread).err());
    let in_force = threads.iter().filter(|thread| is(thread).unwrap_or(false)).count();
    let where_ = format!("{what} on {in_force} of {} threads of the VM", threads.len());
    match error {
        None if in_force == threads.len() => Effect::InForce(where_),
        None => Effect::Not(format!("{where_} only")),
        Some(error) => Effect::Not(format!("{where_} only: {error}; {hint}")),
    }
}

/// How much memory is locked, as the kernel says it.
fn locked() -> String {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let line = status.lines().find_map(|line| line.strip_prefix("VmLck:"));
    line.map_or_else(|| "an unknown amount".to_owned(), |amount| amount.trim().to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_asked_for_is_read_or_refused() {
        let wanted =
            Wanted::read("policy=fifo priority=80 lock_memory=true cpus=2,3 busy_wait=none").expect("good words");
        assert_eq!((wanted.priority, wanted.lock_memory, wanted.processors), (80, true, vec![2, 3]));
        assert_eq!(Wanted::read("policy=rr").expect("a good word").priority, 50);
        for wrong in ["policy", "policy=best", "cpus=2-3", "priority=high", "speed=high"] {
            assert!(Wanted::read(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn there_are_no_more_schedulers_than_processors_that_they_have_to_share() {
        let schedulers = |text| Wanted::read(text).expect("good words").schedulers();
        assert_eq!(schedulers("policy=fifo cpus=2,3,2"), Some(2));
        assert_eq!(schedulers("policy=other cpus=5"), Some(1));
        assert!(schedulers("policy=fifo").is_some_and(|all| all > 0));
        assert_eq!((schedulers("policy=rr"), schedulers("lock_memory=true")), (None, None));
    }

    #[test]
    fn threads_that_may_be_held_up_are_left_out() {
        let timely = ["1_scheduler", "1_aux", "0_poller", "erts_sched_1", "erts_poll_1"];
        assert!(timely.into_iter().all(is_timely));
        assert!(!["1_dirty_cpu_sch", "3_dirty_io_sche", "erts_dcpus_1", "beam.smp"].into_iter().any(is_timely));
    }
}
