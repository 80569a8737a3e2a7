//! The image that guests boot: a kernel of Debian's, the modules that reach the lab, and the probe as their agent.
//!
//! It is made once for the same kernel and programs, and kept in the user's cache.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use image::{Kernel, Plan, Recipe};

use super::board::{Architecture, Board};
use super::kept::kept;
use super::kernels::Flavour;
use crate::error::Error;
use crate::locate;

const STEPS: [&str; 4] =
    ["mount debugfs debugfs /sys/kernel/debug", "up lo", "name kizami", "run /bin/kizami-probe guest"];

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
    /// The image with the kernel of `package`, for a board.
    pub(super) fn of(package: &Path, board: &Board) -> Result<Self, Error> {
        let failed = |doing: &str, path: &Path| Error::os(format!("{doing} {}", path.display()));
        let programs = [board.architecture.init, board.architecture.probe].map(locate::ours);
        let [init, probe] = programs;
        let (init, probe) = (init.map_err(Error::Unusable)?, probe.map_err(Error::Unusable)?);
        let mut contents = Vec::new();
        for input in [package, &init, &probe] {
            contents.push(fs::read(input).map_err(failed("read", input))?);
        }
        let folder = kept("guest", &(board.modules, STEPS, contents), |folder| make(package, board, init, probe, folder))?;
        Ok(Self { kernel: folder.join("vmlinuz"), initramfs: folder.join("initramfs.cpio") })
    }
}

fn make(package: &Path, board: &Board, init: PathBuf, probe: PathBuf, folder: &Path) -> Result<(), Error> {
    let failed = |e: image::Error| Error::Unusable(format!("the image of a guest could not be made: {e}"));
    let unpacked = folder.join("kernel");
    let kernel = Kernel::unpack(package, &unpacked).map_err(failed)?;
    let steps = STEPS.join("\n");
    let recipe = Recipe {
        kernel,
        init,
        modules: board.modules.map(str::to_owned).to_vec(),
        files: BTreeMap::from([("bin/kizami-probe".to_owned(), probe)]),
        root: None,
        steps: Plan::parse(&steps).map_err(|e| Error::Unusable(e.to_string()))?.0,
    };
    let made = recipe.make().map_err(failed)?;
    let [image, archive] = ["vmlinuz", "initramfs.cpio"].map(|name| folder.join(name));
    fs::copy(&recipe.kernel.image, &image).map_err(Error::os(format!("write {}", image.display())))?;
    fs::write(&archive, &made.bytes).map_err(Error::os(format!("write {}", archive.display())))?;
    fs::remove_dir_all(&unpacked).map_err(Error::os(format!("remove {}", unpacked.display())))
}
