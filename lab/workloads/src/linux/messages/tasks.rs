//! The tasks of a round, senders and receivers, and the process that makes them, starts them together and waits for
//! them.
//!
//! The algorithm is that of hackbench: for each group a channel and a receiver each, then the senders, each of which
//! writes `loops` messages to every receiver of its group. All report ready on one pipe and wait for one byte in
//! another; the time runs from that byte to the moment at which the last task was reaped, so it contains the ends of
//! the tasks.
//!
//! The code here runs after a fork, in the round's own process, and the process or its tasks may be killed at any
//! moment. So it makes system calls, uses memory that was reserved before, and reports its outcome in shared memory.

use std::io;
use std::os::fd::RawFd;
use std::sync::atomic::{AtomicBool, AtomicI32, AtomicU64, Ordering};

use super::cgroup;
use crate::bench::clock_ns;
use crate::os::sys::{self, Via};

/// What a round is made of.
#[derive(Debug, Clone, Copy)]
pub(super) struct Shape {
    pub(super) groups: usize,
    pub(super) senders: usize,
    pub(super) receivers: usize,
    pub(super) loops: usize,
    pub(super) size: usize,
    pub(super) pipes: bool,
    pub(super) threads: bool,
    pub(super) via: Via,
}

impl Shape {
    fn tasks(&self) -> usize {
        self.groups * (self.senders + self.receivers)
    }
}

/// What became of a round. Lies in shared memory.
#[derive(Debug, Default)]
pub(super) struct Outcome {
    /// One of the constants below.
    what: AtomicI32,
    /// An error number, an exit status or a signal.
    detail: AtomicI32,
    time: AtomicU64,
}

/// How a round ended, as its process said.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Told {
    /// Its time in nanoseconds.
    Done(u64),
    /// The error numbers of what could not be done.
    NotConfined(i32),
    NoChannel(i32),
    NoTask(i32),
    NotStarted(i32),
    /// A task failed with this error number, or was killed by this signal.
    TaskFailed(i32),
    TaskKilled(i32),
    /// The process was gone before it could say anything.
    Nothing,
}

const DONE: i32 = 1;
const NOT_CONFINED: i32 = 2;
const NO_CHANNEL: i32 = 3;
const NO_TASK: i32 = 4;
const NOT_STARTED: i32 = 5;
const TASK_FAILED: i32 = 6;
const TASK_KILLED: i32 = 7;

impl Outcome {
    pub(super) fn clear(&self) {
        self.what.store(0, Ordering::Release);
    }

    fn tell(&self, what: i32, detail: i32) {
        self.detail.store(detail, Ordering::Relaxed);
        self.what.store(what, Ordering::Release);
    }

    pub(super) fn told(&self) -> Told {
        let what = self.what.load(Ordering::Acquire);
        let detail = self.detail.load(Ordering::Relaxed);
        match what {
            DONE => Told::Done(self.time.load(Ordering::Relaxed)),
            NOT_CONFINED => Told::NotConfined(detail),
            NO_CHANNEL => Told::NoChannel(detail),
            NO_TASK => Told::NoTask(detail),
            NOT_STARTED => Told::NotStarted(detail),
            TASK_FAILED => Told::TaskFailed(detail),
            TASK_KILLED => Told::TaskKilled(detail),
            _ => Told::Nothing,
        }
    }
}

/// The memory of a round, reserved before it is forked.
#[derive(Debug)]
pub(super) struct Room {
    /// The two ends of every receiver's channel: reading, writing.
    channels: Vec<[RawFd; 2]>,
    message: Vec<u8>,
    /// A message for every receiver that is a thread; processes have their own copy of the first.
    inbox: Vec<u8>,
    tasks: Vec<Task>,
    threads: Vec<libc::pthread_t>,
}

impl Room {
    pub(super) fn new(shape: &Shape) -> Self {
        let receivers = shape.groups * shape.receivers;
        let (inboxes, threads) = if shape.threads { (receivers, shape.tasks()) } else { (1, 0) };
        Self {
            channels: vec![[-1; 2]; receivers],
            message: vec![0x6B; shape.size],
            inbox: vec![0; inboxes * shape.size],
            tasks: Vec::with_capacity(threads),
            threads: Vec::with_capacity(threads),
        }
    }
}

/// What a task needs. Pointers, because a task may be a thread; all they point to lives as long as the process.
#[derive(Debug, Clone, Copy)]
struct Task {
    shape: *const Shape,
    outcome: *const Outcome,
    /// The writing ends of a sender's receivers, or the reading end of a receiver.
    channels: *const [RawFd; 2],
    sends: bool,
    buffer: *mut u8,
    ready: RawFd,
    wake: RawFd,
}

/// A round from its making to its end: the body of the round's process, which has `door` to a control group, if any.
pub(super) fn round(shape: &Shape, room: &mut Room, outcome: &Outcome, door: Option<RawFd>) {
    // A failure is told in the shared memory; whoever waits for this process kills and reaps the tasks that are left.
    let _ = attempt(shape, room, outcome, door).map_err(|(what, detail)| outcome.tell(what, detail));
}

