//! The contents of a board's flash: the code that runs first, the kernel, its device tree, the first files.

use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use super::build::Built;
use super::description::Board;
use super::tree;
use crate::error::Error;

/// See the module.
#[derive(Debug, Clone)]
pub struct Flash {
    /// As large as the flash; what is not used is as after an erasure.
    pub bytes: Vec<u8>,
    /// The parts that are used, and how many bytes each has.
    pub parts: [(&'static str, usize); 4],
    /// Where the first files are.
    files: usize,
}

/// The places of two parts.
const TREE: usize = 2;
const FILES: usize = 3;

/// What an erased flash reads as.
const ERASED: u8 = 0xff;

impl Flash {
    /// Puts the parts together. `files` is an archive that the kernel unpacks.
    ///
    /// # Errors
    /// When a part is larger than its place, or the code that runs first cannot be assembled.
    pub fn new(board: &Board, built: &Built, files: &[u8]) -> Result<Self, Error> {
        let map = board.flash;
        let boot = assembled(board, map.kernel)?;
        let [kernel, tree] = [&built.kernel, &built.tree].map(|path| fs::read(path).map_err(Error::io("read", path)));
        let (kernel, tree) = (kernel?, tree?);
        let end = map.address + map.bytes;
        let parts = [
            ("boot code", &boot[..], map.address, map.kernel),
            ("kernel", &kernel, map.kernel, map.tree),
            ("device tree", &tree, map.tree, map.files),
            ("first files", files, map.files, end),
        ];
        let mut bytes = vec![ERASED; map.bytes as usize];
        for (name, part, from, to) in parts {
            let room = (to - from) as usize;
            if part.len() > room {
                let why = format!(
                    "{} bytes of {name} do not fit in its place in the flash, which has {room}: leave something out, or give it \
                     more in [flash]",
                    part.len()
                );
                return Err(Error::Form { path: board.folder.clone(), why });
            }
            let at = (from - map.address) as usize;
            bytes[at..at + part.len()].copy_from_slice(part);
        }
        // The kernel looks for archives until the end, and takes zeroes for nothing.
        bytes[(map.files - map.address) as usize + files.len()..].fill(0);
        let files = (map.files - map.address) as usize;
        Ok(Self { bytes, parts: parts.map(|(name, part, ..)| (name, part.len())), files })
    }

    /// The same, but what runs first goes on at `address`, where somebody has put the kernel unpacked. Nothing else of it is another.
    ///
    /// # Errors
    /// When the code that runs first cannot be assembled.
    pub fn going_on_at(mut self, board: &Board, address: u32) -> Result<Self, Error> {
        let boot = assembled(board, address)?;
        self.bytes[..boot.len()].copy_from_slice(&boot);
        Ok(self)
    }

    /// The same, with more words for the kernel's command line, which stands in the device tree.
    ///
    /// # Errors
    /// When the tree has none, or no room for them.
    pub fn telling(mut self, board: &Board, words: &str) -> Result<Self, Error> {
        let [at, end] = [board.flash.tree, board.flash.files].map(|place| (place - board.flash.address) as usize);
        let form = |why: String| Error::Form { path: board.folder.clone(), why };
        let tree = tree::with_words(&self.bytes[at..at + self.parts[TREE].1], words)
            .ok_or_else(|| form("its device tree has no command line for the kernel (/chosen, bootargs)".into()))?;
        let room = end - at;
        if tree.len() > room {
            return Err(form(format!(
                "with these words the device tree has {} bytes, and room for {room}",
                tree.len()
            )));
        }
        self.bytes[at..end].fill(ERASED);
        self.bytes[at..at + tree.len()].copy_from_slice(&tree);
        self.parts[TREE].1 = tree.len();
        Ok(self)
    }

    /// With one archive more behind the first files, which the kernel unpacks as well.
    ///
    /// # Errors
    /// When there is no room for it; how much there is.
    pub fn with(&self, archive: &[u8]) -> Result<Vec<u8>, usize> {
        // The kernel looks for the next at multiples of four.
        let at = (self.files + self.parts[FILES].1).next_multiple_of(4);
        let mut bytes = self.bytes.clone();
        let room = bytes.len().saturating_sub(at);
        bytes.get_mut(at..at + archive.len()).ok_or(room)?.copy_from_slice(archive);
        Ok(bytes)
    }

    /// How many bytes of it are used.
    pub fn used(&self) -> usize {
        self.parts.iter().map(|(_, bytes)| bytes).sum()
    }
}

/// The code that runs first, for the places of this board and a kernel there.
fn assembled(board: &Board, kernel: u32) -> Result<Vec<u8>, Error> {
    let scratch = tempfile::tempdir().map_err(Error::io("make a folder in", std::env::temp_dir()))?;
    let [object, program, bytes] = ["boot.o", "boot.elf", "boot.bin"].map(|name| scratch.path().join(name));
    let end = board.flash.address + board.flash.bytes;
    let places = [
        ("KERNEL", kernel),
        ("TREE", board.flash.tree),
        ("FILES", board.flash.files),
        ("FILES_END", end),
        ("FILES_AT", board.memory.files),
    ];
    let own = board.boot.symbols.iter().map(|(name, value)| (name.as_str(), *value));
    let symbols: Vec<String> =
        places.into_iter().chain(own).map(|(name, value)| format!("--defsym={name}={value:#x}")).collect();
    let code = board.folder.join(&board.boot.code);
    tool(board, "as", &[], &[&code, Path::new("-o"), &object])?;
    let mut link = vec!["-nostdlib".to_owned(), format!("-Ttext={:#x}", board.flash.address), "-e0".into()];
    link.extend(symbols);
    let link: Vec<&str> = link.iter().map(String::as_str).collect();
    tool(board, "ld", &link, &[&object, Path::new("-o"), &program])?;
    tool(board, "objcopy", &["-Obinary"], &[&program, &bytes])?;
    fs::read(&bytes).map_err(Error::io("read", &bytes))
}

fn tool(board: &Board, name: &'static str, options: &[&str], files: &[&Path]) -> Result<(), Error> {
    let program = format!("{}{name}", board.kernel.compiler);
    let failed = |why: String| Error::Tool { name: program.clone(), package: board.kernel.package.clone(), why };
    let output = Command::new(&program).args(options).args(files).stdin(Stdio::null()).output();
    let output = output.map_err(|e| failed(format!("cannot be started: {e}")))?;
    if output.status.success() {
        return Ok(());
    }
    Err(failed(format!("failed: {}", String::from_utf8_lossy(&output.stderr).trim())))
}
