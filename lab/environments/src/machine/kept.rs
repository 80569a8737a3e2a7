//! What is made once of the same inputs, and kept in the user's cache.

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::locate;

/// What is older is removed when something of its name is made. Another lab that wants it makes it again.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

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
    remove_old(&locate::cache(), name);
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    fs::create_dir_all(&beside).map_err(failed("make the folder", &beside))?;
    let named = make(&beside).and_then(|()| match fs::rename(&beside, &folder) {
        Err(_) if folder.is_dir() => Ok(()),
        named => named.map_err(failed("name the folder", &folder)),
    });
    let _ = fs::remove_dir_all(&beside);
    named.map(|()| folder)
}

/// Removes old folders of that name, and what was left of one that was not finished.
fn remove_old(cache: &Path, name: &str) {
    let entries = fs::read_dir(cache).into_iter().flatten().flatten();
    for entry in entries.filter(|entry| entry.file_name().to_string_lossy().starts_with(&format!("{name}-"))) {
        let age = entry.metadata().and_then(|about| about.modified()).ok().and_then(|made| made.elapsed().ok());
        if age.is_some_and(|age| age > KEPT) {
            let _ = fs::remove_dir_all(entry.path());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::time::SystemTime;

    #[test]
    fn old_folders_of_a_name_are_removed_and_others_stay() {
        let cache = std::env::temp_dir().join(format!("kizami-kept-{}", std::process::id()));
        for (name, old) in [("xen-1", true), ("xen-2", false), ("guest-1", true), ("xen-3.new-7", true)] {
            let folder = cache.join(name);
            fs::create_dir_all(&folder).expect("a folder");
            fs::write(folder.join("vmlinuz"), "").expect("a file");
            if old {
                let then = SystemTime::now() - 2 * KEPT;
                fs::File::open(&folder).and_then(|folder| folder.set_modified(then)).expect("its time is set");
            }
        }
        remove_old(&cache, "xen");
        let left = ["xen-1", "xen-2", "guest-1", "xen-3.new-7"].map(|name| cache.join(name).exists());
        fs::remove_dir_all(&cache).expect("it is removed");
        assert_eq!(left, [false, true, true, false]);
    }
}
