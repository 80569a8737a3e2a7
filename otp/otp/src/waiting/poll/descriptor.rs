//! File descriptors in the VM's poll set: a process is sent a message when the kernel says that one is ready.
//!
//! A [`Descriptor`] owns its file descriptor. The VM may still poll the file descriptor when its owner has been dropped. So only
//! `stopped` closes it, which the VM calls when its poll set has let go: a file descriptor that is closed earlier could be another
//! file's by the time that the poll set hears of it.
//!
//! To another build a descriptor goes as a duplicate: the new owner has a file descriptor of its own for the same file, and the old one
//! is closed as ever. What the poll set was asked for in the old build is asked for anew in the new one, unless its message has been
//! sent (`let_go`): so each such message comes once, and no readiness is lost.

use std::ffi::{c_int, c_void};
use std::io;
use std::os::fd::{AsFd, BorrowedFd, IntoRawFd, OwnedFd, RawFd};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, Ordering};
use std::sync::{Mutex, PoisonError};

use crate::atom;
use crate::data::{Data, Malformed};
use crate::nif::abi::{
    READ_CANCELLED, RT_CREATE, RawEnv, RawPid, ResourceType, ResourceTypeInit, SELECT_CANCEL, SELECT_CUSTOM_MSG,
    SELECT_READ, SELECT_STOP, SELECT_WRITE, WRITE_CANCELLED,
};
use crate::nif::{Env, Term, module, vm};
use crate::process::resource::Loading;
use crate::process::turn::{anywhere, turn};
use crate::waiting::poll::overdue::{self, Object};

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
    /// Whether it was shown to another build, which may ask what was awaited here.
    carried: AtomicBool,
    /// Whether the owner is gone. Who holds only a reference has this locked while it uses the descriptor: the reference may be in
    /// another process than the owner, which could close the descriptor meanwhile.
    over: Mutex<Option<Awaited>>,
}

/// What the poll set had been asked for, and had sent no message of, when it was asked no longer.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Awaited {
    pub(crate) read: bool,
    pub(crate) write: bool,
}

/// Makes the kind known to the VM; `false` when it refuses.
pub(crate) fn open(loading: &Loading) -> bool {
    let init = ResourceTypeInit { dtor: None, stop: Some(stopped), down: ptr::null(), members: 2, dyncall: None };
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
pub(crate) struct Descriptor(ptr::NonNull<c_void>);

// SAFETY: what it points to is shared by reference counts of the VM, and all that is done with it may be done on any thread.
unsafe impl Send for Descriptor {}
// SAFETY: as above: by a shared reference only the descriptor's number is read, and the VM's functions lock for themselves.
unsafe impl Sync for Descriptor {}

impl Descriptor {
    /// # Panics
    /// Outside of a VM.
    pub(crate) fn new(descriptor: OwnedFd, kind: Kind) -> Self {
        let opened = TYPE.load(Ordering::Acquire);
        assert!(!opened.is_null(), "this needs an Erlang VM, and none has loaded this library");
        let inside = Inside {
            descriptor: descriptor.into_raw_fd(),
            kind,
            carried: AtomicBool::new(false),
            over: Mutex::new(None),
        };
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

    pub(crate) fn object(&self) -> Object {
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
        let undefined = atom!("undefined").raw(env);
        // SAFETY: the object is of our kind and lives.
        unsafe {
            let flags = what.flag() | SELECT_CANCEL;
            (vm().select)(env.raw(), self.inside().descriptor, flags, self.0.as_ptr(), ptr::null(), undefined);
        }
    }
}

/// Takes back all that the poll set was asked for, and says what of it no message was sent of.
///
/// # Safety
/// The object is of our kind and lives.
unsafe fn await_no_longer(env: Env<'_>, object: *mut c_void, descriptor: c_int) -> Awaited {
    let undefined = atom!("undefined").raw(env);
    // SAFETY: the caller's promise.
    let result = unsafe {
        let flags = SELECT_READ | SELECT_WRITE | SELECT_CANCEL;
        (vm().select)(env.raw(), descriptor, flags, object, ptr::null(), undefined)
    };
    if result < 0 {
        return Awaited::default();
    }
    Awaited { read: result & READ_CANCELLED != 0, write: result & WRITE_CANCELLED != 0 }
}

/// How a descriptor goes over to another build.
impl Descriptor {
    /// `{'$otp_descriptor', Native, Reference, Number}`.
    pub(crate) fn carry<'a>(&self, env: Env<'a>) -> Term<'a> {
        self.inside().carried.store(true, Ordering::Relaxed);
        let number = i64::from(self.inside().descriptor).encode(env);
        let native = env.atom(module::own());
        env.tuple(&[atom!("$otp_descriptor").raw(env), native.raw(), self.term(env).raw(), number.raw()])
    }

    /// A duplicate of one that another build has. When the process goes on in this build, what the poll set was asked for there is asked for
    /// here, with these messages; of a ticker, that is so in any case.
    ///
    /// # Errors
    /// When the term is of another form, and when the kernel has no file descriptor left.
    pub(crate) fn carried(
        term: Term<'_>,
        kind: Kind,
        again: impl for<'a> FnOnce(Env<'a>) -> Again<'a>,
    ) -> Result<Self, Malformed> {
        let malformed = || Malformed::expected("a file descriptor of another build");
        let [_, native, reference, number] = term.tagged(atom!("$otp_descriptor")).ok_or_else(malformed)?;
        let number = RawFd::try_from(i64::decode(number)?).ok().filter(|number| *number >= 0).ok_or_else(malformed)?;
        // SAFETY: the owner in the other build is kept by the process that this runs in, so the number is that of an open file; were it
        // another's, the call says so.
        let duplicate = unsafe { BorrowedFd::borrow_raw(number) }.try_clone_to_owned();
        let duplicate =
            duplicate.map_err(|error| Malformed::told(format!("a file descriptor cannot be duplicated: {error}")))?;
        let own = Self::new(duplicate, kind);
        turn(|env, turn| {
            let undefined = atom!("undefined").term(env);
            let (what, read, write) = match again(env) {
                Again::AsBefore { read, write } => (atom!("as_before"), read, write),
                Again::Tick => (atom!("tick"), undefined, undefined),
                Again::Never => (atom!("never"), undefined, undefined),
            };
            let (native, reference) = (native.copy_to(env), reference.copy_to(env));
            turn.order(env, atom!("take_over"), &[native, reference, own.term(env), what.term(env), read, write]);
        });
        Ok(own)
    }
}

