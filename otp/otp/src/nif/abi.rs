//! The part of the NIF interface that this library uses, as erl_nif.h of OTP 25 (NIF version 2.16) declares it.
//!
//! The functions are looked up in the running program when the VM loads the library, and not linked: a call through the
//! table costs what a call through the linker's table costs, a test program without a VM can be linked, and a VM that
//! lacks one says which. The interface is stable within major version 2: newer VMs only append to it.

use std::ffi::{CString, c_char, c_int, c_long, c_uint, c_void};
use std::marker::{PhantomData, PhantomPinned};
use std::ptr::NonNull;

/// `ERL_NIF_MAJOR_VERSION` and `ERL_NIF_MINOR_VERSION`.
pub const VERSION: (c_int, c_int) = (2, 16);

/// `ERL_NIF_DIRTY_JOB_CPU_BOUND` and `ERL_NIF_DIRTY_JOB_IO_BOUND`.
pub const DIRTY_CPU: c_uint = 1;
pub const DIRTY_IO: c_uint = 2;

/// `ERL_NIF_RT_CREATE` and `ERL_NIF_RT_TAKEOVER` of `ErlNifResourceFlags`.
pub const RT_CREATE: c_int = 1;

/// `ERL_NIF_LATIN1` of `ErlNifCharEncoding`.
pub const LATIN1: c_int = 1;

/// `ERL_NIF_TERM_TYPE_BITSTRING` of `ErlNifTermType`.
pub const BITSTRING: c_int = 2;

/// `ERL_NIF_INTERNAL_HASH` of `ErlNifHash`.
pub const INTERNAL_HASH: c_int = 1;

/// `sizeof(ErlNifResourceTypeInit)`.
pub const RESOURCE_TYPE_INIT_SIZE: usize = size_of::<ResourceTypeInit>();

/// `ERL_NIF_TERM`: an unsigned word as wide as a pointer.
pub type RawTerm = usize;

/// `ErlNifEnv`: opaque, and only ever seen behind a pointer that the VM gave.
#[repr(C)]
pub struct RawEnv {
    _opaque: [u8; 0],
    _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
}

/// `ErlNifResourceType`.
#[repr(C)]
pub struct ResourceType {
    _opaque: [u8; 0],
    _not_ours: PhantomData<(*mut u8, PhantomPinned)>,
}

/// `ErlNifPid`: the term of a local process.
#[repr(C)]
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RawPid {
    pub pid: RawTerm,
}

/// `ErlNifBinary`; its last fields are the VM's own.
#[repr(C)]
pub struct Binary {
    pub size: usize,
    pub data: *mut u8,
    _reference: *mut c_void,
    _spare: [*mut c_void; 2],
}

impl Binary {
    pub const fn empty() -> Self {
        Self {
            size: 0,
            data: std::ptr::null_mut(),
            _reference: std::ptr::null_mut(),
            _spare: [std::ptr::null_mut(); 2],
        }
    }
}

/// `ErlNifMapIterator`; all fields are the VM's own.
#[repr(C)]
#[derive(Debug)]
pub struct MapIterator {
    _map: RawTerm,
    _size: usize,
    _index: usize,
    _union: [*mut c_void; 2],
    _spare: [*mut c_void; 2],
}

impl MapIterator {
    pub const fn empty() -> Self {
        let null = std::ptr::null_mut();
        Self { _map: 0, _size: 0, _index: 0, _union: [null; 2], _spare: [null; 2] }
    }
}

/// A native function.
pub type Function = unsafe extern "C" fn(env: *mut RawEnv, argc: c_int, argv: *const RawTerm) -> RawTerm;

/// `ErlNifFunc`.
#[repr(C)]
pub struct Func {
    pub name: *const c_char,
    pub arity: c_uint,
    pub fptr: Function,
    pub flags: c_uint,
}

/// `load` and `reload` of `ErlNifEntry`.
pub type Load = unsafe extern "C" fn(*mut RawEnv, *mut *mut c_void, RawTerm) -> c_int;
/// `upgrade` of `ErlNifEntry`.
pub type Upgrade = unsafe extern "C" fn(*mut RawEnv, *mut *mut c_void, *mut *mut c_void, RawTerm) -> c_int;
/// `unload` of `ErlNifEntry`.
pub type Unload = unsafe extern "C" fn(*mut RawEnv, *mut c_void);
/// `ERL_NIF_SELECT_READ`, `_WRITE`, `_STOP`, `_CANCEL` and `_CUSTOM_MSG` of `ErlNifSelectFlags`.
pub const SELECT_READ: c_int = 1;
pub const SELECT_WRITE: c_int = 2;
pub const SELECT_STOP: c_int = 4;
pub const SELECT_CANCEL: c_int = 8;
pub const SELECT_CUSTOM_MSG: c_int = 16;

