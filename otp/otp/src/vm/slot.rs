//! Values of ours that the VM keeps: a process holds its state as a reference to one.

use std::ffi::{CStr, c_void};
use std::marker::PhantomData;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::ptr;
use std::sync::atomic::{AtomicBool, AtomicPtr, AtomicU32, AtomicUsize, Ordering};

use super::abi::{RT_CREATE, RawEnv, ResourceType};
use super::{Env, Term, Turn, vm};

/// The kind of a value that the VM keeps; there is one static of it for each type that is kept.
#[derive(Debug)]
pub struct SlotType<T: ?Sized> {
    name: &'static CStr,
    opened: AtomicPtr<ResourceType>,
    _kept: PhantomData<fn(Box<T>)>,
}

/// What lies in the memory that the VM counts references to, and before the value in it.
///
/// It belongs to the process that first used it, and to no other: a process runs on one scheduler at a time, so nobody else has
/// the value while that one does. Only foreign code that passes the reference of a process around can ever be refused.
#[derive(Debug)]
struct Slot<T: ?Sized> {
    /// The process, or 0 before the first use.
    owner: AtomicUsize,
    /// Whether a call of the owner has the value. Only the owner reads or writes it, so it needs no order among threads but that
    /// which the VM keeps when a process goes from one to another.
    taken: AtomicBool,
    /// How often calls of the owner had the value, up to where a `u32` begins anew. It stands here and not with the value because what
    /// each message looks at should lie together: of a thousand processes in turn, none is in the cache.
    uses: AtomicU32,
    /// The value, which follows in the same memory: a message finds the state of its process a few bytes further.
    value: *mut T,
}

impl<T: ?Sized> Slot<T> {
    /// Whether the process that runs this may use the value.
    #[inline]
    fn is_own(&self, env: Env<'_>) -> bool {
        let own = env.own_pid().pid;
        match self.owner.load(Ordering::Relaxed) {
            0 => self.owner.compare_exchange(0, own, Ordering::AcqRel, Ordering::Relaxed).is_ok(),
            owner => owner == own,
        }
    }
}

impl<T: ?Sized + Send> SlotType<T> {
    pub const fn new(name: &'static CStr) -> Self {
        Self { name, opened: AtomicPtr::new(ptr::null_mut()), _kept: PhantomData }
    }

    /// Makes the kind known to the VM; `false` when it refuses.
    ///
    /// # Safety
    /// Only while the VM loads the library, with the environment of that.
    pub(crate) unsafe fn open(&self, env: *mut RawEnv) -> bool {
        // SAFETY: the caller's promise; the name ends in NUL, and a null module means the one that is being loaded.
        let opened = unsafe {
            (vm().open_resource_type)(
                env,
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

    fn opened(&self) -> *mut ResourceType {
        self.opened.load(Ordering::Acquire)
    }

    /// Gives `value` to the VM, which drops it when nothing refers to it any more. It is kept as what `seen` makes of a pointer to
    /// it: the same pointer, as one to a trait.
    ///
    /// # Panics
    /// When the kind was not opened.
    pub fn keep<'a, V: Send>(&self, env: Env<'a>, value: V, seen: fn(*mut V) -> *mut T) -> Term<'a> {
        assert!(!self.opened().is_null(), "the library was not loaded by an Erlang VM");
        // The VM aligns to a word. What is to be aligned to more finds its place in as much room more.
        let room = size_of::<Slot<T>>() + size_of::<V>() + align_of::<V>().saturating_sub(align_of::<usize>());
        // SAFETY: slot and value are written to memory of their size and alignment before anybody can see it; the term made of it
        // keeps the only reference, as ours is released.
        let raw = unsafe {
            let slot = (vm().alloc_resource)(self.opened(), room).cast::<Slot<T>>();
            let after = slot.add(1).cast::<u8>();
            let place = after.add(after.align_offset(align_of::<V>())).cast::<V>();
            place.write(value);
            slot.write(Slot {
                owner: AtomicUsize::new(0),
                taken: AtomicBool::new(false),
                uses: AtomicU32::new(0),
                value: seen(place),
            });
            let raw = (vm().make_resource)(env.raw(), slot.cast());
            (vm().release_resource)(slot.cast());
            raw
        };
        env.adopt(raw)
    }

    /// Lets `body` have the value behind `term`, in the process that `env` is of; `None` when it is none of this kind, of another
    /// process, or in use. `body` is told how often it was had before.
    #[inline]
    pub fn with<R>(&self, env: Env<'_>, term: Term<'_>, body: impl FnOnce(&mut T, u32) -> R) -> Option<R> {
        let mut found: *mut c_void = ptr::null_mut();
        // SAFETY: room for one; the VM checks that it is a resource of this kind.
        let is = unsafe { (vm().get_resource)(term.env().raw(), term.raw(), self.opened(), &raw mut found) != 0 };
        if !is {
            return None;
        }
        // SAFETY: a resource of this kind is a slot, which lives at least as long as the term that refers to it.
        let slot = unsafe { &*found.cast::<Slot<T>>() };
        if !slot.is_own(env) || slot.taken.load(Ordering::Relaxed) {
            return None;
        }
        slot.taken.store(true, Ordering::Relaxed);
        let uses = slot.uses.load(Ordering::Relaxed);
        slot.uses.store(uses.wrapping_add(1), Ordering::Relaxed);
        struct Leave<'a>(&'a AtomicBool);
        impl Drop for Leave<'_> {
            fn drop(&mut self) {
                self.0.store(false, Ordering::Relaxed);
            }
        }
        let _leave = Leave(&slot.taken);
        // SAFETY: no other process gets here, this one runs on one scheduler at a time, and none of its calls had the value: the flag
        // was down and is up now, until `_leave` is dropped.
        Some(body(unsafe { &mut *slot.value }, uses))
    }
}

/// What the VM calls when nothing refers to the resource any more.
unsafe extern "C" fn destroy<T: ?Sized>(env: *mut RawEnv, object: *mut c_void) {
    // SAFETY: the VM gives an environment that is valid for the call.
    let env = unsafe { Env::new(env) };
    let turn = Turn::new(env, false);
    // SAFETY: `keep` wrote a slot there, and the VM calls this once, when nobody can reach it any more.
    let value = unsafe { (*object.cast::<Slot<T>>()).value };
    // A value whose drop panics is leaked rather than let through the VM.
    // SAFETY: as above; `keep` wrote a value there too.
    let _ = catch_unwind(AssertUnwindSafe(|| turn.enter(|| unsafe { ptr::drop_in_place(value) })));
    // Nobody does what a drop orders, but what it tells is told.
    crate::observe::rescue(env, &turn);
}
