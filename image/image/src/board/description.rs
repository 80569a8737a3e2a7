//! A board, as its folder describes it (`board.toml`). Paths are those from the folder.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use serde::Deserialize;

use crate::error::Error;

/// The file in the folder of a board.
const FILE: &str = "board.toml";

/// See the module.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Board {
    /// What it is, in a line.
    pub title: String,
    pub kernel: Sources,
    pub boot: Boot,
    pub flash: FlashMap,
    pub memory: Memory,
    pub qemu: Qemu,
    #[serde(skip)]
    pub folder: PathBuf,
}

/// How its kernel is made.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Sources {
    /// As the kernel calls it.
    pub arch: String,
    /// What stands before `gcc`, and the package of Debian that brings it.
    pub compiler: String,
    pub package: String,
    /// Where the configuration begins, and what changes it, one after the other.
    pub defconfig: String,
    pub config: Vec<PathBuf>,
    /// A folder of patches, in the order of their names.
    pub patches: PathBuf,
    /// The device tree, and the file of the kernel beside which it is compiled, so that it may include what lies there.
    pub tree: PathBuf,
    pub tree_beside: String,
}

/// What runs first.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Boot {
    /// In assembly language.
    pub code: PathBuf,
    /// Addresses that it takes beside those of the flash and the memory.
    #[serde(default)]
    pub symbols: BTreeMap<String, u32>,
}

/// What lies where in the flash, in addresses.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct FlashMap {
    pub address: u32,
    pub bytes: u32,
    pub kernel: u32,
    pub tree: u32,
    /// To the end.
    pub files: u32,
}

#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Memory {
    pub address: u32,
    pub bytes: u32,
    /// Where the first files are copied to.
    pub files: u32,
}

/// What emulates it.
#[derive(Debug, Clone, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Qemu {
    pub program: String,
    pub arguments: Vec<String>,
}

impl Board {
    /// Reads the description in a folder.
    ///
    /// # Errors
    /// When it is none, or what it says of places contradicts itself.
    pub fn read(folder: &Path) -> Result<Self, Error> {
        let path = folder.join(FILE);
        let text = fs::read_to_string(&path).map_err(Error::io("read the board", &path))?;
        let mut board: Self =
            toml::from_str(&text).map_err(|e| Error::Form { path: path.clone(), why: format!("\n{e}") })?;
        board.check().map_err(|why| Error::Form { path, why })?;
        folder.clone_into(&mut board.folder);
        Ok(board)
    }

    /// Its name: that of its folder.
    pub fn name(&self) -> String {
        let folder = fs::canonicalize(&self.folder).unwrap_or_else(|_| self.folder.clone());
        folder.file_name().map(|name| name.to_string_lossy().into_owned()).unwrap_or_default()
    }

    fn check(&self) -> Result<(), String> {
        let FlashMap { address, bytes, kernel, tree, files } = self.flash;
        let order =
            [u64::from(address), kernel.into(), tree.into(), files.into(), u64::from(address) + u64::from(bytes)];
        if !order.is_sorted_by(|a, b| a < b) {
            return Err("in [flash] address < kernel < tree < files < address + bytes".into());
        }
        let room = order[4] - order[3];
        let end = u64::from(self.memory.address) + u64::from(self.memory.bytes);
        if self.memory.files < self.memory.address || u64::from(self.memory.files) + room > end {
            return Err(format!("in [memory] files + {room:#x} (the files of the flash) is beyond its end, {end:#x}"));
        }
        if [kernel, tree, files, self.memory.files].iter().any(|place| place % 4 != 0) {
            return Err("places are multiples of 4".into());
        }
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn boards() -> PathBuf {
        Path::new(env!("CARGO_MANIFEST_DIR")).join("../boards")
    }

    #[test]
    fn every_board_has_a_description() {
        let mut found = Vec::new();
        for entry in fs::read_dir(boards()).expect("the boards") {
            let folder = entry.expect("an entry").path();
            if folder.join(FILE).exists() {
                found.push(Board::read(&folder).expect("a board").name());
            }
        }
        found.sort();
        assert_eq!(found, ["mps2-an385", "mps2-an500"]);
    }

    #[test]
    fn a_board_that_contradicts_itself_is_refused() {
        let text = fs::read_to_string(boards().join("mps2-an385").join(FILE)).expect("a board");
        let folder = tempfile::tempdir().expect("a folder");
        for (from, to, said) in [
            ("files = 0x1c0000", "files = 0x1b0000", "kernel < tree < files"),
            ("files = 0x217c0000", "files = 0x217d0000", "beyond its end, 0x21800000"),
            ("kernel = 0x400", "kernel = 0x402", "multiples of 4"),
            ("title", "tittle", "unknown field"),
        ] {
            fs::write(folder.path().join(FILE), text.replacen(from, to, 1)).expect("a file");
            let why = Board::read(folder.path()).expect_err(to).to_string();
            assert!(why.contains(said), "{why}");
        }
        assert!(
            Board::read(&folder.path().join("none"))
                .is_err_and(|why| why.to_string().contains("could not read the board"))
        );
    }
}