fn attempt(shape: &Shape, room: &mut Room, outcome: &Outcome, door: Option<RawFd>) -> Result<(), (i32, i32)> {
    let told = |what: i32| move |e: io::Error| (what, e.raw_os_error().unwrap_or(0));
    if let Some(door) = door {
        cgroup::join(door).map_err(told(NOT_CONFINED))?;
    }
    raise_file_limit();
    let (ready, wake) = (pipe().map_err(told(NO_CHANNEL))?, pipe().map_err(told(NO_CHANNEL))?);
    let task = |channels: &[[RawFd; 2]], sends: bool, buffer: *mut u8| Task {
        shape,
        outcome,
        channels: channels.as_ptr(),
        sends,
        buffer,
        ready: ready[1],
        wake: wake[0],
    };
    for group in 0..shape.groups {
        let first = group * shape.receivers;
        for receiver in first..first + shape.receivers {
            room.channels[receiver] = channel(shape.pipes).map_err(told(NO_CHANNEL))?;
            let inbox = if shape.threads { receiver * shape.size } else { 0 };
            let task = task(&room.channels[receiver..], false, room.inbox[inbox..].as_mut_ptr());
            begin(task, &mut room.tasks, &mut room.threads).map_err(told(NO_TASK))?;
            close_in_parent(shape, room.channels[receiver][0]);
        }
        let channels = &room.channels[first..first + shape.receivers];
        for _ in 0..shape.senders {
            let task = task(channels, true, room.message.as_mut_ptr());
            begin(task, &mut room.tasks, &mut room.threads).map_err(told(NO_TASK))?;
        }
        for channel in channels {
            close_in_parent(shape, channel[1]);
        }
    }
    for _ in 0..shape.tasks() {
        await_ready(ready[0])?;
    }
    let begin = clock_ns();
    sys::write_all(Via::Library, wake[1], &[1], &NEVER).map_err(told(NOT_STARTED))?;
    if shape.threads {
        for thread in &room.threads {
            // SAFETY: a thread of this process that was not joined before.
            unsafe { libc::pthread_join(*thread, std::ptr::null_mut()) };
        }
    } else {
        for _ in 0..shape.tasks() {
            reap_one()?;
        }
    }
    outcome.time.store(clock_ns() - begin, Ordering::Relaxed);
    outcome.tell(DONE, 0);
    Ok(())
}

/// A round is stopped by killing it.
static NEVER: AtomicBool = AtomicBool::new(false);

/// As many open files as the process may have: threads share one table.
fn raise_file_limit() {
    // SAFETY: both calls work on a limit of ours. Where it cannot be raised, opening fails, and that is told.
    unsafe {
        let mut limit = libc::rlimit { rlim_cur: 0, rlim_max: 0 };
        if libc::getrlimit(libc::RLIMIT_NOFILE, &raw mut limit) == 0 {
            limit.rlim_cur = limit.rlim_max;
            libc::setrlimit(libc::RLIMIT_NOFILE, &raw const limit);
        }
    }
}

fn pipe() -> io::Result<[RawFd; 2]> {
    let mut ends = [-1; 2];
    // SAFETY: room for the two descriptors that the call writes.
    if unsafe { libc::pipe(ends.as_mut_ptr()) } == 0 { Ok(ends) } else { Err(io::Error::last_os_error()) }
}

fn channel(pipes: bool) -> io::Result<[RawFd; 2]> {
    if pipes {
        return pipe();
    }
    let mut ends = [-1; 2];
    // SAFETY: room for the two descriptors that the call writes.
    let result = unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_STREAM, 0, ends.as_mut_ptr()) };
    if result == 0 { Ok(ends) } else { Err(io::Error::last_os_error()) }
}

fn close_in_parent(shape: &Shape, fd: RawFd) {
    if !shape.threads {
        // SAFETY: a descriptor of ours that is not used again; the task has its own.
        unsafe { libc::close(fd) };
    }
}

/// Starts a task: a thread where `threads` has room for them, otherwise a process.
fn begin(task: Task, tasks: &mut Vec<Task>, threads: &mut Vec<libc::pthread_t>) -> io::Result<()> {
    // SAFETY: the shape outlives the process's tasks.
    if unsafe { (*task.shape).threads } {
        // Room for all was reserved: a push moves nothing, so the address stays good for the thread.
        tasks.push(task);
        let task = &raw mut tasks[threads.len()];
        threads.push(start_thread(task)?);
        return Ok(());
    }
    // SAFETY: asks for a number.
    let parent = unsafe { libc::getpid() };
    // SAFETY: the child makes system calls and computes, then leaves.
    match unsafe { libc::fork() } {
        -1 => Err(io::Error::last_os_error()),
        0 => {
            // SAFETY: system calls with numbers only. A parent that is gone already would send no signal.
            unsafe {
                libc::prctl(libc::PR_SET_PDEATHSIG, libc::SIGKILL);
                let code = if libc::getppid() == parent { work(&task) } else { libc::ESRCH };
                libc::_exit(code)
            }
        }
        _ => Ok(()),
    }
}

