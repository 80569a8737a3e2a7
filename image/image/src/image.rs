//! From a recipe to an image: a kernel, and the archive that it unpacks into its first root file system.
//!
//! The same recipe makes the same bytes, on any machine and at any time.

use std::collections::BTreeMap;
use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use flate2::Compression;
use flate2::write::GzEncoder;
use init::{Plan, Step};
use serde::Deserialize;

use crate::cpio::{Archive, Entry};
use crate::error::Error;
use crate::kernel::Kernel;
use crate::libraries::{Root, is_dynamic};
use crate::modules::Modules;

/// Where the modules stand in an image.
const MODULES: &str = "lib/modules";

/// What an image is made of.
#[derive(Debug, Clone)]
pub struct Recipe {
    pub kernel: Kernel,
    /// The first process, a static program such as this project's.
    pub init: PathBuf,
    /// Kernel modules by name; what they need comes with them.
    pub modules: Vec<String>,
    /// Programs and other files: where they stand in the image, and where they are taken from. Each may be executed.
    pub files: BTreeMap<String, PathBuf>,
    /// Programs that need libraries, and where both come from.
    pub root: Option<Root>,
    /// What the first process does once the modules are loaded.
    pub steps: Vec<Step>,
    pub pack: Pack,
}

/// How the archive is written.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Hash, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Pack {
    /// As it is, which takes the least time to unpack.
    #[default]
    None,
    /// Less than half as large. Every kernel of Debian unpacks it.
    Gzip,
}

impl Pack {
    /// Writes an archive so. The same bytes for the same archive: no time and no name stand in it.
    ///
    /// # Errors
    /// Those of writing to memory.
    pub fn pack(self, archive: Vec<u8>) -> io::Result<Vec<u8>> {
        match self {
            Self::None => Ok(archive),
            Self::Gzip => {
                let mut packer = GzEncoder::new(Vec::new(), Compression::best());
                packer.write_all(&archive)?;
                packer.finish()
            }
        }
    }
}

/// How large a part of an image is.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Size {
    pub path: String,
    pub bytes: u64,
}

/// The archive of an image, and what it holds.
#[derive(Debug)]
pub struct Initramfs {
    /// As the kernel is given it.
    pub bytes: Vec<u8>,
    /// The files in it, the largest first, as large as they are when it is unpacked.
    pub sizes: Vec<Size>,
}

impl Recipe {
    /// # Errors
    /// When a part is missing or is not what it should be.
    pub fn make(&self) -> Result<Initramfs, Error> {
        let mut archive = Archive::default();
        archive.add("dev/console", Entry::Device { mode: 0o600, major: 5, minor: 1 })?;
        archive.add("dev/null", Entry::Device { mode: 0o666, major: 1, minor: 3 })?;
        archive.add("init", program(&self.init)?)?;
        let mut steps = Vec::new();
        // In devtmpfs a module's devices appear as it is loaded.
        for (kind, target) in [("devtmpfs", "/dev"), ("proc", "/proc"), ("sysfs", "/sys"), ("tmpfs", "/tmp")] {
            archive.add(target, Entry::Folder { mode: if target == "/tmp" { 0o1777 } else { 0o755 } })?;
            steps.push(Step::Mount { kind: kind.into(), source: kind.into(), target: target.into() });
        }
        let modules = Modules::of(&self.kernel.modules)?.in_order(&self.modules)?;
        for module in modules {
            let path = format!("{MODULES}/{}.ko", module.name);
            archive.add(&path, Entry::File { mode: 0o644, content: module.content })?;
            steps.push(Step::Module { file: format!("/{path}") });
        }
        for (path, from) in &self.files {
            archive.add(path, program(from)?)?;
        }
        for (path, content) in self.root.as_ref().map(Root::files).transpose()?.unwrap_or_default() {
            archive.add(&path, Entry::File { mode: 0o755, content })?;
        }
        steps.extend(self.steps.iter().cloned());
        let plan = Plan(steps).to_string().into_bytes();
        archive.add(init::PATH, Entry::File { mode: 0o644, content: plan })?;
        let mut bytes = Vec::new();
        archive.write(&mut bytes).map_err(Error::io("write", "the archive"))?;
        let bytes = self.pack.pack(bytes).map_err(Error::io("pack", "the archive"))?;
        Ok(Initramfs { bytes, sizes: sizes(&archive) })
    }
}

/// A program, which has to run without any library.
fn program(path: &Path) -> Result<Entry, Error> {
    let content = fs::read(path).map_err(Error::io("read", path))?;
    if is_dynamic(&content) {
        let why = "it needs libraries (it names a program interpreter), and the image has none: link it statically \
                   (RUSTFLAGS=-Ctarget-feature=+crt-static cargo build --target …), or take it from a [root]";
        return Err(Error::Form { path: path.to_owned(), why: why.into() });
    }
    Ok(Entry::File { mode: 0o755, content })
}

fn sizes(archive: &Archive) -> Vec<Size> {
    let size = |(path, entry): (&str, &Entry)| match entry {
        Entry::File { content, .. } => Some(Size { path: path.to_owned(), bytes: content.len() as u64 }),
        _ => None,
    };
    let mut sizes: Vec<Size> = archive.entries().filter_map(size).collect();
    sizes.sort_by(|a, b| b.bytes.cmp(&a.bytes).then_with(|| a.path.cmp(&b.path)));
    sizes
}

#[cfg(test)]
mod tests {
    use std::io::Read;

    use flate2::read::GzDecoder;

    use super::*;

    #[test]
    fn a_packed_archive_is_the_same_each_time_and_unpacks_to_the_one_that_is_not() {
        let folder = tempfile::tempdir().expect("a folder");
        let at = |path: &str| folder.path().join(path);
        fs::create_dir_all(at("modules")).expect("a folder");
        fs::write(at("init"), "a program without libraries ".repeat(1000)).expect("a file");
        let kernel = Kernel { version: "6.1".into(), image: at("vmlinuz"), modules: at("modules") };
        let (modules, files, steps) = (Vec::new(), BTreeMap::new(), Vec::new());
        let recipe = Recipe { kernel, init: at("init"), modules, files, root: None, steps, pack: Pack::None };
        let made = |pack| Recipe { pack, ..recipe.clone() }.make().expect("an image");
        let (plain, packed) = (made(Pack::None), made(Pack::Gzip));
        assert_eq!(packed.bytes, made(Pack::Gzip).bytes);
        assert!(packed.bytes.len() < plain.bytes.len() / 2, "{} of {}", packed.bytes.len(), plain.bytes.len());
        assert_eq!(packed.sizes, plain.sizes, "they are those of the files in it");
        let mut unpacked = Vec::new();
        GzDecoder::new(packed.bytes.as_slice()).read_to_end(&mut unpacked).expect("gzip");
        assert!(unpacked == plain.bytes);
    }
}
