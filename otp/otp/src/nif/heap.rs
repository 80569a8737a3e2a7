//! The free heap of a process: small tuples and list cells are built there, and its process is read, without a call of the VM.
//!
//! An environment has some free words of its process's heap, and the VM's functions take the words of a new term from their
//! beginning. A callback that passes a message on makes a tuple and a cell, and calling the VM for the two takes as many instructions
//! as all the callback's own code; so this file takes the words itself. It also reads the process of a call from the environment, as
//! every message needs it. Where an environment keeps both is no part of the VM's interface, though it has been the same since there
//! are native functions. When the library is loaded, [`learn`] therefore has the VM make terms, looks whether the free words shrink as
//! is said here, and compares the process with the one that the VM gives. Where something differs, and where too few words are free,
//! the VM's own functions are used.

use std::ffi::c_void;
use std::sync::atomic::{AtomicBool, Ordering};
use std::{ptr, slice};

use crate::nif::abi::{RawEnv, RawPid, RawTerm};
use crate::nif::{vm, words};

/// How an environment begins.
#[repr(C)]
struct Beginning {
    module: *mut c_void,
    /// It begins with the word by which others know it.
    process: *mut RawTerm,
    free: *mut RawTerm,
    end: *mut RawTerm,
}

/// In so few words there is hardly room for one more message and what a callback makes of it.
const LITTLE: usize = 24;

/// What is larger is left to the VM.
const MOST_ELEMENTS: usize = 8;

/// Whether environments begin as is said above.
static KNOWN: AtomicBool = AtomicBool::new(false);

/// The words of a term, which are now taken.
///
/// # Safety
/// The environment is that of a call which this thread is in, or its own; the words are written before the VM has it again.
#[inline(always)]
unsafe fn take(env: *mut RawEnv, words: usize) -> Option<*mut RawTerm> {
    if !KNOWN.load(Ordering::Relaxed) {
        return None;
    }
    // SAFETY: `learn` has seen that an environment begins so, and nobody else uses this one now.
    unsafe {
        let env = env.cast::<Beginning>();
        let at = (*env).free;
        let rest = at.wrapping_add(words);
        if rest > (*env).end {
            return None;
        }
        (*env).free = rest;
        Some(at)
    }
}

/// A tuple of these elements, if there is room for it.
///
/// # Safety
/// The environment is valid, and the elements are terms of it.
#[inline(always)]
pub(super) unsafe fn tuple(env: *mut RawEnv, elements: &[RawTerm]) -> Option<RawTerm> {
    if !(1..=MOST_ELEMENTS).contains(&elements.len()) {
        return None;
    }
    // SAFETY: the caller's promise; as many words are written as are taken.
    unsafe {
        let at = take(env, 1 + elements.len())?;
        *at = words::arity(elements.len());
        for (index, element) in elements.iter().enumerate() {
            *at.add(1 + index) = *element;
        }
        Some(words::pointer(at))
    }
}

/// A cell, if there is room for it.
///
/// # Safety
/// The environment is valid, and both are terms of it.
#[inline(always)]
pub(super) unsafe fn cell(env: *mut RawEnv, head: RawTerm, tail: RawTerm) -> Option<RawTerm> {
    // SAFETY: the caller's promise; as many words are written as are taken.
    unsafe {
        let at = take(env, 2)?;
        *at = head;
        *at.add(1) = tail;
        Some(words::list(at))
    }
}

/// Words of the free heap that were taken one after the other, since some moment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Taken {
    start: *mut RawTerm,
    end: *mut RawTerm,
}

impl Taken {
    const NOTHING: Self = Self { start: ptr::null_mut(), end: ptr::null_mut() };
}

/// A moment: what was free in an environment.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Moment {
    free: *mut RawTerm,
    end: *mut RawTerm,
}

/// What is free now.
///
/// # Safety
/// The environment is valid.
#[inline(always)]
pub(super) unsafe fn now(env: *mut RawEnv) -> Moment {
    if !KNOWN.load(Ordering::Relaxed) {
        return Moment { free: ptr::null_mut(), end: ptr::null_mut() };
    }
    // SAFETY: `learn` has seen that an environment begins so.
    let env = unsafe { &*env.cast::<Beginning>() };
    Moment { free: env.free, end: env.end }
}

/// What was taken since; nothing when words elsewhere had to do.
///
/// # Safety
/// The environment is valid, and that of the moment.
#[inline(always)]
pub(super) unsafe fn taken_since(env: *mut RawEnv, moment: Moment) -> Taken {
    // SAFETY: the caller's promise.
    let now = unsafe { now(env) };
    if now.end == moment.end { Taken { start: moment.free, end: now.free } } else { Taken::NOTHING }
}

