//! Where terms live: the environment of one call from the VM.

use std::cell::Cell;
use std::marker::PhantomData;
use std::ptr::{self, NonNull};

use super::abi::{RawEnv, RawPid, RawTerm};
use super::{Term, room, vm, words};

/// The environment that terms are read from and made in.
#[derive(Clone, Copy, Debug)]
pub struct Env<'a> {
    /// Not null, so that a term or none is two words, and returned in registers.
    raw: NonNull<RawEnv>,
    _call: PhantomData<Cell<&'a ()>>,
}

impl<'a> Env<'a> {
    /// # Safety
    /// `raw` must be an environment that stays valid for all of `'a`.
    #[inline]
    pub(crate) unsafe fn new(raw: *mut RawEnv) -> Self {
        // SAFETY: the caller's promise.
        Self { raw: unsafe { NonNull::new_unchecked(raw) }, _call: PhantomData }
    }

    #[inline]
    pub(crate) fn raw(self) -> *mut RawEnv {
        self.raw.as_ptr()
    }

    /// A term that the VM gave with this environment.
    #[inline]
    pub(crate) fn adopt(self, raw: RawTerm) -> Term<'a> {
        Term::new(raw, self)
    }

    /// The atom of a name that is only known as the program runs. Atoms are never freed.
    ///
    /// # Panics
    /// On a name of more than 255 characters, which no atom can have.
    pub fn atom(self, name: &str) -> Term<'a> {
        let latin: Option<Vec<u8>> = name.chars().map(|letter| u8::try_from(letter).ok()).collect();
        let letters = latin.as_ref().map_or_else(|| name.chars().count(), Vec::len);
        assert!(letters <= 255, "an atom has at most 255 characters, and this is of {letters}: {name:?}");
        let Some(latin) = latin else { return self.wide_atom(name) };
        // SAFETY: the name has the length that is given, and is copied.
        self.adopt(unsafe { (vm().make_atom_len)(self.raw(), latin.as_ptr().cast(), latin.len()) })
    }

    /// The atom of a name that is not in Latin-1, by way of its external form: there is no other before OTP 26.
    #[cold]
    fn wide_atom(self, name: &str) -> Term<'a> {
        const VERSION: u8 = 131;
        const ATOM_UTF8: u8 = 118;
        let [high, low] = (name.len() as u16).to_be_bytes();
        let mut external = vec![VERSION, ATOM_UTF8, high, low];
        external.extend_from_slice(name.as_bytes());
        let mut made = 0;
        // SAFETY: as many bytes as are said, and room for one term.
        let read = unsafe { (vm().binary_to_term)(self.raw(), external.as_ptr(), external.len(), &raw mut made, 0) };
        assert!(read != 0, "the VM takes no atom of the name {name:?}");
        self.adopt(made)
    }

    #[inline]
    pub(crate) fn integer(self, value: i64) -> Term<'a> {
        // SAFETY: makes a term of a number.
        self.adopt(words::of_integer(value).unwrap_or_else(|| unsafe { (vm().make_int64)(self.raw(), value) }))
    }

    pub(crate) fn unsigned(self, value: u64) -> Term<'a> {
        // SAFETY: makes a term of a number.
        self.adopt(unsafe { (vm().make_uint64)(self.raw(), value) })
    }

    /// `None` of what is no number or not finite, which Erlang has no float for.
    #[inline]
    pub(crate) fn float(self, value: f64) -> Option<Term<'a>> {
        // SAFETY: makes a term of a finite number; of another the VM would make an exception.
        value.is_finite().then(|| self.adopt(unsafe { (vm().make_double)(self.raw(), value) }))
    }

    /// A reference that no other is equal to.
    pub fn new_reference(self) -> Term<'a> {
        // SAFETY: the environment is valid.
        self.adopt(unsafe { (vm().make_ref)(self.raw()) })
    }

    #[inline]
    pub fn tuple(self, elements: &[RawTerm]) -> Term<'a> {
        // SAFETY: the array has the length given; its terms are of this environment, as `RawTerm`s of it are only made here.
        self.adopt(unsafe {
            room::tuple(self.raw(), elements)
                .unwrap_or_else(|| (vm().make_tuple_from_array)(self.raw(), elements.as_ptr(), elements.len() as _))
        })
    }

    #[inline]
    pub fn list(self, elements: &[RawTerm]) -> Term<'a> {
        // SAFETY: as for `tuple`.
        self.adopt(unsafe { (vm().make_list_from_array)(self.raw(), elements.as_ptr(), elements.len() as _) })
    }

    #[inline(always)]
    pub fn cell(self, head: Term<'a>, tail: Term<'a>) -> Term<'a> {
        // SAFETY: both terms are of this environment.
        self.adopt(unsafe {
            room::cell(self.raw(), head.raw(), tail.raw())
                .unwrap_or_else(|| (vm().make_list_cell)(self.raw(), head.raw(), tail.raw()))
        })
    }

    /// Where the process goes on with making terms in Erlang: has it collect its garbage there when little of its heap is free.
    #[inline(always)]
    pub(crate) fn collect_when_short(self) {
        // SAFETY: the environment is that of this call.
        unsafe { room::end_when_short(self.raw()) }
    }

    pub fn binary(self, bytes: &[u8]) -> Term<'a> {
        let mut made = 0;
        // SAFETY: the VM gives room for as many bytes as were asked for (it ends itself when there is none), which are
        // copied before anybody can see them.
        unsafe {
            let room = (vm().make_new_binary)(self.raw(), bytes.len(), &raw mut made);
            ptr::copy_nonoverlapping(bytes.as_ptr(), room, bytes.len());
        }
        self.adopt(made)
    }

    /// A map; `None` when a key occurs twice.
    pub fn map(self, keys: &[RawTerm], values: &[RawTerm]) -> Option<Term<'a>> {
        assert_eq!(keys.len(), values.len(), "a map has as many keys as values");
        let mut made = 0;
        // SAFETY: both arrays have the length given; their terms are of this environment.
        let unique = unsafe {
            (vm().make_map_from_arrays)(self.raw(), keys.as_ptr(), values.as_ptr(), keys.len(), &raw mut made) != 0
        };
        unique.then(|| self.adopt(made))
    }

    /// Sends to a process of this node; `false` when there is none any more.
    #[inline]
    pub(crate) fn send(self, to: RawPid, message: Term<'_>) -> bool {
        // SAFETY: the environment is the caller's, the message a term of it, which the VM copies.
        unsafe { (vm().send)(self.raw(), &raw const to, ptr::null_mut(), message.raw()) != 0 }
    }

    /// Tells the scheduler that `percent` of a slice of about a millisecond went by; whether the process should yield.
    pub fn consume_timeslice(self, percent: i32) -> bool {
        // SAFETY: the environment is that of a process.
        unsafe { (vm().consume_timeslice)(self.raw(), percent.clamp(1, 100)) != 0 }
    }

    /// The word of the process that makes this call.
    #[inline(always)]
    pub(crate) fn own_process(self) -> Option<RawTerm> {
        // SAFETY: the environment is valid. Outside of a process the VM puts something there that has no word of one.
        unsafe { room::own(self.raw()) }.or_else(|| Some(self.running()?.pid))
    }

    /// The process that runs this.
    ///
    /// # Panics
    /// When none does.
    #[inline]
    pub(crate) fn own_pid(self) -> RawPid {
        self.running().expect("no process runs this")
    }

    /// The process that runs this, if one does.
    #[inline]
    pub(crate) fn running(self) -> Option<RawPid> {
        let mut pid = RawPid { pid: 0 };
        // SAFETY: room for one.
        let found = unsafe { (vm().self_)(self.raw(), &raw mut pid) };
        (!found.is_null()).then_some(pid)
    }
}

/// Sends what `message` makes to a process of this node, from whatever thread; `false` when there is none any more.
pub(crate) fn send_from_anywhere(to: RawPid, message: impl for<'m> FnOnce(Env<'m>) -> Term<'m>) -> bool {
    struct Own(*mut RawEnv);
    impl Drop for Own {
        fn drop(&mut self) {
            // SAFETY: it was made below, and is freed once.
            unsafe { (vm().free_env)(self.0) };
        }
    }
    // SAFETY: the environment is made here and lives until it is dropped, after the message made in it was sent. The caller's
    // is that of the call that this thread is in, or none on a thread that is in no call.
    unsafe {
        let own = Own((vm().alloc_env)());
        let message = message(Env::new(own.0));
        let caller = super::try_turn(|env, _| env.raw()).unwrap_or(ptr::null_mut());
        (vm().send)(caller, &raw const to, own.0, message.raw()) != 0
    }
}
