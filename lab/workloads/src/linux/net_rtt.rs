//! The round trip of a message over TCP or UDP: between two processes over loopback, or with a partner outside.

use std::io;
use std::net::UdpSocket;
use std::os::fd::{AsRawFd, OwnedFd};

use super::pipe_rtt::{self, PLACEMENT, TRIPS};
use super::via::VIA;
use crate::bench::{Bench, Failure};
use crate::os::net::{self, STALL};
use crate::os::outside::{Outside, Task};
use crate::spec::{Kind, Param, Params, Workload};

/// What one datagram of UDP can hold.
const MOST: u64 = 65_507;

pub static WORKLOAD: Workload = Workload {
    name: "net-rtt",
    title: "round trip over TCP or UDP",
    about: "A process sends a message over a socket, and another sends it back. The figure is the time from before the \
            write to after the read: two ways through the network code, two wake-ups, and what lies between the two. That is loopback \
            (127.0.0.1), or a link out of the environment where it has one (network=link), with the other process on the \
            host. TCP sends each message at once (TCP_NODELAY). A message that is not answered within 10 s ends the series. Not in the \
            figure: connecting, and one round trip that is made before.",
    reference: "netperf TCP_RR and UDP_RR, lmbench lat_tcp and lat_udp",
    params: &[
        Param {
            name: "protocol",
            about: "what carries the message",
            kind: Kind::Choice(&["tcp", "udp"]),
            default: "tcp",
        },
        TRIPS,
        Param { name: "size", about: "bytes of the message", kind: Kind::size(1, MOST), default: "1B" },
        PLACEMENT,
        VIA,
    ],
    parts: pipe_rtt::parts,
    seconds: |params| params.number("trips") as f64 * 20e-6,
    linux: Some(run),
    beam: None,
};

fn run(params: &Params, bench: &mut Bench<'_>) -> Result<(), Failure> {
    let stream = params.choice("protocol") == "tcp";
    let Some(peer) = bench.peer() else {
        let [own, other] = pair(stream)?;
        return pipe_rtt::with_echo(params, bench, vec![other], (own.as_raw_fd(), own.as_raw_fd()));
    };
    if params.choice("placement") != "free" {
        let why = "placement is of two processes of one environment, and the partner is outside of this one: leave it out";
        return Err(Failure::Impossible(why.into()));
    }
    let size = params.number("size") as usize;
    let outside = Outside::ask(peer, if stream { Task::EchoStream { size } } else { Task::EchoDatagrams { size } })?;
    let socket: OwnedFd = if stream {
        let stream = outside.stream(STALL)?;
        stream.set_nodelay(true).map_err(Failure::os("have messages sent at once"))?;
        stream.into()
    } else {
        outside.datagrams(STALL)?.into()
    };
    let socket_number = socket.as_raw_fd();
    let done = pipe_rtt::measure(params, bench, None, (socket_number, socket_number), &mut vec![0x5a; size])?;
    drop(socket);
    match done {
        Ok(()) => {
            let trips = outside.counted(1)?[0];
            bench.fact("answered", trips as f64);
            Ok(())
        }
        Err(e) if e.kind() == io::ErrorKind::WouldBlock => Err(Failure::Impossible(format!(
            "the partner outside, at {peer}, did not answer a message within {} s",
            STALL.as_secs()
        ))),
        Err(e) => Err(Failure::os(format!("talk to the partner outside, at {peer}"))(e)),
    }
}

/// Two sockets over loopback that are connected to each other. A call of the first waits no longer than [`STALL`]: one of
/// UDP is not told that the other side is gone. The second waits for as long as it takes.
fn pair(stream: bool) -> Result<[OwnedFd; 2], Failure> {
    let failed = || Failure::os("have two sockets over 127.0.0.1 wait, and send at once");
    let pair: [OwnedFd; 2] = if stream {
        let (own, other) = net::tcp_pair(net::LOOPBACK)?;
        own.set_nodelay(true).and_then(|()| other.set_nodelay(true)).map_err(failed())?;
        [own.into(), other.into()]
    } else {
        let (own, other) = net::udp_pair(net::LOOPBACK)?;
        [own.into(), other.into()]
    };
    for (socket, limit) in pair.iter().zip([Some(STALL), None]) {
        // How long a call waits is of the socket, whatever its kind, and so of each descriptor of it.
        let socket = UdpSocket::from(socket.try_clone().map_err(failed())?);
        socket.set_read_timeout(limit).and_then(|()| socket.set_write_timeout(limit)).map_err(failed())?;
    }
    Ok(pair)
}
