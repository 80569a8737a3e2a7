//! Sending a message from any thread, also one that the VM has not called.
//!
//! The VM sends from any thread to a process of its own node. Whatever else a message can be sent to, a process of another node, an alias,
//! a name that all nodes know, needs a process that sends: the *courier* of the Erlang half (`otp_courier.erl`).

use std::ptr;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use std::time::Duration;

use crate::atom;
use crate::nif::abi::{RawPid, RawTerm};
use crate::nif::{Env, OwnedEnv, Term, vm};
use crate::process::turn::try_turn;

/// The courier, or 0.
static COURIER: AtomicUsize = AtomicUsize::new(0);

/// For how many milliseconds a thread waits for the courier, which is started when the library is loaded.
const PATIENCE: u32 = 5000;

/// Sends what `message` makes to a process of this node, from whatever thread; `false` when there is none any more.
pub(crate) fn send_from_anywhere(to: RawPid, message: impl for<'m> FnOnce(Env<'m>) -> Term<'m>) -> bool {
    let own = OwnedEnv::new();
    let message = message(own.env());
    let caller = try_turn(|env, _| env.raw()).unwrap_or(ptr::null_mut());
    // SAFETY: the message lies in that environment, which is freed afterwards. The caller's is that of the call that this thread is
    // in, or none on a thread that is in no call.
    unsafe { (vm().send)(caller, &raw const to, own.env().raw(), message.raw()) != 0 }
}

/// The process of this node that bears a name, an atom, for a thread that the VM has not called.
pub(crate) fn registered(name: RawTerm) -> Option<RawPid> {
    let mut pid = RawPid { pid: 0 };
    // SAFETY: room for one; the term is an atom, which belongs to no environment; such a thread has none.
    unsafe { (vm().whereis_pid)(ptr::null_mut(), name, &raw mut pid) != 0 }.then_some(pid)
}

/// Has the courier send `[To, Message]`, on a thread that the VM has not called.
pub(crate) fn send_by_courier(make: impl for<'m> FnOnce(Env<'m>) -> [Term<'m>; 2]) {
    let Some(courier) = awaited_courier() else {
        return eprintln!("a message of a thread is lost: the process that sends it on does not start");
    };
    send_from_anywhere(courier, |env| {
        let [to, message] = make(env);
        env.tuple(&[atom!("send").raw(env), to.raw(), message.raw()])
    });
}

/// Sends `[To, Message]` to whatever a message can be sent to: the process that this code runs in does it when its callback returns or
/// awaits, and for a thread the courier.
pub(crate) fn post(make: impl for<'m> FnOnce(Env<'m>) -> [Term<'m>; 2]) {
    let mut make = Some(make);
    try_turn(|env, turn| {
        if let Some(make) = make.take() {
            turn.order(env, atom!("send"), &make(env));
        }
    });
    if let Some(make) = make {
        send_by_courier(make);
    }
}

/// The courier, if it is there.
pub(crate) fn courier() -> Option<RawPid> {
    let pid = COURIER.load(Ordering::Acquire);
    (pid != 0).then_some(RawPid { pid })
}

fn awaited_courier() -> Option<RawPid> {
    (0..PATIENCE).find_map(|_| {
        courier().or_else(|| {
            thread::sleep(Duration::from_millis(1));
            None
        })
    })
}

/// The Erlang half says which process it is.
pub(crate) fn courier_is(process: RawPid) {
    COURIER.store(process.pid, Ordering::Release);
}
