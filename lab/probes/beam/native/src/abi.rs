//! The part of the NIF interface that this library uses: the types of `otp`, and three functions.
//!
//! Every function here is one of `erl_nif_api_funcs.h` as OTP 25 ships it, and has its C name; the VM that loads the
//! library provides them.

use std::ffi::{c_char, c_int, c_uint};

pub use otp::vm::abi::{
    DIRTY_CPU, Entry, Func, LATIN1, RESOURCE_TYPE_INIT_SIZE, RawEnv as Env, RawTerm as Term, VERSION,
};

unsafe extern "C" {
    /// erl_nif_api_funcs.h: an atom from a NUL-terminated Latin-1 name of at most 255 characters.
    pub fn enif_make_atom(env: *mut Env, name: *const c_char) -> Term;
    /// erl_nif_api_funcs.h: a list of the `len` characters at `string`.
    pub fn enif_make_string_len(env: *mut Env, string: *const c_char, len: usize, encoding: c_int) -> Term;
    /// erl_nif_api_funcs.h: a tuple of the `cnt` terms at `arr`, copied.
    pub fn enif_make_tuple_from_array(env: *mut Env, arr: *const Term, cnt: c_uint) -> Term;
}
