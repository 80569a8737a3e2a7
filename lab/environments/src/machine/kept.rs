//! What is made once of the same inputs, and kept in the user's cache.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};

use crate::error::Error;
use crate::locate;

/// The folder that `make` fills, made of these `inputs`; it is only made when it is not there.
pub(super) fn kept(
    name: &str,
    inputs: &impl Hash,
    make: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let failed = |doing: &str, path: &Path| Error::os(format!("{doing} {}", path.display()));
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let folder = locate::cache().join(format!("{name}-{:016x}", hasher.finish()));
    // It gets its name when all of it is there.
    if folder.is_dir() {
        return Ok(folder);
    }
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    fs::create_dir_all(&beside).map_err(failed("make the folder", &beside))?;
    let named = make(&beside).and_then(|()| match fs::rename(&beside, &folder) {
        Err(_) if folder.is_dir() => Ok(()),
        named => named.map_err(failed("name the folder", &folder)),
    });
    let _ = fs::remove_dir_all(&beside);
    named.map(|()| folder)
}
