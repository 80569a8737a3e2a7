//! Native functions (NIFs): the table that the VM loads, and how a call from the VM reaches Rust.
//!
//! The VM loads a library only into the module that the library names. That name is that of the library's file, so each build of an
//! application has a native module of its own, and the running build stays when the next one is loaded.

use std::ffi::{CStr, CString, c_int, c_void};
use std::os::unix::ffi::OsStrExt;
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::Path;
use std::sync::OnceLock;

use crate::data::Data;
use crate::library::exit;
use crate::nif::abi::{DIRTY_CPU, DIRTY_IO, Entry, Func, Function, RESOURCE_TYPE_INIT_SIZE, RawEnv, RawTerm, VERSION};
use crate::nif::{Env, Term, attach, heap, layout, module, vm};
use crate::observing::control::control;
use crate::process::events::emit_undone;
use crate::process::number::number_from;
use crate::process::panic::Panic;
use crate::process::resource::Loading;
use crate::process::slot;
use crate::process::turn::Turn;
use crate::upgrade;
use crate::waiting::poll::descriptor;

/// Tables that live as long as the library and are read by the VM alone.
struct Tables(Entry);

// SAFETY: nobody writes to them once they are made.
unsafe impl Sync for Tables {}
// SAFETY: as above; what they point to is leaked.
unsafe impl Send for Tables {}

static TABLES: OnceLock<Tables> = OnceLock::new();

const FUNCTIONS: &[(&CStr, u32, Function, u32)] = &[
    (c"init", 2, raw::<2, Init>, 0),
    (c"restore", 2, raw::<2, Restore>, 0),
    (c"place", 1, raw::<1, Place>, 0),
    (c"message", 2, raw::<2, Message>, 0),
    (c"handle", 2, raw::<2, Handle<false>>, 0),
    (c"handle_dirty_cpu", 2, raw::<2, Handle<true>>, DIRTY_CPU),
    (c"handle_dirty_io", 2, raw::<2, Handle<true>>, DIRTY_IO),
    (c"on", 2, raw::<2, On>, 0),
    (c"state", 1, raw::<1, State>, DIRTY_CPU),
    (c"resume", 2, raw::<2, Resume>, 0),
    (c"let_go", 1, raw::<1, LetGo>, 0),
    (c"watch", 3, raw::<3, Watch>, 0),
    (c"tests", 1, raw::<1, Tests>, 0),
    (c"test", 1, raw::<1, Test>, 0),
    (c"kept", 2, raw::<2, Kept>, DIRTY_IO),
    (c"realtime", 1, raw::<1, Realtime>, DIRTY_IO),
    (c"observe", 2, raw::<2, Observe>, 0),
    (c"work_cpu", 2, raw::<2, Work>, DIRTY_CPU),
    (c"work_io", 2, raw::<2, Work>, DIRTY_IO),
];

/// A native function: what it makes of its arguments.
trait Native<const ARITY: usize> {
    /// Whether it runs on a scheduler that may be held up.
    const DIRTY: bool = false;

    /// `None` where an argument is not what only our own Erlang half passes.
    fn call<'a>(env: Env<'a>, turn: &Turn, arguments: [Term<'a>; ARITY]) -> Option<Term<'a>>;
}

/// `init(Number, Argument)`: starts the behaviour of that number.
struct Init;
impl Native<2> for Init {
    fn call<'a>(env: Env<'a>, turn: &Turn, [number, argument]: [Term<'a>; 2]) -> Option<Term<'a>> {
        slot::init(env, turn, usize::decode(number).ok()?, argument)
    }
}

/// `restore(Number, State)`: a process of that behaviour from the state of an older build.
struct Restore;
impl Native<2> for Restore {
    fn call<'a>(env: Env<'a>, turn: &Turn, [number, state]: [Term<'a>; 2]) -> Option<Term<'a>> {
        slot::restore(env, turn, usize::decode(number).ok()?, state)
    }
}

/// `place(Slot)`: the number by which `message` finds the state sooner.
struct Place;
impl Native<1> for Place {
    fn call<'a>(env: Env<'a>, _: &Turn, [slot]: [Term<'a>; 1]) -> Option<Term<'a>> {
        slot::place(env, slot)
    }
}

/// `message(Place, Message)`: what most calls are.
struct Message;
impl Native<2> for Message {
    #[inline(always)]
    fn call<'a>(env: Env<'a>, turn: &Turn, [place, message]: [Term<'a>; 2]) -> Option<Term<'a>> {
        // SAFETY: the function is not exported, and the loop that calls it is called by who goes on with the slot afterwards. Who would go
        // around that forges the record of such a loop, and comes to a refusal for every place but those of its own process.
        unsafe { slot::message(env, turn, place, message) }
    }
}

/// `handle(Slot, Message)`: the same, by the slot.
struct Handle<const DIRTY: bool>;
impl<const DIRTY: bool> Native<2> for Handle<DIRTY> {
    const DIRTY: bool = DIRTY;

