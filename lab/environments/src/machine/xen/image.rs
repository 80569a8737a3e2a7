//! What an emulated machine boots for Xen: the hypervisor, a kernel of Debian that can be its first domain, and an archive
//! with Xen's tools, the probe as the agent, and the kernel and archive of the second domain, which are those of any guest.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use image::{Kernel, Pack, Plan, Recipe, Root};
use super::super::board::{AMD64, Board, INIT};
use super::super::disk::{HANDED_ON, VIRTIO};
use super::super::guest::{Guest, ON_DISK, mount};
use super::super::kept::kept;
use super::super::kernels::{self, Flavour};
use super::unpacked;
use crate::error::Error;
use crate::locate::{self, LINUX_PROBE};

/// The folder with the packages, in that of the kernels.
const PACKAGES: &str = "xen";
/// What reaches the lab, then what Xen's tools reach Xen by.
const MODULES: [&str; 7] =
    ["virtio_pci", "virtio_console", "xen-evtchn", "xen-gntdev", "xen-gntalloc", "xen-privcmd", "xenfs"];
/// What is more where the domains have disks: dom0 its own, and what hands the other's on.
const OF_DISKS: [&str; 3] = [VIRTIO.module, ON_DISK, "xen-blkback"];
const STEPS: [&str; 6] = [
    "mount devpts devpts /dev/pts",
    "mount xenfs xenfs /proc/xen",
    "mount debugfs debugfs /sys/kernel/debug",
    "up lo",
    "name kizami",
    "run /bin/kizami-probe guest",
];
/// In the folder of the one version of Xen.
const TOOLS: [&str; 4] = ["xenstored", "xen-init-dom0", "xenconsoled", "xl"];
/// Opened by name when a thread of a tool is ended.
const OPENED: &str = "libgcc_s.so.1";

/// The names of the files in the folder of an image.
pub(super) const HYPERVISOR: &str = "xen";
pub(super) const KERNEL: &str = "vmlinux";
pub(super) const ARCHIVE: &str = "initramfs.cpio";
/// What the second domain is made of, in the archive of the first.
pub(super) const DOMAIN_KERNEL: &str = "etc/domain/vmlinuz";
pub(super) const DOMAIN_ARCHIVE: &str = "etc/domain/initramfs.cpio";

/// The packages that an image is made of, as they lie beside this program.
pub(super) struct Packages {
    kernel: PathBuf,
    /// Xen, its tools, and the libraries of those.
    others: Vec<PathBuf>,
}

impl Packages {
    pub(super) fn find() -> Result<Self, String> {
        let missing = |what: &str| format!("there is no {what}: ./x setup environments fetches Debian's");
        let folder = locate::folder(kernels::FOLDER).map(|folder| folder.join(PACKAGES)).ok_or_else(|| missing("Xen"))?;
        let entries = fs::read_dir(&folder).map_err(|_| missing("Xen"))?.flatten().map(|entry| entry.path());
        let mut packages: Vec<_> = entries.filter(|path| path.extension().is_some_and(|e| e == "deb")).collect();
        packages.sort();
        let is = |path: &Path, begin: &str| path.file_name().is_some_and(|n| n.to_string_lossy().starts_with(begin));
        for (begin, what) in
            [("xen-hypervisor-", "Xen"), ("xen-utils-", "toolstack of Xen"), ("xenstore-utils", "xenstore")]
        {
            if !packages.iter().any(|path| is(path, begin)) {
                return Err(missing(what));
            }
        }
        Ok(Self { kernel: Flavour::Ordinary.package(&AMD64)?, others: packages })
    }

    /// The version of Xen, as its package names it.
    pub(super) fn version(&self) -> Option<String> {
        let mut names = self.others.iter().filter_map(|path| path.file_name()?.to_str());
        let name = names.rfind(|name| name.starts_with("xen-hypervisor-"))?;
        Some(name.split('_').nth(1)?.replace("%3a", ":"))
    }

