//! The words that terms are made of: integers, atoms, processes, cells and tuples are read here without asking the VM.
//!
//! A message is some ten accessors, and each is a call through a table; what is read here takes an instruction or two. That
//! terms lie so is no part of the VM's interface, though it has been so on 64 bits since there were 64 bits. So when the library
//! is loaded, [`are_as_said`] has the VM make terms of every kind and looks whether all lie as is said here; in a VM where one does not, a
//! library is not loaded. On 32 bits, and for every term that is none of these, the VM's own functions are used.
//!
//! The lowest two bits of a term say what it is: 1 a list, 2 a pointer to something whose first word says what it is, 3 a value by
//! itself. A tuple's first word is its arity, shifted by six.

use std::slice;

use super::abi::RawTerm;
use super::{Env, Term};

const LIST: usize = 1;
const POINTER: usize = 2;
const POINTER_BITS: usize = 0b111;
const SMALL: usize = 0b1111;
const SMALL_BITS: u32 = 4;
const PROCESS: usize = 0b0011;
const ATOM: usize = 0b00_1011;
const KIND: usize = 0b1111;
const LONG_KIND: usize = 0b11_1111;
const ARITY: u32 = 6;

/// The integers that a word holds.
const LEAST: i64 = -(1 << 59);
const GREATEST: i64 = (1 << 59) - 1;

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

/// Whether the terms of this VM lie as is said here.
pub(super) fn are_as_said(env: Env<'_>) -> bool {
    !KNOWN || as_said(env)
}

/// Looks at terms that the VM's own functions make.
fn as_said(env: Env<'_>) -> bool {
    let integers = [0, 1, -1, 1234, LEAST, GREATEST].iter().all(|value| {
        // SAFETY: makes a term of a number.
        let made = unsafe { (super::vm().make_int64)(env.raw(), *value) };
        made == word(*value)
    });
    let (atom, process) = (env.atom("otp").raw(), env.own_pid().pid);
    let (seven, eight) = (word(7), word(8));
    let tuples = (0..4).all(|arity| {
        let elements = vec![seven; arity];
        // SAFETY: as many terms as are said.
        let tuple = unsafe { (super::vm().make_tuple_from_array)(env.raw(), elements.as_ptr(), arity as _) };
        // SAFETY: as much is read as was just written there, if it is a pointer at all.
        tuple & POINTER_BITS == POINTER
            && unsafe {
                let at = (tuple - POINTER) as *const usize;
                *at == arity << ARITY && (1..=arity).all(|index| *at.add(index) == seven)
            }
    });
    // SAFETY: two terms.
    let list = unsafe { (super::vm().make_list_cell)(env.raw(), seven, eight) };
    // SAFETY: as above.
    let lists = list & POINTER_BITS == LIST
        && unsafe {
            let at = (list - LIST) as *const RawTerm;
            *at == seven && *at.add(1) == eight
        };
    integers
        && atom & LONG_KIND == ATOM
        && process & KIND == PROCESS
        && tuples
        && lists
        && others(env).iter().all(|other| is_other(other.raw()))
}

/// One of each other kind that can be made here.
fn others(env: Env<'_>) -> Vec<Term<'_>> {
    // SAFETY: a finite number.
    let float = env.adopt(unsafe { (super::vm().make_double)(env.raw(), 0.5) });
    let map = env.map(&[word(1)], &[word(2)]);
    let large: Vec<RawTerm> = (0..100).map(word).collect();
    let large = env.map(&large, &large);
    [env.integer(GREATEST + 1), env.integer(LEAST - 1), float, env.new_reference()]
        .into_iter()
        .chain([env.binary(b"short"), env.binary(&[0; 1000])])
        .chain(map.into_iter().chain(large))
        .collect()
}

/// Whether none of the functions above takes this for what it is none of.
fn is_other(raw: RawTerm) -> bool {
    // SAFETY: it is a pointer to what the VM has just made, and every such thing has a first word.
    raw & POINTER_BITS == POINTER && unsafe { *((raw - POINTER) as *const usize) } & LONG_KIND != 0
}
