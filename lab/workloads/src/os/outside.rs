//! A partner outside of the environment of the probe: what it can be asked to do, and the connection on which it is asked.
//!
//! It listens for connections. The first line on one is a [`Task`]. It answers with the number of a port, where it waits for the
//! traffic of that task, or with `refused:` and why. Traffic and connection are two, so that nothing has to be found in the stream
//! that is measured. When whoever asked closes its direction of the connection, that is enough; the partner then says what it
//! counted, in one line of numbers.

use std::fmt;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::net::{IpAddr, Shutdown, SocketAddr, TcpStream, UdpSocket};
use std::time::Duration;

use super::net::STALL;
use crate::bench::Failure;

/// What a partner can be asked to do.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Task {
    /// Send back each message of `size` bytes.
    EchoStream {
        size: usize,
    },
    EchoDatagrams {
        size: usize,
    },
    /// Read a stream to its end, in calls of `chunk` bytes, after poll() or not; with sockets' buffers of so many bytes, or as TCP
    /// makes them (0).
    Drain {
        chunk: usize,
        polls: bool,
        buffer: u64,
    },
    /// Send a stream of at most `total` bytes.
    Pour {
        chunk: usize,
        total: u64,
        buffer: u64,
    },
    /// Count datagrams by their numbers and intervals.
    Count {
        size: usize,
        datagrams: u64,
        intervals: usize,
    },
}

/// Larger than any that a workload may ask for.
const MOST_CHUNK: u64 = 16 << 20;
const MOST_DATAGRAMS: u64 = 8 * (256 << 20);
const MOST_INTERVALS: u64 = 1 << 23;
/// Of a line in either direction: that of counts is the longest.
const MOST_LINE: u64 = 64 * (MOST_INTERVALS + 1);

impl Task {
    /// Reads the line that stands for it.
    ///
    /// # Errors
    /// A sentence.
    pub(crate) fn parse(line: &str) -> Result<Self, String> {
        let mut words = line.split_whitespace();
        let name = words.next().unwrap_or_default();
        let numbers: Option<Vec<u64>> = words.map(|word| word.parse().ok()).collect();
        let size = |number: u64, most: u64| {
            let fits = usize::try_from(number).ok().filter(|_| (1..=most).contains(&number));
            fits.ok_or_else(|| format!("{number} is not from 1 to {most}"))
        };
        match (name, numbers.as_deref()) {
            ("echo-stream", Some(&[bytes])) => Ok(Self::EchoStream { size: size(bytes, MOST_CHUNK)? }),
            ("echo-datagrams", Some(&[bytes])) => Ok(Self::EchoDatagrams { size: size(bytes, MOST_CHUNK)? }),
            ("drain", Some(&[chunk, polls @ 0..=1, buffer])) => {
                Ok(Self::Drain { chunk: size(chunk, MOST_CHUNK)?, polls: polls == 1, buffer })
            }
            ("pour", Some(&[chunk, total, buffer])) => {
                Ok(Self::Pour { chunk: size(chunk, MOST_CHUNK)?, total, buffer })
            }
            ("count", Some(&[bytes, datagrams, intervals])) => Ok(Self::Count {
                size: size(bytes, MOST_CHUNK)?,
                datagrams: size(datagrams, MOST_DATAGRAMS)? as u64,
                intervals: size(intervals, MOST_INTERVALS)?,
            }),
            _ => Err(format!("{:?} is nothing that a partner does", line.trim())),
        }
    }
}

impl fmt::Display for Task {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match *self {
            Self::EchoStream { size } => write!(f, "echo-stream {size}"),
            Self::EchoDatagrams { size } => write!(f, "echo-datagrams {size}"),
            Self::Drain { chunk, polls, buffer } => write!(f, "drain {chunk} {} {buffer}", u8::from(polls)),
            Self::Pour { chunk, total, buffer } => write!(f, "pour {chunk} {total} {buffer}"),
            Self::Count { size, datagrams, intervals } => write!(f, "count {size} {datagrams} {intervals}"),
        }
    }
}

/// A line of a connection, without its end.
///
/// # Errors
/// When the connection ends first.
pub(crate) fn line(from: &mut impl BufRead) -> io::Result<String> {
    let mut text = String::new();
    from.take(MOST_LINE).read_line(&mut text)?;
    match text.strip_suffix('\n') {
        Some(line) => Ok(line.to_owned()),
        None => Err(io::ErrorKind::UnexpectedEof.into()),
    }
}

