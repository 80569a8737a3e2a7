//! epmd, the port mapper daemon of Erlang: asking it for the nodes of this machine.

use std::env;
use std::io::{Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpStream};
use std::time::Duration;

/// The names of this machine's nodes; `None` where there is no epmd that could tell.
pub fn names() -> Option<Vec<String>> {
    let port = env::var("ERL_EPMD_PORT").ok().and_then(|port| port.parse().ok()).unwrap_or(4369);
    let wait = Duration::from_secs(1);
    let mut epmd = TcpStream::connect_timeout(&SocketAddr::from((Ipv4Addr::LOCALHOST, port)), wait).ok()?;
    epmd.set_read_timeout(Some(wait)).ok()?;
    // NAMES_REQ of the distribution protocol: a length and the letter n. The answer is epmd's port, then lines of text.
    epmd.write_all(&[0, 1, b'n']).ok()?;
    let mut answer = Vec::new();
    epmd.read_to_end(&mut answer).ok()?;
    let text = String::from_utf8_lossy(answer.get(4..)?).into_owned();
    Some(text.lines().filter_map(|line| Some(line.strip_prefix("name ")?.split(' ').next()?.to_owned())).collect())
}
