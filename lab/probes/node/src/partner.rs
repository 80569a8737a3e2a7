//! Partners: processes of their own that share this one's memory, since nothing is copied where there is no MMU. Each has its own open files,
//! its own number and a stack here; each lives until the machine, or this process, ends it.

use alloc::boxed::Box;
use alloc::format;
use alloc::string::String;
use alloc::vec::Vec;

use linux_raw_sys::general::CLONE_VM;
use node::sys::process::{self, Ending};
use node::sys::{Errno, signals};

use crate::job::doing;

/// A few calls deep.
const STACK: usize = 2048;

/// A partner's work, and where it stands.
struct Work(Box<dyn FnMut() -> i32 + Send>);

pub struct Partner {
    number: usize,
    has_ended: bool,
    // Freed after it has ended.
    _stack: Vec<u64>,
    _work: Box<Work>,
}

extern "C" fn begin(work: usize) -> i32 {
    // SAFETY: `start` keeps it where it is as long as the process lives, and uses it no more.
    let work = unsafe { &mut *core::ptr::with_exposed_provenance_mut::<Work>(work) };
    (work.0)()
}

impl Partner {
    /// Starts one. What `work` returns is its status.
    pub fn start(work: impl FnMut() -> i32 + Send + 'static) -> Result<Self, String> {
        let mut stack = alloc::vec![0u64; STACK / 8];
        let mut work = Box::new(Work(Box::new(work)));
        let top = stack.as_mut_ptr_range().end.cast();
        let at = (&raw mut *work).expose_provenance();
        // SAFETY: stack and work stay until it has ended; what it uses of this memory it was given, and calls of the kernel.
        let number = unsafe { process::clone(CLONE_VM | signals::SIGCHLD, top, begin, at) };
        Ok(Self { number: number.map_err(doing("start a process"))?, has_ended: false, _stack: stack, _work: work })
    }

    /// Waits for its end: how that was, if not well.
    pub fn ends(mut self) -> Option<String> {
        let ended = loop {
            match process::wait(Some(self.number), true) {
                Err(Errno::EINTR) => {}
                ended => break ended,
            }
        };
        self.has_ended = true;
        match ended {
            Ok(Some((_, Ending::Status(0)))) => None,
            Ok(Some((_, Ending::Status(error)))) => Some(format!("failed: {}", Errno(error.into()))),
            Ok(Some((_, Ending::Signal(signal)))) => Some(format!("was killed by signal {signal}")),
            Ok(None) => Some("did not end".into()),
            Err(why) => Some(format!("cannot be waited for: {why}")),
        }
    }

    /// Whether it has ended, and should not have.
    pub fn is_gone(&self) -> bool {
        !matches!(process::wait(Some(self.number), false), Ok(None))
    }
}

impl Drop for Partner {
    fn drop(&mut self) {
        if self.has_ended {
            return;
        }
        let _ = signals::send(self.number, signals::SIGKILL);
        let _ = process::wait(Some(self.number), true);
    }
}
