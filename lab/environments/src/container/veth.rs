//! The network of a container: two interfaces that are the ends of one line (veth), one here and one in the container.
//!
//! Both are made at once, the other end in the container, by a message to the kernel (rtnetlink(7), veth(4)). With the container
//! its end goes, and with that the one here.

use std::fs::File;
use std::io;
use std::os::fd::{AsRawFd, FromRawFd, OwnedFd};
use std::thread;

use init::{Kernel, System};

use crate::error::Error;
use crate::link::{self, BITS, Ends, LINK, LOOPBACK};

/// The kind of such interfaces, as the kernel calls it.
const KIND: &[u8] = b"veth";
/// The end in a container.
const THERE: &str = "eth0";

/// Makes the line to the container in which `process` is, with an address at each end.
pub(super) fn make(process: u32) -> Result<Ends, Error> {
    let name = format!("kizami{process}");
    let doing = format!("make a pair of network interfaces ({name} and, in the container, {THERE})");
    ask(&message(&name, process)).map_err(|e| link::refused(&doing, &e, "network=loopback takes no rights"))?;
    let ends = link::up(&name)?;
    let doing = format!("give an address to {THERE} in the container");
    in_network_of(process, move |kernel| {
        kernel.address(THERE, ends.there, BITS)?;
        kernel.up(THERE)
    })
    .map_err(Error::os(doing))?;
    Ok(ends)
}

/// Does something in the network of a process, on a thread of its own: one thread of a process may be in another than the rest.
fn in_network_of(process: u32, body: impl FnOnce(&mut Kernel) -> io::Result<()> + Send + 'static) -> io::Result<()> {
    let network = File::open(format!("/proc/{process}/ns/net"))?;
    let there = thread::Builder::new().spawn(move || {
        // SAFETY: an open file of a network namespace; it is this thread's alone that changes.
        match unsafe { libc::setns(network.as_raw_fd(), libc::CLONE_NEWNET) } {
            0 => body(&mut Kernel::new()),
            _ => Err(io::Error::last_os_error()),
        }
    })?;
    there.join().unwrap_or_else(|panic| std::panic::resume_unwind(panic))
}

/// What is in force for the container in which `process` is, by the interfaces that it sees.
pub(super) fn observed(table: &str) -> &'static str {
    let names = table.lines().filter_map(|line| line.split_once(':')).map(|(name, _)| name.trim());
    match names.filter(|name| *name == THERE).count() {
        0 => LOOPBACK,
        _ => LINK,
    }
}

const VETH_INFO_PEER: u16 = 1;

/// The request for the pair: as linux/rtnetlink.h and linux/veth.h have it.
fn message(name: &str, process: u32) -> Vec<u8> {
    let other = [about(), text(libc::IFLA_IFNAME, THERE), attribute(libc::IFLA_NET_NS_PID, &process.to_ne_bytes())];
    let data = attribute(libc::IFLA_INFO_DATA, &attribute(VETH_INFO_PEER, &other.concat()));
    let kind = attribute(libc::IFLA_INFO_KIND, KIND);
    let link = attribute(libc::IFLA_LINKINFO, &[kind, data].concat());
    let body = [about(), text(libc::IFLA_IFNAME, name), link].concat();
    let flags = libc::NLM_F_REQUEST | libc::NLM_F_ACK | libc::NLM_F_CREATE | libc::NLM_F_EXCL;
    let length = HEADER + body.len();
    let mut message = (length as u32).to_ne_bytes().to_vec();
    message.extend(libc::RTM_NEWLINK.to_ne_bytes());
    message.extend((flags as u16).to_ne_bytes());
    message.extend([0; 8]);
    message.extend(body);
    message
}

/// Of a message: its length, kind, flags, number and sender.
const HEADER: usize = 16;

/// An `ifinfomsg` that says nothing of an interface.
fn about() -> Vec<u8> {
    vec![0; 16]
}

/// An attribute: its length, kind and value, and what fills its last word.
fn attribute(kind: u16, value: &[u8]) -> Vec<u8> {
    let mut bytes = (4 + value.len() as u16).to_ne_bytes().to_vec();
    bytes.extend(kind.to_ne_bytes());
    bytes.extend(value);
    bytes.resize(bytes.len().next_multiple_of(4), 0);
    bytes
}

fn text(kind: u16, value: &str) -> Vec<u8> {
    attribute(kind, format!("{value}\0").as_bytes())
}

