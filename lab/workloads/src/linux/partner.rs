//! The partner of network workloads that runs outside of the environment of the probe, usually on the host: it does the other half
//! of each, at the other end of whatever lies between (how it is asked stands in `os::outside`).

use std::error::Error;
use std::io::{self, BufReader, Read, Write};
use std::net::{TcpListener, TcpStream, UdpSocket};
use std::os::fd::AsRawFd;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use std::time::{Duration, Instant};

use super::{tcp, udp};
use crate::os::memory::PageAligned;
use crate::os::net::{self, PATIENCE, STALL, SocketBuffer};
use crate::os::outside::{Task, line};
use crate::os::sys::{self, NEVER, Via};
use crate::spec::Workload;

/// Whether the other half of `workload` can be done outside.
pub fn has(workload: &Workload) -> bool {
    [&tcp::WORKLOAD, &udp::WORKLOAD, &super::net_rtt::WORKLOAD].iter().any(|one| one.name == workload.name)
}

/// So many tasks at a time: a trial has one, and whoever else finds the port may not have the memory of this machine.
const MOST_TASKS: usize = 2;

/// Does what is asked for on connections to `listener`, each on a thread of its own; for ever, unless the system refuses.
///
/// # Errors
/// What the system said.
pub fn serve(listener: &TcpListener) -> io::Result<()> {
    let tasks = Arc::new(());
    loop {
        let (mut connection, _) = listener.accept()?;
        // Each task holds one, and this.
        if Arc::strong_count(&tasks) > MOST_TASKS {
            let _ = writeln!(connection, "refused: it has {MOST_TASKS} tasks already");
            continue;
        }
        let task = Arc::clone(&tasks);
        std::thread::Builder::new().name("partner".into()).spawn(move || {
            // Whoever asked sees the connection end.
            let _ = answer(connection);
            drop(task);
        })?;
    }
}

/// What may go wrong with the half of a partner.
type Trouble = Box<dyn Error + Send + Sync>;

/// One task, from its line to what was counted.
fn answer(connection: TcpStream) -> io::Result<()> {
    connection.set_read_timeout(Some(STALL))?;
    let mut asks = BufReader::new(connection.try_clone()?);
    let task = match Task::parse(&line(&mut asks)?) {
        Ok(task) => task,
        Err(why) => return writeln!(&connection, "refused: {why}"),
    };
    connection.set_read_timeout(None)?;
    match perform(task, &connection, asks) {
        Ok(counted) => {
            let numbers: Vec<String> = counted.iter().map(u64::to_string).collect();
            writeln!(&connection, "{}", numbers.join(" "))
        }
        Err(why) => writeln!(&connection, "failed: {why}"),
    }
}

fn perform(task: Task, connection: &TcpStream, asks: BufReader<TcpStream>) -> Result<Vec<u64>, Trouble> {
    match task {
        Task::EchoStream { size } => echo_stream(&stream(connection)?, size),
        Task::Drain { chunk, polls, buffer } => {
            let (mut stream, mut bytes) = (stream(connection)?, PageAligned::new(chunk, 0x5a)?);
            let talk = tcp::Talk::default();
            let before = buffers(&stream, buffer, SocketBuffer::Receive)?;
            tcp::drain(&mut stream, polls, &mut bytes, &talk)?;
            let (bytes, after) = talk.counted();
            Ok(vec![bytes, before, after])
        }
        Task::Pour { chunk, total, buffer } => {
            let (mut stream, bytes) = (stream(connection)?, PageAligned::new(chunk, 0x5a)?);
            let talk = Arc::new(tcp::Talk::default());
            let before = buffers(&stream, buffer, SocketBuffer::Send)?;
            when_enough(asks, &talk, |talk| &talk.enough)?;
            tcp::pour(&mut stream, &bytes, total, &talk)?;
            let (bytes, after) = talk.counted();
            Ok(vec![bytes, before, after])
        }
        Task::EchoDatagrams { size } => {
            let enough = Arc::new(AtomicBool::new(false));
            when_enough(asks, &enough, |enough| enough)?;
            echo_datagrams(&datagrams(connection)?, size, &enough)
        }
        Task::Count { size, datagrams: all, intervals } => {
            let (mut datagram, mut seen) = (vec![0; size], udp::seen(all));
            let counts: Vec<_> = (0..intervals).map(|_| udp::Counts::default()).collect();
            let talk = Arc::new(udp::Talk::default());
            when_enough(asks, &talk, |talk| &talk.enough)?;
            udp::receive(&datagrams(connection)?, &mut datagram, &mut seen, &talk, &counts)?;
            Ok(udp::written(&talk, &counts))
        }
    }
}

