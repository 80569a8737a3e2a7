//! Background loads: work that runs beside a measurement and is not measured itself.
//!
//! Every load runs until the stop flag is raised, and returns within about 100 ms of that. It counts its work, so that
//! the lab can tell that the load really ran. Its processes end with it, and it leaves no file behind. It returns early
//! only with a [`Failure`](crate::Failure).

mod cpu;
mod disk;
mod load;
mod memory;
mod network;
mod scheduler;

pub use load::{Load, LoadBench};

/// Every load, in the order in which they are listed to users.
pub static ALL: &[&Load] = &[&cpu::LOAD, &memory::LOAD, &network::LOAD, &disk::LOAD, &scheduler::LOAD];

/// The load named `name`.
pub fn find(name: &str) -> Option<&'static Load> {
    ALL.iter().copied().find(|load| load.name == name)
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeSet;

    #[test]
    fn names_are_unique_and_found() {
        let names: BTreeSet<_> = ALL.iter().map(|load| load.name).collect();
        assert_eq!(names.len(), ALL.len());
        assert!(ALL.iter().all(|load| find(load.name).is_some_and(|found| found.name == load.name)));
        assert!(find("nothing").is_none());
    }
}