/// What a descriptor that has come over asks the poll set for.
pub(crate) enum Again<'a> {
    /// What the one before had asked for, with these messages.
    AsBefore { read: Term<'a>, write: Term<'a> },
    /// The next tick.
    Tick,
    /// Nothing: what waited for it has ended.
    Never,
}

/// `{Read, Write}`: what the poll set had been asked for, for the descriptor that `named` refers to, and will not send any more.
pub(crate) fn let_go<'a>(env: Env<'a>, named: Term<'a>) -> Option<Term<'a>> {
    let (object, inside) = named_by(env, named)?;
    let over = inside.over.lock().unwrap_or_else(PoisonError::into_inner);
    let awaited = match *over {
        Some(awaited) => awaited,
        // SAFETY: it is of our kind and lives, as the term refers to it; while this has the lock nobody closes it.
        None => unsafe { await_no_longer(env, object, inside.descriptor) },
    };
    Some(env.tuple(&[awaited.read.encode(env).raw(), awaited.write.encode(env).raw()]))
}

/// Asks the poll set for `message` to this process, once the descriptor that `named` refers to is ready to be read, or written. Whether it
/// does so.
pub(crate) fn watch<'a>(env: Env<'a>, named: Term<'a>, what: Term<'a>, message: Term<'a>) -> Option<Term<'a>> {
    let (object, inside) = named_by(env, named)?;
    let what = if what.is(atom!("read")) { Readiness::Read } else { Readiness::Write };
    let over = inside.over.lock().unwrap_or_else(PoisonError::into_inner);
    let watched = over.is_none() && select(env, object, inside.descriptor, what, env.own_pid(), message).is_ok();
    Some(watched.encode(env))
}

impl AsFd for Descriptor {
    fn as_fd(&self) -> BorrowedFd<'_> {
        // SAFETY: it is open for as long as this lives: only the drop has it closed.
        unsafe { BorrowedFd::borrow_raw(self.inside().descriptor) }
    }
}

impl Drop for Descriptor {
    fn drop(&mut self) {
        // On whatever thread the owner is dropped: newer VMs look into the environment that `enif_select` is given.
        anywhere(|env| {
            let inside = self.inside();
            let mut over = inside.over.lock().unwrap_or_else(PoisonError::into_inner);
            *over = Some(if inside.carried.load(Ordering::Relaxed) {
                // SAFETY: the object is of our kind and lives.
                unsafe { await_no_longer(env, self.0.as_ptr(), inside.descriptor) }
            } else {
                Awaited::default()
            });
            drop(over);
            if inside.kind == Kind::Timer {
                overdue::forget(self.object());
            }
            let undefined = atom!("undefined").raw(env);
            // SAFETY: a resource that lives until it is released here; `stopped` closes the descriptor, at once or when the poll set
            // has let go of it.
            unsafe {
                (vm().select)(env.raw(), inside.descriptor, SELECT_STOP, self.0.as_ptr(), ptr::null(), undefined);
                (vm().release_resource)(self.0.as_ptr());
            }
        });
    }
}

/// For a message that names a descriptor of this kind: what `read` makes of that, after asking for the next such message. `None` when
/// it is none, or over. While `read` has it, it is not over.
pub(crate) fn again<'a, R>(
    env: Env<'a>,
    named: Term<'a>,
    kind: Kind,
    message: Term<'a>,
    read: impl FnOnce(BorrowedFd<'_>, Object) -> R,
) -> Option<R> {
    let (found, inside) = named_by(env, named)?;
    if inside.kind != kind {
        return None;
    }
    let over = inside.over.lock().unwrap_or_else(PoisonError::into_inner);
    if over.is_some() {
        return None;
    }
    // SAFETY: its owner is there, and is so until it has the lock.
    let result = read(unsafe { BorrowedFd::borrow_raw(inside.descriptor) }, Object(ptr::NonNull::new(found)?));
    select(env, found, inside.descriptor, Readiness::Read, env.own_pid(), message).ok()?;
    Some(result)
}

/// The descriptor that a term refers to.
fn named_by<'a>(env: Env<'a>, named: Term<'a>) -> Option<(*mut c_void, &'a Inside)> {
    let mut found: *mut c_void = ptr::null_mut();
    // SAFETY: room for one; the VM checks that it is a resource of this kind.
    let is = unsafe { (vm().get_resource)(env.raw(), named.raw(), TYPE.load(Ordering::Acquire), &raw mut found) != 0 };
    // SAFETY: a resource of this kind holds this, for at least as long as the term that refers to it.
    is.then(|| (found, unsafe { &*found.cast::<Inside>() }))
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
