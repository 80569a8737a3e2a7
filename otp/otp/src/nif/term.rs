//! Terms: values of the VM of any kind, and reading them.

use std::ffi::{c_int, c_uint};
use std::slice;

use crate::nif::abi::{BITSTRING, Binary, LATIN1, MapIterator, RawPid, RawTerm};
use crate::nif::env::Env;
use crate::nif::{vm, words};

/// A value of the VM: an integer, an atom, a tuple, anything.
#[derive(Clone, Copy, Debug)]
pub struct Term<'a> {
    raw: RawTerm,
    env: Env<'a>,
}

impl<'a> Term<'a> {
    #[inline]
    pub(crate) fn new(raw: RawTerm, env: Env<'a>) -> Self {
        Self { raw, env }
    }

    #[inline]
    pub fn raw(self) -> RawTerm {
        self.raw
    }

    #[inline]
    pub fn env(self) -> Env<'a> {
        self.env
    }

    #[inline]
    pub fn is_atom(self) -> bool {
        // SAFETY: a term of this environment.
        words::is_atom(self.raw) || unsafe { (vm().is_atom)(self.env.raw(), self.raw) != 0 }
    }

    #[inline]
    pub fn is_pid(self) -> bool {
        // SAFETY: as above.
        words::is_process(self.raw) || unsafe { (vm().is_pid)(self.env.raw(), self.raw) != 0 }
    }

    pub fn is_reference(self) -> bool {
        // SAFETY: as above.
        unsafe { (vm().is_ref)(self.env.raw(), self.raw) != 0 }
    }

    pub fn is_empty_list(self) -> bool {
        // SAFETY: as above.
        unsafe { (vm().is_empty_list)(self.env.raw(), self.raw) != 0 }
    }

    /// Whether both are the same value, as `=:=` has it.
    pub fn is_identical(self, other: Term<'_>) -> bool {
        // SAFETY: both are whole terms.
        unsafe { (vm().is_identical)(self.raw, other.raw) != 0 }
    }

    #[inline]
    pub fn integer(self) -> Option<i64> {
        words::integer(self.raw).or_else(|| self.long_integer())
    }

    /// One that does not fit in the word of the term.
    #[cold]
    fn long_integer(self) -> Option<i64> {
        let mut value = 0;
        // SAFETY: room for one.
        unsafe { (vm().get_int64)(self.env.raw(), self.raw, &raw mut value) != 0 }.then_some(value)
    }

    #[inline]
    pub fn unsigned(self) -> Option<u64> {
        match words::integer(self.raw) {
            Some(value) => u64::try_from(value).ok(),
            None => self.long_unsigned(),
        }
    }

    #[cold]
    fn long_unsigned(self) -> Option<u64> {
        let mut value = 0;
        // SAFETY: room for one.
        unsafe { (vm().get_uint64)(self.env.raw(), self.raw, &raw mut value) != 0 }.then_some(value)
    }

    #[inline]
    pub fn float(self) -> Option<f64> {
        let mut value = 0.0;
        // SAFETY: room for one.
        unsafe { (vm().get_double)(self.env.raw(), self.raw, &raw mut value) != 0 }.then_some(value)
    }

    /// The name of an atom.
    pub fn atom_name(self) -> Option<String> {
        let mut name = [0_u8; 256];
        // SAFETY: room for the longest atom and the NUL that ends it.
        let written = unsafe {
            (vm().get_atom)(self.env.raw(), self.raw, name.as_mut_ptr().cast(), name.len() as c_uint, LATIN1)
        };
        match usize::try_from(written).ok().and_then(|written| name.get(..written.checked_sub(1)?)) {
            Some(name) => Some(name.iter().map(|byte| char::from(*byte)).collect()),
            None => self.wide_atom_name(),
        }
    }

    /// The name of an atom that is not in Latin-1. The VM has no accessor for it before OTP 26, so it is taken from the
    /// external form of the atom.
    #[cold]
    fn wide_atom_name(self) -> Option<String> {
        if !self.is_atom() {
            return None;
        }
        external_name(self.external()?.get(1..)?)
    }

    /// The node of a process. The VM has no accessor for it, so it is taken from the external form of the process.
    pub(crate) fn node_name(self) -> Option<String> {
        const PID: u8 = 103;
        const NEW_PID: u8 = 88;
        match self.external()?.get(1..)? {
            [PID | NEW_PID, node @ ..] => external_name(node),
            _ => None,
        }
    }

    /// The bytes that would go to another node: a version, a tag, and what the tag says.
    fn external(self) -> Option<Vec<u8>> {
        let mut external = Binary::empty();
        // SAFETY: room for one binary, which is ours and given back once its bytes are copied.
        unsafe {
            if (vm().term_to_binary)(self.env.raw(), self.raw, &raw mut external) == 0 {
                return None;
            }
            let bytes = slice::from_raw_parts(external.data, external.size).to_vec();
            (vm().release_binary)(&raw mut external);
            Some(bytes)
        }
    }

    /// Whether an integer is below 0, and its size, if 64 bits do not hold it and 128 do.
    pub(crate) fn wide_integer(self) -> Option<(bool, u128)> {
        const SMALL_BIG: u8 = 110;
        if !self.is_integer() {
            return None;
        }
        let external = self.external()?;
        let [SMALL_BIG, length, sign, digits @ ..] = external.get(1..)? else { return None };
        let mut bytes = [0; 16];
        bytes.get_mut(..usize::from(*length))?.copy_from_slice(digits.get(..usize::from(*length))?);
        Some((*sign != 0, u128::from_le_bytes(bytes)))
    }

    fn is_integer(self) -> bool {
        // SAFETY: a term of this environment.
        let is_number = unsafe { (vm().is_number)(self.env.raw(), self.raw) != 0 };
        is_number && self.float().is_none()
    }

    /// How many bytes an integer has that no word holds.
    pub(super) fn integer_size(self) -> Option<usize> {
        const SMALL_BIG: u8 = 110;
        const LARGE_BIG: u8 = 111;
        if !self.is_integer() {
            return None;
        }
        match *self.external()?.get(1..)? {
            [SMALL_BIG, size, ..] => Some(size.into()),
            [LARGE_BIG, a, b, c, d, ..] => usize::try_from(u32::from_be_bytes([a, b, c, d])).ok(),
            _ => None,
        }
    }

    /// The first bytes of a binary, or of bits that are no whole bytes, where there are more than `most` of them.
    pub(super) fn long_bits(self, most: usize) -> Option<Vec<u8>> {
        const BITS: u8 = 77;
        if let Some(bytes) = self.bytes() {
            return (bytes.len() > most).then(|| bytes[..most].to_vec());
        }
        // SAFETY: a term of this environment.
        if unsafe { (vm().term_type)(self.env.raw(), self.raw) } != BITSTRING {
            return None;
        }
        match &self.external()?[1..] {
            [BITS, _, _, _, _, _, bytes @ ..] if bytes.len() > most => Some(bytes[..most].to_vec()),
            _ => None,
        }
    }

    #[inline]
    pub fn local_pid(self) -> Option<RawPid> {
        if words::is_process(self.raw) {
            return Some(RawPid { pid: self.raw });
        }
        let mut pid = RawPid { pid: 0 };
        // SAFETY: room for one.
        unsafe { (vm().get_local_pid)(self.env.raw(), self.raw, &raw mut pid) != 0 }.then_some(pid)
    }

    /// The process of this node that is registered under this atom.
    #[inline]
    pub(crate) fn registered(self) -> Option<RawPid> {
        if !self.is_atom() {
            return None;
        }
        let mut pid = RawPid { pid: 0 };
        // SAFETY: room for one; the term is an atom, which the VM does not look at again.
        unsafe { (vm().whereis_pid)(self.env.raw(), self.raw, &raw mut pid) != 0 }.then_some(pid)
    }

    #[inline]
    pub fn tuple(self) -> Option<Tuple<'a>> {
        match words::tuple(self.raw) {
            Some(elements) => Some(Tuple { elements, env: self.env }),
            None => self.asked_tuple(),
        }
    }

    #[cold]
    fn asked_tuple(self) -> Option<Tuple<'a>> {
        let (mut arity, mut elements): (c_int, *const RawTerm) = (0, std::ptr::null());
        // SAFETY: room for one of each; the elements stay where they are for as long as the environment is valid.
        unsafe {
            if (vm().get_tuple)(self.env.raw(), self.raw, &raw mut arity, &raw mut elements) == 0 {
                return None;
            }
            let elements = if arity == 0 { &[] } else { slice::from_raw_parts(elements, arity as usize) };
            Some(Tuple { elements, env: self.env })
        }
    }

    /// Head and tail of a list that is not empty.
    #[inline]
    pub fn cell(self) -> Option<(Term<'a>, Term<'a>)> {
        if let Some((head, tail)) = words::cell(self.raw) {
            return Some((self.env.adopt(head), self.env.adopt(tail)));
        }
        let (mut head, mut tail) = (0, 0);
        // SAFETY: room for one of each.
        let is = unsafe { (vm().get_list_cell)(self.env.raw(), self.raw, &raw mut head, &raw mut tail) != 0 };
        is.then(|| (self.env.adopt(head), self.env.adopt(tail)))
    }

    /// How long a proper list is.
    pub fn list_length(self) -> Option<usize> {
        let mut length: c_uint = 0;
        // SAFETY: room for one.
        unsafe { (vm().get_list_length)(self.env.raw(), self.raw, &raw mut length) != 0 }.then_some(length as usize)
    }

    /// The bytes of a binary.
    pub fn bytes(self) -> Option<&'a [u8]> {
        let mut binary = Binary::empty();
        // SAFETY: the bytes belong to the term and stay for as long as the environment is valid; they are not released, as
        // `inspect` gives no ownership.
        unsafe {
            if (vm().inspect_binary)(self.env.raw(), self.raw, &raw mut binary) == 0 {
                return None;
            }
            Some(if binary.size == 0 { &[] } else { slice::from_raw_parts(binary.data, binary.size) })
        }
    }

    pub fn map_size(self) -> Option<usize> {
        let mut size = 0;
        // SAFETY: room for one.
        unsafe { (vm().get_map_size)(self.env.raw(), self.raw, &raw mut size) != 0 }.then_some(size)
    }

    pub fn map_value(self, key: Term<'_>) -> Option<Term<'a>> {
        let mut value = 0;
        // SAFETY: room for one; a term that is no map makes the call fail.
        let is = unsafe { (vm().get_map_value)(self.env.raw(), self.raw, key.raw, &raw mut value) != 0 };
        is.then(|| self.env.adopt(value))
    }

    pub fn map_entries(self) -> Option<MapEntries<'a>> {
        let mut iterator = MapIterator::empty();
        const FIRST: c_int = 1;
        // SAFETY: room for one; it is destroyed when the entries are dropped.
        let is = unsafe { (vm().map_iterator_create)(self.env.raw(), self.raw, &raw mut iterator, FIRST) != 0 };
        // Not made where there is none: what is made is destroyed.
        is.then(|| MapEntries { iterator, env: self.env })
    }

    /// The same value in another environment.
    pub fn copy_to<'b>(self, env: Env<'b>) -> Term<'b> {
        // SAFETY: a whole term and a valid environment.
        env.adopt(unsafe { (vm().make_copy)(env.raw(), self.raw) })
    }
}

