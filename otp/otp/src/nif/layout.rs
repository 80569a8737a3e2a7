//! A check of the VM's term layout against `words.rs`, done once when the library is loaded.

use crate::nif::abi::RawTerm;
use crate::nif::env::Env;
use crate::nif::term::Term;
use crate::nif::vm;
use crate::nif::words::{
    ARITY, ATOM, GREATEST, KIND, KNOWN, LEAST, LIST, LONG_KIND, POINTER, POINTER_BITS, PROCESS, word,
};

/// Whether the terms of this VM lie as is said here.
pub(crate) fn are_as_said(env: Env<'_>) -> bool {
    !KNOWN || as_said(env)
}

/// Looks at terms that the VM's own functions make.
fn as_said(env: Env<'_>) -> bool {
    let integers = [0, 1, -1, 1234, LEAST, GREATEST].iter().all(|value| {
        // SAFETY: makes a term of a number.
        let made = unsafe { (vm().make_int64)(env.raw(), *value) };
        made == word(*value)
    });
    let (atom, process) = (env.atom("otp").raw(), env.own_pid().pid);
    let (seven, eight) = (word(7), word(8));
    let tuples = (0..4).all(|arity| {
        let elements = vec![seven; arity];
        // SAFETY: as many terms as are said.
        let tuple = unsafe { (vm().make_tuple_from_array)(env.raw(), elements.as_ptr(), arity as _) };
        // SAFETY: as much is read as was just written there, if it is a pointer at all.
        tuple & POINTER_BITS == POINTER
            && unsafe {
                let at = (tuple - POINTER) as *const usize;
                *at == arity << ARITY && (1..=arity).all(|index| *at.add(index) == seven)
            }
    });
    // SAFETY: two terms.
    let list = unsafe { (vm().make_list_cell)(env.raw(), seven, eight) };
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
    let float = env.adopt(unsafe { (vm().make_double)(env.raw(), 0.5) });
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
