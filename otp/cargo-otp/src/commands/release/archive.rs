//! Release archives: a release packed into one file.

use std::fs::File;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use flate2::Compression;
use flate2::write::GzEncoder;

/// Packs the folder into a file beside it: `APP-VERSION-linux-x86_64.tar.gz`, with the folder's name before each path.
pub(super) fn archive(folder: &Path) -> Result<PathBuf> {
    let name = folder.file_name().context("the release lies in a folder without a name")?.to_string_lossy();
    let machine = format!("{}-{}", std::env::consts::OS, std::env::consts::ARCH);
    let file = folder.with_file_name(format!("{name}-{machine}.tar.gz"));
    let write = || -> std::io::Result<()> {
        let mut archive = tar::Builder::new(GzEncoder::new(File::create(&file)?, Compression::default()));
        archive.follow_symlinks(false);
        archive.append_dir_all(&*name, folder)?;
        archive.into_inner()?.finish()?.sync_all()
    };
    write().with_context(|| format!("cannot write {}", file.display()))?;
    Ok(file)
}
