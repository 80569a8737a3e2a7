//! Descriptors in the VM's own poll set: a process is sent a message when the kernel says that one is ready, and no thread waits.
//!
//! Who holds a [`Watched`] owns its descriptor. The VM may still look at it when the owner is gone, so it is closed by `stopped`, which
//! the VM calls when its poll set has let go of it, and by nobody else. A descriptor closed earlier could be another file's by the time
//! that the poll set hears of it.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use super::abi::{
    RT_CREATE, RawEnv, RawPid, ResourceType, ResourceTypeInit, SELECT_CANCEL, SELECT_CUSTOM_MSG, SELECT_READ,
    SELECT_STOP, SELECT_WRITE,
};
use super::object::Loading;
use super::overdue::{self, Object};
use super::{Env, Term, try_turn, vm};

static TYPE: AtomicPtr<ResourceType> = AtomicPtr::new(ptr::null_mut());

/// What the descriptor is. A message may name one, and who reads it must know what of.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Kind {
    Timer,
    Socket,
}

/// What a descriptor is to be ready for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Readiness {
    Read,
    Write,
}

impl Readiness {
    fn flag(self) -> c_int {
        match self {
            Self::Read => SELECT_READ,
            Self::Write => SELECT_WRITE,
        }
    }
}

/// What the VM keeps for as long as anybody, or its poll set, refers to it.
struct Inside {
    /// Closed by `stopped`.
    descriptor: c_int,
    kind: Kind,
    /// Whether the owner is gone. Who holds only a reference has this locked while it uses the descriptor: the reference may be in
    /// another process than the owner, which could close the descriptor meanwhile.
    over: Mutex<bool>,
}

/// Makes the kind known to the VM; `false` when it refuses.
pub(super) fn open(loading: &Loading) -> bool {
    let init =
        ResourceTypeInit { dtor: None, stop: Some(stopped), down: ptr::null(), members: 2, dyncall: ptr::null() };
    let name = c"watched".as_ptr();
    // SAFETY: the VM is loading the library; the name ends in NUL, and `init` says how many of its members count.
    let opened =
        unsafe { (vm().open_resource_type_x)(loading.env(), name, &raw const init, RT_CREATE, ptr::null_mut()) };
    TYPE.store(opened, Ordering::Release);
    !opened.is_null()
}

/// What the VM calls when its poll set has let go of the descriptor.
unsafe extern "C" fn stopped(_: *mut RawEnv, _: *mut c_void, event: c_int, _: c_int) {
    // SAFETY: nobody uses the descriptor any more: its owner is gone, and the poll set has let go of it.
    unsafe { libc::close(event) };
}

/// A descriptor that does not block, and its only owner.
#[derive(Debug)]
pub(crate) struct Watched(ptr::NonNull<c_void>);

// SAFETY: what it points to is shared by reference counts of the VM, and all that is done with it may be done on any thread.
unsafe impl Send for Watched {}
// SAFETY: as above: by a shared reference only the descriptor's number is read, and the VM's functions lock for themselves.
unsafe impl Sync for Watched {}

impl Watched {
    /// # Panics
    /// Outside of a VM.
    pub(crate) fn new(descriptor: OwnedFd, kind: Kind) -> Self {
        let opened = TYPE.load(Ordering::Acquire);
        assert!(!opened.is_null(), "this needs an Erlang VM, and none has loaded this library");
        let inside = Inside { descriptor: descriptor.into_raw_fd(), kind, over: Mutex::new(false) };
        // SAFETY: the memory has the size and the alignment of what is written there before anybody can see it.
        unsafe {
            let room = (vm().alloc_resource)(opened, size_of::<Inside>());
            room.cast::<Inside>().write(inside);
            Self(ptr::NonNull::new_unchecked(room))
        }
    }

    fn inside(&self) -> &Inside {
        // SAFETY: `new` wrote it there, and it stays for as long as this holds its reference.
        unsafe { self.0.cast::<Inside>().as_ref() }
    }

    pub(super) fn object(&self) -> Object {
        Object(self.0)
    }

