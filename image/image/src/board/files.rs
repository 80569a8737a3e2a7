//! The first files of a board: one program under every name, what the first process does, and what else is wanted.

use std::fs;
use std::path::{Path, PathBuf};

use crate::cpio::{Archive, Entry};
use crate::error::Error;
use crate::image::Pack;

/// See the module.
#[derive(Debug, Clone)]
pub struct FirstFiles<'a> {
    /// The program that is the first process, and all others.
    pub node: &'a Path,
    /// What it does at the start, commands of its shell.
    pub init: &'a [u8],
    /// Where more programs stand in the image, and where they are taken from.
    pub more: &'a [(String, PathBuf)],
}

/// Where the first process finds what it does.
const INIT: &str = "etc/init";

impl FirstFiles<'_> {
    /// The archive, as the kernel is given it.
    ///
    /// # Errors
    /// When a file cannot be read, or its place cannot be in an image.
    pub fn packed(&self) -> Result<Vec<u8>, Error> {
        let program = |path: &Path| {
            fs::read(path).map_err(Error::io("read", path)).map(|content| Entry::File { mode: 0o755, content })
        };
        let mut archive = Archive::default();
        archive.add("dev/console", Entry::Device { mode: 0o600, major: 5, minor: 1 })?;
        archive.add("bin/node", program(self.node)?)?;
        archive.add("init", Entry::Link { target: "bin/node".into() })?;
        archive.add(INIT, Entry::File { mode: 0o644, content: self.init.to_owned() })?;
        for folder in ["proc", "sys", "tmp"] {
            archive.add(folder, Entry::Folder { mode: 0o755 })?;
        }
        for (there, here) in self.more {
            archive.add(there, program(here)?)?;
        }
        written(&archive, Pack::Gzip)
    }
}

/// An archive of one file more, to stand behind others.
///
/// # Errors
/// When its place cannot be in an image.
pub fn one_more(path: &str, content: Vec<u8>) -> Result<Vec<u8>, Error> {
    let mut archive = Archive::default();
    archive.add(path, Entry::File { mode: 0o644, content })?;
    written(&archive, Pack::None)
}

fn written(archive: &Archive, pack: Pack) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    archive.write(&mut bytes).map_err(Error::io("write", "the archive"))?;
    pack.pack(bytes).map_err(Error::io("pack", "the archive"))
}
