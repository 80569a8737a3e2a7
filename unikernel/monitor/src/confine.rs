//! What threads of the monitor may ask the kernel for while they work for a guest: nothing that a guest could want that it was not given.

use std::io;
use std::os::fd::AsRawFd as _;

use crate::bpf::{self, Instruction, Rule};
use crate::disk::Disk;
use crate::event::Event;

/// Requests to the virtual processor: to run, and to say its registers when it has stopped.
const PROCESSOR: [u32; 3] = [0xae80, 0x8090_ae81, 0x8138_ae83];
/// What memory may be for: nothing, reading, reading and writing.
const NOT_EXECUTED: [u32; 3] = [0, libc::PROT_READ as u32, (libc::PROT_READ | libc::PROT_WRITE) as u32];

/// A thread that works for a guest.
#[derive(Default)]
pub(crate) struct Work<'a> {
    /// The disks that it reads and writes, and the logs of these.
    pub disks: &'a [Disk],
    pub logs: Vec<i32>,
    /// What it tells and waits for.
    pub events: &'a [&'a Event],
    /// It runs the virtual processor.
    pub processor: bool,
    /// The process that it may end.
    pub child: Option<i32>,
}

impl Work<'_> {
    /// The filter that a thread of that kind has.
    pub fn filter(&self) -> Vec<Instruction> {
        let files: Vec<u32> = self
            .disks
            .iter()
            .flat_map(|disk| [disk.file(), disk.durable()])
            .map(|file| file.as_raw_fd() as u32)
            .collect();
        let logs: Vec<u32> = self.logs.iter().map(|log| *log as u32).collect();
        let events: Vec<u32> = self.events.iter().map(|event| event.descriptor() as u32).collect();
        let traces = self.disks.iter().filter_map(Disk::trace).map(|trace| trace.descriptor() as u32);
        let written = || files.iter().chain(&logs).copied();
        let mut rules = vec![
            Rule::any(libc::SYS_futex),
            Rule::any(libc::SYS_sched_yield),
            Rule::only(libc::SYS_pread64, 0, files.iter().copied()),
            Rule::only(libc::SYS_pwrite64, 0, written()),
            Rule::only(libc::SYS_fdatasync, 0, files.iter().copied()),
            Rule::only(libc::SYS_write, 0, events.iter().copied().chain([1, 2]).chain(traces)),
            Rule::only(libc::SYS_writev, 0, [1, 2]),
            Rule::only(libc::SYS_read, 0, events.iter().copied()),
            // A ring can do what it was restricted to when it was made.
            Rule::any(libc::SYS_io_uring_enter),
            Rule::any(libc::SYS_clock_gettime),
            Rule::any(libc::SYS_clock_nanosleep),
            // Memory, and the end of a thread.
            Rule::only(libc::SYS_mmap, 2, NOT_EXECUTED),
            Rule::only(libc::SYS_mprotect, 2, NOT_EXECUTED),
            Rule::any(libc::SYS_mremap),
            Rule::any(libc::SYS_munmap),
            Rule::any(libc::SYS_madvise),
            Rule::any(libc::SYS_brk),
            Rule::any(libc::SYS_close),
            Rule::any(libc::SYS_sigaltstack),
            Rule::any(libc::SYS_rt_sigprocmask),
            Rule::any(libc::SYS_rt_sigreturn),
            Rule::any(libc::SYS_restart_syscall),
            Rule::any(libc::SYS_gettid),
            Rule::any(libc::SYS_getpid),
            Rule::only(libc::SYS_tgkill, 0, [std::process::id()]),
            Rule::any(libc::SYS_exit),
            Rule::any(libc::SYS_exit_group),
        ];
        if self.processor {
            rules.insert(0, Rule::only(libc::SYS_ioctl, 1, PROCESSOR));
        }
        rules.extend(self.child.map(|child| Rule::only(libc::SYS_kill, 0, [child as u32])));
        bpf::of_rules(&rules)
    }
}

/// Sets that filter for this thread.
pub(crate) fn confine(filter: &[Instruction]) -> io::Result<()> {
    bpf::install(filter)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A thread like those that work for guests: what it may do works, and nothing else does.
    #[test]
    fn a_thread_can_do_what_it_has_to_and_nothing_else() {
        let event = Event::new().unwrap();
        let filter = Work { events: &[&event], ..Work::default() }.filter();
        std::thread::scope(|scope| {
            let confined = scope.spawn(|| {
                confine(&filter).unwrap();
                event.tell();
                event.wait();
                let much = vec![7u8; 3 << 20];
                let opened = std::fs::File::open("/proc/self/status").map(drop);
                let started = std::process::Command::new("true").spawn().map(drop);
                // SAFETY: the call takes a place and a length, and would make a page that is executed.
                let executed = unsafe {
                    libc::mmap(
                        std::ptr::null_mut(),
                        4096,
                        libc::PROT_EXEC,
                        libc::MAP_PRIVATE | libc::MAP_ANONYMOUS,
                        -1,
                        0,
                    )
                };
                (much.len(), opened, started, executed == libc::MAP_FAILED)
            });
            let (len, opened, started, refused) = confined.join().unwrap();
            let is_refused = |done: io::Result<()>| done.is_err_and(|why| why.raw_os_error() == Some(libc::EPERM));
            assert!(len == 3 << 20 && is_refused(opened) && is_refused(started) && refused);
        });
        // Another thread of the process is as it was.
        assert!(std::fs::File::open("/proc/self/status").is_ok());
    }
}
