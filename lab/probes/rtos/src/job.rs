//! The job of the probe: the service to measure, set once before the kernel starts.

use std::sync::OnceLock;

macro_rules! services {
    ($($service:ident = $name:literal),* $(,)?) => {
        /// A service, and whether it leads to another task.
        #[derive(Clone, Copy, PartialEq, Eq, Debug)]
        pub enum Service {
            $($service,)*
            /// Of the measurement of contention only.
            SigSemPinnedNoSwitch,
        }

        impl Service {
            /// The service of that name.
            pub fn of(name: &str) -> Result<Self, String> {
                match name {
                    $($name => Ok(Self::$service),)*
                    _ => Err(format!("this probe does not know the service {name:?}")),
                }
            }
        }
    };
}

services! {
    ActSwitch = "act_switch",
    ActSwitchByNumber = "act_switch_by_number",
    ActNoSwitch = "act_no_switch",
    ActQueued = "act_queued",
    ActRemote = "act_remote",
    ActRemoteStart = "act_remote_start",
    ActInHandler = "act_in_handler",
    ActPinnedSwitch = "act_pinned_switch",
    SlpSwitch = "slp_switch",
    WupSwitch = "wup_switch",
    WupNoSwitch = "wup_no_switch",
    WupPinnedSwitch = "wup_pinned_switch",
    SigSemSwitch = "sig_sem_switch",
    SigSemNoSwitch = "sig_sem_no_switch",
    SigSemPinnedSwitch = "sig_sem_pinned_switch",
    WaiSemSwitch = "wai_sem_switch",
    WaiSemNoSwitch = "wai_sem_no_switch",
    SetFlgSwitch = "set_flg_switch",
    SetFlgNoSwitch = "set_flg_no_switch",
    SndDtqSwitch = "snd_dtq_switch",
    SndDtqNoSwitch = "snd_dtq_no_switch",
    RcvDtqSwitch = "rcv_dtq_switch",
    RcvDtqNoSwitch = "rcv_dtq_no_switch",
    LocMtx = "loc_mtx",
    UnlMtx = "unl_mtx",
    LocMtxCeiling = "loc_mtx_ceiling",
    UnlMtxCeiling = "unl_mtx_ceiling",
    MigTsk = "mig_tsk",
}

/// What is to be measured.
#[derive(Debug)]
pub struct Job {
    pub service: Service,
    pub samples: u64,
    /// How long the other processor does something else between two calls.
    pub pause_ns: u64,
}

static JOB: OnceLock<Job> = OnceLock::new();

pub fn set(job: Job) {
    // It is set once, by `main`.
    let _ = JOB.set(job);
}

pub fn job() -> &'static Job {
    JOB.get().expect("`main` sets it before the kernel starts")
}