fn start_thread(task: *mut Task) -> io::Result<libc::pthread_t> {
    const STACK: usize = 64 << 10;
    // SAFETY: the attributes are initialised before use and destroyed after; the thread's function takes the pointer,
    // which stays good as long as the process lives.
    unsafe {
        let mut attributes: libc::pthread_attr_t = std::mem::zeroed();
        let mut thread: libc::pthread_t = std::mem::zeroed();
        let mut error = libc::pthread_attr_init(&raw mut attributes);
        if error == 0 {
            error = libc::pthread_attr_setstacksize(&raw mut attributes, STACK);
        }
        if error == 0 {
            error = libc::pthread_create(&raw mut thread, &raw const attributes, work_in_thread, task.cast());
            libc::pthread_attr_destroy(&raw mut attributes);
        }
        if error == 0 { Ok(thread) } else { Err(io::Error::from_raw_os_error(error)) }
    }
}

extern "C" fn work_in_thread(task: *mut libc::c_void) -> *mut libc::c_void {
    // SAFETY: `start_thread` passed a task that lives as long as the process.
    let task = unsafe { &*task.cast::<Task>() };
    let code = work(task);
    if code != 0 {
        // The others would wait for this one for ever.
        // SAFETY: the outcome lives in shared memory as long as the process; then the process leaves.
        unsafe {
            (*task.outcome).tell(TASK_FAILED, code);
            libc::_exit(1)
        }
    }
    std::ptr::null_mut()
}

/// A sender or receiver: zero, or the number of the error that ended it.
fn work(task: &Task) -> i32 {
    // SAFETY: shape and channels live as long as the process. A receiver has one channel, a sender one for each receiver
    // of its group; the buffer holds a message, and only receivers, which have their own each, write it.
    let (shape, channels, buffer) = unsafe {
        let shape = &*task.shape;
        let channels = if task.sends { shape.receivers } else { 1 };
        let channels = std::slice::from_raw_parts(task.channels, channels);
        (shape, channels, std::ptr::slice_from_raw_parts_mut(task.buffer, shape.size))
    };
    if !task.sends && !shape.threads {
        // SAFETY: the writing end, which this process does not use.
        unsafe { libc::close(channels[0][1]) };
    }
    let work = || {
        sys::write_all(shape.via, task.ready, &[1], &NEVER)?;
        await_start(task.wake)?;
        if task.sends {
            // SAFETY: see above; senders only read it.
            let message = unsafe { &*buffer };
            for _ in 0..shape.loops {
                for channel in channels {
                    sys::write_all(shape.via, channel[1], message, &NEVER)?;
                }
            }
        } else {
            // SAFETY: see above; nobody else uses this receiver's.
            let inbox = unsafe { &mut *buffer };
            for _ in 0..shape.loops * shape.senders {
                sys::read_all(shape.via, channels[0][0], inbox, &NEVER)?;
            }
        }
        Ok(())
    };
    work().map_or_else(|e: io::Error| e.raw_os_error().unwrap_or(libc::EIO), |()| 0)
}

/// Waits for the byte that starts all; it stays in the pipe for the others.
fn await_start(wake: RawFd) -> io::Result<()> {
    let mut poll = libc::pollfd { fd: wake, events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: one entry of ours.
        if unsafe { libc::poll(&raw mut poll, 1, -1) } == 1 {
            return Ok(());
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err(error);
        }
    }
}

/// Waits until one more task is ready, or until one has ended, which none should before the start.
fn await_ready(ready: RawFd) -> Result<(), (i32, i32)> {
    let mut poll = libc::pollfd { fd: ready, events: libc::POLLIN, revents: 0 };
    loop {
        // SAFETY: one entry of ours.
        if unsafe { libc::poll(&raw mut poll, 1, 50) } == 1 {
            let read = sys::read_all(Via::Library, ready, &mut [0], &NEVER);
            return read.map(|_| ()).map_err(|e| (NOT_STARTED, e.raw_os_error().unwrap_or(0)));
        }
        let mut status = 0;
        // SAFETY: the status is ours; no child is waited for.
        if unsafe { libc::waitpid(-1, &raw mut status, libc::WNOHANG) } > 0 {
            return Err(ending(status).unwrap_or((TASK_FAILED, 0)));
        }
    }
}

fn reap_one() -> Result<(), (i32, i32)> {
    let mut status = 0;
    loop {
        // SAFETY: the status is ours; this process has no children but its tasks.
        if unsafe { libc::waitpid(-1, &raw mut status, 0) } > 0 {
            return ending(status).map_or(Ok(()), Err);
        }
        let error = io::Error::last_os_error();
        if error.kind() != io::ErrorKind::Interrupted {
            return Err((TASK_FAILED, error.raw_os_error().unwrap_or(0)));
        }
    }
}

/// What is wrong with how a task ended, if anything.
fn ending(status: i32) -> Option<(i32, i32)> {
    if libc::WIFSIGNALED(status) {
        return Some((TASK_KILLED, libc::WTERMSIG(status)));
    }
    match libc::WEXITSTATUS(status) {
        0 => None,
        code => Some((TASK_FAILED, code)),
    }
}