impl<'a> Env<'a> {
    /// A term that the VM gave with this environment.
    #[inline]
    pub(crate) fn adopt(self, raw: RawTerm) -> Term<'a> {
        Term::new(raw, self)
    }
}

/// The name of the atom that these bytes begin with, in one of the forms that atoms had since there were nodes.
fn external_name(bytes: &[u8]) -> Option<String> {
    const ATOM: u8 = 100;
    const SMALL_ATOM: u8 = 115;
    const ATOM_UTF8: u8 = 118;
    const SMALL_ATOM_UTF8: u8 = 119;
    let (tag, name) = match *bytes {
        [tag @ (SMALL_ATOM | SMALL_ATOM_UTF8), length, ref rest @ ..] => (tag, rest.get(..usize::from(length))?),
        [tag @ (ATOM | ATOM_UTF8), high, low, ref rest @ ..] => {
            (tag, rest.get(..usize::from(u16::from_be_bytes([high, low])))?)
        }
        _ => return None,
    };
    match tag {
        ATOM_UTF8 | SMALL_ATOM_UTF8 => String::from_utf8(name.to_vec()).ok(),
        _ => Some(name.iter().map(|byte| char::from(*byte)).collect()),
    }
}

/// The elements of a tuple.
#[derive(Clone, Copy, Debug)]
pub struct Tuple<'a> {
    elements: &'a [RawTerm],
    env: Env<'a>,
}