/// Sends a request, and waits for the kernel's word.
fn ask(message: &[u8]) -> io::Result<()> {
    // SAFETY: numbers; what comes back is an open descriptor or an error.
    let socket = unsafe { libc::socket(libc::AF_NETLINK, libc::SOCK_RAW | libc::SOCK_CLOEXEC, libc::NETLINK_ROUTE) };
    if socket < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel gave this descriptor to us alone.
    let socket = unsafe { OwnedFd::from_raw_fd(socket) };
    let mut answer = [0; 1024];
    // SAFETY: an open socket, and memory of ours of the lengths that are said.
    let got = unsafe {
        if libc::send(socket.as_raw_fd(), message.as_ptr().cast(), message.len(), 0) < 0 {
            return Err(io::Error::last_os_error());
        }
        libc::recv(socket.as_raw_fd(), answer.as_mut_ptr().cast(), answer.len(), 0)
    };
    if got < 0 {
        return Err(io::Error::last_os_error());
    }
    said(&answer[..got as usize])
}

/// What an answer means: that of a request is an error number, of which 0 is none.
fn said(answer: &[u8]) -> io::Result<()> {
    let number = answer.get(HEADER..HEADER + 4).and_then(|bytes| Some(i32::from_ne_bytes(bytes.try_into().ok()?)));
    let kind = answer.get(4..6).and_then(|bytes| Some(u16::from_ne_bytes(bytes.try_into().ok()?)));
    match (kind.map(i32::from), number) {
        (Some(libc::NLMSG_ERROR), Some(0)) => Ok(()),
        (Some(libc::NLMSG_ERROR), Some(number)) => Err(io::Error::from_raw_os_error(-number)),
        _ => Err(io::Error::other("the kernel's answer is not one")),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::fs;
    use std::process::{Command, Stdio};

    #[test]
    fn an_interface_is_found_in_the_table_of_a_network() {
        let head = "Inter-|   Receive\n face |bytes    packets\n    lo:       0       0\n";
        assert_eq!(observed(head), LOOPBACK);
        assert_eq!(observed(&format!("{head}  eth0:     120       2\n")), LINK);
    }

    #[test]
    fn an_answer_is_an_error_number_or_none() {
        let answer = |kind: u16, number: i32| {
            let mut bytes = vec![0; 4];
            bytes.extend(kind.to_ne_bytes());
            bytes.resize(HEADER, 0);
            bytes.extend(number.to_ne_bytes());
            said(&bytes).map_err(|e| e.raw_os_error())
        };
        let error = libc::NLMSG_ERROR as u16;
        assert_eq!((answer(error, 0), answer(error, -libc::EPERM)), (Ok(()), Err(Some(libc::EPERM))));
        assert_eq!(answer(3, 0), Err(None));
        assert!(said(&[0; 7]).is_err());
    }

    /// With root; otherwise it is refused, with what takes no rights.
    #[test]
    fn both_ends_are_there_as_long_as_the_network_that_one_is_in() {
        let unshared = Command::new("unshare").args(["-n", "cat"]).stdin(Stdio::piped()).stdout(Stdio::null()).spawn();
        let Ok(mut other) = unshared else { return };
        let own = fs::read_link("/proc/self/ns/net").expect("a namespace");
        let moved = || fs::read_link(format!("/proc/{}/ns/net", other.id())).is_ok_and(|network| network != own);
        let there = (0..200).any(|_| {
            thread::sleep(std::time::Duration::from_millis(10));
            moved()
        });
        if !there {
            let _ = other.wait();
            return;
        }
        let made = make(other.id());
        let here = format!("/sys/class/net/kizami{}", other.id());
        let seen = fs::read_to_string(format!("/proc/{}/net/dev", other.id())).expect("its table");
        let was_here = fs::exists(&here).unwrap_or(false);
        drop(other.stdin.take());
        let _ = other.wait();
        match made {
            Ok(ends) => assert!(was_here && observed(&seen) == LINK && ends.here != ends.there, "{seen}"),
            Err(why) => assert!(why.to_string().contains("network=loopback"), "{why}"),
        }
        // The kernel takes a network apart a little later.
        let gone = (0..500).any(|_| {
            thread::sleep(std::time::Duration::from_millis(10));
            !fs::exists(&here).unwrap_or(true)
        });
        assert!(gone, "{here} is left");
    }
}
