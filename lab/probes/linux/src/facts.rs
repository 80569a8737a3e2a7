//! What a guest tells of itself beside what describes any machine: which board it is on, with what its kernel was started, and where
//! its files lie.

use std::fs;
use std::path::Path;

use kizami_settings::mounts;

use crate::line::text;

/// The link out of the machine, if it has one.
pub const LINK: &str = "eth0";

/// Names and values, for files of the work in `scratch`.
pub fn of_guest(scratch: &str) -> Vec<(String, String)> {
    let mut facts = vec![("machine", machine()), ("command_line", text(Path::new("/proc/cmdline")))];
    facts.push(("network_driver", driver(LINK)));
    facts.extend(about_files(scratch));
    facts.into_iter().map(|(name, value)| (name.to_owned(), value)).collect()
}

/// The driver of a network interface; nothing without that.
fn driver(interface: &str) -> String {
    let driver = fs::read_link(format!("/sys/class/net/{interface}/device/driver")).ok();
    driver.and_then(|path| Some(path.file_name()?.to_str()?.to_owned())).unwrap_or_default()
}

/// The file system under the files of the work, and, where that is on a device, how the kernel sees the cache of it: `write back` is
/// one that has to be flushed.
fn about_files(scratch: &str) -> Vec<(&'static str, String)> {
    let table = text(Path::new("/proc/self/mountinfo"));
    let Some(mount) = mounts::under(&table, scratch) else { return Vec::new() };
    let mut facts = vec![("files_system", mount.kind.to_owned()), ("files_source", mount.source.to_owned())];
    if let Some(device) = mount.source.strip_prefix("/dev/") {
        facts.push(("write_cache", text(&Path::new("/sys/block").join(device).join("queue/write_cache"))));
    }
    facts
}

/// What shows which machine this is: what its firmware or its device tree calls it, and the virtio devices that stand there without a
/// bus.
fn machine() -> String {
    let named = ["/sys/class/dmi/id/product_name", "/proc/device-tree/compatible"].map(|file| text(Path::new(file)));
    // A firmware that was told no name may have one of its own.
    let mut told: Vec<String> = named.iter().map(|name| name.replace('\0', " ").trim().to_owned()).collect();
    // Beside the devices there are files of the driver's own. A device is named by its kind and a number: `LNRO0005:17`.
    let entries = fs::read_dir("/sys/bus/platform/drivers/virtio-mmio").into_iter().flatten().flatten();
    let names = entries.filter_map(|entry| entry.file_name().into_string().ok());
    let devices: Vec<_> = names.filter(|name| name.contains(':')).collect();
    if !devices.is_empty() {
        told.push(format!("virtio devices {}", devices.join(", ")));
    }
    told.retain(|part| !part.is_empty());
    told.join("; ")
}
