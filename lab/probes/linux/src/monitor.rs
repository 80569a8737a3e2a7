//! `kizami-probe domain`: the monitor of a domain of Xen, for a lab that itself runs in the first domain.
//!
//! To the lab it is what QEMU is: a child that has the port of the guest as descriptor 3 and its control as 4, on which it
//! obeys `cont` and `stop` as QEMU's protocol (QMP) has them. What the domain said last it says on its standard error. The
//! domain does not end with it: the lab has a keeper for that.

use std::fs::File;
use std::io::{BufRead, BufReader, Write};
use std::os::fd::FromRawFd;
use std::os::unix::net::UnixStream;
use std::path::{Path, PathBuf};
use std::process;
use std::thread;

use kizami_protocol::{ARENA_FD, Domain};
use serde_json::{Value, json};

use crate::domain::{self, Said};

/// Obeys until the lab closes the control, or the domain has ended. The domain is `asked`, as JSON; the program `xl` creates it,
/// which reads its configuration from the file `configured`.
pub fn main(xl: &Path, asked: &str, configured: &Path) -> Result<(), String> {
    let asked: Domain = serde_json::from_str(asked).map_err(|e| format!("the domain cannot be read: {e}"))?;
    // SAFETY: the lab has given both to this process, and nothing else here uses them.
    let (port, control) = unsafe { (File::from_raw_fd(ARENA_FD), UnixStream::from_raw_fd(ARENA_FD + 1)) };
    let mut answers = control.try_clone().map_err(|e| format!("the control: {e}"))?;
    let mut machine = Machine { xl: xl.to_owned(), asked, configured: configured.to_owned(), port: Some(port) };
    let mut say = |message: Value| writeln!(answers, "{message}").map_err(|e| format!("the control: {e}"));
    say(json!({ "QMP": {} }))?;
    for line in BufReader::new(control).lines() {
        let Ok(line) = line else { break };
        let command: Value = serde_json::from_str(&line).map_err(|e| format!("the control: {e}"))?;
        say(match machine.obey(command["execute"].as_str().unwrap_or_default()) {
            Ok(()) => json!({ "return": {} }),
            Err(why) => json!({ "error": { "desc": why } }),
        })?;
    }
    Ok(())
}

struct Machine {
    xl: PathBuf,
    asked: Domain,
    configured: PathBuf,
    /// The port of the guest, until there is one.
    port: Option<File>,
}

impl Machine {
    fn obey(&mut self, command: &str) -> Result<(), String> {
        let told = match command {
            "qmp_capabilities" => return Ok(()),
            "cont" => match self.port.take() {
                Some(port) => {
                    self.create(port);
                    return Ok(());
                }
                None => "unpause",
            },
            "stop" => "pause",
            other => return Err(format!("a domain of Xen knows no {other}")),
        };
        domain::call(&self.xl, &[told, &self.asked.name]).map(drop)
    }

    /// Creates the domain, which takes longer than one waits for an answer. This process ends when the domain does.
    fn create(&self, port: File) {
        let (xl, asked, configured) = (self.xl.clone(), self.asked.clone(), self.configured.clone());
        thread::spawn(move || {
            let said = Said::default();
            let phase = |phase: &str| eprintln!("phase: {phase}");
            let why = domain::live(&xl, &asked, &configured, port, &said, phase);
            eprintln!("{}\n{}", said.text(), why.err().unwrap_or_else(|| "the domain ended".to_owned()));
            process::exit(1);
        });
    }
}
