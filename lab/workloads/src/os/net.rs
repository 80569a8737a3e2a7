//! Sockets over loopback for workloads and loads: connected pairs on ports that the kernel chose, and the socket
//! options in force.

use std::io;
use std::mem::ManuallyDrop;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, TcpListener, TcpStream, UdpSocket};
use std::os::fd::{AsRawFd, FromRawFd, RawFd};
use std::time::Duration;

use crate::bench::{Bench, Failure};

/// How long a call on a socket may block before its caller looks at the stop flag.
pub(crate) const PATIENCE: Duration = Duration::from_millis(50);
/// How long a stream may stand still before the measurement is given up.
pub(crate) const STALL: Duration = Duration::from_secs(10);

/// What this machine calls itself.
pub(crate) const LOOPBACK: IpAddr = IpAddr::V4(Ipv4Addr::LOCALHOST);
pub(crate) const LOOPBACK_6: IpAddr = IpAddr::V6(Ipv6Addr::LOCALHOST);

/// Both ends of a TCP connection over loopback. Their calls block for at most [`PATIENCE`].
pub(crate) fn tcp_pair(on: IpAddr) -> Result<(TcpStream, TcpStream), Failure> {
    let listener = TcpListener::bind((on, 0)).map_err(Failure::os(format!("listen on a port of {on}")))?;
    let address = listener.local_addr().map_err(Failure::os("learn the port that the kernel chose"))?;
    let one = TcpStream::connect(address).map_err(Failure::os(format!("connect to {address}")))?;
    let own = one.local_addr().map_err(Failure::os("learn the port that the kernel chose"))?;
    // Somebody else on this machine may connect to the port: such a connection is closed and the next one taken.
    let other = loop {
        let (other, from) = listener.accept().map_err(Failure::os(format!("accept a connection on {address}")))?;
        if from == own {
            break other;
        }
    };
    for socket in [&one, &other] {
        socket
            .set_read_timeout(Some(PATIENCE))
            .and_then(|()| socket.set_write_timeout(Some(PATIENCE)))
            .map_err(Failure::os("set a time limit on a socket"))?;
    }
    Ok((one, other))
}

/// Two UDP sockets over loopback that hear only each other. Their calls block for at most [`PATIENCE`].
pub(crate) fn udp_pair(on: IpAddr) -> Result<(UdpSocket, UdpSocket), Failure> {
    let bind = || UdpSocket::bind((on, 0)).map_err(Failure::os(format!("bind a UDP socket to {on}")));
    let (one, other) = (bind()?, bind()?);
    for (socket, peer) in [(&one, &other), (&other, &one)] {
        peer.local_addr()
            .and_then(|address| socket.connect(address))
            .and_then(|()| socket.set_read_timeout(Some(PATIENCE)))
            .and_then(|()| socket.set_write_timeout(Some(PATIENCE)))
            .map_err(Failure::os(format!("join two UDP sockets over {on}")))?;
    }
    Ok((one, other))
}

/// The TCP socket that a forked partner has as descriptor 0. It stays open until the partner ends.
pub(crate) fn as_first() -> ManuallyDrop<TcpStream> {
    // SAFETY: the partner was given the descriptor for all of its life, and this never closes it.
    ManuallyDrop::new(unsafe { TcpStream::from_raw_fd(0) })
}

/// Waits, for at most [`PATIENCE`], until a read need not. What is wrong with the socket, the read says.
pub(crate) fn wait_to_read(socket: &TcpStream) {
    let mut poll = libc::pollfd { fd: socket.as_raw_fd(), events: libc::POLLIN, revents: 0 };
    // SAFETY: the kernel writes to one `pollfd` of ours.
    unsafe { libc::poll(&raw mut poll, 1, PATIENCE.as_millis() as i32) };
}

/// Whether a call ended only because its time was over or a signal came.
pub(crate) fn is_pause(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::WouldBlock | io::ErrorKind::TimedOut | io::ErrorKind::Interrupted)
}

/// A number that the kernel keeps for a socket.
fn option(fd: RawFd, level: i32, name: i32) -> io::Result<i32> {
    let (mut value, mut len) = (0i32, size_of::<i32>() as libc::socklen_t);
    // SAFETY: the kernel writes at most `len` bytes to a number of ours.
    let result = unsafe { libc::getsockopt(fd, level, name, (&raw mut value).cast(), &raw mut len) };
    if result == 0 { Ok(value) } else { Err(io::Error::last_os_error()) }
}

