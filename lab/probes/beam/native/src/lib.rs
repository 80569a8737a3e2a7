//! Native functions of the BEAM probe: `kizami_native:lock_memory/0`.
//!
//! An Erlang VM cannot lock its own memory, and no other process can lock it for a running VM, so the call has to be
//! made by native code inside. `lock_memory/0` calls mlockall(2) and returns `ok` or `{error, Text}`, where the text
//! says why the kernel refused. The library has no other function, and no code in it can panic: the one allocation is
//! the error's text.

mod abi;

use abi::{Entry, Env, Func, Term};
use std::cell::UnsafeCell;
use std::ffi::c_int;

/// `lock_memory/0`: locks all that is mapped and all that will be.
///
/// Locked with MCL_CURRENT and MCL_FUTURE, so that pages are there before they are touched. Address space that the VM
/// only reserves (PROT_NONE) counts in VmLck but stays unpopulated, which is why MCL_ONFAULT is not needed.
///
/// # Safety
/// Called by the VM alone, with an environment that is valid for the call.
unsafe extern "C" fn lock_memory(env: *mut Env, _argc: c_int, _argv: *const Term) -> Term {
    // SAFETY: mlockall takes flags and no memory of ours.
    if unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) } == 0 {
        // SAFETY: `env` is valid for this call (the caller's promise) and the name ends in NUL.
        return unsafe { abi::enif_make_atom(env, c"ok".as_ptr()) };
    }
    let why = std::io::Error::last_os_error().to_string();
    // SAFETY: `env` is valid for this call; the atom's name ends in NUL; `why` and the array of two live past the calls
    // that copy from them, with the lengths given.
    unsafe {
        let pair = [
            abi::enif_make_atom(env, c"error".as_ptr()),
            abi::enif_make_string_len(env, why.as_ptr().cast(), why.len(), abi::LATIN1),
        ];
        abi::enif_make_tuple_from_array(env, pair.as_ptr(), 2)
    }
}

/// Memory that the VM may treat as its own: erl_nif.h hands out pointers to non-const, so the tables are not put where
/// a write would fault.
struct Shared<T>(UnsafeCell<T>);

// SAFETY: this library never reads or writes through the cell after the program is loaded; it only hands its address to
// the VM, which calls nif_init and uses the tables under its own code-modification lock.
unsafe impl<T> Sync for Shared<T> {}

static FUNCS: Shared<[Func; 1]> = Shared(UnsafeCell::new([Func {
    name: c"lock_memory".as_ptr(),
    arity: 0,
    fptr: lock_memory,
    // Faulting in everything may take longer than the millisecond that a normal scheduler may be held.
    flags: abi::DIRTY_CPU,
}]));

static ENTRY: Shared<Entry> = Shared(UnsafeCell::new(Entry {
    major: abi::VERSION.0,
    minor: abi::VERSION.1,
    name: c"kizami_native".as_ptr(),
    num_of_funcs: 1,
    funcs: FUNCS.0.get().cast(),
    load: None,
    reload: None,
    upgrade: None,
    unload: None,
    vm_variant: c"beam.vanilla".as_ptr(),
    options: 1,
    sizeof_resource_type_init: abi::RESOURCE_TYPE_INIT_SIZE,
    min_erts: c"erts-13.0".as_ptr(),
}));

/// What the VM looks up when it loads the library (`ERL_NIF_INIT` in erl_nif.h).
// SAFETY: the name is the one that the VM expects of a NIF library, and no other library in this workspace exports it.
#[unsafe(no_mangle)]
pub extern "C" fn nif_init() -> *mut Entry {
    ENTRY.0.get()
}
