//! Timers of the kernel in the VM's own poll set: as fine as the kernel's, and without a thread.

use std::ffi::{c_int, c_void};
use std::io;
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::time::Duration;

use super::abi::{
    RT_CREATE, RawEnv, RawPid, ResourceType, ResourceTypeInit, SELECT_CUSTOM_MSG, SELECT_READ, SELECT_STOP,
};
use super::{Env, Term, try_turn, vm};

static TYPE: AtomicPtr<ResourceType> = AtomicPtr::new(ptr::null_mut());

/// What the VM keeps for as long as anybody, or its poll set, refers to it.
struct Inside {
    /// Closed by `stopped`, when the poll set has let go of it.
    timer: c_int,
    over: AtomicBool,
}

/// Makes the kind known to the VM; `false` when it refuses.
///
/// # Safety
/// Only while the VM loads the library, with the environment of that.
pub(crate) unsafe fn open(env: *mut RawEnv) -> bool {
    let init =
        ResourceTypeInit { dtor: None, stop: Some(stopped), down: ptr::null(), members: 2, dyncall: ptr::null() };
    // SAFETY: the caller's promise; the name ends in NUL, and `init` says how many of its members count.
    let opened =
        unsafe { (vm().open_resource_type_x)(env, c"alarm".as_ptr(), &raw const init, RT_CREATE, ptr::null_mut()) };
    TYPE.store(opened, Ordering::Release);
    !opened.is_null()
}

/// What the VM calls when its poll set has let go of the timer.
unsafe extern "C" fn stopped(_: *mut RawEnv, object: *mut c_void, event: c_int, _: c_int) {
    let _ = object;
    // SAFETY: nobody uses the descriptor any more: its owner is gone, and the poll set has let go of it.
    unsafe { libc::close(event) };
}

/// A timer of the kernel, of the process that made it.
#[derive(Debug)]
pub(crate) struct Alarm(ptr::NonNull<c_void>);

// SAFETY: what it points to is shared by reference counts of the VM, and all that is done with it may be done on any thread.
unsafe impl Send for Alarm {}

impl Alarm {
    /// One that goes off every `period`, for the first time after one.
    ///
    /// # Errors
    /// When the kernel has no timer left for this process.
    pub(crate) fn every(period: Duration) -> io::Result<Self> {
        // SAFETY: takes no memory of ours.
        let timer = unsafe { libc::timerfd_create(libc::CLOCK_MONOTONIC, libc::TFD_NONBLOCK | libc::TFD_CLOEXEC) };
        if timer < 0 {
            return Err(io::Error::last_os_error());
        }
        let period = period.max(Duration::from_nanos(1));
        let spec = libc::timespec { tv_sec: period.as_secs() as _, tv_nsec: period.subsec_nanos().into() };
        let spec = libc::itimerspec { it_interval: spec, it_value: spec };
        // SAFETY: the descriptor is ours, and the new value is there to be read; the old one is not asked for.
        if unsafe { libc::timerfd_settime(timer, 0, &raw const spec, ptr::null_mut()) } < 0 {
            let error = io::Error::last_os_error();
            // SAFETY: nobody else has it.
            unsafe { libc::close(timer) };
            return Err(error);
        }
        let opened = TYPE.load(Ordering::Acquire);
        assert!(!opened.is_null(), "the library was not loaded by an Erlang VM");
        // SAFETY: the memory has the size and the alignment of what is written there before anybody can see it.
        unsafe {
            let room = (vm().alloc_resource)(opened, size_of::<Inside>());
            room.cast::<Inside>().write(Inside { timer, over: AtomicBool::new(false) });
            Ok(Self(ptr::NonNull::new_unchecked(room)))
        }
    }

    fn inside(&self) -> &Inside {
        // SAFETY: `every` wrote it there, and it stays for as long as this holds its reference.
        unsafe { self.0.cast::<Inside>().as_ref() }
    }

    /// The timer as a term: a reference.
    pub(crate) fn term<'a>(&self, env: Env<'a>) -> Term<'a> {
        // SAFETY: a resource that lives.
        env.adopt(unsafe { (vm().make_resource)(env.raw(), self.0.as_ptr()) })
    }

    /// Has the VM send `message` to `to` once the timer has gone off.
    pub(crate) fn select(&self, env: Env<'_>, to: RawPid, message: Term<'_>) {
        select(env, self.0.as_ptr(), self.inside().timer, to, message);
    }

    /// How often it has gone off since this was last asked.
    pub(crate) fn count(&self) -> u64 {
        count(self.inside().timer)
    }
}

impl Drop for Alarm {
    fn drop(&mut self) {
        self.inside().over.store(true, Ordering::Release);
        let raw = try_turn(|env, _| env.raw()).unwrap_or(ptr::null_mut());
        let undefined = try_turn(|env, _| crate::atom!("undefined").raw(env)).unwrap_or(0);
        // SAFETY: a resource that lives until it is released here; `stopped` closes the descriptor, at once or when the poll set has
        // let go of it.
        unsafe {
            (vm().select)(raw, self.inside().timer, SELECT_STOP, self.0.as_ptr(), ptr::null(), undefined);
            (vm().release_resource)(self.0.as_ptr());
        }
    }
}

/// For a message that names a timer: how often it has gone off, after asking for the next such message. `None` when it is no
/// timer, or over.
pub(crate) fn went_off(env: Env<'_>, timer: Term<'_>, message: Term<'_>) -> Option<u64> {
    let mut found: *mut c_void = ptr::null_mut();
    // SAFETY: room for one; the VM checks that it is a resource of this kind.
    let is = unsafe { (vm().get_resource)(env.raw(), timer.raw(), TYPE.load(Ordering::Acquire), &raw mut found) != 0 };
    if !is {
        return None;
    }
    // SAFETY: a resource of this kind holds this, for at least as long as the term that refers to it.
    let inside = unsafe { &*found.cast::<Inside>() };
    if inside.over.load(Ordering::Acquire) {
        return None;
    }
    let count = count(inside.timer);
    select(env, found, inside.timer, env.own_pid(), message);
    Some(count)
}

fn select(env: Env<'_>, object: *mut c_void, timer: c_int, to: RawPid, message: Term<'_>) {
    // SAFETY: the object is of our kind and lives; the VM copies the message.
    unsafe {
        let flags = SELECT_READ | SELECT_CUSTOM_MSG;
        (vm().select_x)(env.raw(), timer, flags, object, &raw const to, message.raw(), ptr::null_mut());
    }
}

fn count(timer: c_int) -> u64 {
    let mut count = 0_u64;
    // SAFETY: room for eight bytes; the descriptor does not block.
    let read = unsafe { libc::read(timer, (&raw mut count).cast(), size_of::<u64>()) };
    if read == size_of::<u64>() as isize { count } else { 0 }
}
