//! Tagged words: integers, atoms, processes, list cells and tuples are read here without a call of the VM.
//!
//! Handling a message takes some ten accessors. Each accessor of the VM is a call through a table; each of those here is an instruction
//! or two. The layout of terms is no part of the VM's interface, though it has been so on 64 bits since there were 64 bits. When the
//! library is loaded, [`layout`](super::layout) therefore has the VM make terms of every kind and compares them with what is said
//! here; a VM in which one differs does not load the library. On 32 bits, and for every other kind of term, the VM's own functions are used.
//!
//! The lowest two bits of a word are its tag: 1 for a list, 2 for a pointer to a boxed term whose first word says what it is, 3 for a
//! value in the word itself. The first word of a tuple is its arity, shifted by six.

use std::slice;

use crate::nif::abi::RawTerm;

pub(super) const LIST: usize = 1;
pub(super) const POINTER: usize = 2;
pub(super) const POINTER_BITS: usize = 0b111;
const SMALL: usize = 0b1111;
const SMALL_BITS: u32 = 4;
pub(super) const PROCESS: usize = 0b0011;
pub(super) const ATOM: usize = 0b00_1011;
pub(super) const KIND: usize = 0b1111;
pub(super) const LONG_KIND: usize = 0b11_1111;
pub(super) const ARITY: u32 = 6;

/// The integers that a word holds.
pub(super) const LEAST: i64 = -(1 << 59);
pub(super) const GREATEST: i64 = (1 << 59) - 1;

/// Whether terms lie as is said above.
pub(super) const KNOWN: bool = usize::BITS == 64;

/// The integer that is in this word.
#[inline]
pub(super) fn integer(raw: RawTerm) -> Option<i64> {
    (raw & KIND == SMALL && KNOWN).then_some(raw.cast_signed() as i64 >> SMALL_BITS)
}

/// The word that this integer is in.
#[inline]
pub(super) fn of_integer(value: i64) -> Option<RawTerm> {
    ((LEAST..=GREATEST).contains(&value) && KNOWN).then_some(word(value))
}

/// The word of a small integer.
pub(super) const fn word(value: i64) -> RawTerm {
    ((value << SMALL_BITS) as usize) | SMALL
}

/// The first word of a tuple.
#[inline]
pub(super) const fn arity(elements: usize) -> RawTerm {
    elements << ARITY
}

/// Whether what lies in memory begins a tuple with this word, or has it for an element: the first word of anything else is another.
#[inline]
pub(super) const fn is_of_tuples_and_cells(raw: RawTerm) -> bool {
    raw & 0b11 != 0 || raw & LONG_KIND == 0
}

/// The tuple that lies here.
#[inline]
pub(super) fn pointer(at: *const RawTerm) -> RawTerm {
    at as usize | POINTER
}

/// The list that begins here.
#[inline]
pub(super) fn list(at: *const RawTerm) -> RawTerm {
    at as usize | LIST
}

#[inline]
pub(super) fn is_atom(raw: RawTerm) -> bool {
    raw & LONG_KIND == ATOM && KNOWN
}

/// Whether this is a process of this node.
#[inline]
pub(super) fn is_process(raw: RawTerm) -> bool {
    raw & KIND == PROCESS && KNOWN
}

/// The elements of a tuple, which stay where they are as long as the environment of the term is valid.
#[inline]
pub(super) fn tuple<'a>(raw: RawTerm) -> Option<&'a [RawTerm]> {
    if raw & POINTER_BITS != POINTER || !KNOWN {
        return None;
    }
    // SAFETY: `are_as_said` has seen that such a word points to the header of what it is, and that the arity in that of a tuple is
    // followed by as many terms.
    unsafe {
        let at = (raw - POINTER) as *const usize;
        (*at & LONG_KIND == 0).then(|| slice::from_raw_parts(at.add(1), *at >> ARITY))
    }
}

/// Head and tail of a list that is not empty.
#[inline]
pub(super) fn cell(raw: RawTerm) -> Option<(RawTerm, RawTerm)> {
    if raw & POINTER_BITS != LIST || !KNOWN {
        return None;
    }
    // SAFETY: `are_as_said` has seen that such a word points to two terms.
    unsafe {
        let at = (raw - LIST) as *const RawTerm;
        Some((*at, *at.add(1)))
    }
}
