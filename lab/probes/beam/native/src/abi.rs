//! The part of the NIF ABI that this library uses, declared by hand.
//!
//! Every declaration here mirrors one of `erl_nif.h` or `erl_nif_api_funcs.h` as OTP 25 ships them (NIF version 2.16)
//! and bears its C name. The ABI is stable within major version 2: a VM loads every library whose minor version is not
//! above its own, and newer versions only append fields and functions. Version 2.16 is therefore good for OTP 25 and
//! everything after it. Only 64-bit and 32-bit Unix are meant; Windows passes the functions as a table instead.

use std::ffi::{c_char, c_int, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};

/// `ERL_NIF_MAJOR_VERSION` and `ERL_NIF_MINOR_VERSION`, erl_nif.h.
pub const VERSION: (c_int, c_int) = (2, 16);

/// `ERL_NIF_LATIN1` of `ErlNifCharEncoding`, erl_nif.h.
pub const LATIN1: c_int = 1;

/// `ERL_NIF_DIRTY_JOB_CPU_BOUND`, from `ERL_DIRTY_JOB_CPU_BOUND` in erl_drv_nif.h.
pub const DIRTY_CPU: c_uint = 1;

/// `sizeof(ErlNifResourceTypeInit)`, erl_nif.h: three pointers, an int padded to a pointer, one more pointer.
pub const RESOURCE_TYPE_INIT_SIZE: usize = 5 * size_of::<*const c_void>();

/// `ERL_NIF_TERM`, erl_nif.h: an unsigned word as wide as a pointer.
pub type Term = usize;

/// `ErlNifEnv`, erl_nif.h: opaque, and only ever seen behind a pointer that the VM gave.
#[repr(C)]
pub struct Env {
    _opaque: [u8; 0],
    _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
}

/// `ErlNifFunc` (struct enif_func_t), erl_nif.h.
#[repr(C)]
pub struct Func {
    pub name: *const c_char,
    pub arity: c_uint,
    pub fptr: unsafe extern "C" fn(env: *mut Env, argc: c_int, argv: *const Term) -> Term,
    pub flags: c_uint,
}

/// `load` and `reload` of `ErlNifEntry`.
pub type Load = unsafe extern "C" fn(*mut Env, *mut *mut c_void, Term) -> c_int;
/// `upgrade` of `ErlNifEntry`.
pub type Upgrade = unsafe extern "C" fn(*mut Env, *mut *mut c_void, *mut *mut c_void, Term) -> c_int;
/// `unload` of `ErlNifEntry`.
pub type Unload = unsafe extern "C" fn(*mut Env, *mut c_void);

/// `ErlNifEntry` (struct enif_entry_t), erl_nif.h, with the fields up to version 2.16.
#[repr(C)]
pub struct Entry {
    pub major: c_int,
    pub minor: c_int,
    pub name: *const c_char,
    pub num_of_funcs: c_int,
    pub funcs: *mut Func,
    pub load: Option<Load>,
    pub reload: Option<Load>,
    pub upgrade: Option<Upgrade>,
    pub unload: Option<Unload>,
    pub vm_variant: *const c_char,
    pub options: c_uint,
    pub sizeof_resource_type_init: usize,
    pub min_erts: *const c_char,
}

unsafe extern "C" {
    /// erl_nif_api_funcs.h: an atom from a NUL-terminated Latin-1 name of at most 255 characters.
    pub fn enif_make_atom(env: *mut Env, name: *const c_char) -> Term;
    /// erl_nif_api_funcs.h: a list of the `len` characters at `string`.
    pub fn enif_make_string_len(env: *mut Env, string: *const c_char, len: usize, encoding: c_int) -> Term;
    /// erl_nif_api_funcs.h: a tuple of the `cnt` terms at `arr`, copied.
    pub fn enif_make_tuple_from_array(env: *mut Env, arr: *const Term, cnt: c_uint) -> Term;
}
