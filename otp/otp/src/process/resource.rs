//! Values of ours that the VM keeps: to Erlang each is a reference, and it is dropped when nothing refers to it any more.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicPtr, Ordering};

use super::abi::{RT_CREATE, RawEnv, ResourceType};
use super::{Env, Term, Turn, vm};

/// The kind of a value that the VM keeps; there is one static of it for each type that is kept.
#[derive(Debug)]
pub(crate) struct ObjectType<T> {
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
    pub(super) unsafe fn new(env: *mut RawEnv) -> Self {
        Self(env)
    }

    pub(super) fn env(&self) -> *mut RawEnv {
        self.0
    }
}

/// Any process may have the reference, so the value is only ever lent as `&T`, to several threads at once.
impl<T: Send + Sync + 'static> ObjectType<T> {
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

/// What the VM calls when nothing refers to the resource any more.
unsafe extern "C" fn destroy<T>(env: *mut RawEnv, object: *mut c_void) {
    // SAFETY: the VM gives an environment that is valid for the call.
    let env = unsafe { Env::new(env) };
    let turn = Turn::new(env, false);
    // A value whose drop panics is leaked rather than let through the VM.
    // SAFETY: `keep` wrote a value there, and the VM calls this once, when nobody can reach it any more.
    let _ = catch_unwind(AssertUnwindSafe(|| turn.enter(|| unsafe { ptr::drop_in_place(object.cast::<T>()) })));
    // Nobody does what a drop orders, but what it tells is told.
    crate::observe::rescue(env, &turn);
}