/// Makes these words free again, if nothing was taken after them and they are tuples and list cells: the VM keeps lists of some other
/// terms. What a process sends to itself is copied behind them.
///
/// # Safety
/// The environment is that of a call which this thread is in, and nobody uses a term in these words any more.
#[inline]
pub(super) unsafe fn give_back(env: *mut RawEnv, words: Taken) {
    if !KNOWN.load(Ordering::Relaxed) || words.start.is_null() {
        return;
    }
    // SAFETY: `learn` has seen that an environment begins so; the words were taken for terms, which were written there.
    unsafe {
        let env = env.cast::<Beginning>();
        if (*env).free == words.end {
            let terms = slice::from_raw_parts(words.start, words.end.offset_from_unsigned(words.start));
            if terms.iter().all(|word| words::is_of_tuples_and_cells(*word)) {
                (*env).free = words.start;
            }
        }
    }
}

/// The process that a call is of.
///
/// # Safety
/// The environment is valid.
#[inline(always)]
pub(super) unsafe fn own(env: *mut RawEnv) -> Option<RawTerm> {
    // SAFETY: `learn` has seen that an environment begins so, and a process with its own word.
    KNOWN.load(Ordering::Relaxed).then(|| unsafe { *(*env.cast::<Beginning>()).process })
}

/// Takes what is free when it is little, so that what Erlang makes next is preceded by a collection.
///
/// Of what does not fit into the young heap, a native function and the sender of a message get words elsewhere, and the next collection
/// takes these for a sign that the heap is too small: it grows, and a thousand processes that take turns need half as much again of the
/// processor's cache. A collection that Erlang begins finds a heap that was large enough.
///
/// # Safety
/// The environment is that of a call which this thread is in.
#[inline(always)]
pub(super) unsafe fn end_when_short(env: *mut RawEnv) {
    if !KNOWN.load(Ordering::Relaxed) {
        return;
    }
    // SAFETY: `learn` has seen that an environment begins so.
    let left = unsafe {
        let env = env.cast::<Beginning>();
        ((*env).end as usize).wrapping_sub((*env).free as usize) / size_of::<RawTerm>()
    };
    if left < LITTLE {
        take_all(env, left);
    }
}

#[cold]
fn take_all(env: *mut RawEnv, left: usize) {
    let nothing = [words::word(0); LITTLE];
    if left > 1 {
        // SAFETY: a tuple of small integers, which nobody refers to, in the words that are free.
        unsafe { (vm().make_tuple_from_array)(env, nothing.as_ptr(), (left - 1) as _) };
    }
}

/// Looks whether this environment begins as is said here, and if so, makes terms here from now on.
///
/// # Safety
/// The environment is valid.
pub(crate) unsafe fn learn(env: *mut RawEnv) {
    let elements = [words::word(7), words::word(8), words::word(9)];
    let mut seen = 0;
    for arity in [1, 2, 3, 2, 1] {
        // SAFETY: an environment is more than four words, whatever they are; the others are made of terms of it.
        let (before, tuple, between, cell, after) = unsafe {
            let own = env.cast::<Beginning>();
            let before = ((*own).free, (*own).end);
            let tuple = (vm().make_tuple_from_array)(env, elements.as_ptr(), arity as _);
            let between = ((*own).free, (*own).end);
            let cell = (vm().make_list_cell)(env, elements[0], elements[1]);
            (before, tuple, between, cell, ((*own).free, (*own).end))
        };
        if before.1 != after.1 {
            // There was not enough room, and now there is more.
            continue;
        }
        let words = 1 + arity;
        let as_said = tuple == words::pointer(before.0)
            && between.0 == before.0.wrapping_add(words)
            && cell == words::list(between.0)
            && after.0 == between.0.wrapping_add(2)
            && after.0 <= after.1;
        if !as_said {
            return;
        }
        seen += 1;
    }
    // SAFETY: what lies around it lies as is said, so it is a pointer to a process.
    let process = unsafe { (*env.cast::<Beginning>()).process };
    let mut own = RawPid { pid: 0 };
    // SAFETY: room for one; a process is more than a word, whatever that is.
    let as_said = unsafe { !(vm().self_)(env, &raw mut own).is_null() && !process.is_null() && *process == own.pid };
    KNOWN.store(words::KNOWN && seen >= 3 && as_said, Ordering::Relaxed);
}