/// The name of the congestion control of a TCP socket.
fn congestion_control(fd: RawFd) -> io::Result<String> {
    let (mut name, mut len) = ([0u8; 16], 16 as libc::socklen_t);
    // SAFETY: the kernel writes at most `len` bytes to a buffer of ours.
    let result = unsafe {
        libc::getsockopt(fd, libc::IPPROTO_TCP, libc::TCP_CONGESTION, name.as_mut_ptr().cast(), &raw mut len)
    };
    if result != 0 {
        return Err(io::Error::last_os_error());
    }
    Ok(name.iter().take_while(|b| **b != 0).map(|b| char::from(*b)).collect())
}

/// A buffer that the kernel keeps for a socket. Linux counts its own overhead in it, so it doubles what it is asked for.
#[derive(Clone, Copy)]
pub(crate) enum SocketBuffer {
    Send,
    Receive,
}

impl SocketBuffer {
    fn option(self) -> i32 {
        match self {
            Self::Send => libc::SO_SNDBUF,
            Self::Receive => libc::SO_RCVBUF,
        }
    }

    fn name(self) -> &'static str {
        match self {
            Self::Send => "send_buffer",
            Self::Receive => "receive_buffer",
        }
    }

    /// Its bytes now.
    pub(crate) fn of(self, socket: &impl AsRawFd) -> io::Result<u64> {
        option(socket.as_raw_fd(), libc::SOL_SOCKET, self.option()).map(|bytes| u64::try_from(bytes).unwrap_or(0))
    }

    /// Asks for a size, which it keeps then; the kernel may give less.
    pub(crate) fn set(self, socket: &impl AsRawFd, bytes: u64) -> Result<(), Failure> {
        let bytes = libc::c_int::try_from(bytes).unwrap_or(libc::c_int::MAX);
        let len = size_of::<libc::c_int>() as libc::socklen_t;
        let fd = socket.as_raw_fd();
        // SAFETY: the kernel reads a number of ours.
        match unsafe { libc::setsockopt(fd, libc::SOL_SOCKET, self.option(), (&raw const bytes).cast(), len) } {
            0 => Ok(()),
            _ => Err(Failure::last_os("set the buffer of a socket")),
        }
    }

    /// Says what it was before the first byte and after the last, where `asked` bytes were asked for, or none.
    pub(crate) fn say(self, bench: &mut Bench<'_>, asked: u64, before: io::Result<u64>, after: io::Result<u64>) {
        let (before, after) = match (before, after) {
            (Ok(before), Ok(after)) => (before, after),
            (Err(e), _) | (_, Err(e)) => return say(bench, self.name(), Err(e), ""),
        };
        let (as_requested, why) = match asked {
            0 => (true, format!("read back after the last byte; {before} B before the first, and TCP lets it grow")),
            _ if after / 2 >= asked => {
                (true, "read back after the last byte; Linux doubles what it is asked for".into())
            }
            _ => {
                let limit = if matches!(self, Self::Send) { "net.core.wmem_max" } else { "net.core.rmem_max" };
                (false, format!("read back after the last byte; {asked} B were asked for, and {limit} allows no more"))
            }
        };
        bench.effective(self.name(), format!("{after} B"), as_requested, &why);
    }

    /// The same of a socket whose buffers stay as they are.
    pub(crate) fn say_fixed(self, bench: &mut Bench<'_>, socket: &impl AsRawFd) {
        say(bench, self.name(), self.of(socket).map(|bytes| format!("{bytes} B")), "read back before the first byte");
    }
}

/// Says which congestion control and segment size a connection has.
pub(crate) fn say_tcp(bench: &mut Bench<'_>, socket: &impl AsRawFd) {
    let fd = socket.as_raw_fd();
    let after = "read back from the socket after the last byte";
    say(bench, "congestion_control", congestion_control(fd), after);
    let segment = option(fd, libc::IPPROTO_TCP, libc::TCP_MAXSEG).map(|bytes| format!("{bytes} B"));
    say(bench, "segment_size", segment, after);
}

fn say(bench: &mut Bench<'_>, name: &str, value: io::Result<String>, why: &str) {
    match value {
        Ok(value) => bench.effective(name, value, true, why),
        Err(e) => bench.effective(name, "unknown", true, &format!("could not be read back: {e}")),
    }
}
