//! The telemetry events of this library itself.

use kizami_otp_macros::Data;

use super::Event;
use crate::nif::Env;
use crate::process::address::{Pid, To};

/// That something happened, once.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub struct Count {
    pub count: u64,
}

/// Where a panic was, and what it said.
#[derive(Clone, Data, Debug, PartialEq, Eq)]
pub struct At {
    pub message: String,
    pub file: String,
    pub line: u32,
}

/// A panic in a process.
#[derive(Clone, Data, Debug, PartialEq)]
pub struct Where {
    pub process: Pid,
    pub at: At,
}

/// A process panicked: `[otp, panic]`, `#{count => 1}`, `#{process => Pid, at => #{message, file, line}}`.
pub static PANICKED: Event<Count, Where> = Event::new(&["otp", "panic"]);

/// What an upgrade took: nanoseconds, how long the processes were suspended at most, and how many of them there are.
#[derive(Clone, Copy, Data, Debug, PartialEq, Eq)]
pub struct Upgrade {
    pub duration: u64,
    pub suspended: u64,
    pub processes: u64,
}

/// The application runs another build: `[otp, upgrade]`. It happens in that build.
pub static UPGRADED: Event<Upgrade> = Event::new(&["otp", "upgrade"]);

#[cold]
pub(crate) fn panicked(env: Env<'_>, message: &str, file: &str, line: u32) {
    let Some(process) = env.running() else { return };
    PANICKED.execute(|| {
        let at = At { message: message.to_owned(), file: file.to_owned(), line };
        (Count { count: 1 }, Where { process: Pid(To::Local(process)), at })
    });
}

pub(crate) fn upgraded((duration, suspended, processes): (u64, u64, u64)) {
    UPGRADED.execute(|| (Upgrade { duration, suspended, processes }, ()));
}