/// Raises a flag of `talk` when whoever asks has closed its direction of the connection.
fn when_enough<T: Send + Sync + 'static>(
    mut asks: BufReader<TcpStream>,
    talk: &Arc<T>,
    flag: fn(&T) -> &AtomicBool,
) -> io::Result<()> {
    let talk = Arc::clone(talk);
    std::thread::Builder::new().name("enough".into()).spawn(move || {
        while let Ok(1..) = asks.read(&mut [0; 64]) {}
        flag(&talk).store(true, Ordering::Release);
    })?;
    Ok(())
}

/// Asks for sockets' buffers of `asked` bytes, unless that is 0; how large the one of the partner's direction is.
fn buffers(stream: &TcpStream, asked: u64, own: SocketBuffer) -> Result<u64, Trouble> {
    for one in [SocketBuffer::Send, SocketBuffer::Receive].into_iter().filter(|_| asked > 0) {
        one.set(stream, asked)?;
    }
    Ok(own.of(stream)?)
}

/// Tells on which port the stream is awaited, and awaits it. Its calls block for at most [`PATIENCE`].
fn stream(mut connection: &TcpStream) -> io::Result<TcpStream> {
    let listener = TcpListener::bind((connection.local_addr()?.ip(), 0))?;
    writeln!(connection, "{}", listener.local_addr()?.port())?;
    listener.set_nonblocking(true)?;
    let begun = Instant::now();
    let (stream, _) = loop {
        match listener.accept() {
            Err(e) if net::is_pause(&e) && begun.elapsed() < STALL => std::thread::sleep(Duration::from_millis(1)),
            accepted => break accepted?,
        }
    };
    stream.set_nonblocking(false)?;
    stream.set_read_timeout(Some(PATIENCE))?;
    stream.set_write_timeout(Some(PATIENCE))?;
    Ok(stream)
}

/// Tells on which port datagrams are awaited.
fn datagrams(mut connection: &TcpStream) -> io::Result<UdpSocket> {
    let socket = UdpSocket::bind((connection.local_addr()?.ip(), 0))?;
    socket.set_read_timeout(Some(PATIENCE))?;
    writeln!(connection, "{}", socket.local_addr()?.port())?;
    Ok(socket)
}

/// Sends messages back until the stream ends.
fn echo_stream(stream: &TcpStream, size: usize) -> Result<Vec<u64>, Trouble> {
    stream.set_nodelay(true)?;
    stream.set_read_timeout(None)?;
    let (mut message, stream, via, mut trips) = (vec![0; size], stream.as_raw_fd(), Via::Library, 0);
    let mut trip =
        || Ok(sys::read_all(via, stream, &mut message, &NEVER)? && sys::write_all(via, stream, &message, &NEVER)?);
    while let Ok::<_, io::Error>(true) = trip() {
        trips += 1;
    }
    Ok(vec![trips])
}

fn echo_datagrams(socket: &UdpSocket, size: usize, enough: &AtomicBool) -> Result<Vec<u64>, Trouble> {
    let (mut message, mut trips) = (vec![0; size], 0);
    while !enough.load(Ordering::Acquire) {
        match socket.recv_from(&mut message) {
            Ok((len, from)) => {
                trips += 1;
                // One that does not arrive is missed by whoever waits for it.
                let _ = socket.send_to(&message[..len], from);
            }
            Err(e) if net::is_pause(&e) || e.kind() == io::ErrorKind::ConnectionRefused => {}
            Err(e) => return Err(e.into()),
        }
    }
    Ok(vec![trips])
}
