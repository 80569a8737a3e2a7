//! Native libraries of a release: the shared libraries that its programs are linked with.
//!
//! The libraries of libc belong to the machine, as does the loader that must fit them; all others are copied into the release.

use std::collections::BTreeMap;
use std::fs;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say;

/// What glibc consists of, and what the kernel lends.
const OF_LIBC: [&str; 12] = [
    "ld-linux",
    "libanl.so",
    "libc.so",
    "libdl.so",
    "libm.so",
    "libmvec.so",
    "libnsl.so",
    "libnss_",
    "libpthread.so",
    "libresolv.so",
    "librt.so",
    "linux-vdso",
];

/// Copies to `native` what the programs and libraries in the release need.
pub(super) fn gather(release: &Path) -> Result<()> {
    let mut programs = Vec::new();
    find(release, &mut programs).with_context(|| format!("cannot look through {}", release.display()))?;
    let needed = needed(&programs)?;
    if needed.is_empty() {
        return Ok(());
    }
    let native = release.join("native");
    fs::create_dir_all(&native).with_context(|| format!("cannot make {}", native.display()))?;
    for (name, path) in needed {
        fs::copy(&path, native.join(name)).with_context(|| format!("cannot copy {}", path.display()))?;
    }
    Ok(())
}

/// Every file in ELF's format.
fn find(folder: &Path, programs: &mut Vec<PathBuf>) -> std::io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_dir() {
            find(&path, programs)?;
            continue;
        }
        let mut magic = [0; 4];
        if fs::File::open(&path)?.read_exact(&mut magic).is_ok() && magic == *b"\x7fELF" {
            programs.push(path);
        }
    }
    Ok(())
}

/// The libraries, by the names under which they are looked for.
fn needed(programs: &[PathBuf]) -> Result<BTreeMap<String, PathBuf>> {
    let mut ldd = Command::new("ldd");
    ldd.args(programs);
    say::command(&ldd);
    let output = ldd.output().context("cannot start ldd, which says what the release is linked with")?;
    let mut needed = BTreeMap::new();
    for line in String::from_utf8_lossy(&output.stdout).lines() {
        let Some((name, place)) = line.trim().split_once(" => ") else { continue };
        if OF_LIBC.iter().any(|own| name.starts_with(own)) {
            continue;
        }
        let path = place.split(" (").next().unwrap_or(place);
        if path == "not found" {
            bail!("the release needs the library {name}, and it is not on this machine");
        }
        needed.insert(name.to_owned(), path.into());
    }
    Ok(needed)
}