/// `ERL_NIF_SELECT_READ_CANCELLED` and `_WRITE_CANCELLED`, in what `enif_select` returns.
pub const READ_CANCELLED: c_int = 16;
pub const WRITE_CANCELLED: c_int = 32;

/// What the VM calls when its poll set has let go of a descriptor.
pub type Stop = unsafe extern "C" fn(*mut RawEnv, *mut c_void, c_int, c_int);

/// `ErlNifResourceTypeInit`.
#[repr(C)]
pub struct ResourceTypeInit {
    pub dtor: Option<Destructor>,
    pub stop: Option<Stop>,
    pub down: *const c_void,
    /// How many of the others are there.
    pub members: c_int,
    pub dyncall: Option<Dyncall>,
}

/// What another library has the VM call, with a pointer of its own.
pub type Dyncall = unsafe extern "C" fn(*mut RawEnv, object: *mut c_void, data: *mut c_void);

/// What the VM calls when nothing refers to a resource any more.
pub type Destructor = unsafe extern "C" fn(*mut RawEnv, *mut c_void);

/// `ErlNifEntry`, with the fields up to version 2.16.
#[repr(C)]
pub struct Entry {
    pub major: c_int,
    pub minor: c_int,
    pub name: *const c_char,
    pub num_of_funcs: c_int,
    pub funcs: *const Func,
    pub load: Option<Load>,
    pub reload: Option<Load>,
    pub upgrade: Option<Upgrade>,
    pub unload: Option<Unload>,
    pub vm_variant: *const c_char,
    pub options: c_uint,
    pub sizeof_resource_type_init: usize,
    pub min_erts: *const c_char,
}

/// Declares the table of functions and how it is filled.
macro_rules! functions {
    ($($name:ident($($argument:ty),* $(; $more:tt)?) $(-> $result:ty)?;)*) => {
        /// The functions of the VM, by their names without `enif_`.
        #[derive(Clone, Copy, Debug)]
        pub struct Functions {
            $(pub $name: unsafe extern "C" fn($($argument),* $(, $more)?) $(-> $result)?,)*
        }

        impl Functions {
            /// Those of the running program; the name of the first that it lacks, where it is no Erlang VM.
            pub fn find() -> Result<Self, &'static str> {
                Ok(Self {
                    $($name: {
                        // `self` cannot be the name of a field.
                        let name = concat!("enif_", stringify!($name)).trim_end_matches('_');
                        let found = look_up(name).ok_or(name)?;
                        // SAFETY: the VM's function of this name has this type: erl_nif_api_funcs.h declares it so.
                        unsafe {
                            std::mem::transmute::<
                                NonNull<c_void>,
                                unsafe extern "C" fn($($argument),* $(, $more)?) $(-> $result)?
                            >(found)
                        }
                    },)*
                })
            }
        }
    };
}

/// What the running program has loaded under `name`.
pub(super) fn look_up(name: &str) -> Option<NonNull<c_void>> {
    // Where a long has 64 bits, erl_nif.h makes these macros for the functions that take one.
    let name = match name {
        "enif_get_int64" if c_long::BITS == 64 => "enif_get_long",
        "enif_get_uint64" if c_long::BITS == 64 => "enif_get_ulong",
        "enif_make_int64" if c_long::BITS == 64 => "enif_make_long",
        "enif_make_uint64" if c_long::BITS == 64 => "enif_make_ulong",
        name => name,
    };
    let name = CString::new(name).ok()?;
    // SAFETY: looks for a name that ends in NUL.
    NonNull::new(unsafe { libc::dlsym(libc::RTLD_DEFAULT, name.as_ptr()) })
}

