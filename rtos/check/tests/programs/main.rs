//! Small programs on two processors, each tried in every order: services of both processors on the same objects.
//!
//! - `activation`: act_tsk, ext_tsk and mact_tsk
//! - `end`: ter_tsk and ras_ter
//! - `handlers`: handlers of notifications
//! - `migration`: mig_tsk
//! - `mutex`: mutexes with inheritance
//! - `overrun`: limits of the processor time of tasks
//! - `pinned`: pinned tasks beside shared ones
//! - `priority`: chg_pri and rot_rdq
//! - `queue`: data queues, event flags and memory pools
//! - `search`: whether the search itself finds what it should
//! - `semaphore`: semaphores
//! - `sleep`: slp_tsk, wup_tsk, rel_wai, sus_tsk and rsm_tsk
//! - `spinning`: spin locks
//! - `large`: programs that have too many orders, at random

mod activation;
mod end;
mod handlers;
mod large;
mod migration;
mod mutex;
mod overrun;
mod pinned;
mod priority;
mod queue;
mod search;
mod semaphore;
mod sleep;
mod spinning;
