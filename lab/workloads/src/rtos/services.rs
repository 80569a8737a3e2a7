//! The measured services of the real-time kernel, and the builds of the kernel that they are measured in.

use crate::spec::{Kind, Param};

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
pub(super) const fn with(
    services: [&'static str; SERVICES.len()],
    word: &'static str,
) -> [&'static str; SERVICES.len() + 1] {
    let mut all = [word; SERVICES.len() + 1];
    let mut index = 0;
    while index < services.len() {
        all[index] = services[index];
        index += 1;
    }
    all
}

/// How the kernel is built.
pub(super) const MODEL: Param = Param {
    name: "model",
    about: "the build: uni (one processor), multi (two), multi1 (the machinery for several, on one), the same without locks, \
            without asking which processor it is, or without either",
    kind: Kind::Choice(&["uni", "multi", "multi1", "nolocks", "noids", "neither"]),
    default: "uni",
};
