//! Settings of a child process that runs a foreign program, such as the Erlang VM: applied between fork and exec.
//!
//! Everything is prepared before the fork; after the fork there are only system calls, which allocate nothing and take
//! no lock. A setting that is refused does not keep the program from starting; [`read_of`](super::read_of) shows the
//! refusal. Locked memory is left out, because exec(2) drops it.

use std::ffi::CString;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::process::CommandExt;
use std::path::PathBuf;
use std::process::Command;

use crate::settings::Settings;
use crate::syscalls;

/// See the module.
pub struct InChild {
    cgroups: Vec<CString>,
    affinity: Option<libc::cpu_set_t>,
    slack: Option<libc::c_ulong>,
    nice: Option<i32>,
    attributes: Option<libc::sched_attr>,
}

impl InChild {
    pub fn new(settings: &Settings) -> Self {
        Self {
            cgroups: Vec::new(),
            affinity: settings.affinity().map(|cpus| syscalls::cpu_set(&cpus)),
            slack: settings.timer_slack(),
            nice: settings.nice(),
            attributes: settings.policy().map(|policy| syscalls::attributes(policy, settings.nice())),
        }
    }

    /// Puts the child into these control groups as well, such as that of a memory limit.
    #[must_use]
    pub fn joining(mut self, cgroups: &[PathBuf]) -> Self {
        let procs = |group: &PathBuf| CString::new(group.join("cgroup.procs").as_os_str().as_bytes()).ok();
        self.cgroups = cgroups.iter().filter_map(procs).collect();
        self
    }

    /// Applies it to the calling process. Safe to call between fork and exec.
    pub fn apply(&self) {
        for resource in [libc::RLIMIT_RTPRIO, libc::RLIMIT_NICE, libc::RLIMIT_MEMLOCK] {
            let _ = syscalls::raise_limit(resource);
        }
        // First, while the process is small: what it uses from here on is counted there.
        for cgroup in &self.cgroups {
            let _ = join(cgroup);
        }
        if let Some(set) = &self.affinity {
            let _ = syscalls::set_affinity(set);
        }
        if let Some(ns) = self.slack {
            let _ = syscalls::set_timer_slack(ns);
        }
        if let Some(nice) = self.nice {
            let _ = syscalls::set_nice(nice);
        }
        if let Some(attributes) = &self.attributes {
            let _ = syscalls::set_attributes(attributes);
        }
    }

    /// Arranges that the child that `command` starts applies it.
    pub fn attach(self, command: &mut Command) {
        let apply = move || {
            self.apply();
            Ok(())
        };
        // SAFETY: `apply` runs in the child of a fork of a possibly threaded process; it makes system calls on values
        // that were prepared before, allocates nothing and takes no lock.
        unsafe { command.pre_exec(apply) };
    }
}

impl std::fmt::Debug for InChild {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("InChild").field("cgroups", &self.cgroups).field("nice", &self.nice).finish_non_exhaustive()
    }
}

fn join(procs: &CString) -> io::Result<()> {
    // SAFETY: the path ends in NUL; the descriptor is used and closed here alone; the buffer is one byte of ours. The
    // process number 0 stands for the writer.
    unsafe {
        let fd = libc::open(procs.as_ptr(), libc::O_WRONLY | libc::O_CLOEXEC);
        if fd < 0 {
            return Err(io::Error::last_os_error());
        }
        let written = libc::write(fd, c"0".as_ptr().cast(), 1);
        libc::close(fd);
        if written == 1 { Ok(()) } else { Err(io::Error::last_os_error()) }
    }
}