    fn call<'a>(env: Env<'a>, turn: &Turn, [slot, message]: [Term<'a>; 2]) -> Option<Term<'a>> {
        slot::receive(env, turn, slot, message)
    }
}

/// `on(Slot, Event)`.
struct On;
impl Native<2> for On {
    fn call<'a>(env: Env<'a>, turn: &Turn, [slot, event]: [Term<'a>; 2]) -> Option<Term<'a>> {
        slot::with(env, turn, slot, |process| process.on(env, turn, event))
    }
}

/// `state(Slot)`: the state as a term, where making it may take long.
struct State;
impl Native<1> for State {
    const DIRTY: bool = true;

    fn call<'a>(env: Env<'a>, turn: &Turn, [slot]: [Term<'a>; 1]) -> Option<Term<'a>> {
        slot::with(env, turn, slot, |process| process.on(env, turn, crate::atom!("state").term(env)))
    }
}

/// `resume(Slot, [{Number, Event}])`.
struct Resume;
impl Native<2> for Resume {
    fn call<'a>(env: Env<'a>, turn: &Turn, [slot, events]: [Term<'a>; 2]) -> Option<Term<'a>> {
        slot::resume(env, turn, slot, events)
    }
}

/// `let_go(Descriptor)`: what the poll set was asked for, for a descriptor whose owner goes over to another build.
struct LetGo;
impl Native<1> for LetGo {
    fn call<'a>(env: Env<'a>, _: &Turn, [descriptor]: [Term<'a>; 1]) -> Option<Term<'a>> {
        descriptor::let_go(env, descriptor)
    }
}

/// `watch(Descriptor, read | write, Message)`: the same is asked for here.
struct Watch;
impl Native<3> for Watch {
    fn call<'a>(env: Env<'a>, _: &Turn, [descriptor, what, message]: [Term<'a>; 3]) -> Option<Term<'a>> {
        descriptor::watch(env, descriptor, what, message)
    }
}

/// `work_cpu(Slot, Number)` and `work_io(Slot, Number)`.
struct Work;
impl Native<2> for Work {
    const DIRTY: bool = true;

    fn call<'a>(env: Env<'a>, turn: &Turn, [slot, number]: [Term<'a>; 2]) -> Option<Term<'a>> {
        let number = u64::decode(number).ok()?;
        slot::with(env, turn, slot, |process| process.work(number).map(|()| crate::atom!("ok").term(env)))
    }
}

/// `realtime(threads)`: puts what was asked of threads in force, and tells what took effect; `realtime(schedulers)`: how many schedulers
/// there may be at most.
struct Realtime;
impl Native<1> for Realtime {
    const DIRTY: bool = true;

    fn call<'a>(env: Env<'a>, _: &Turn, [what]: [Term<'a>; 1]) -> Option<Term<'a>> {
        let schedulers = what.is(crate::atom!("schedulers"));
        Some(if schedulers { crate::realtime::schedulers(env) } else { crate::realtime::apply(env) })
    }
}

/// `kept(give, [])` and `kept(take, Given)`: the values of statics that go from build to build. It may wait for a thread that uses one.
struct Kept;
impl Native<2> for Kept {
    const DIRTY: bool = true;

