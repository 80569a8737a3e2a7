//! `udp`: a program that answers datagrams, and one that sends them and counts what comes back.

use alloc::format;
use alloc::vec::Vec;
use core::net::{IpAddr, Ipv6Addr, SocketAddr};

use super::seconds::seconds;
use crate::println;
use crate::program::{Failure, Program, on};
use crate::sys::sockets::{self, Kind};
use crate::sys::{Errno, Fd, signals, time};

pub static PROGRAMS: &[Program] = &[Program {
    name: "udp",
    usage: "serve PORT | send [-c COUNT] [-s BYTES] [-w SECONDS] ADDRESS:PORT",
    about: "answers each datagram with itself until Ctrl-C; or sends datagrams, one after the other, and counts the answers",
    work: udp,
}];

/// The longest datagram that there is.
const LARGEST: usize = 65_507;

fn udp(words: &[&str]) -> Result<(), Failure> {
    match words {
        ["serve", port] => serve(port.parse().map_err(|_| format!("{port} is no port: there are 1 to 65535"))?),
        ["send", words @ ..] => send(words),
        _ => Err(Failure::Usage),
    }
}

/// Listens for both kinds of addresses, or for that of IPv4 where the kernel has no other.
fn listening(port: u16) -> crate::sys::Result<Fd> {
    let every: [IpAddr; 2] = [Ipv6Addr::UNSPECIFIED.into(), [0; 4].into()];
    let mut why = Errno::EAFNOSUPPORT;
    for address in every.map(|ip| SocketAddr::new(ip, port)) {
        let socket = sockets::socket_for(address, Kind::Datagram);
        match socket.and_then(|socket| sockets::bind(&socket, address).map(|()| socket)) {
            Ok(socket) => return Ok(socket),
            Err(error) => why = error,
        }
    }
    Err(why)
}

fn serve(port: u16) -> Result<(), Failure> {
    let socket = listening(port).map_err(on(&format!("port {port}")))?;
    let mut bytes: Vec<u8> = alloc::vec![0; 2048];
    let (mut answered, mut lost) = (0u64, 0u64);
    while !signals::interrupted() {
        match sockets::receive(&socket, &mut bytes) {
            Ok((received, from)) => match sockets::send(&socket, &bytes[..received], from) {
                Ok(_) => answered += 1,
                // Nobody is there any more, or there is no room: the next may fare better.
                Err(_) => lost += 1,
            },
            Err(Errno::EINTR) => break,
            // Of an answer that came nowhere.
            Err(Errno::ECONNREFUSED) => {}
            Err(why) => return Err(on("receiving")(why)),
        }
    }
    println!("{answered} datagrams answered, {lost} answers lost");
    Ok(())
}

struct Sending {
    there: SocketAddr,
    count: u32,
    bytes: usize,
    patience: u64,
}

fn sending(mut words: &[&str]) -> Result<Sending, Failure> {
    let (mut count, mut bytes, mut patience) = (10, 64, 1_000_000_000);
    while let [flag @ ("-c" | "-s" | "-w"), value, rest @ ..] = words {
        let wrong = || format!("{flag} {value}: that is no number that it takes");
        match *flag {
            "-c" => count = value.parse().map_err(|_| wrong())?,
            "-s" => bytes = value.parse().ok().filter(|bytes| (4..=LARGEST).contains(bytes)).ok_or_else(wrong)?,
            _ => patience = seconds(value).filter(|ns| *ns > 0).ok_or_else(wrong)?,
        }
        words = rest;
    }
    let [address] = words else { return Err(Failure::Usage) };
    let there: SocketAddr = address
        .parse()
        .map_err(|_| format!("{address} is no address with its port, such as 10.0.0.1:7 or [fd00::1]:7"))?;
    Ok(Sending { there, count, bytes, patience })
}

fn send(words: &[&str]) -> Result<(), Failure> {
    let Sending { there, count, bytes, patience } = sending(words)?;
    let socket = sockets::socket_for(there, Kind::Datagram).map_err(on("a socket"))?;
    sockets::connect(&socket, there).map_err(on(&format!("{there}")))?;
    sockets::patience(&socket, patience).map_err(on("a socket"))?;
    let (mut sent, mut came): (Vec<u8>, Vec<u8>) = (alloc::vec![0x5a; bytes], alloc::vec![0; bytes]);
    let (mut answered, mut total, mut least, mut most, mut why) = (0u64, 0u64, u64::MAX, 0, None);
    for number in 0..count {
        sent[..4].copy_from_slice(&number.to_be_bytes());
        let begun = time::now();
        let answer = sockets::send(&socket, &sent, None).and_then(|_| {
            loop {
                let (received, _) = sockets::receive(&socket, &mut came)?;
                // One that comes late is of a datagram before.
                if came[..received] == sent[..] {
                    return Ok(());
                }
            }
        });
        match answer {
            Ok(()) => {
                let ns = time::now() - begun;
                (answered, total, least, most) = (answered + 1, total + ns, least.min(ns), most.max(ns));
            }
            Err(Errno::EINTR) => break,
            Err(Errno::EAGAIN) => why = Some(Errno::ETIMEDOUT),
            Err(error) => why = Some(error),
        }
    }
    println!("{answered} of {count} answered");
    if let Some(why) = why {
        println!("the last that was not: {why}");
    }
    if let Some(mean) = total.checked_div(answered) {
        println!("{} us, {} to {}", mean / 1000, least / 1000, most / 1000);
    }
    if answered == u64::from(count) { Ok(()) } else { Err(Failure::Status(1)) }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_words_of_sending() {
        let read = sending(&["-c", "3", "-s", "1024", "-w", "0.2", "[::1]:7"]).expect("words");
        assert_eq!((read.count, read.bytes, read.patience), (3, 1024, 200_000_000));
        for words in
            [&["-s", "3", "[::1]:7"][..], &["-s", "65508", "[::1]:7"], &["-w", "0", "[::1]:7"], &["::1"], &["10.0.0.1"]]
        {
            assert!(matches!(sending(words), Err(Failure::Told(_))), "{words:?}");
        }
    }
}