    /// The folder with the image, for domains with or without disks. It is made when it is not there.
    pub(super) fn image(&self, disks: bool) -> Result<PathBuf, Error> {
        let [init, probe] = [INIT, LINUX_PROBE].map(locate::ours);
        let (init, probe) = (init.map_err(Error::Unusable)?, probe.map_err(Error::Unusable)?);
        let cloud = Flavour::Cloud.package(&AMD64).map_err(Error::Unusable)?;
        let guest = Guest::of(&cloud, Board::asked(None), disks.then_some(HANDED_ON), false)?;
        let modules: Vec<_> = MODULES.into_iter().chain(OF_DISKS.into_iter().filter(|_| disks)).collect();
        let steps: Vec<_> = disks.then(|| mount(VIRTIO)).into_iter().chain(STEPS.map(str::to_owned)).collect();
        // The folder of the guest tells what is in it, and a package's name its version.
        let names: Vec<_> = self.others.iter().chain([&self.kernel]).map(|path| path.file_name()).collect();
        let programs =
            [&init, &probe].map(|path| fs::read(path).map_err(Error::os(format!("read {}", path.display()))));
        let [init_bytes, probe_bytes] = programs;
        let inputs =
            (&modules, &steps, TOOLS, [HYPERVISOR, KERNEL, ARCHIVE], names, &guest.kernel, init_bytes?, probe_bytes?);
        kept("xen", &inputs, |folder| self.make(init, probe, guest.clone(), (&modules, &steps), folder))
    }

    fn make(
        &self,
        init: PathBuf,
        probe: PathBuf,
        guest: Guest,
        (modules, steps): (&[&str], &[String]),
        folder: &Path,
    ) -> Result<(), Error> {
        let failed = |e: image::Error| Error::Unusable(format!("the image for Xen could not be made: {e}"));
        let [unpacked, root] = ["kernel", "root"].map(|name| folder.join(name));
        let kernel = Kernel::unpack(&self.kernel, &unpacked).map_err(failed)?;
        self.others.iter().try_for_each(|package| image::unpack(package, &root)).map_err(failed)?;
        hypervisor(&root, &folder.join(HYPERVISOR))?;
        let recipe = Recipe {
            kernel,
            init,
            modules: modules.iter().map(|name| (*name).to_owned()).collect(),
            files: BTreeMap::from([
                ("bin/kizami-probe".to_owned(), probe),
                (DOMAIN_KERNEL.to_owned(), guest.kernel),
                (DOMAIN_ARCHIVE.to_owned(), guest.initramfs),
            ]),
            // Xen hands it to dom0's kernel, and most of it is packed already.
            pack: Pack::None,
            root: Some(Root { programs: programs(&root)?, folder: root.clone() }),
            steps: Plan::parse(&steps.join("\n")).map_err(|e| Error::Unusable(e.to_string()))?.0,
        };
        let made = recipe.make().map_err(failed)?;
        let [image, archive] = [KERNEL, ARCHIVE].map(|name| folder.join(name));
        unpacked::kernel(&recipe.kernel.image, &image)?;
        fs::write(&archive, &made.bytes).map_err(Error::os(format!("write {}", archive.display())))?;
        let remove = |path: &Path| fs::remove_dir_all(path).map_err(Error::os(format!("remove {}", path.display())));
        remove(&unpacked).and_then(|()| remove(&root))
    }
}

/// Xen, which its package has packed: a boot loader would unpack it.
fn hypervisor(root: &Path, to: &Path) -> Result<(), Error> {
    let missing = || Error::Unusable("Debian's package of Xen has no boot/xen-VERSION.gz".into());
    let names = names(&root.join("boot"));
    let name = names.iter().rfind(|name| name.starts_with("xen-") && name.ends_with(".gz")).ok_or_else(missing)?;
    unpacked::gunzip(&root.join("boot").join(name), to)
}

/// The paths of the tools from `root`.
fn programs(root: &Path) -> Result<Vec<String>, Error> {
    let missing = |what: &str| Error::Unusable(format!("Debian's packages of Xen have no {what}"));
    let versions = names(&root.join("usr/lib"));
    let version = versions.iter().rfind(|name| root.join("usr/lib").join(name).join("bin/xl").is_file());
    let version = version.ok_or_else(|| missing("usr/lib/xen-VERSION/bin/xl"))?;
    let mut programs: Vec<_> = TOOLS.iter().map(|tool| format!("usr/lib/{version}/bin/{tool}")).collect();
    programs.push("usr/bin/xenstore".to_owned());
    let folders = ["lib", "usr/lib"]
        .into_iter()
        .flat_map(|above| names(&root.join(above)).into_iter().map(move |name| format!("{above}/{name}/{OPENED}")));
    let opened = folders.into_iter().find(|path| root.join(path).is_file()).ok_or_else(|| missing(OPENED))?;
    programs.push(opened);
    Ok(programs)
}

/// What is in a folder, in order; of one that is not there, nothing.
fn names(folder: &Path) -> Vec<String> {
    let entries = fs::read_dir(folder).into_iter().flatten().flatten();
    let mut names: Vec<_> = entries.filter_map(|entry| entry.file_name().into_string().ok()).collect();
    names.sort();
    names
}
