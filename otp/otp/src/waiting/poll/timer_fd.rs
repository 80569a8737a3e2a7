//! Kernel timers (timerfd) in the VM's poll set: as precise as the kernel's clock, and without a thread.

use std::io;
use std::os::fd::{AsFd, AsRawFd, BorrowedFd, FromRawFd, OwnedFd};
use std::ptr;
use std::time::Duration;

use crate::data::Malformed;
use crate::nif::{Atom, Env, Term};
use crate::waiting::poll::descriptor::{Again, Descriptor, Kind, Readiness, again};
use crate::waiting::poll::overdue::{self, Message};

/// A timer of the kernel, of the process that made it.
#[derive(Debug)]
pub(crate) struct TimerFd(Descriptor);

impl TimerFd {
    /// One that goes off every `period`, for the first time after one.
    ///
    /// # Errors
    /// When the kernel has no timer left for this process.
    pub(crate) fn every(period: Duration) -> io::Result<Self> {
        // SAFETY: takes no memory of ours; what it gives is nobody else's.
        let timer = unsafe {
            let timer = libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC);
            if timer < 0 {
                return Err(io::Error::last_os_error());
            }
            OwnedFd::from_raw_fd(timer)
        };
        let period = period.max(Duration::from_nanos(1));
        let spec = libc::timespec { tv_sec: period.as_secs() as _, tv_nsec: period.subsec_nanos().into() };
        let spec = libc::itimerspec { it_interval: spec, it_value: spec };
        // SAFETY: the descriptor is ours, and the new value is there to be read; the old one is not asked for.
        if unsafe { libc::timerfd_settime(timer.as_raw_fd(), 0, &raw const spec, ptr::null_mut()) } < 0 {
            return Err(io::Error::last_os_error());
        }
        Ok(Self(Descriptor::new(timer, Kind::Timer)))
    }

    /// The timer as a term: a reference.
    pub(crate) fn term<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.0.term(env)
    }

    /// Has the VM send this process a message once the timer has gone off.
    pub(crate) fn select(&self, env: Env<'_>, what: Message) -> io::Result<()> {
        let to = env.own_pid();
        self.0.select(env, Readiness::Read, to, what.term(env, self.0.term(env)))?;
        // SAFETY: the object lives as long as `self`, which forgets it when it is dropped.
        unsafe { overdue::note(self.0.object(), || rest(self.0.as_fd()), to, what) };
        Ok(())
    }

    /// `{Tag, Timer}`, for another build.
    pub(crate) fn carry<'a>(&self, tag: &Atom, env: Env<'a>) -> Term<'a> {
        env.tuple(&[tag.raw(env), self.0.carry(env).raw()])
    }

    /// The same timer of the kernel, which goes on as it was set; what is not counted yet is counted here.
    ///
    /// # Errors
    /// When it is none of this tag, or the kernel has no file descriptor left.
    pub(crate) fn carried(
        tag: &Atom,
        term: Term<'_>,
        next: impl for<'a> FnOnce(Env<'a>) -> Again<'a>,
    ) -> Result<Self, Malformed> {
        let [_, timer] = term.tagged(tag).ok_or_else(|| Malformed::expected("a timer of another build"))?;
        Ok(Self(Descriptor::carried(timer, Kind::Timer, next)?))
    }

    /// How often it has gone off since this was last asked.
    pub(crate) fn count(&self) -> u64 {
        count(self.0.as_fd())
    }
}

/// For a message that names a timer: how often it has gone off, after asking for the next such message. `None` when it is no
/// timer, or over.
pub(crate) fn went_off<'a>(env: Env<'a>, timer: Term<'a>, message: Term<'a>) -> Option<u64> {
    again(env, timer, Kind::Timer, message, |descriptor, object| {
        let count = count(descriptor);
        // SAFETY: it is not over yet, and is forgotten when it is.
        unsafe { overdue::note(object, || rest(descriptor), env.own_pid(), Message::Tick) };
        count
    })
}

/// How long until it goes off next.
fn rest(timer: BorrowedFd<'_>) -> Duration {
    // SAFETY: all zeroes are a value of it, and there is room for one.
    let spec = unsafe {
        let mut spec: libc::itimerspec = std::mem::zeroed();
        libc::timerfd_gettime(timer.as_raw_fd(), &raw mut spec);
        spec.it_value
    };
    Duration::new(spec.tv_sec.unsigned_abs(), u32::try_from(spec.tv_nsec).unwrap_or(0))
}

fn count(timer: BorrowedFd<'_>) -> u64 {
    let mut count = 0_u64;
    // SAFETY: room for eight bytes; the descriptor does not block.
    let read = unsafe { libc::read(timer.as_raw_fd(), (&raw mut count).cast(), size_of::<u64>()) };
    if read == size_of::<u64>() as isize { count } else { 0 }
}
