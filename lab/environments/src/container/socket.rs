//! The lab's end of the socket that a probe in a container connects to.

use std::io::{self, PipeReader, Read, Write};
use std::net::Shutdown;
use std::os::fd::{AsFd, AsRawFd, OwnedFd};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::mpsc::Sender;
use std::sync::{Arc, OnceLock};

use kizami_protocol::{Report, handover};

use crate::error::Error;
use crate::launch::{self, Started};

/// The name of the socket in the folder that both have.
pub(super) const NAME: &str = "socket";

/// What a probe is given once it connects.
pub(super) struct Served {
    pub listener: UnixListener,
    pub arena: OwnedFd,
    /// Where the number of its process on this machine is put.
    pub process: Arc<OnceLock<u32>>,
    /// Makes what it needs, while that process waits, and reads what is in force: its request, and a program that it talks to.
    pub give: Give,
}

pub(super) type Give = Box<dyn FnOnce(u32) -> Result<(Vec<u8>, Option<Started>), Error> + Send>;

/// Listens in `folder`. A path of a socket has at most 107 bytes, and that of a folder may be longer: the socket is made
/// by way of the folder's descriptor.
pub(super) fn listen(folder: &Path) -> io::Result<UnixListener> {
    let open = std::fs::File::open(folder)?;
    let listener = UnixListener::bind(format!("/proc/self/fd/{}/{NAME}", open.as_raw_fd()))?;
    // Whoever the engine makes the probe: the folder above is the user's alone.
    std::fs::set_permissions(folder.join(NAME), std::fs::Permissions::from_mode(0o666))?;
    Ok(listener)
}

impl Served {
    /// Waits until a probe connects, gives it everything, and reads its reports until it is gone; nothing of all that if
    /// the engine ends before, of which `engine` is the output.
    pub(super) fn serve(self, mut engine: PipeReader, sender: &Sender<Result<Report, String>>) {
        let Self { listener, arena, process: found, give } = self;
        let hand_over = |socket: &mut UnixStream, request: &[u8]| {
            handover::give(socket, arena.as_fd())?;
            socket.write_all(request)?;
            socket.shutdown(Shutdown::Write)
        };
        let connected = match connects(&listener, &mut engine) {
            Ok(true) => listener.accept(),
            Ok(false) => return,
            Err(e) => Err(e),
        };
        match connected {
            Ok((mut socket, _)) => {
                let given = peer(&socket).map_err(Error::os("learn the number of its process")).and_then(|process| {
                    let _ = found.set(process);
                    give(process)
                });
                match given {
                    Ok((request, _partner)) => {
                        // A probe that is gone already says why by the status of its engine.
                        let _ = hand_over(&mut socket, &request);
                        launch::report_lines(socket, sender);
                    }
                    Err(why) => drop(sender.send(Err(why.to_string()))),
                }
            }
            Err(e) => {
                let _ = sender.send(Err(format!("could not wait for the probe in its container: {e}")));
            }
        }
    }
}

/// Waits until somebody connects: true, or `engine` ends: false. What that says until then is nobody's.
fn connects(listener: &UnixListener, engine: &mut PipeReader) -> io::Result<bool> {
    let mut both =
        [listener.as_raw_fd(), engine.as_raw_fd()].map(|fd| libc::pollfd { fd, events: libc::POLLIN, revents: 0 });
    loop {
        // SAFETY: two descriptions of open descriptors, which the kernel fills.
        let ready = unsafe { libc::poll(both.as_mut_ptr(), 2, -1) };
        match ready {
            1.. if both[0].revents != 0 => return Ok(true),
            1.. if engine.read(&mut [0; 1024])? == 0 => return Ok(false),
            1.. => {}
            _ => match io::Error::last_os_error() {
                e if e.kind() == io::ErrorKind::Interrupted => {}
                e => return Err(e),
            },
        }
    }
}

/// The process at the other end, by its number here.
fn peer(socket: &UnixStream) -> io::Result<u32> {
    let mut peer = libc::ucred { pid: 0, uid: 0, gid: 0 };
    let mut size = size_of::<libc::ucred>() as libc::socklen_t;
    // SAFETY: an open socket; the kernel fills at most `size` bytes of a structure of that size.
    let got = unsafe {
        libc::getsockopt(socket.as_raw_fd(), libc::SOL_SOCKET, libc::SO_PEERCRED, (&raw mut peer).cast(), &raw mut size)
    };
    if got < 0 { Err(io::Error::last_os_error()) } else { Ok(peer.pid as u32) }
}
