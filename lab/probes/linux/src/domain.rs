//! The other domain of a Xen machine. The agent in the first domain (dom0) starts Xen's tools and creates a domain (domU)
//! from the kernel and the archive in `/etc/domain`. Then it hands on what the agent in that and the lab say to each other,
//! byte for byte: between the line of the domain's console and a port of its own. It understands nothing of it, and so
//! nothing has to be right twice.

use std::fs::{self, File};
use std::io::{self, Read, Write};
use std::os::unix::fs::symlink;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kizami_protocol::FromGuest;

use crate::line;

/// The name that the lab gives to the port.
const PORT: &str = "kizami-domain";
/// The name of the domain.
const NAME: &str = "kizami";
const CONFIGURATION: &str = "/etc/xen/domain.cfg";
/// How much of what the tools and the domain's console said is kept: its end.
const SAID: usize = 2048;

/// What Xen's tools expect to find.
const FOLDERS: [&str; 7] =
    ["/run/xen", "/run/xenstored", "/run/lock", "/var/lib/xen", "/var/lib/xenstored", "/var/log/xen", "/etc/xen"];

/// What was said last.
#[derive(Clone, Default)]
struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let excess = kept.len().saturating_sub(SAID);
        kept.drain(..excess);
    }

    fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

/// Starts the domain on a thread of its own; `tell` is given each phase, and why there is none any more.
pub fn start(mebibytes: u64, cpus: usize, tell: impl Fn(FromGuest) + Send + 'static) {
    thread::spawn(move || {
        let said = Said::default();
        let phase = |phase: &str| tell(FromGuest::Phase { phase: phase.to_owned() });
        let why = match run(mebibytes, cpus, &said, phase) {
            Ok(()) => "the domain ended".to_owned(),
            Err(why) => why,
        };
        tell(FromGuest::Gone { why, said: said.text() });
    });
}

/// The life of the domain.
fn run(mebibytes: u64, cpus: usize, said: &Said, phase: impl Fn(&str)) -> Result<(), String> {
    phase("the tools of Xen");
    let port = line::port(PORT)?.ok_or_else(|| format!("this machine has no port {PORT}"))?;
    let tools = tools()?;
    prepare().map_err(|e| format!("could not make the folders of Xen's tools: {e}"))?;
    for tool in ["xenstored", "xen-init-dom0", "xenconsoled"] {
        call(&tools.join(tool), &[], said)?;
    }
    phase("the creation of the domain");
    fs::write(CONFIGURATION, configuration(mebibytes, cpus)).map_err(|e| format!("{CONFIGURATION}: {e}"))?;
    let xl = tools.join("xl");
    call(&xl, &["create", CONFIGURATION], said)?;
    let number = call(&xl, &["domid", NAME], said)?;
    let place = format!("/local/domain/{number}/console/tty");
    let console = call(Path::new("/usr/bin/xenstore"), &["read", &place], said)?;
    phase("the domain's kernel");
    let console = line::open(Path::new(&console))?;
    hand_on(console, port, said)
}

/// The folder with Xen's tools of the one version that the image has.
fn tools() -> Result<PathBuf, String> {
    let entries = fs::read_dir("/usr/lib").into_iter().flatten().flatten();
    let folders = entries.filter(|entry| entry.file_name().to_string_lossy().starts_with("xen-"));
    let tools = folders.map(|entry| entry.path().join("bin")).find(|path| path.join("xl").exists());
    tools.ok_or_else(|| "the image has no tools of Xen".into())
}

/// What an installation would have made.
fn prepare() -> io::Result<()> {
    FOLDERS.iter().try_for_each(fs::create_dir_all)?;
    for (target, link) in [("/run", "/var/run"), ("/run/lock", "/var/lock")] {
        match symlink(target, link) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
    }
    fs::write("/etc/xen/xl.conf", "")
}

