//! What is made once of the same inputs, and kept in the user's cache. It is used as it was made: what was changed since then is
//! made again.

use std::collections::hash_map::DefaultHasher;
use std::ffi::OsString;
use std::fs;
use std::hash::{Hash, Hasher};
use std::io;
use std::path::{Path, PathBuf};
use std::time::Duration;

use crate::error::Error;
use crate::locate;

/// What is older is removed when something of its name is made. Another lab that wants it makes it again.
const KEPT: Duration = Duration::from_secs(24 * 60 * 60);

/// The file beside those that were made, with the CRC-32 of each.
const SUMS: &str = "sums";

/// The folder that `make` fills with files, made of these `inputs`; it is only made when it is not there, or not what was made.
/// This program makes it, and another may make something else of the same.
pub(super) fn kept(
    name: &str,
    inputs: &impl Hash,
    make: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let program = std::env::current_exe().and_then(fs::metadata);
    let made_by = program.and_then(|program| Ok((program.len(), program.modified()?))).ok();
    kept_in(&locate::cache(), name, &(made_by, inputs), make)
}

fn kept_in(
    cache: &Path,
    name: &str,
    inputs: &impl Hash,
    make: impl FnOnce(&Path) -> Result<(), Error>,
) -> Result<PathBuf, Error> {
    let failed = |doing: &str, path: &Path| Error::os(format!("{doing} {}", path.display()));
    let mut hasher = DefaultHasher::new();
    inputs.hash(&mut hasher);
    let folder = cache.join(format!("{name}-{:016x}", hasher.finish()));
    // It gets its name when all of it is there.
    if folder.is_dir() {
        let made = fs::read_to_string(folder.join(SUMS)).unwrap_or_default();
        if sums(&folder).is_ok_and(|sums| sums == made) {
            return Ok(folder);
        }
        fs::remove_dir_all(&folder).map_err(failed("remove the changed folder", &folder))?;
    }
    remove_old(cache, name);
    let beside = folder.with_extension(format!("new-{}", std::process::id()));
    fs::create_dir_all(&beside).map_err(failed("make the folder", &beside))?;
    let sealed = make(&beside).and_then(|()| {
        let written = sums(&beside).and_then(|sums| fs::write(beside.join(SUMS), sums));
        written.map_err(failed("write the sums of", &beside))
    });
    let named = sealed.and_then(|()| match fs::rename(&beside, &folder) {
        Err(_) if folder.is_dir() => Ok(()),
        named => named.map_err(failed("name the folder", &folder)),
    });
    let _ = fs::remove_dir_all(&beside);
    named.map(|()| folder)
}

/// A line for each file of `folder`: its CRC-32 and its name.
fn sums(folder: &Path) -> io::Result<String> {
    let mut names: Vec<_> = fs::read_dir(folder)?.map(|entry| Ok(entry?.file_name())).collect::<io::Result<_>>()?;
    names.sort();
    let line = |name: OsString| {
        let sum = crc32fast::hash(&fs::read(folder.join(&name))?);
        Ok(format!("{sum:08x} {}\n", name.to_string_lossy()))
    };
    names.into_iter().filter(|name| name != SUMS).map(line).collect()
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
    fn what_was_changed_since_it_was_made_is_made_again() {
        let cache = std::env::temp_dir().join(format!("kizami-sums-{}", std::process::id()));
        let made = std::cell::Cell::new(0);
        let make = |folder: &Path| {
            made.set(made.get() + 1);
            fs::write(folder.join("vmlinuz"), "a kernel").map_err(Error::os("write"))
        };
        let mut file = PathBuf::new();
        for (change, times) in [(None, 1), (None, 1), (Some("another"), 2), (Some(""), 3), (None, 3)] {
            if let Some(change) = change {
                fs::write(&file, change).expect("it is changed");
            }
            file = kept_in(&cache, "guest", &1, make).expect("it is made").join("vmlinuz");
            assert_eq!((fs::read_to_string(&file).expect("a file").as_str(), made.get()), ("a kernel", times));
        }
        fs::remove_file(&file).expect("it is removed");
        kept_in(&cache, "guest", &1, make).expect("it is made");
        fs::remove_dir_all(&cache).expect("it is removed");
        assert_eq!(made.get(), 4);
    }

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
