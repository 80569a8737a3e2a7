//! Making terms in an environment, and sending them.

use std::ptr;

use crate::nif::abi::{RawPid, RawTerm};
use crate::nif::env::Env;
use crate::nif::heap::{Moment, Taken};
use crate::nif::term::Term;
use crate::nif::{heap, vm, words};

impl<'a> Env<'a> {
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

    /// An integer of any size up to 128 bits, by way of its external form: a tag, the count of its bytes, its sign, and the bytes, the
    /// last one first.
    pub(crate) fn wide_integer(self, negative: bool, size: u128) -> Term<'a> {
        const VERSION: u8 = 131;
        const SMALL_BIG: u8 = 110;
        let bytes = size.to_le_bytes();
        let mut external = vec![VERSION, SMALL_BIG, bytes.len() as u8, negative.into()];
        external.extend_from_slice(&bytes);
        let mut made = 0;
        // SAFETY: as many bytes as are said, and room for one term.
        let read = unsafe { (vm().binary_to_term)(self.raw(), external.as_ptr(), external.len(), &raw mut made, 0) };
        assert!(read != 0, "the VM takes no integer of {size}");
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
            heap::tuple(self.raw(), elements)
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
            heap::cell(self.raw(), head.raw(), tail.raw())
                .unwrap_or_else(|| (vm().make_list_cell)(self.raw(), head.raw(), tail.raw()))
        })
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

    /// What is free for terms now.
    #[inline(always)]
    pub(crate) fn now(self) -> Moment {
        // SAFETY: the environment is valid.
        unsafe { heap::now(self.raw()) }
    }

    /// What was taken for terms since.
    #[inline(always)]
    pub(crate) fn taken_since(self, moment: Moment) -> Taken {
        // SAFETY: the environment is valid.
        unsafe { heap::taken_since(self.raw(), moment) }
    }

    /// Takes no more room for these terms, where that can be.
    ///
    /// # Safety
    /// The environment is that of a call which this thread is in, and nobody uses one of them any more.
    #[inline]
    pub(crate) unsafe fn give_back(self, terms: Taken) {
        // SAFETY: the caller's promise.
        unsafe { heap::give_back(self.raw(), terms) }
    }

    /// Sends to a process of this node; `false` when there is none any more.
    #[inline]
    pub(crate) fn send(self, to: RawPid, message: Term<'_>) -> bool {
        // SAFETY: the environment is the caller's, the message a term of it, which the VM copies.
        unsafe { (vm().send)(self.raw(), &raw const to, ptr::null_mut(), message.raw()) != 0 }
    }
}