impl<'a> Tuple<'a> {
    #[inline]
    pub fn len(&self) -> usize {
        self.elements.len()
    }

    pub fn is_empty(&self) -> bool {
        self.elements.is_empty()
    }

    #[inline]
    pub fn get(&self, index: usize) -> Option<Term<'a>> {
        self.elements.get(index).map(|raw| self.env.adopt(*raw))
    }

    /// The elements as an array, if there are `N`.
    #[inline]
    pub fn array<const N: usize>(&self) -> Option<[Term<'a>; N]> {
        let elements: &[RawTerm; N] = self.elements.try_into().ok()?;
        Some(elements.map(|raw| self.env.adopt(raw)))
    }
}

/// The entries of a map, in no particular order.
#[derive(Debug)]
pub struct MapEntries<'a> {
    iterator: MapIterator,
    env: Env<'a>,
}

impl<'a> Iterator for MapEntries<'a> {
    type Item = (Term<'a>, Term<'a>);

    fn next(&mut self) -> Option<Self::Item> {
        let (mut key, mut value) = (0, 0);
        // SAFETY: the iterator was created with this environment; room for one of each.
        let is = unsafe {
            let is = (vm().map_iterator_get_pair)(self.env.raw(), &raw mut self.iterator, &raw mut key, &raw mut value);
            (vm().map_iterator_next)(self.env.raw(), &raw mut self.iterator);
            is != 0
        };
        is.then(|| (self.env.adopt(key), self.env.adopt(value)))
    }
}

impl Drop for MapEntries<'_> {
    fn drop(&mut self) {
        // SAFETY: created once with this environment, and destroyed once.
        unsafe { (vm().map_iterator_destroy)(self.env.raw(), &raw mut self.iterator) };
    }
}
