//! What the services of the real-time kernel cost: in time on this machine, in instructions and cycles on boards.
//!
//! Only what is to be done is said here. On this machine the probe `lab/probes/rtos` does it on the kernel's host port; on
//! boards the programs in `rtos/ports/images/counted` do, in an emulator. A name means the same in both.

mod contention;
mod counted;
mod time;

use crate::spec::{Kind, Param, Workload};

pub use contention::WORKLOAD as CONTENTION;
pub use counted::{CYCLES, INSTRUCTIONS};
pub use time::WORKLOAD as TIME;

/// All of them, in the order in which they are listed to users.
pub static ALL: &[&Workload] = &[&TIME, &CONTENTION, &INSTRUCTIONS, &CYCLES];

/// The services: activation, waking, communication, mutexes, migration. `switch`: until the first instruction of the task
/// that runs because of it; otherwise until it has returned. `by_number`: as C calls, by a number that the compiler does not
/// know; all others by a typed handle.
pub const SERVICES: [&str; 27] = [
    "act_switch",
    "act_switch_by_number",
    "act_no_switch",
    "act_queued",
    "act_remote",
    "act_in_handler",
    "act_pinned_switch",
    "slp_switch",
    "wup_switch",
    "wup_no_switch",
    "wup_pinned_switch",
    "sig_sem_switch",
    "sig_sem_no_switch",
    "sig_sem_pinned_switch",
    "wai_sem_switch",
    "wai_sem_no_switch",
    "set_flg_switch",
    "set_flg_no_switch",
    "snd_dtq_switch",
    "snd_dtq_no_switch",
    "rcv_dtq_switch",
    "rcv_dtq_no_switch",
    "loc_mtx",
    "unl_mtx",
    "loc_mtx_ceiling",
    "unl_mtx_ceiling",
    "mig_tsk",
];

/// The services and one word more.
const fn with(services: [&'static str; SERVICES.len()], word: &'static str) -> [&'static str; SERVICES.len() + 1] {
    let mut all = [word; SERVICES.len() + 1];
    let mut index = 0;
    while index < services.len() {
        all[index] = services[index];
        index += 1;
    }
    all
}

/// How the kernel is built.
const MODEL: Param = Param {
    name: "model",
    about: "the build: uni (one processor), multi (two), multi1 (the machinery for several, on one), the same without locks, \
            without asking which processor it is, or without either",
    kind: Kind::Choice(&["uni", "multi", "multi1", "nolocks", "noids", "neither"]),
    default: "uni",
};
