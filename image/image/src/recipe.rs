//! Recipes as files (TOML). Paths are those from the folder of the recipe.
//!
//! ```toml
//! kernel = "linux-image-6.1.0-38-cloud-amd64_6.1.147-1_amd64.deb"   # or a folder into which it was unpacked
//! init = "target/x86_64-unknown-linux-gnu/release/kizami-init"
//! modules = ["virtio_pci", "virtio_console"]
//! steps = ["up lo", "run /bin/hello"]
//! pack = "gzip"                               # how the archive is written; none, if nothing is said
//!
//! [files]
//! "bin/hello" = "target/x86_64-unknown-linux-gnu/release/hello"
//!
//! [root]                                      # programs that need libraries, and where both are taken from
//! folder = "unpacked"
//! programs = ["usr/bin/python3"]
//! ```

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use init::{Plan, Step};
use serde::Deserialize;

use crate::error::Error;
use crate::image::{Pack, Recipe};
use crate::kernel::Kernel;
use crate::libraries::Root;

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Written {
    kernel: PathBuf,
    init: PathBuf,
    #[serde(default)]
    modules: Vec<String>,
    #[serde(default)]
    steps: Vec<String>,
    #[serde(default)]
    files: BTreeMap<String, PathBuf>,
    root: Option<WrittenRoot>,
    #[serde(default)]
    pack: Pack,
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct WrittenRoot {
    folder: PathBuf,
    programs: Vec<String>,
}

impl Recipe {
    /// Reads a recipe. A package is unpacked into `scratch`.
    ///
    /// # Errors
    /// When it is none, or names a kernel that there is not.
    pub fn read(path: &Path, scratch: &Path) -> Result<Self, Error> {
        let text = fs::read_to_string(path).map_err(Error::io("read", path))?;
        let written: Written =
            toml::from_str(&text).map_err(|e| Error::Form { path: path.to_owned(), why: format!("\n{e}") })?;
        let folder = path.parent().unwrap_or(Path::new(""));
        let from = |path: &PathBuf| folder.join(path);
        let kernel = from(&written.kernel);
        let kernel = if kernel.is_dir() { Kernel::in_folder(&kernel)? } else { Kernel::unpack(&kernel, scratch)? };
        let steps = written.steps.iter().enumerate().map(|(index, step)| of_one(step).map_err(|why| (index, why)));
        let steps = steps.collect::<Result<Vec<Step>, _>>().map_err(|(index, why)| Error::Form {
            path: path.to_owned(),
            why: format!("steps, number {}: {why}", index + 1),
        })?;
        let files = written.files.iter().map(|(there, here)| (there.clone(), from(here))).collect();
        let root = written.root.map(|root| Root { folder: from(&root.folder), programs: root.programs });
        Ok(Self { kernel, init: from(&written.init), modules: written.modules, files, root, steps, pack: written.pack })
    }
}

fn of_one(step: &str) -> Result<Step, String> {
    let Plan(steps) = Plan::parse(step).map_err(|no| no.why)?;
    match <[Step; 1]>::try_from(steps) {
        Ok([step]) => Ok(step),
        Err(steps) => Err(format!("{step:?} is {} steps, and has to be one", steps.len())),
    }
}
