//! The image that guests boot: a kernel of Debian's, the modules that reach the lab, and the probe as their agent.
//!
//! It is made once for the same kernel and programs, and kept in the user's cache.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use image::{Kernel, Pack, Plan, Recipe};

use super::board::{Architecture, Board};
use super::kept::kept;
use super::kernels::Flavour;
use super::disk::Seen;
use super::network;
use crate::error::Error;
use crate::locate;

const STEPS: [&str; 4] =
    ["mount debugfs debugfs /sys/kernel/debug", "up lo", "name kizami", "run /bin/kizami-probe guest"];
/// The file system of a disk.
pub(super) const ON_DISK: &str = "ext4";

/// What is more in the image of one that has a network.
const OF_NETWORK: [&str; 1] = [network::MODULE];

/// What a kernel of Debian's needs for IPsec, beyond what it has in itself: the probe loads it when it is asked for that, from here.
const OF_IPSEC: [&str; 16] = [
    // What makes initialisation vectors takes them from a generator of random numbers.
    "sha512_generic",
    "sha3_generic",
    "jitterentropy_rng",
    "drbg",
    "esp4",
    "esp6",
    "xfrm_user",
    "authenc",
    "echainiv",
    "seqiv",
    "ctr",
    "ghash_generic",
    "gcm",
    "chacha_generic",
    "poly1305_generic",
    "chacha20poly1305",
];
const IPSEC: &str = "lib/ipsec";

/// It is less than half as large, and to unpack it is a twentieth of what the kernel does until the first process (docs/image.md).
const PACK: Pack = Pack::Gzip;

/// What a monitor starts.
#[derive(Debug, Clone)]
pub(super) struct Guest {
    pub kernel: PathBuf,
    pub initramfs: PathBuf,
}

/// Whether guests of this kind can be made here.
pub(super) fn possible(of: &Architecture) -> Result<(), String> {
    locate::program(of.program, of.package)?;
    Flavour::Cloud.package(of)?;
    [of.init, of.probe].into_iter().try_for_each(|program| locate::ours(program).map(drop))
}

impl Guest {
    /// The image with the kernel of `package`, for a board, with what it takes for a disk and a network.
    pub(super) fn of(package: &Path, board: &Board, disk: Option<Seen>, network: bool) -> Result<Self, Error> {
        let failed = |doing: &str, path: &Path| Error::os(format!("{doing} {}", path.display()));
        let programs = [board.architecture.init, board.architecture.probe].map(locate::ours);
        let [init, probe] = programs;
        let (init, probe) = (init.map_err(Error::Unusable)?, probe.map_err(Error::Unusable)?);
        let mut contents = Vec::new();
        for input in [package, &init, &probe] {
            contents.push(fs::read(input).map_err(failed("read", input))?);
        }
        let of_disk = disk.into_iter().flat_map(|disk| [disk.module, ON_DISK]);
        let more = of_disk.chain(OF_NETWORK.into_iter().filter(|_| network));
        let modules: Vec<_> = board.modules.into_iter().chain(more).collect();
        let steps: Vec<_> = disk.map(mount).into_iter().chain(STEPS.map(str::to_owned)).collect();
        let make = |folder: &Path| make(package, init, probe, (&modules, &steps), folder);
        let folder = kept("guest", &(&modules, &steps, PACK, OF_IPSEC, contents), make)?;
        Ok(Self { kernel: folder.join("vmlinuz"), initramfs: folder.join("initramfs.cpio") })
    }
}

/// The first step of a guest that has a disk: its files lie there and not in memory.
pub(super) fn mount(disk: Seen) -> String {
    format!("mount {ON_DISK} {} /tmp", disk.device)
}

fn make(
    package: &Path,
    init: PathBuf,
    probe: PathBuf,
    (modules, steps): (&[&str], &[String]),
    folder: &Path,
) -> Result<(), Error> {
    let failed = |e: image::Error| Error::Unusable(format!("the image of a guest could not be made: {e}"));
    let unpacked = folder.join("kernel");
    let kernel = Kernel::unpack(package, &unpacked).map_err(failed)?;
    let steps = steps.join("\n");
    let ipsec = OF_IPSEC.map(str::to_owned);
    let ipsec = image::Modules::of(&kernel.modules).and_then(|all| all.in_order(&ipsec)).map_err(failed)?;
    let mut files = BTreeMap::from([("bin/kizami-probe".to_owned(), probe)]);
    for (number, module) in ipsec.iter().enumerate() {
        let file = unpacked.join(format!("{number:02}-{}.ko", module.name));
        fs::write(&file, &module.content).map_err(Error::os(format!("write {}", file.display())))?;
        files.insert(format!("{IPSEC}/{number:02}-{}.ko", module.name), file);
    }
    let recipe = Recipe {
        kernel,
        init,
        modules: modules.iter().map(|name| (*name).to_owned()).collect(),
        files,
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
