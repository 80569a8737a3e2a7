//! Rights of this process: capabilities and limits that the kernel grants, and how to get those that are missing. See
//! capabilities(7), getrlimit(2).

use std::io;

use crate::root::{Root, field, words};
use crate::syscalls;

/// The rights that knobs of a process need.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Rights {
    /// CAP_SYS_NICE: any policy and nice value.
    pub sys_nice: bool,
    /// CAP_IPC_LOCK: any amount of locked memory.
    pub ipc_lock: bool,
    /// The highest real-time priority without the capability; 0 is none.
    pub rtprio: u64,
    /// The lowest nice value without the capability.
    pub nice: i64,
    /// Bytes that may be locked without the capability; `u64::MAX` is no limit.
    pub memlock: u64,
}

impl Rights {
    /// Those of the calling process; a hard limit counts, because [`super::apply`] raises to it.
    pub fn own() -> Self {
        let status = Root::machine().get("proc/self/status").unwrap_or_default();
        let capabilities = field(&status, "CapEff").and_then(|hex| u64::from_str_radix(hex, 16).ok()).unwrap_or(0);
        let has = |bit: u32| capabilities >> bit & 1 == 1;
        let hard = |resource| syscalls::limit(resource).map_or(0, |(_, hard)| hard);
        Self {
            // The numbers of capabilities in linux/capability.h.
            sys_nice: has(23),
            ipc_lock: has(14),
            rtprio: hard(libc::RLIMIT_RTPRIO),
            nice: 20 - hard(libc::RLIMIT_NICE).min(40) as i64,
            memlock: hard(libc::RLIMIT_MEMLOCK),
        }
    }

    /// What would allow setting `name`, where these rights do not.
    pub(super) fn lacking(&self, name: &str) -> Option<String> {
        match name {
            "policy" if !self.sys_nice => Some(format!(
                "it needs CAP_SYS_NICE or, for fifo and rr, a higher RLIMIT_RTPRIO (it is {}; ulimit -r)",
                self.rtprio
            )),
            "nice" if !self.sys_nice => {
                Some(format!("it needs CAP_SYS_NICE or a higher RLIMIT_NICE (it allows {} and above)", self.nice))
            }
            "lock_memory" if !self.ipc_lock && self.memlock != u64::MAX => Some(format!(
                "it needs CAP_IPC_LOCK or RLIMIT_MEMLOCK without limit (it is {} KiB; ulimit -l)",
                self.memlock / 1024
            )),
            _ => None,
        }
    }

    /// Why the kernel refused setting `name`, and what would allow it.
    pub(super) fn explain(&self, name: &str, error: &io::Error) -> String {
        let said = words(error);
        let hint = match (name, error.raw_os_error()) {
            ("policy", Some(libc::EPERM)) if self.sys_nice => {
                "a deadline needs all processors of its domain, and a control group may have no real-time share"
            }
            ("policy", Some(libc::EBUSY)) => {
                "the kernel cannot promise this runtime beside what it has promised already"
            }
            ("affinity", Some(libc::EINVAL)) => "none of these processors is there and allowed for this process",
            (_, Some(libc::EPERM | libc::EACCES | libc::ENOMEM)) => &self.lacking(name).unwrap_or_default(),
            _ => "",
        };
        if hint.is_empty() { said } else { format!("{said}: {hint}") }
    }
}

/// Raises the soft limits that stand in the way of a knob to their hard ones. What cannot be raised shows when the knob
/// is refused.
pub(super) fn raise_limits() {
    for resource in [libc::RLIMIT_RTPRIO, libc::RLIMIT_NICE, libc::RLIMIT_MEMLOCK] {
        let _ = syscalls::raise_limit(resource);
    }
}

/// Locks or unlocks the memory of this process.
///
/// With a limit, locking would succeed now and make a later allocation fail, which ends the program in the middle of
/// its work; so that is refused here.
pub(super) fn lock_memory(lock: bool) -> io::Result<()> {
    let rights = Rights::own();
    if lock && !rights.ipc_lock && rights.memlock != u64::MAX {
        return Err(io::Error::from_raw_os_error(libc::EPERM));
    }
    syscalls::lock_memory(lock)
}
