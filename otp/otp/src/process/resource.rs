//! Resources: values of Rust that the VM keeps. To Erlang each is a reference, and it is dropped when nothing refers to it any more.

use std::ffi::{CStr, c_int, c_void};
use std::marker::PhantomData;
use std::os::fd::{FromRawFd, IntoRawFd, OwnedFd};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use crate::nif::abi::{RT_CREATE, RawEnv, ResourceType, ResourceTypeInit};
use crate::nif::{Env, Term, vm};
use crate::process::panic::caught;
use crate::process::turn::Turn;

/// The kind of a value that the VM keeps; there is one static of it for each type that is kept.
#[derive(Debug)]
pub(crate) struct Resource<T> {
    name: &'static CStr,
    opened: AtomicPtr<ResourceType>,
    _kept: PhantomData<fn(T) -> T>,
}

/// That the VM is loading the library now, which is when kinds are made known to it.
#[derive(Debug)]
pub(crate) struct Loading(*mut RawEnv);

impl Loading {
    /// # Safety
    /// The VM is loading the library as long as this lives, and this is the environment of that.
    pub(crate) unsafe fn new(env: *mut RawEnv) -> Self {
        Self(env)
    }

    pub(crate) fn env(&self) -> *mut RawEnv {
        self.0
    }
}

/// Any process may have the reference, so the value is only ever lent as `&T`, to several threads at once.
impl<T: Send + Sync + 'static> Resource<T> {
    pub(crate) const fn new(name: &'static CStr) -> Self {
        const { assert!(align_of::<T>() <= align_of::<usize>(), "the VM aligns to a word") };
        Self { name, opened: AtomicPtr::new(ptr::null_mut()), _kept: PhantomData }
    }

    /// Makes the kind known to the VM; `false` when it refuses.
    pub(crate) fn open(&self, loading: &Loading) -> bool {
        // SAFETY: the VM is loading the library; the name ends in NUL, and a null module means the one that is being loaded.
        let opened = unsafe {
            (vm().open_resource_type)(
                loading.env(),
                ptr::null(),
                self.name.as_ptr(),
                Some(destroy::<T>),
                RT_CREATE,
                ptr::null_mut(),
            )
        };
        self.opened.store(opened, Ordering::Release);
        !opened.is_null()
    }

    /// Gives `value` to the VM.
    ///
    /// # Panics
    /// When the kind was not opened.
    pub(crate) fn keep<'a>(&self, env: Env<'a>, value: T) -> Term<'a> {
        let opened = self.opened.load(Ordering::Acquire);
        assert!(!opened.is_null(), "the library was not loaded by an Erlang VM");
        // SAFETY: the value is written to memory of its size and alignment before anybody can see it; the term made of it keeps the
        // only reference, as ours is released.
        let raw = unsafe {
            let place = (vm().alloc_resource)(opened, size_of::<T>()).cast::<T>();
            place.write(value);
            let raw = (vm().make_resource)(env.raw(), place.cast());
            (vm().release_resource)(place.cast());
            raw
        };
        env.adopt(raw)
    }

    /// The value behind `term`, if it is one of this kind.
    pub(crate) fn get<'a>(&self, term: Term<'a>) -> Option<&'a T> {
        let mut found: *mut c_void = ptr::null_mut();
        let opened = self.opened.load(Ordering::Acquire);
        // SAFETY: room for one; the VM checks that it is a resource of this kind.
        let is = unsafe { (vm().get_resource)(term.env().raw(), term.raw(), opened, &raw mut found) != 0 };
        // SAFETY: `keep` wrote a value to every resource of this kind, and it lives at least as long as the term that refers to it.
        is.then(|| unsafe { &*found.cast::<T>() })
    }
}

/// A value that gives another build a file descriptor.
pub(crate) trait Gives {
    /// It, once.
    fn give(&self) -> Option<OwnedFd>;
}

impl<T: Gives + Send + Sync + 'static> Resource<T> {
    /// As [`Resource::open`], of a kind that other builds may ask for what it gives.
    pub(crate) fn open_to_builds(&self, loading: &Loading) -> bool {
        let init = ResourceTypeInit {
            dtor: Some(destroy::<T>),
            stop: None,
            down: ptr::null(),
            members: 4,
            dyncall: Some(give::<T>),
        };
        // SAFETY: the VM is loading the library; the name ends in NUL, and `init` says how many of its members count.
        let opened = unsafe {
            (vm().init_resource_type)(loading.env(), self.name.as_ptr(), &raw const init, RT_CREATE, ptr::null_mut())
        };
        self.opened.store(opened, Ordering::Release);
        !opened.is_null()
    }

    /// What `reference` gives, of the same kind in the build whose native module this is; `None` when it is of no such kind, or gives
    /// nothing any more.
    pub(crate) fn given_by(&self, native: Term<'_>, reference: Term<'_>) -> Option<OwnedFd> {
        let (env, mut given): (_, c_int) = (reference.env(), -1);
        let kind = env.atom(&self.name.to_string_lossy());
        // SAFETY: only `open_to_builds` makes a kind of this name, in whatever build, so it is `give` that is called, with what it writes to.
        let result = unsafe {
            let data = (&raw mut given).cast();
            (vm().dynamic_resource_call)(env.raw(), native.raw(), kind.raw(), reference.raw(), data)
        };
        // SAFETY: `give` has let go of it.
        (result == 0 && given >= 0).then(|| unsafe { OwnedFd::from_raw_fd(given) })
    }
}

/// What the VM calls when another build asks.
unsafe extern "C" fn give<T: Gives>(_: *mut RawEnv, object: *mut c_void, data: *mut c_void) {
    // SAFETY: `keep` wrote a value to every resource of this kind, and who asks refers to it; `given_by` gives room for a number.
    let (value, given) = unsafe { (&*object.cast::<T>(), &mut *data.cast::<c_int>()) };
    if let Ok(Some(descriptor)) = caught(|| value.give()) {
        *given = descriptor.into_raw_fd();
    }
}

/// What the VM calls when nothing refers to the resource any more.
unsafe extern "C" fn destroy<T>(env: *mut RawEnv, object: *mut c_void) {
    // SAFETY: the VM gives an environment that is valid for the call.
    let env = unsafe { Env::new(env) };
    let turn = Turn::new(env, false);
    // A value whose drop panics is leaked rather than let through the VM.
    // SAFETY: `keep` wrote a value there, and the VM calls this once, when nobody can reach it any more.
    let _ = caught(|| turn.enter(|| unsafe { ptr::drop_in_place(object.cast::<T>()) }));
    // Nobody does what a drop orders, but what it tells is told.
    crate::process::events::emit_undone(env, &turn);
}
