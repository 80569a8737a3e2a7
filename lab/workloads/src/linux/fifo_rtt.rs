//! The round trip of a message between two processes over two FIFOs.

use std::ffi::CString;
use std::fs::{File, OpenOptions};
use std::os::fd::{AsRawFd, OwnedFd};
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::OpenOptionsExt;
use std::path::Path;

use super::pipe_rtt::{self, PLACEMENT, SIZE, TRIPS};
use crate::os::sys::Pipe;
use crate::bench::{Bench, Failure};
use crate::linux::via::VIA;
use crate::spec::{Params, Workload};

pub static WORKLOAD: Workload = Workload {
    name: "fifo-rtt",
    title: "round trip over two FIFOs",
    about: "As pipe-rtt, but the two processes share two FIFOs, which have names in the file system: the message takes the \
            kernel's same way through a pipe, by way of the file system's inode. The figure is one round trip: four \
            system calls, two wake-ups and two switches. Not in the figure: making and opening the FIFOs, starting the \
            partner, and one round trip that is made before.",
    reference: "lmbench lat_fifo",
    params: &[TRIPS, SIZE, PLACEMENT, VIA],
    parts: pipe_rtt::parts,
    seconds: pipe_rtt::seconds,
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let there = fifo(&bench.scratch().join("there"))?;
    let back = fifo(&bench.scratch().join("back"))?;
    pipe_rtt::with_process(params, bench, there, back)
}

/// Makes a FIFO and opens both of its ends.
fn fifo(path: &Path) -> Result<Pipe, Failure> {
    let shown = path.display();
    let name = CString::new(path.as_os_str().as_bytes())
        .map_err(|_| Failure::Impossible(format!("{shown} cannot be the name of a FIFO")))?;
    // SAFETY: the name is a C string.
    if unsafe { libc::mkfifo(name.as_ptr(), 0o600) } != 0 {
        return Err(Failure::last_os(format!("make the FIFO {shown}")));
    }
    let open = |options: &mut OpenOptions| -> Result<File, Failure> {
        options.open(path).map_err(Failure::os(format!("open the FIFO {shown}")))
    };
    // Without blocking, the reading end opens though there is no writer yet.
    let read = open(OpenOptions::new().read(true).custom_flags(libc::O_NONBLOCK))?;
    let write = open(OpenOptions::new().write(true))?;
    // SAFETY: clears the status flags of an open descriptor.
    if unsafe { libc::fcntl(read.as_raw_fd(), libc::F_SETFL, 0) } < 0 {
        return Err(Failure::last_os(format!("make reads of the FIFO {shown} wait")));
    }
    Ok(Pipe { read: OwnedFd::from(read), write: OwnedFd::from(write) })
}
