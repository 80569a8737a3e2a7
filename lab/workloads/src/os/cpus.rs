//! Processor affinity: the processors that a thread may use, read from the kernel and set.

use std::io;

use kizami_recording::Recorder;

use crate::bench::{Bench, Failure};

fn mask() -> io::Result<libc::cpu_set_t> {
    // SAFETY: an all-zero set is a valid one, and the call fills it for the calling thread.
    unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        match libc::sched_getaffinity(0, size_of::<libc::cpu_set_t>(), &raw mut set) {
            0 => Ok(set),
            _ => Err(io::Error::last_os_error()),
        }
    }
}

fn set_mask(set: &libc::cpu_set_t) -> io::Result<()> {
    // SAFETY: the set is a whole one, and the call reads it for the calling thread.
    match unsafe { libc::sched_setaffinity(0, size_of::<libc::cpu_set_t>(), set) } {
        0 => Ok(()),
        _ => Err(io::Error::last_os_error()),
    }
}

/// The processors that the calling thread may use, ascending.
///
/// # Errors
/// What the kernel said, such as for a machine with more than 1024 processors.
pub fn allowed() -> io::Result<Vec<usize>> {
    let set = mask()?;
    // SAFETY: every number is below the size of the set.
    Ok((0..libc::CPU_SETSIZE as usize).filter(|cpu| unsafe { libc::CPU_ISSET(*cpu, &set) }).collect())
}

/// Confines the calling thread to `cpu`, and reads back that it is.
///
/// # Errors
/// What the kernel said; `Unsupported` when it agreed and did not do it.
pub fn pin(cpu: usize) -> io::Result<()> {
    if cpu >= libc::CPU_SETSIZE as usize {
        return Err(io::ErrorKind::InvalidInput.into());
    }
    // SAFETY: an all-zero set is a valid one, and the number is below its size.
    let set = unsafe {
        let mut set: libc::cpu_set_t = std::mem::zeroed();
        libc::CPU_SET(cpu, &mut set);
        set
    };
    set_mask(&set)?;
    // SAFETY: both are whole sets.
    if unsafe { libc::CPU_EQUAL(&set, &mask()?) } { Ok(()) } else { Err(io::ErrorKind::Unsupported.into()) }
}

/// Gives the calling thread back the processors that it had, when dropped.
pub struct Restored(libc::cpu_set_t);

/// Remembers the processors of the calling thread.
///
/// # Errors
/// What the kernel said.
pub fn restored() -> io::Result<Restored> {
    mask().map(Restored)
}

impl Drop for Restored {
    fn drop(&mut self) {
        // The set was in force before; if it cannot be again, the machine has changed meanwhile.
        let _ = set_mask(&self.0);
    }
}

/// One recorder for each processor that this process may use: what `parts` declared for a workload with a part a
/// processor.
///
/// # Errors
/// When the parts were declared for other processors than there are.
pub fn recorders<'a>(bench: &mut Bench<'a>) -> Result<Vec<(Option<usize>, Recorder<'a>)>, Failure> {
    let cpus = allowed().map_err(Failure::os("ask which processors this process may use"))?;
    let mut jobs = Vec::with_capacity(cpus.len());
    while let Ok(recorder) = bench.recorder(jobs.len()) {
        jobs.push((cpus.get(jobs.len()).copied(), recorder));
    }
    if jobs.len() != cpus.len() {
        let (planned, count) = (jobs.len(), cpus.len());
        let why = format!("planned for {planned} processors, but this process may use {count}: {cpus:?}");
        return Err(Failure::Impossible(why));
    }
    Ok(jobs)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pinned_thread_has_one_processor_until_it_is_restored() {
        let before = allowed().unwrap();
        let last = *before.last().unwrap();
        let keep = restored().unwrap();
        pin(last).unwrap();
        assert_eq!(allowed().unwrap(), [last]);
        drop(keep);
        assert_eq!(allowed().unwrap(), before);
        assert!(pin(1023).is_err());
        assert_eq!(allowed().unwrap(), before);
    }
}
