//! The image that guests boot: Debian's kernel, the modules that reach the lab, and the probe as their agent.
//!
//! It is made once for the same kernel and programs, and kept in the user's cache.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use image::{Kernel, Pack, Plan, Recipe};

use super::kept::kept;
use crate::error::Error;
use crate::locate::{self, LINUX_PROBE};

/// The first process of a guest.
pub(super) const INIT: &str = "static/kizami-init";
/// The folder beside this program with kernels of Debian, as packages.
pub(super) const KERNELS: &str = "kernels";
/// What a guest needs to reach the lab. What its kernel has in itself is left out when the image is made.
const MODULES: [&str; 2] = ["virtio_pci", "virtio_console"];
const STEPS: [&str; 4] =
    ["mount debugfs debugfs /sys/kernel/debug", "up lo", "name kizami", "run /bin/kizami-probe guest"];
/// What is more in the image of a machine that has a disk, and done first: its files lie there and not in memory.
const OF_DISK: [&str; 2] = ["virtio_blk", "ext4"];
const MOUNT_DISK: &str = "mount ext4 /dev/vda /tmp";

/// It is less than half as large, and to unpack it is a twentieth of what the kernel does until the first process (docs/image.md).
const PACK: Pack = Pack::Gzip;

/// What a monitor starts.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
}

/// The newest of the kernel packages that lie beside this program.
pub(super) fn kernel_package() -> Result<PathBuf, String> {
    let missing = || "there is no kernel for a guest: ./x setup environments fetches Debian's".to_owned();
    let folder = locate::folder(KERNELS).ok_or_else(missing)?;
    let entries = fs::read_dir(&folder).map_err(|e| format!("{}: {e}", folder.display()))?;
    let packages =
        entries.flatten().map(|entry| entry.path()).filter(|path| path.extension().is_some_and(|e| e == "deb"));
    packages.max_by_key(|path| fs::metadata(path).and_then(|about| about.modified()).ok()).ok_or_else(missing)
}

impl Guest {
    /// The image with the kernel of `package`, for a machine with a disk or without.
    pub(super) fn of(package: &Path, disk: bool) -> Result<Self, Error> {
        let failed = |doing: &str, path: &Path| Error::os(format!("{doing} {}", path.display()));
        let programs = [INIT, LINUX_PROBE].map(locate::ours);
        let [init, probe] = programs;
        let (init, probe) = (init.map_err(Error::Unusable)?, probe.map_err(Error::Unusable)?);
        let mut contents = Vec::new();
        for input in [package, &init, &probe] {
            contents.push(fs::read(input).map_err(failed("read", input))?);
        }
        let modules = MODULES.iter().chain(OF_DISK.iter().filter(|_| disk)).copied().collect::<Vec<_>>();
        let steps = Some(MOUNT_DISK).filter(|_| disk).into_iter().chain(STEPS).collect::<Vec<_>>();
        let make = |folder: &Path| make(package, init, probe, (&modules, &steps), folder);
        let folder = kept("guest", &(&modules, &steps, PACK, contents), make)?;
        Ok(Self { kernel: folder.join("vmlinuz"), initramfs: folder.join("initramfs.cpio") })
    }
}

fn make(
    package: &Path,
    init: PathBuf,
    probe: PathBuf,
    (modules, steps): (&[&str], &[&str]),
    folder: &Path,
) -> Result<(), Error> {
    let failed = |e: image::Error| Error::Unusable(format!("the image of a guest could not be made: {e}"));
    let unpacked = folder.join("kernel");
    let kernel = Kernel::unpack(package, &unpacked).map_err(failed)?;
    let steps = steps.join("\n");
    let recipe = Recipe {
        kernel,
        init,
        modules: modules.iter().map(|name| (*name).to_owned()).collect(),
        files: BTreeMap::from([("bin/kizami-probe".to_owned(), probe)]),
        root: None,
        pack: PACK,
        steps: Plan::parse(&steps).map_err(|e| Error::Unusable(e.to_string()))?.0,
    };
    let made = recipe.make().map_err(failed)?;
    let [image, archive] = ["vmlinuz", "initramfs.cpio"].map(|name| folder.join(name));
    fs::copy(&recipe.kernel.image, &image).map_err(Error::os(format!("write {}", image.display())))?;
    fs::write(&archive, &made.bytes).map_err(Error::os(format!("write {}", archive.display())))?;
    fs::remove_dir_all(&unpacked).map_err(Error::os(format!("remove {}", unpacked.display())))
}
