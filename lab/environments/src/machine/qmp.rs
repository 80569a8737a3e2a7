//! QEMU's control protocol: one JSON object a line. See docs/interop/qmp-spec.txt of QEMU.

use std::io::{self, BufRead, BufReader, Write};
use std::os::unix::net::UnixStream;
use std::time::Duration;

use serde_json::{Value, json};

/// How long QEMU may take to answer; it does so while the guest runs.
const PATIENCE: Duration = Duration::from_secs(10);

/// A connection on which commands may be given.
pub(super) struct Control {
    reader: BufReader<UnixStream>,
    disk_error: Option<(String, String)>,
}

impl Control {
    /// Greets.
    pub(super) fn new(socket: UnixStream) -> io::Result<Self> {
        socket.set_read_timeout(Some(PATIENCE))?;
        let mut control = Self { reader: BufReader::new(socket), disk_error: None };
        control.message()?;
        control.command("qmp_capabilities")?;
        Ok(control)
    }

    /// Gives a command without arguments, and waits until it is done.
    pub(super) fn command(&mut self, name: &str) -> io::Result<Value> {
        let line = format!("{}\n", json!({ "execute": name }));
        self.reader.get_mut().write_all(line.as_bytes())?;
        loop {
            let mut message = self.message()?;
            if let Some(error) = message.get("error") {
                return Err(io::Error::other(format!(
                    "QEMU refuses {name}: {}",
                    error["desc"].as_str().unwrap_or("?")
                )));
            }
            if let Some(answer) = message.get_mut("return") {
                return Ok(answer.take());
            }
            if message["event"] == "BLOCK_IO_ERROR" {
                let said = |field: &str| message["data"][field].as_str().unwrap_or("?").to_owned();
                self.disk_error.get_or_insert_with(|| (said("operation"), said("reason")));
            }
        }
    }

    /// What a disk could first not do (`read` or `write`), and why, by all that was read so far.
    pub(super) fn disk_error(&self) -> Option<(String, String)> {
        self.disk_error.clone()
    }

    fn message(&mut self) -> io::Result<Value> {
        let mut line = String::new();
        match self.reader.read_line(&mut line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => serde_json::from_str(&line).map_err(io::Error::other),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::thread;

    #[test]
    fn an_answer_is_found_among_events_and_a_refusal_is_an_error() {
        let (ours, theirs) = UnixStream::pair().expect("sockets");
        let monitor = thread::spawn(move || {
            let mut reader = BufReader::new(theirs.try_clone().expect("a copy"));
            let mut theirs = theirs;
            let mut asked = Vec::new();
            theirs.write_all(b"{\"QMP\": {}}\n").expect("written");
            for answer in [
                "{\"return\": {}}\n",
                "{\"event\": \"STOP\"}\n{\"return\": {\"status\": \"paused\"}}\n",
                "{\"event\": \"BLOCK_IO_ERROR\", \"data\": {\"operation\": \"write\", \"reason\": \"No space left\"}}\n\
                 {\"event\": \"BLOCK_IO_ERROR\", \"data\": {\"operation\": \"read\", \"reason\": \"later\"}}\n{\"return\": {}}\n",
                "{\"error\": {\"desc\": \"no\"}}\n",
            ] {
                let mut line = String::new();
                reader.read_line(&mut line).expect("a command");
                asked.push(line);
                theirs.write_all(answer.as_bytes()).expect("written");
            }
            asked
        });
        let mut control = Control::new(ours).expect("a greeting");
        assert_eq!(control.command("stop").expect("an answer")["status"], "paused");
        assert_eq!(control.disk_error(), None);
        control.command("query-status").expect("an answer");
        assert_eq!(control.disk_error(), Some(("write".into(), "No space left".into())), "the first is told");
        assert!(control.command("fly").expect_err("a refusal").to_string().contains("refuses fly: no"));
        let asked = monitor.join().expect("it ends");
        assert!(asked[0].contains("qmp_capabilities") && asked[3].contains("fly"), "{asked:?}");
        assert!(control.command("stop").is_err(), "it is gone");
    }
}