functions! {
    is_atom(*mut RawEnv, RawTerm) -> c_int;
    is_ref(*mut RawEnv, RawTerm) -> c_int;
    is_pid(*mut RawEnv, RawTerm) -> c_int;
    is_empty_list(*mut RawEnv, RawTerm) -> c_int;
    term_type(*mut RawEnv, RawTerm) -> c_int;
    is_number(*mut RawEnv, RawTerm) -> c_int;
    is_identical(RawTerm, RawTerm) -> c_int;
    get_int64(*mut RawEnv, RawTerm, *mut i64) -> c_int;
    get_uint64(*mut RawEnv, RawTerm, *mut u64) -> c_int;
    get_double(*mut RawEnv, RawTerm, *mut f64) -> c_int;
    get_atom(*mut RawEnv, RawTerm, *mut c_char, c_uint, c_int) -> c_int;
    get_tuple(*mut RawEnv, RawTerm, *mut c_int, *mut *const RawTerm) -> c_int;
    get_list_cell(*mut RawEnv, RawTerm, *mut RawTerm, *mut RawTerm) -> c_int;
    get_list_length(*mut RawEnv, RawTerm, *mut c_uint) -> c_int;
    get_map_size(*mut RawEnv, RawTerm, *mut usize) -> c_int;
    get_map_value(*mut RawEnv, RawTerm, RawTerm, *mut RawTerm) -> c_int;
    map_iterator_create(*mut RawEnv, RawTerm, *mut MapIterator, c_int) -> c_int;
    map_iterator_destroy(*mut RawEnv, *mut MapIterator);
    map_iterator_next(*mut RawEnv, *mut MapIterator) -> c_int;
    map_iterator_get_pair(*mut RawEnv, *mut MapIterator, *mut RawTerm, *mut RawTerm) -> c_int;
    inspect_binary(*mut RawEnv, RawTerm, *mut Binary) -> c_int;
    make_badarg(*mut RawEnv) -> RawTerm;
    raise_exception(*mut RawEnv, RawTerm) -> RawTerm;
    make_int64(*mut RawEnv, i64) -> RawTerm;
    make_uint64(*mut RawEnv, u64) -> RawTerm;
    make_double(*mut RawEnv, f64) -> RawTerm;
    make_atom_len(*mut RawEnv, *const c_char, usize) -> RawTerm;
    make_tuple_from_array(*mut RawEnv, *const RawTerm, c_uint) -> RawTerm;
    make_list_from_array(*mut RawEnv, *const RawTerm, c_uint) -> RawTerm;
    make_list_cell(*mut RawEnv, RawTerm, RawTerm) -> RawTerm;
    make_map_from_arrays(*mut RawEnv, *const RawTerm, *const RawTerm, usize, *mut RawTerm) -> c_int;
    make_new_binary(*mut RawEnv, usize, *mut RawTerm) -> *mut u8;
    make_ref(*mut RawEnv) -> RawTerm;
    make_copy(*mut RawEnv, RawTerm) -> RawTerm;
    whereis_pid(*mut RawEnv, RawTerm, *mut RawPid) -> c_int;
    alloc_env() -> *mut RawEnv;
    free_env(*mut RawEnv);
    hash(c_int, RawTerm, u64) -> u64;
    term_to_binary(*mut RawEnv, RawTerm, *mut Binary) -> c_int;
    binary_to_term(*mut RawEnv, *const u8, usize, *mut RawTerm, c_uint) -> usize;
    release_binary(*mut Binary);
    snprintf(*mut c_char, usize, *const c_char; ...) -> c_int;
    send(*mut RawEnv, *const RawPid, *mut RawEnv, RawTerm) -> c_int;
    self_(*mut RawEnv, *mut RawPid) -> *mut RawPid;
    get_local_pid(*mut RawEnv, RawTerm, *mut RawPid) -> c_int;
    consume_timeslice(*mut RawEnv, c_int) -> c_int;
    open_resource_type(*mut RawEnv, *const c_char, *const c_char, Option<Destructor>, c_int, *mut c_int) -> *mut ResourceType;
    open_resource_type_x(*mut RawEnv, *const c_char, *const ResourceTypeInit, c_int, *mut c_int) -> *mut ResourceType;
    init_resource_type(*mut RawEnv, *const c_char, *const ResourceTypeInit, c_int, *mut c_int) -> *mut ResourceType;
    dynamic_resource_call(*mut RawEnv, RawTerm, RawTerm, RawTerm, *mut c_void) -> c_int;
    select(*mut RawEnv, c_int, c_int, *mut c_void, *const RawPid, RawTerm) -> c_int;
    select_x(*mut RawEnv, c_int, c_int, *mut c_void, *const RawPid, RawTerm, *mut RawEnv) -> c_int;
    alloc_resource(*mut ResourceType, usize) -> *mut c_void;
    release_resource(*mut c_void);
    make_resource(*mut RawEnv, *mut c_void) -> RawTerm;
    get_resource(*mut RawEnv, RawTerm, *mut ResourceType, *mut *mut c_void) -> c_int;
}