/// A paravirtualised domain, which is gone once it ends, in whatever way.
fn configuration(mebibytes: u64, cpus: usize) -> String {
    let once = ["poweroff", "reboot", "crash"].map(|end| format!("on_{end} = \"destroy\"\n")).concat();
    format!(
        "name = \"{NAME}\"\ntype = \"pv\"\nkernel = \"/etc/domain/vmlinuz\"\nramdisk = \"/etc/domain/initramfs.cpio\"\n\
         memory = {mebibytes}\nvcpus = {cpus}\nextra = \"console=hvc0 quiet panic=-1\"\n{once}"
    )
}

/// Runs a tool to its end; what it wrote to its standard output, without blanks around it.
fn call(tool: &Path, arguments: &[&str], said: &Said) -> Result<String, String> {
    let name = tool.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // One that becomes a daemon keeps what it was given, so a pipe would not end with it: files do.
    let files = ["/tmp/tool.out", "/tmp/tool.err"];
    let [out, err] = files.map(File::create);
    let failed = |e: io::Error| format!("could not run {name}: {e}");
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::null()).stdout(out.map_err(failed)?).stderr(err.map_err(failed)?);
    let status = command.status().map_err(failed)?;
    let [out, err] = files.map(|file| fs::read(file).unwrap_or_default());
    if !status.success() {
        [out, err].iter().for_each(|text| said.add(text));
        return Err(format!("{name} {}", kizami_protocol::ending(status)));
    }
    Ok(String::from_utf8_lossy(&out).trim().to_owned())
}

/// Hands on in both directions until the console ends, which it does with its domain.
fn hand_on(console: File, port: File, said: &Said) -> Result<(), String> {
    let copy = |file: &File| file.try_clone().map_err(|e| e.to_string());
    let (mut to_console, mut from_lab) = (copy(&console)?, copy(&port)?);
    thread::spawn(move || io::copy(&mut from_lab, &mut to_console));
    let (mut console, mut port, mut piece) = (console, port, [0; 4096]);
    loop {
        match console.read(&mut piece) {
            Ok(0) => return Ok(()),
            Ok(read) => {
                said.add(&piece[..read]);
                port.write_all(&piece[..read]).map_err(|e| format!("could not write to the lab: {e}"))?;
            }
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            // The other end of a terminal is closed.
            Err(e) if e.raw_os_error() == Some(libc::EIO) => return Ok(()),
            Err(e) => return Err(format!("the domain's console cannot be read: {e}")),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_domain_is_paravirtualised_and_gone_once_it_ended() {
        let text = configuration(256, 2);
        for line in ["type = \"pv\"", "memory = 256", "vcpus = 2", "on_crash = \"destroy\"", "on_reboot = \"destroy\""]
        {
            assert!(text.lines().any(|l| l == line), "{line}: {text}");
        }
    }

    #[test]
    fn what_a_console_says_is_handed_on_until_it_ends_and_its_end_is_kept() {
        let (console, mut domain) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let (port, mut lab) = std::os::unix::net::UnixStream::pair().expect("sockets");
        let file = |socket: std::os::unix::net::UnixStream| File::from(std::os::fd::OwnedFd::from(socket));
        let said = Said::default();
        let handing = thread::spawn({
            let said = said.clone();
            move || hand_on(file(console), file(port), &said)
        });
        let text = vec![b'x'; 3 * SAID];
        lab.write_all(b"to the domain").expect("written");
        let mut heard = [0; 13];
        domain.read_exact(&mut heard).expect("it is handed on");
        assert_eq!(&heard, b"to the domain");
        domain.write_all(&text).expect("written");
        let mut heard = vec![0; text.len()];
        lab.read_exact(&mut heard).expect("it is handed on");
        assert_eq!(heard, text);
        drop(domain);
        assert_eq!(handing.join().expect("it ends"), Ok(()));
        assert_eq!(said.text().len(), SAID);
    }

    #[test]
    fn a_tool_that_fails_is_named_with_what_it_said() {
        let said = Said::default();
        let why = call(Path::new("/bin/sh"), &["-c", "echo no store >&2; exit 3"], &said).expect_err("it fails");
        assert!(why.starts_with("sh ") && why.contains('3') && said.text() == "no store", "{why}: {}", said.text());
        assert_eq!(call(Path::new("/bin/sh"), &["-c", "echo ' 7 '"], &said), Ok("7".into()));
    }
}
