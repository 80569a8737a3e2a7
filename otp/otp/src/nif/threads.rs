//! Threads of the VM: finding them, their scheduling policy, and locked memory. See sched(7) and mlockall(2).

use std::{fs, io, mem};

/// A thread of this process.
#[derive(Clone, Debug)]
pub(crate) struct Thread {
    number: libc::pid_t,
    pub(crate) name: String,
}

/// All of them, as they are now.
pub(crate) fn all() -> io::Result<Vec<Thread>> {
    let mut all = Vec::new();
    for entry in fs::read_dir("/proc/self/task")? {
        let Some(number) = entry?.file_name().to_str().and_then(|name| name.parse().ok()) else { continue };
        // One that has ended meanwhile has no name.
        let Ok(name) = fs::read_to_string(format!("/proc/self/task/{number}/comm")) else { continue };
        all.push(Thread { number, name: name.trim().to_owned() });
    }
    Ok(all)
}

impl Thread {
    /// Puts it under a policy of the kernel's scheduler, with a priority where the policy has one.
    pub(crate) fn set_policy(&self, policy: i32, priority: i32) -> io::Result<()> {
        let parameters = libc::sched_param { sched_priority: priority };
        // SAFETY: the parameters are there to be read.
        done(unsafe { libc::sched_setscheduler(self.number, policy, &raw const parameters) })
    }

    /// Policy and priority.
    pub(crate) fn policy(&self) -> io::Result<(i32, i32)> {
        let mut parameters = libc::sched_param { sched_priority: 0 };
        // SAFETY: takes no memory.
        let policy = unsafe { libc::sched_getscheduler(self.number) };
        done(policy)?;
        // SAFETY: room for one.
        done(unsafe { libc::sched_getparam(self.number, &raw mut parameters) })?;
        Ok((policy, parameters.sched_priority))
    }

    /// Lets it run on these processors only.
    pub(crate) fn set_processors(&self, processors: &[u32]) -> io::Result<()> {
        let set = set(processors);
        // SAFETY: a set of the size that is said.
        done(unsafe { libc::sched_setaffinity(self.number, size_of::<libc::cpu_set_t>(), &raw const set) })
    }

    /// Whether it runs on exactly these.
    pub(crate) fn has_processors(&self, processors: &[u32]) -> io::Result<bool> {
        let wanted = set(processors);
        let mut found = set(&[]);
        // SAFETY: room for a set of the size that is said.
        done(unsafe { libc::sched_getaffinity(self.number, size_of::<libc::cpu_set_t>(), &raw mut found) })?;
        // SAFETY: two whole sets.
        Ok(unsafe { libc::CPU_EQUAL(&wanted, &found) })
    }
}

/// A set of the processors that such a set can name.
fn set(processors: &[u32]) -> libc::cpu_set_t {
    // SAFETY: all zeros are the empty set, and only numbers that it has room for are put in.
    unsafe {
        let mut set: libc::cpu_set_t = mem::zeroed();
        let named = processors.iter().filter(|number| **number < libc::CPU_SETSIZE as u32);
        named.for_each(|number| libc::CPU_SET(*number as usize, &mut set));
        set
    }
}

/// Keeps all memory of this process in RAM, that which it has and that which it will have.
pub(crate) fn lock_memory() -> io::Result<()> {
    // SAFETY: changes nothing that a program can see but its speed.
    done(unsafe { libc::mlockall(libc::MCL_CURRENT | libc::MCL_FUTURE) })
}

fn done(result: i32) -> io::Result<()> {
    if result < 0 { Err(io::Error::last_os_error()) } else { Ok(()) }
}
