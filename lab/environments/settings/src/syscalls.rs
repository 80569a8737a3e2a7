//! System calls of process settings, each a typed wrapper and nothing else. None of them allocates, so they may run
//! after a fork.

use std::io;

use crate::policy::Policy;

/// Processors that a `cpu_set_t` holds.
pub const MOST_CPUS: usize = 1024;

/// A thread; zero is the calling one.
pub type Tid = libc::pid_t;

fn check(result: libc::c_long) -> io::Result<()> {
    if result == 0 { Ok(()) } else { Err(io::Error::last_os_error()) }
}

/// What sched_setattr(2) is given for `policy`; `nice` counts for the ordinary policies.
pub fn attributes(policy: Policy, nice: Option<i32>) -> libc::sched_attr {
    let (number, priority) = match policy {
        Policy::Other => (libc::SCHED_OTHER, 0),
        Policy::Batch => (libc::SCHED_BATCH, 0),
        Policy::Idle => (libc::SCHED_IDLE, 0),
        Policy::Fifo(priority) => (libc::SCHED_FIFO, priority),
        Policy::Rr(priority) => (libc::SCHED_RR, priority),
        Policy::Deadline { .. } => (libc::SCHED_DEADLINE, 0),
    };
    let (runtime, deadline, period) = match policy {
        Policy::Deadline { runtime, deadline, period } => (runtime, deadline, period),
        _ => (0, 0, 0),
    };
    // A deadline thread may start others only if those do not inherit its reservation.
    let flags = if matches!(policy, Policy::Deadline { .. }) { libc::SCHED_FLAG_RESET_ON_FORK as u64 } else { 0 };
    libc::sched_attr {
        size: size_of::<libc::sched_attr>() as u32,
        sched_policy: number as u32,
        sched_flags: flags,
        // The call sets the nice value too: without one that was asked for, the thread keeps its own.
        sched_nice: nice.unwrap_or_else(|| self::nice(0).unwrap_or(0)),
        sched_priority: priority,
        sched_runtime: runtime,
        sched_deadline: deadline,
        sched_period: period,
    }
}

/// Sets the policy of the calling thread.
pub fn set_attributes(attributes: &libc::sched_attr) -> io::Result<()> {
    // SAFETY: the kernel reads `size` bytes from the pointer, which is the size of the struct that it points to.
    check(unsafe { libc::syscall(libc::SYS_sched_setattr, 0, std::ptr::from_ref(attributes), 0) })
}

pub fn policy(tid: Tid) -> io::Result<Policy> {
    // SAFETY: a sched_attr of zeros is a valid one: it holds only integers.
    let mut a: libc::sched_attr = unsafe { std::mem::zeroed() };
    let size = size_of::<libc::sched_attr>();
    // SAFETY: the kernel writes at most `size` bytes to the pointer, which is the size of what it points to.
    check(unsafe { libc::syscall(libc::SYS_sched_getattr, tid, &raw mut a, size, 0) })?;
    Ok(match a.sched_policy as i32 {
        libc::SCHED_OTHER => Policy::Other,
        libc::SCHED_BATCH => Policy::Batch,
        libc::SCHED_IDLE => Policy::Idle,
        libc::SCHED_FIFO => Policy::Fifo(a.sched_priority),
        libc::SCHED_RR => Policy::Rr(a.sched_priority),
        libc::SCHED_DEADLINE => {
            Policy::Deadline { runtime: a.sched_runtime, deadline: a.sched_deadline, period: a.sched_period }
        }
        other => return Err(io::Error::other(format!("policy number {other} is unknown"))),
    })
}

pub fn set_nice(nice: i32) -> io::Result<()> {
    // SAFETY: the call takes numbers only.
    check(unsafe { libc::setpriority(libc::PRIO_PROCESS, 0, nice) }.into())
}

pub fn nice(tid: Tid) -> io::Result<i32> {
    // SAFETY: __errno_location points to the calling thread's errno, which may be written; getpriority takes numbers.
    // It returns -1 both as a value and for an error, so errno alone tells which.
    let (nice, errno) = unsafe {
        *libc::__errno_location() = 0;
        let nice = libc::getpriority(libc::PRIO_PROCESS, tid as libc::id_t);
        (nice, *libc::__errno_location())
    };
    if errno == 0 { Ok(nice) } else { Err(io::Error::from_raw_os_error(errno)) }
}

/// Processors beyond the size of the set are left out; checked values are never beyond it.
pub fn cpu_set(cpus: &[usize]) -> libc::cpu_set_t {
    // SAFETY: a cpu_set_t of zeros is the empty set.
    let mut set: libc::cpu_set_t = unsafe { std::mem::zeroed() };
    for cpu in cpus.iter().filter(|cpu| **cpu < MOST_CPUS) {
        // SAFETY: the processor is within the set.
        unsafe { libc::CPU_SET(*cpu, &mut set) };
    }
    set
}

pub fn set_affinity(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the size is that of what the pointer points to.
    check(unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) }.into())
}

pub fn affinity(tid: Tid) -> io::Result<Vec<usize>> {
    let mut set = cpu_set(&[]);
    // SAFETY: the size is that of what the pointer points to.
    check(unsafe { libc::sched_getaffinity(tid, size_of::<libc::cpu_set_t>(), &raw mut set) }.into())?;
    // SAFETY: every processor asked for is within the set.
    Ok((0..MOST_CPUS).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect())
}

pub fn set_timer_slack(ns: libc::c_ulong) -> io::Result<()> {
    // SAFETY: this request takes a number.
    check(unsafe { libc::prctl(libc::PR_SET_TIMERSLACK, ns) }.into())
}

/// The timer slack of the calling thread, in nanoseconds.
pub fn timer_slack() -> io::Result<u64> {
    // The system call and not the C function: the latter returns an int, which slacks above 2 s do not fit.
    // SAFETY: this request takes no argument.
    let ns = unsafe { libc::syscall(libc::SYS_prctl, libc::PR_GET_TIMERSLACK, 0, 0, 0, 0) };
    if ns < 0 { Err(io::Error::last_os_error()) } else { Ok(ns as u64) }
}

/// Locks what is mapped and what will be, or unlocks all.
pub fn lock_memory(lock: bool) -> io::Result<()> {
    // SAFETY: the calls take flags and change no content of memory.
    check(
        unsafe { if lock { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } else { libc::munlockall() } }.into(),
    )
}

/// The soft and the hard limit of `resource`.
pub fn limit(resource: libc::__rlimit_resource_t) -> io::Result<(u64, u64)> {
    let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
    // SAFETY: the pointer is to an rlimit of ours.
    check(unsafe { libc::getrlimit(resource, &raw mut limit) }.into())?;
    Ok((limit.rlim_cur, limit.rlim_max))
}

/// Raises the soft limit of `resource` to the hard one, which everyone may.
pub fn raise_limit(resource: libc::__rlimit_resource_t) -> io::Result<()> {
    let (_, hard) = limit(resource)?;
    let limit = libc::rlimit { rlim_cur: hard, rlim_max: hard };
    // SAFETY: the pointer is to an rlimit of ours.
    check(unsafe { libc::setrlimit(resource, &raw const limit) }.into())
}
