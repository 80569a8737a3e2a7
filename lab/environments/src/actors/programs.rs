//! The programs of `kizami_workloads::actors`, and those among them that only some systems have.

use kizami_workloads::Workload;

/// Whether `workload` is one that only some have.
pub(super) fn is_of_some(workload: &Workload) -> bool {
    kizami_workloads::actors::OF_SOME.iter().any(|program| program.name == workload.name)
}

/// Whether `workload` is one of the programs.
pub(super) fn is_program(workload: &Workload) -> bool {
    kizami_workloads::actors::ALL.iter().any(|program| program.name == workload.name)
}