/// A partner that was asked, and waits for the traffic.
#[derive(Debug)]
pub(crate) struct Outside {
    connection: BufReader<TcpStream>,
    traffic: SocketAddr,
}

impl Outside {
    /// Asks the partner at `peer`.
    ///
    /// # Errors
    /// When nobody answers there, or it refuses.
    pub(crate) fn ask(peer: SocketAddr, task: Task) -> Result<Self, Failure> {
        let connection = TcpStream::connect_timeout(&peer, STALL)
            .map_err(Failure::os(format!("reach the partner outside, at {peer}")))?;
        let answer = || -> io::Result<(BufReader<TcpStream>, String)> {
            connection.set_read_timeout(Some(STALL))?;
            (&connection).write_all(format!("{task}\n").as_bytes())?;
            let mut connection = BufReader::new(connection);
            let line = line(&mut connection)?;
            Ok((connection, line))
        };
        let (connection, answer) = answer().map_err(Failure::os(format!("ask the partner outside, at {peer}")))?;
        let port =
            answer.parse().map_err(|_| Failure::Impossible(format!("the partner outside, at {peer}: {answer}")))?;
        Ok(Self { connection, traffic: SocketAddr::new(peer.ip(), port) })
    }

    /// The stream of the task, whose calls block for at most `limit`.
    ///
    /// # Errors
    /// When the partner does not take it.
    pub(crate) fn stream(&self, limit: Duration) -> Result<TcpStream, Failure> {
        let at = self.traffic;
        let open = || {
            let stream = TcpStream::connect_timeout(&at, STALL)?;
            stream.set_read_timeout(Some(limit))?;
            stream.set_write_timeout(Some(limit))?;
            Ok(stream)
        };
        open().map_err(Failure::os(format!("open a stream to the partner outside, at {at}")))
    }

    /// A socket for datagrams of the task, whose calls block for at most `limit`.
    ///
    /// # Errors
    /// When the system refuses.
    pub(crate) fn datagrams(&self, limit: Duration) -> Result<UdpSocket, Failure> {
        let at = self.traffic;
        let any = match at.ip() {
            IpAddr::V4(_) => IpAddr::from([0; 4]),
            IpAddr::V6(_) => IpAddr::from([0; 16]),
        };
        let open = || {
            let socket = UdpSocket::bind((any, 0))?;
            socket.connect(at)?;
            socket.set_read_timeout(Some(limit))?;
            socket.set_write_timeout(Some(limit))?;
            Ok(socket)
        };
        open().map_err(Failure::os(format!("open a UDP socket to the partner outside, at {at}")))
    }

    /// Tells it that it is enough.
    pub(crate) fn enough(&self) {
        // One that is gone needs no telling.
        let _ = self.connection.get_ref().shutdown(Shutdown::Write);
    }

    /// Tells it that it is enough, and asks what it counted: exactly `numbers` numbers.
    ///
    /// # Errors
    /// When it says something else, or nothing.
    pub(crate) fn counted(mut self, numbers: usize) -> Result<Vec<u64>, Failure> {
        self.enough();
        let said = line(&mut self.connection).map_err(Failure::os("learn what the partner outside counted"))?;
        let counted: Option<Vec<u64>> = said.split_whitespace().map(|word| word.parse().ok()).collect();
        counted.filter(|counted| counted.len() == numbers).ok_or_else(|| {
            let said: String = said.chars().take(120).collect();
            Failure::Impossible(format!(
                "the partner outside was to say {numbers} numbers that it counted, and said {said:?}"
            ))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_task_is_read_as_it_is_written_and_nothing_else_is() {
        for task in [
            Task::EchoStream { size: 1 },
            Task::EchoDatagrams { size: 65_507 },
            Task::Drain { chunk: 16 << 20, polls: true, buffer: 0 },
            Task::Pour { chunk: 1, total: u64::MAX, buffer: 4096 },
            Task::Count { size: 24, datagrams: 1, intervals: 3_600_000 },
        ] {
            assert_eq!(Task::parse(&task.to_string()), Ok(task));
        }
        for line in ["", "echo-stream", "echo-stream 0", "echo-stream 1 2", "echo-stream -1", "drain 1 2 0", "sing 1"] {
            assert!(Task::parse(line).is_err(), "{line}");
        }
        let huge = format!("count 24 {} 1", u64::MAX);
        assert!(Task::parse(&huge).is_err_and(|why| why.contains("is not from 1 to")));
    }
}
