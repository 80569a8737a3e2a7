//! The workloads of a Linux process. Each file documents its algorithm and names its reference tool.

mod crew;
mod flow;
pub mod partner;
mod path;
mod protected;
mod via;

use crate::spec::Workload;

/// Declares each file and lists its `WORKLOAD`: the one place that knows them all.
macro_rules! workloads {
    ($($file:ident),* $(,)?) => {
        $(pub mod $file;)*
        /// Every one of them, in the order in which they are listed to users.
        pub static ALL: &[&Workload] = &[$(&$file::WORKLOAD),*];
    };
}

workloads! {
    empty,
    wakeup,
    os_latency,
    clock_gap,
    ctx_ring,
    pipe_rtt,
    fifo_rtt,
    fcntl_lock,
    syscall,
    signal,
    nothing,
    sum,
    fib,
    sleep,
    messages,
    net_rtt,
    tcp,
    udp,
    file,
    first_write,
    boot,
    footprint,
}

#[cfg(test)]
mod tests {
    use crate::{ALL, Params};
    use std::collections::{BTreeMap, BTreeSet};

    #[test]
    fn names_are_unique_and_defaults_are_valid() {
        let names: BTreeSet<_> = ALL.iter().map(|w| w.name).collect();
        assert_eq!(names.len(), ALL.len());
        for workload in ALL {
            let params = Params::new(workload, &BTreeMap::new());
            let params = params.unwrap_or_else(|(_, why)| panic!("{}: {why}", workload.name));
            let again = Params::new(workload, &params.written()).expect("its own written form");
            assert_eq!(params.written(), again.written());
        }
    }
}
