//! A TCP stream over loopback between two processes: interrupt-like work (softirqs), copies and wake-ups.

use std::io::{ErrorKind, Read, Write};
use std::os::fd::AsRawFd;

use super::load::{Load, LoadBench};
use crate::bench::Failure;
use crate::os::child::Child;
use crate::os::net;

pub(super) static LOAD: Load = Load {
    name: "network",
    about: "One process sends to another over TCP on 127.0.0.1 as fast as it can. An operation is 64 KiB received.",
    run,
};

const CHUNK: usize = 64 << 10;

fn run(bench: &LoadBench<'_>) -> Result<(), Failure> {
    let (mut receiving, sending) = net::tcp_pair(net::LOOPBACK)?;
    let mut buffer = vec![1u8; CHUNK];
    // SAFETY: the child only writes what exists already to a socket, until that is closed.
    let sender = unsafe { Child::fork(&[sending.as_raw_fd()], || pour(&buffer)) }?;
    drop(sending);
    let mut bytes = 0;
    while !bench.stopped() {
        match receiving.read(&mut buffer) {
            Ok(0) => return Err(ended(&sender)),
            Ok(n) => {
                bytes += n;
                bench.did((bytes / CHUNK) as u64);
                bytes %= CHUNK;
            }
            Err(e) if net::is_pause(&e) => {}
            Err(e) if e.kind() == ErrorKind::ConnectionReset => return Err(ended(&sender)),
            Err(source) => return Err(Failure::Os { doing: "receive in the network load".into(), source }),
        }
    }
    Ok(())
}

fn pour(bytes: &[u8]) -> std::io::Result<()> {
    let mut socket = net::as_first();
    loop {
        match socket.write(bytes) {
            Ok(_) => {}
            Err(e) if net::is_pause(&e) => {}
            Err(e) => return Err(e),
        }
    }
}

fn ended(sender: &Child) -> Failure {
    let how = sender.ended().unwrap_or_else(|| "closed the connection".into());
    Failure::Impossible(format!("the sender of the network load {how}"))
}
