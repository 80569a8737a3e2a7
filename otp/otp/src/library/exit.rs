//! A word on the end of the VM where code of this library calls `exit`, as `std::process::exit` does: it ends every process of the node, and
//! neither the VM nor the C library tells whose call it was.
//!
//! Nothing can be done against it once it is called: atexit(3) has no way back. So the handler writes who called it, and where, to
//! the standard error. An end that the VM itself decides on (`init:stop()`, `halt()`) goes through the handler too, and is passed over
//! in silence: no code of this library is among its callers.

use std::backtrace::Backtrace;
use std::ffi::c_void;

use crate::process::turn::try_turn;

/// Has it told from now on.
pub(super) fn watch() {
    // SAFETY: the library stays in memory to the end of the program (`pin`), and so does the function.
    unsafe { libc::atexit(tell) };
}

extern "C" fn tell() {
    let process = try_turn(|env, _| env.running().map(|pid| env.adopt(pid.pid).shown()));
    let who = match process {
        Some(Some(pid)) => format!("a callback of the process {pid}"),
        Some(None) => "what is dropped with a process".to_owned(),
        None if called_here() => {
            format!("the thread {:?}", std::thread::current().name().unwrap_or("without a name"))
        }
        None => return,
    };
    eprintln!(
        "{who} has called exit, which ends the Erlang VM with all its processes. A process ends by Next::stop() or a panic, and the \
         VM by otp::erlang::apply(\"init\", \"stop\", ()). It was called here:\n{}",
        Backtrace::force_capture()
    );
}

/// How many callers are looked at.
const CALLERS: usize = 64;

/// Whether a function of this library is among those that have called `exit` on this thread.
#[cfg(target_env = "gnu")]
fn called_here() -> bool {
    let mut callers = [std::ptr::null_mut::<c_void>(); CALLERS];
    // SAFETY: room for as many as are said.
    let found = unsafe { libc::backtrace(callers.as_mut_ptr(), CALLERS as i32) };
    let own = object(tell as *const c_void);
    let objects = callers.iter().take(usize::try_from(found).unwrap_or(0)).map(|caller| object(*caller));
    // First comes this handler, then the C library, which calls it, then whoever called that.
    objects.skip_while(|object| *object == own).any(|object| object == own)
}

/// Where the object file begins that an address is in; null where it is in none.
#[cfg(target_env = "gnu")]
fn object(address: *const c_void) -> *mut c_void {
    // SAFETY: an all-zero Dl_info is a valid one, which the call fills if it knows the address.
    unsafe {
        let mut info: libc::Dl_info = std::mem::zeroed();
        if libc::dladdr(address, &raw mut info) == 0 { std::ptr::null_mut() } else { info.dli_fbase }
    }
}

/// Other C libraries have no backtrace(3).
#[cfg(not(target_env = "gnu"))]
fn called_here() -> bool {
    false
}
