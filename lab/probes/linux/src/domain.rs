//! The other domain of a Xen machine. The agent in the first domain (dom0) starts Xen's tools and creates a domain (domU).
//! Then it hands on what the agent in that and the lab say to each other, byte for byte: between the line of the domain's
//! console and a port of its own. It understands nothing of it, and so nothing has to be right twice.

use std::fs::{self, File};
use std::io::{self, Read, Seek, Write};
use std::os::fd::FromRawFd;
use std::os::unix::fs::{MetadataExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread;

use kizami_protocol::{Domain, FromGuest};

use crate::line;

/// The name that the lab gives to the port.
const PORT: &str = "kizami-domain";
const CONFIGURATION: &str = "/etc/xen/domain.cfg";
/// What the tools call when the domain is given its disk, and when that is taken away.
const HOTPLUG: &str = "/etc/xen/scripts/block";
const STORE: &str = "/usr/bin/xenstore";
/// This program.
const AGENT: &str = "/bin/kizami-probe";
/// How much of what the domain's console said is kept: its end.
const SAID: usize = 2048;

/// What Xen's tools expect to find.
const FOLDERS: [&str; 7] = [
    "/run/xen",
    "/run/xenstored",
    "/run/lock",
    "/var/lib/xen",
    "/var/lib/xenstored",
    "/var/log/xen",
    "/etc/xen/scripts",
];

/// What was said last.
#[derive(Clone, Default)]
pub struct Said(Arc<Mutex<Vec<u8>>>);

impl Said {
    fn add(&self, bytes: &[u8]) {
        let mut kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        kept.extend_from_slice(bytes);
        let excess = kept.len().saturating_sub(SAID);
        kept.drain(..excess);
    }

    pub fn text(&self) -> String {
        let kept = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        String::from_utf8_lossy(&kept).trim().to_owned()
    }
}

/// Starts Xen's tools and the domain on a thread of its own; `tell` is given each phase, and why there is none any more.
pub fn start(asked: Domain, tell: impl Fn(FromGuest) + Send + 'static) {
    thread::spawn(move || {
        let said = Said::default();
        let phase = |phase: &str| tell(FromGuest::Phase { phase: phase.to_owned() });
        let why = match started(&asked, &said, phase) {
            Ok(()) => "the domain ended".to_owned(),
            Err(why) => why,
        };
        tell(FromGuest::Gone { why, said: said.text() });
    });
}

fn started(asked: &Domain, said: &Said, phase: impl Fn(&str)) -> Result<(), String> {
    phase("the tools of Xen");
    let port = line::port(PORT)?.ok_or_else(|| format!("this machine has no port {PORT}"))?;
    let tools = tools()?;
    prepare().map_err(|e| format!("could not make the folders of Xen's tools: {e}"))?;
    for tool in ["xenstored", "xen-init-dom0", "xenconsoled"] {
        call(&tools.join(tool), &[])?;
    }
    live(&tools.join("xl"), asked, Path::new(CONFIGURATION), port, said, phase)
}

/// The life of the domain, whose configuration is written to a file.
pub fn live(
    xl: &Path,
    asked: &Domain,
    configured: &Path,
    port: File,
    said: &Said,
    phase: impl Fn(&str),
) -> Result<(), String> {
    phase("the creation of the domain");
    let failed = |e: io::Error| format!("{}: {e}", configured.display());
    fs::write(configured, configuration(asked)).map_err(failed)?;
    call(xl, &["create", &configured.to_string_lossy()])?;
    let number = call(xl, &["domid", &asked.name])?;
    let place = format!("/local/domain/{number}/console/tty");
    let console = call(Path::new(STORE), &["read", &place])?;
    phase("the domain's kernel");
    let console = line::open(Path::new(&console))?;
    hand_on(console, port, said)
}

/// Tells the kernel which device the disk is: its numbers, where Xen's store has what is told of it.
pub fn disk_comes() -> Result<(), String> {
    let place = std::env::var("XENBUS_PATH").map_err(|_| "Xen's tools did not say of which disk (XENBUS_PATH)")?;
    let store = |arguments: &[&str]| {
        let output = Command::new(STORE).args(arguments).output().map_err(|e| format!("{STORE}: {e}"))?;
        let [out, err] = [output.stdout, output.stderr].map(|text| String::from_utf8_lossy(&text).trim().to_owned());
        if output.status.success() { Ok(out) } else { Err(format!("xenstore {}: {err}", arguments.join(" "))) }
    };
    let device = store(&["read", &format!("{place}/params")])?;
    let numbers = fs::metadata(&device).map_err(|e| format!("{device}: {e}"))?.rdev();
    let numbers = format!("{:x}:{:x}", libc::major(numbers), libc::minor(numbers));
    store(&["write", &format!("{place}/physical-device"), &numbers, &format!("{place}/hotplug-status"), "connected"])?;
    Ok(())
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
    for (target, link) in [("/run", "/var/run"), ("/run/lock", "/var/lock"), (AGENT, HOTPLUG)] {
        match symlink(target, link) {
            Err(e) if e.kind() != io::ErrorKind::AlreadyExists => return Err(e),
            _ => {}
        }
    }
    fs::write("/etc/xen/xl.conf", "")
}

/// A paravirtualised domain, which is gone once it ends, in whatever way. Its disk is a device of the first domain, whose kernel
/// hands requests on to that (`phy`), past its page cache. It reads the counter of the processor itself: Xen, which does not trust
/// that of an emulated one, would do it for the domain.
fn configuration(asked: &Domain) -> String {
    let Domain { name, kernel_args, mebibytes, cpus, .. } = asked;
    let [kernel, ramdisk] = [&asked.kernel, &asked.initramfs].map(|path| path.display());
    let disk = asked.disk.as_ref().map_or_else(String::new, |device| {
        format!("disk = [ \"format=raw, vdev=xvda, access=rw, backendtype=phy, target={device}\" ]\n")
    });
    let once = ["poweroff", "reboot", "crash"].map(|end| format!("on_{end} = \"destroy\"\n")).concat();
    format!(
        "name = \"{name}\"\ntype = \"pv\"\nkernel = \"{kernel}\"\nramdisk = \"{ramdisk}\"\n\
         memory = {mebibytes}\nvcpus = {cpus}\ntsc_mode = \"native\"\n\
         extra = \"console=hvc0 quiet panic=-1 {kernel_args}\"\n{disk}{once}"
    )
}

/// Runs a tool to its end; what it wrote to its standard output, without blanks around it.
pub fn call(tool: &Path, arguments: &[&str]) -> Result<String, String> {
    let name = tool.file_name().map_or_else(String::new, |name| name.to_string_lossy().into_owned());
    // One that becomes a daemon keeps what it was given, so a pipe would not end with it: files do.
    let failed = |e: io::Error| format!("could not run {name}: {e}");
    let [out, err] = [nameless(), nameless()];
    let (mut out, mut err) = (out.map_err(failed)?, err.map_err(failed)?);
    let given = |file: &File| file.try_clone().map_err(failed);
    let mut command = Command::new(tool);
    command.args(arguments).stdin(Stdio::null()).stdout(given(&out)?).stderr(given(&err)?);
    let status = command.status().map_err(failed)?;
    let [out, err] = [&mut out, &mut err].map(|file| {
        let mut text = Vec::new();
        let _ = file.rewind().and_then(|()| file.read_to_end(&mut text));
        text
    });
    if !status.success() {
        let text = String::from_utf8_lossy(&[err, out].concat()).into_owned();
        return Err(format!("{name} {}: {}", kizami_protocol::ending(status), first_errors(&text)));
    }
    Ok(String::from_utf8_lossy(&out).trim().to_owned())
}

/// A file in memory.
fn nameless() -> io::Result<File> {
    // SAFETY: a name that ends in NUL; the descriptor is new and nobody else's.
    unsafe {
        match libc::memfd_create(c"tool".as_ptr(), libc::MFD_CLOEXEC) {
            -1 => Err(io::Error::last_os_error()),
            descriptor => Ok(File::from_raw_fd(descriptor)),
        }
    }
}

/// What a tool says first of an error is the cause, and the rest what followed from that.
fn first_errors(text: &str) -> String {
    let lines = || text.lines().map(str::trim).filter(|line| !line.is_empty());
    let mut errors: Vec<&str> = lines().filter(|line| line.contains("error")).take(2).collect();
    if errors.is_empty() {
        errors = lines().take(2).collect();
    }
    if errors.is_empty() { "it said nothing".to_owned() } else { errors.join(" / ") }
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
        let asked = Domain {
            name: "kizami-1".into(),
            kernel: "/etc/domain/vmlinuz".into(),
            initramfs: "/etc/domain/initramfs.cpio".into(),
            kernel_args: "tsc=reliable".into(),
            mebibytes: 256,
            cpus: 2,
            disk: None,
        };
        let text = configuration(&asked);
        assert!(!text.lines().any(|line| line.starts_with("disk")), "{text}");
        let with_disk = configuration(&Domain { disk: Some("/dev/vdb".into()), ..asked });
        assert!(with_disk.contains("backendtype=phy, target=/dev/vdb\""));
        for line in [
            "name = \"kizami-1\"",
            "type = \"pv\"",
            "ramdisk = \"/etc/domain/initramfs.cpio\"",
            "memory = 256",
            "extra = \"console=hvc0 quiet panic=-1 tsc=reliable\"",
            "vcpus = 2",
            "on_crash = \"destroy\"",
            "on_reboot = \"destroy\"",
        ] {
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
        let sh = |script: &str| call(Path::new("/bin/sh"), &["-c", script]);
        let why = sh("echo begun; echo error: no store >&2; exit 3").expect_err("it fails");
        assert!(why.starts_with("sh ") && why.contains('3') && why.ends_with(": error: no store"), "{why}");
        assert!(sh("exit 3").expect_err("it fails").ends_with("it said nothing"));
        assert_eq!(sh("echo ' 7 '"), Ok("7".into()));
    }
}
