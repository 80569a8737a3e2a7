//! A term that outlives the call that it came with: it lies in an environment of its own.

use std::ffi::{c_char, c_int};
use std::fmt;
use std::sync::Arc;

use super::abi::{RawEnv, RawTerm};
use super::{Env, Term, vm};

/// A term kept for as long as anybody has it; a clone is another owner of the same.
#[derive(Clone)]
pub struct Kept(Arc<Inside>);

struct Inside {
    env: *mut RawEnv,
    term: RawTerm,
}

// SAFETY: the environment belongs to no process and nobody makes terms in it once the term is there; reading it from several
// threads at a time is what terms are made for.
unsafe impl Send for Inside {}
// SAFETY: as above.
unsafe impl Sync for Inside {}

impl Drop for Inside {
    fn drop(&mut self) {
        // SAFETY: made in `Kept::made`, and freed once, when nobody has the term any more.
        unsafe { (vm().free_env)(self.env) };
    }
}

impl Kept {
    pub fn of(term: Term<'_>) -> Self {
        Self::made(|env| term.copy_to(env))
    }

    /// Keeps what `make` makes.
    pub fn made(make: impl for<'e> FnOnce(Env<'e>) -> Term<'e>) -> Self {
        // SAFETY: allocates an environment, or ends the VM when there is no memory.
        let mut inside = Inside { env: unsafe { (vm().alloc_env)() }, term: 0 };
        // SAFETY: the environment is valid until `inside` is dropped.
        inside.term = make(unsafe { Env::new(inside.env) }).raw();
        Self(Arc::new(inside))
    }

    /// Runs `body` with the term.
    pub fn with<R>(&self, body: impl FnOnce(Term<'_>) -> R) -> R {
        // SAFETY: the environment is valid for as long as `self` is borrowed.
        let env = unsafe { Env::new(self.0.env) };
        body(env.adopt(self.0.term))
    }
}

impl PartialEq for Kept {
    fn eq(&self, other: &Self) -> bool {
        self.with(|own| other.with(|other| own.is_identical(other)))
    }
}

/// As Erlang writes it.
impl fmt::Debug for Kept {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        type Print = unsafe extern "C" fn(*mut c_char, usize, *const c_char, ...) -> c_int;
        let Some(found) = super::abi::look_up("enif_snprintf") else { return f.write_str("a term") };
        let mut text = [0_u8; 512];
        // SAFETY: erl_nif_api_funcs.h declares the function so; the buffer has the size that is given, and %T takes a term.
        unsafe {
            let print = std::mem::transmute::<std::ptr::NonNull<std::ffi::c_void>, Print>(found);
            print(text.as_mut_ptr().cast(), text.len(), c"%T".as_ptr(), self.0.term);
        }
        let length = text.iter().position(|byte| *byte == 0).unwrap_or(text.len());
        let more = if length == text.len() - 1 { "…" } else { "" };
        write!(f, "{}{more}", String::from_utf8_lossy(&text[..length]))
    }
}
