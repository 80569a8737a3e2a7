//! The sources of Linux, as Debian's package `linux-source` has them: one archive, which is unpacked for a build and not kept.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use super::description::Board;
use crate::error::Error;

/// Where Debian puts them.
const PLACE: &str = "/usr/src";

/// What no small board has, and what takes half of the time and room to unpack: code, but not what describes its options.
const LEFT_OUT: [&str; 7] = [
    "*/drivers/gpu/*.[ch]",
    "*/drivers/media/*.[ch]",
    "*/drivers/net/wireless/*.[ch]",
    "*/drivers/staging/*.[ch]",
    "*/sound/*.[ch]",
    "*/tools/testing/*",
    "*/Documentation/*/*",
];

/// See the module.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Source {
    pub archive: PathBuf,
    /// Such as `6.1`.
    pub version: String,
}

impl Source {
    /// The newest that is installed here.
    ///
    /// # Errors
    /// When there is none.
    pub fn installed() -> Result<Self, Error> {
        Self::in_folder(Path::new(PLACE))
    }

    fn in_folder(folder: &Path) -> Result<Self, Error> {
        let entries = fs::read_dir(folder).map_err(Error::io("look for sources of Linux in", folder))?;
        let archives = entries.filter_map(|entry| Self::of(&entry.ok()?.path()));
        let newest = archives.max_by_key(|source| source.numbers());
        newest.ok_or_else(|| Error::Tool {
            name: format!("linux-source-VERSION.tar.xz in {}", folder.display()),
            package: "linux-source".into(),
            why: "is not there: apt-get install linux-source".into(),
        })
    }

    /// The archive at a path, if it is named as one.
    pub fn of(archive: &Path) -> Option<Self> {
        let name = archive.file_name()?.to_str()?;
        let version = name.strip_prefix("linux-source-")?.strip_suffix(".tar.xz")?;
        Some(Self { archive: archive.to_owned(), version: version.to_owned() })
    }

    fn numbers(&self) -> Vec<u32> {
        self.version.split('.').map(|number| number.parse().unwrap_or(0)).collect()
    }

    /// Unpacks them into a folder, with the patches and the device tree of a board.
    ///
    /// # Errors
    /// When the archive cannot be unpacked, or a patch does not fit it.
    pub fn unpack(&self, board: &Board, folder: &Path) -> Result<(), Error> {
        let mut tar = Command::new("tar");
        tar.args(["--extract", "--strip-components=1", "--file"]).arg(&self.archive).arg("--directory").arg(folder);
        tar.args(["--wildcards", "--wildcards-match-slash"]);
        tar.args(LEFT_OUT.map(|pattern| format!("--exclude={pattern}")));
        done(tar, "tar", &format!("does not unpack {}", self.archive.display()))?;
        for patch in self.patches(board)? {
            let mut command = Command::new("patch");
            command.args(["--strip=1", "--forward", "--fuzz=0", "--directory"]).arg(folder).arg("--input").arg(&patch);
            let why = format!(
                "does not put {} into Linux {}: write it anew for this version, or build another (--source)",
                patch.display(),
                self.version
            );
            done(command, "patch", &why)?;
        }
        Ok(())
    }

    fn patches(&self, board: &Board) -> Result<Vec<PathBuf>, Error> {
        let folder = board.folder.join(&board.kernel.patches);
        // A board that needs none has no such folder.
        let Ok(entries) = fs::read_dir(&folder) else { return Ok(Vec::new()) };
        let mut found = Vec::new();
        for entry in entries {
            let path = fs::canonicalize(entry.map_err(Error::io("read", &folder))?.path())
                .map_err(Error::io("find", &folder))?;
            if path.extension().is_some_and(|extension| extension == "patch") {
                found.push(path);
            }
        }
        found.sort();
        Ok(found)
    }

    /// All that decides what is unpacked, beside the archive.
    pub(super) fn inputs(&self, board: &Board) -> Result<Vec<PathBuf>, Error> {
        Ok(self.patches(board)?.into_iter().chain([self.archive.clone()]).collect())
    }
}

/// Runs a program of the system; what it says stands in the error.
fn done(mut command: Command, name: &str, why: &str) -> Result<(), Error> {
    let failed = |why: String| Error::Tool { name: name.into(), package: name.into(), why };
    let output = command.stdin(Stdio::null()).output().map_err(|e| failed(format!("cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    let said = String::from_utf8_lossy(&[output.stdout, output.stderr].concat()).into_owned();
    let lines: Vec<&str> = said.lines().collect();
    Err(failed(format!("{why}\n{}", lines[lines.len().saturating_sub(LAST)..].join("\n"))))
}

/// How many last lines of what a program said are shown.
const LAST: usize = 8;

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_sources_are_taken() {
        let folder = tempfile::tempdir().expect("a folder");
        let none = Source::in_folder(folder.path()).expect_err("nothing there").to_string();
        assert!(none.contains("apt-get install linux-source"), "{none}");
        for name in
            ["linux-source-6.1.tar.xz", "linux-source-6.12.tar.xz", "linux-source-6.9.tar.xz", "linux-config-6.20", "x"]
        {
            fs::write(folder.path().join(name), "").expect("a file");
        }
        assert_eq!(Source::in_folder(folder.path()).expect("sources").version, "6.12");
    }
}
