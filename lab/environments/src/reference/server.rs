//! The server of a tool that measures over the network: its free port, and its start.
//!
//! A server is started before its tool, and counts as started when it listens.

use std::io::Read;
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::sync::atomic::{AtomicU16, Ordering};
use std::time::{Duration, Instant};

use kizami_settings::process::InChild;

use crate::error::Error;
use crate::launch::{self, Started};

/// Starts a tool's server under the settings that its tool has, and waits until it listens.
pub(super) fn serve(program: &Path, arguments: &[String], port: u16, settings: InChild) -> Result<Started, Error> {
    let mut command = Command::new(program);
    command.args(arguments);
    let ignore: launch::Listener = Box::new(|mut stream, _| {
        let _ = std::io::copy(&mut stream.by_ref(), &mut std::io::sink());
    });
    let started = launch::start(command, launch::Input::Empty, &[], ignore, move || settings.apply())?;
    let begun = Instant::now();
    while !listens(port) {
        if begun.elapsed() > Duration::from_secs(5) {
            let said = started.error_output();
            return Err(Error::Unusable(format!("{} did not begin to serve: {said}", program.display())));
        }
        std::thread::sleep(Duration::from_millis(10));
    }
    Ok(started)
}

/// Whether somebody listens on `port`; read from the kernel's table, because a connection would be served.
fn listens(port: u16) -> bool {
    const LISTEN: &str = "0A";
    let table = |file| std::fs::read_to_string(file).unwrap_or_default();
    let wanted = format!(":{port:04X}");
    [table("/proc/net/tcp"), table("/proc/net/tcp6")].iter().flat_map(|t| t.lines()).any(|line| {
        let mut fields = line.split_whitespace().skip(1);
        let local = fields.next().is_some_and(|local| local.ends_with(&wanted));
        local && fields.nth(1) == Some(LISTEN)
    })
}

/// A port that is free, and the next one too: nuttcp has two. They lie below those that the kernel gives to whoever connects
/// (32768 and up unless the machine was told otherwise), because a client's own end could be given the second one before
/// the tool takes it.
pub(super) fn free_ports() -> std::io::Result<u16> {
    static LAST: AtomicU16 = AtomicU16::new(0);
    const FIRST: u16 = 20_000;
    const PAIRS: u16 = 6_000;
    let mut refused = None;
    for _ in 0..PAIRS {
        let port = FIRST + LAST.fetch_add(1, Ordering::Relaxed) % PAIRS * 2;
        let bind = |port| TcpListener::bind(("127.0.0.1", port));
        match bind(port).and_then(|first| Ok((first, bind(port + 1)?))) {
            Ok(_) => return Ok(port),
            Err(error) => refused = Some(error),
        }
    }
    Err(refused.unwrap_or_else(|| std::io::ErrorKind::AddrInUse.into()))
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeMap;

    use kizami_settings::{Settings, process};

    use super::*;

    #[test]
    fn a_taken_port_is_not_given_nor_the_one_below_it() {
        let first = free_ports().unwrap();
        let taken = [first + 2, first + 5].map(|port| TcpListener::bind(("127.0.0.1", port)));
        let given = free_ports().unwrap();
        assert!(taken.iter().flatten().all(|t| !(given..=given + 1).contains(&t.local_addr().unwrap().port())));
        assert!(given >= first + 6 || given < first, "{given} after {first}");
    }

    /// Half of a transfer that runs under other settings than the recording says would make the whole a lie.
    #[test]
    fn a_server_has_the_settings_of_its_tool() {
        let asked = |nice: &str| Settings::new(&BTreeMap::from([("nice".to_owned(), nice.to_owned())])).unwrap();
        let listen = "use IO::Socket::INET; \
                      my $l = IO::Socket::INET->new(Listen => 1, LocalAddr => '127.0.0.1', LocalPort => shift) or die; sleep 60";
        let port = free_ports().unwrap();
        let arguments = ["-e", listen, &port.to_string()].map(str::to_owned);
        let settings = asked("7");
        let server = serve(Path::new("perl"), &arguments, port, InChild::new(&settings)).unwrap();
        let read_back = process::read_of(server.process(), &settings);
        let (_, nice) = read_back.iter().find(|(name, _)| name == "nice").unwrap();
        assert_eq!((nice.value.as_str(), nice.as_requested), ("7", true), "{nice:?}");
    }

    #[test]
    fn a_server_is_seen_listening_only_while_it_does() {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        assert!(listens(port));
        drop(listener);
        assert!(!listens(port));
    }
}
