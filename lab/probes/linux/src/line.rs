//! The lines of a machine: ports of a virtio console, serial lines and terminals, as streams of bytes.

use std::fs::{self, File, OpenOptions};
use std::io;
use std::os::fd::AsRawFd;
use std::path::{Path, PathBuf};
use std::thread;
use std::time::{Duration, Instant};

const PORT_PATIENCE: Duration = Duration::from_secs(10);

/// The port of a virtio console that has this name, if the machine has such a console.
pub fn port(name: &str) -> Result<Option<File>, String> {
    let named = || {
        let ports = fs::read_dir("/sys/class/virtio-ports").into_iter().flatten().flatten();
        let named = ports.map(|entry| entry.path()).find(|path| text(&path.join("name")) == name)?;
        Some(Path::new("/dev").join(named.file_name()?)).filter(|path| path.exists())
    };
    // A port appears a moment after its device.
    let begun = Instant::now();
    let mut path = named();
    while path.is_none() && has_console() && begun.elapsed() < PORT_PATIENCE {
        thread::sleep(Duration::from_millis(2));
        path = named();
    }
    path.map(|path| open(&path)).transpose()
}

/// Whether virtio has a console, on whatever bus.
fn has_console() -> bool {
    const CONSOLE: &str = "0x0003";
    let devices = fs::read_dir("/sys/bus/virtio/devices").into_iter().flatten().flatten();
    devices.map(|entry| entry.path()).any(|path| text(&path.join("device")) == CONSOLE)
}

/// Opens a port or a line, which is told to change no byte if it is a terminal.
pub fn open(path: &Path) -> Result<File, String> {
    let line = open_both(path).map_err(|e| format!("could not open {}: {e}", path.display()))?;
    // SAFETY: an all-zero value is one of that type, which the kernel fills; then it reads it.
    unsafe {
        let mut settings: libc::termios = std::mem::zeroed();
        if libc::tcgetattr(line.as_raw_fd(), &raw mut settings) == 0 {
            libc::cfmakeraw(&raw mut settings);
            libc::tcsetattr(line.as_raw_fd(), libc::TCSANOW, &raw const settings);
        }
    }
    Ok(line)
}

pub fn open_both(path: &Path) -> io::Result<File> {
    OpenOptions::new().read(true).write(true).open(path)
}

/// A device on the PCI bus that virtio's vendor made, by the numbers that it may have.
pub fn device(numbers: &[&str]) -> Option<PathBuf> {
    let devices = fs::read_dir("/sys/bus/pci/devices").into_iter().flatten().flatten();
    let is_it = |path: &PathBuf| {
        text(&path.join("vendor")) == "0x1af4" && numbers.contains(&text(&path.join("device")).as_str())
    };
    devices.map(|entry| entry.path()).find(is_it)
}

pub fn text(path: &Path) -> String {
    fs::read_to_string(path).unwrap_or_default().trim().to_owned()
}