    /// It as a term: a reference.
    pub(crate) fn term<'a>(&self, env: Env<'a>) -> Term<'a> {
        // SAFETY: a resource that lives.
        env.adopt(unsafe { (vm().make_resource)(env.raw(), self.0.as_ptr()) })
    }

    /// Has the VM send `message` to `to`, once, when it is ready.
    ///
    /// # Errors
    /// When the kernel cannot wait for it: a file on a disk, say, or no memory for one more.
    pub(crate) fn select(&self, env: Env<'_>, what: Readiness, to: RawPid, message: Term<'_>) -> Result<(), io::Error> {
        select(env, self.0.as_ptr(), self.inside().descriptor, what, to, message)
    }

    /// Takes that back; the message may be on its way.
    pub(crate) fn cancel(&self, env: Env<'_>, what: Readiness) {
        let undefined = crate::atom!("undefined").raw(env);
        // SAFETY: the object is of our kind and lives.
        unsafe {
            let flags = what.flag() | SELECT_CANCEL;
            (vm().select)(env.raw(), self.inside().descriptor, flags, self.0.as_ptr(), ptr::null(), undefined);
        }
    }
}

impl AsFd for Watched {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is open for as long as this lives: only the drop has it closed.
        unsafe { BorrowedFd::borrow_raw(self.inside().descriptor) }
    }
}

impl Drop for Watched {
    fn drop(&mut self) {
        *self.inside().over.lock().unwrap_or_else(PoisonError::into_inner) = true;
        let raw = try_turn(|env, _| env.raw()).unwrap_or(ptr::null_mut());
        let undefined = try_turn(|env, _| crate::atom!("undefined").raw(env)).unwrap_or(0);
        if self.inside().kind == Kind::Timer {
            overdue::forget(self.object());
        }
        // SAFETY: a resource that lives until it is released here; `stopped` closes the descriptor, at once or when the poll set has
        // let go of it.
        unsafe {
            (vm().select)(raw, self.inside().descriptor, SELECT_STOP, self.0.as_ptr(), ptr::null(), undefined);
            (vm().release_resource)(self.0.as_ptr());
        }
    }
}

/// For a message that names a descriptor of this kind: what `read` makes of that, after asking for the next such message. `None` when
/// it is none, or over. While `read` has it, it is not over.
pub(super) fn again<R>(
    env: Env<'_>,
    named: Term<'_>,
    kind: Kind,
    message: Term<'_>,
    read: impl FnOnce(BorrowedFd<'_>, Object) -> R,
) -> Option<R> {
    let mut found: *mut c_void = ptr::null_mut();
    // SAFETY: room for one; the VM checks that it is a resource of this kind.
    let is = unsafe { (vm().get_resource)(env.raw(), named.raw(), TYPE.load(Ordering::Acquire), &raw mut found) != 0 };
    if !is {
        return None;
    }
    // SAFETY: a resource of this kind holds this, for at least as long as the term that refers to it.
    let inside = unsafe { &*found.cast::<Inside>() };
    if inside.kind != kind {
        return None;
    }
    let over = inside.over.lock().unwrap_or_else(PoisonError::into_inner);
    if *over {
        return None;
    }
    // SAFETY: its owner is there, and is so until it has the lock.
    let result = read(unsafe { BorrowedFd::borrow_raw(inside.descriptor) }, Object(ptr::NonNull::new(found)?));
    select(env, found, inside.descriptor, Readiness::Read, env.own_pid(), message).ok()?;
    Some(result)
}

fn select(
    env: Env<'_>,
    object: *mut c_void,
    descriptor: c_int,
    what: Readiness,
    to: RawPid,
    message: Term<'_>,
) -> Result<(), io::Error> {
    // SAFETY: the object is of our kind and lives; the VM copies the message.
    let result = unsafe {
        let flags = what.flag() | SELECT_CUSTOM_MSG;
        (vm().select_x)(env.raw(), descriptor, flags, object, &raw const to, message.raw(), ptr::null_mut())
    };
    if result < 0 { Err(io::Error::other("the VM's poll set does not take the descriptor")) } else { Ok(()) }
}