    fn call<'a>(env: Env<'a>, _: &Turn, [what, given]: [Term<'a>; 2]) -> Option<Term<'a>> {
        if what.is(crate::atom!("give")) { Some(upgrade::give(env)) } else { upgrade::take(env, given) }
    }
}

/// `observe(What, Content)`: what the Erlang half tells of who listens to events; see `observing/control.rs`.
struct Observe;
impl Native<2> for Observe {
    fn call<'a>(env: Env<'a>, turn: &Turn, [what, content]: [Term<'a>; 2]) -> Option<Term<'a>> {
        let answer = control(env, what, content)?;
        Some(turn.with_rest(env, answer))
    }
}

/// `tests(_)`: what `cargo otp test` can run.
struct Tests;
impl Native<1> for Tests {
    fn call<'a>(env: Env<'a>, _: &Turn, _: [Term<'a>; 1]) -> Option<Term<'a>> {
        Some(crate::testing::list(env))
    }
}

/// `test(Number)`: the slot of a process for it.
struct Test;
impl Native<1> for Test {
    fn call<'a>(env: Env<'a>, _: &Turn, [number]: [Term<'a>; 1]) -> Option<Term<'a>> {
        crate::testing::begin(env, usize::decode(number).ok()?)
    }
}

/// How the VM calls `N`, which takes `ARITY` arguments.
unsafe extern "C" fn raw<const ARITY: usize, N: Native<ARITY>>(
    env: *mut RawEnv,
    _: c_int,
    argv: *const RawTerm,
) -> RawTerm {
    // SAFETY: the VM gives an environment that is valid for the call, and as many arguments as the table says.
    let (env, argv) = unsafe { (Env::new(env), &*argv.cast::<[RawTerm; ARITY]>()) };
    let arguments = argv.map(|raw| env.adopt(raw));
    let turn = Turn::new(env, N::DIRTY);
    let result = catch_unwind(AssertUnwindSafe(|| turn.enter(|| N::call(env, &turn, arguments))));
    match result {
        Ok(Some(term)) => term.raw(),
        // SAFETY: the environment is valid.
        Ok(None) => unsafe { (vm().make_badarg)(env.raw()) },
        Err(payload) => {
            emit_undone(env, &turn);
            let panic = Panic::of(payload);
            crate::observing::telemetry::panicked(env, &panic.message, &panic.file, panic.line);
            let reason = panic.encode(env);
            // SAFETY: the environment is valid, and the reason is of it.
            unsafe { (vm().raise_exception)(env.raw(), reason.raw()) }
        }
    }
}

unsafe extern "C" fn load(env: *mut RawEnv, _: *mut *mut c_void, _: RawTerm) -> c_int {
    pin();
    // SAFETY: this environment is valid for the call.
    if !layout::are_as_said(unsafe { Env::new(env) }) {
        eprintln!("in this Erlang VM terms lie otherwise than this version of kizami-otp knows: use a newer one");
        return 1;
    }
    // SAFETY: as above.
    unsafe { heap::learn(env) };
    exit::watch();
    // SAFETY: the VM is loading the library, and this is the environment of that.
    let loading = unsafe { Loading::new(env) };
    let opened = slot::open(&loading) && descriptor::open(&loading) && crate::net::open(&loading);
    c_int::from(!opened)
}

/// What `nif_init` gives to the VM: the tables of this library, or null where this is no VM that it can run in.
#[must_use]
pub fn entry() -> *const Entry {
    if let Err(missing) = attach() {
        eprintln!("this Erlang VM has no {missing}: OTP 25 or newer is needed");
        return std::ptr::null();
    }
    let Some(name) = own_file().and_then(|path| CString::new(Path::new(&path).file_stem()?.as_bytes()).ok()) else {
        eprintln!("the name of the library's own file cannot be found out");
        return std::ptr::null();
    };
    &raw const TABLES.get_or_init(|| tables(name)).0
}

fn tables(name: CString) -> Tables {
    number_from(module::is_called(&name.to_string_lossy()));
    Panic::hook();
    let functions =
        FUNCTIONS.iter().map(|&(name, arity, fptr, flags)| Func { name: name.as_ptr(), arity, fptr, flags });
    let functions: &'static [Func] = Box::leak(functions.collect());
    Tables(Entry {
        major: VERSION.0,
        minor: VERSION.1,
        name: name.into_raw(),
        num_of_funcs: functions.len() as c_int,
        funcs: functions.as_ptr(),
        load: Some(load),
        reload: None,
        upgrade: None,
        unload: None,
        vm_variant: c"beam.vanilla".as_ptr(),
        options: 1,
        sizeof_resource_type_init: RESOURCE_TYPE_INIT_SIZE,
        min_erts: c"erts-13.0".as_ptr(),
    })
}

/// Keeps the library in memory even when the VM has unloaded it, as it does some time after an upgrade: what the VM counts are
/// references to slots, and it knows nothing of threads that the user's code has begun and of what they have yet to drop.
fn pin() {
    if let Some(path) = own_file().and_then(|path| CString::new(path.into_encoded_bytes()).ok()) {
        // SAFETY: the path ends in NUL. The library is loaded already, so nothing of it runs; what is returned is never closed.
        unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_NOLOAD | libc::RTLD_NODELETE) };
    }
}

/// The file that this code was loaded from.
fn own_file() -> Option<std::ffi::OsString> {
    // SAFETY: an all-zero Dl_info is a valid one; the call fills it for an address of ours, and the name that it points to
    // stays as long as the library is loaded, which is as long as this runs.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(own_file as *const c_void, &raw mut info) == 0 || info.dli_fname.is_null() {
            return None;
        }
        Some(std::ffi::OsStr::from_bytes(CStr::from_ptr(info.dli_fname).to_bytes()).to_owned())
    }
}
