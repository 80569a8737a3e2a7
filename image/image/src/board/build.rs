//! The build of a kernel for a board. What was built is kept by the hash of all that it was built of, and found there the next time.

use std::env;
use std::fs::{self, File};
use std::io::{self, BufRead, BufReader, Read};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::thread;

use sha2::{Digest, Sha256};

use super::description::Board;
use super::source::Source;
use crate::error::Error;

/// What is kept of a build.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Built {
    /// What unpacks itself.
    pub kernel: PathBuf,
    /// The device tree, compiled.
    pub tree: PathBuf,
    /// The kernel with its symbols.
    pub symbols: PathBuf,
    /// What it was configured to.
    pub config: PathBuf,
}

/// Where builds are kept, and who is told how far one is.
#[derive(Debug)]
pub struct Kernels<'a> {
    pub folder: &'a Path,
    pub tell: fn(&str),
}

/// Where kernels are kept, if nothing else is said: `kizami/kernels` in the user's folder for what can be made again.
pub fn kept() -> PathBuf {
    let absolute = |name| env::var_os(name).map(PathBuf::from).filter(|path| path.is_absolute());
    let caches = absolute("XDG_CACHE_HOME").or_else(|| Some(absolute("HOME")?.join(".cache")));
    caches.unwrap_or_else(env::temp_dir).join("kizami/kernels")
}

/// How many last lines of a build that failed are shown.
const LAST: usize = 20;

impl Built {
    fn in_folder(folder: &Path) -> Self {
        let [kernel, tree, symbols, config] =
            ["zImage", "board.dtb", "vmlinux", "config"].map(|name| folder.join(name));
        Self { kernel, tree, symbols, config }
    }

    fn is_there(&self) -> bool {
        [&self.kernel, &self.tree, &self.symbols, &self.config].iter().all(|path| path.exists())
    }
}

/// Builds the kernel of a board, with one more part of configuration, or finds it.
///
/// # Errors
/// When sources or a tool are missing, a patch does not fit, an option did not take effect, or the build fails.
pub fn build(board: &Board, source: &Source, kind: &Path, kernels: &Kernels<'_>) -> Result<Built, Error> {
    let parts: Vec<PathBuf> =
        board.kernel.config.iter().map(|part| board.folder.join(part)).chain([kind.to_owned()]).collect();
    let key = key(board, source, &parts)?;
    let place = kernels.folder.join(&key);
    let built = Built::in_folder(&place);
    if built.is_there() {
        return Ok(built);
    }
    fs::create_dir_all(kernels.folder).map_err(Error::io("make the folder", kernels.folder))?;
    // Whoever wants the same meanwhile waits for it. The lock ends with this process, and its file stays.
    let lock = kernels.folder.join(format!("{key}.lock"));
    let lock = File::create(&lock).and_then(|file| file.lock().map(|()| file)).map_err(Error::io("lock", &lock))?;
    if built.is_there() {
        return Ok(built);
    }
    // Beside its place, so that what is there is whole, however this ends. What one left that was killed is not needed.
    let scratch = kernels.folder.join(format!("{key}.building"));
    let scratch = Scratch::new(scratch)?;
    let [tree, whole] = ["tree", "whole"].map(|name| scratch.0.join(name));
    for folder in [&tree, &whole] {
        fs::create_dir(folder).map_err(Error::io("make the folder", folder))?;
    }
    (kernels.tell)(&format!("Linux {} for {}: unpacking its sources…", source.version, board.name()));
    source.unpack(board, &tree)?;
    let beside = beside(&tree, board)?;
    fs::copy(board.folder.join(&board.kernel.tree), beside.join("kizami-board.dts"))
        .map_err(Error::io("copy", &board.kernel.tree))?;
    let make = Make { board, tree: &tree, log: kernels.folder.join(format!("{key}.log")), tell: kernels.tell };
    configure(&make, &parts)?;
    (kernels.tell)("building it: minutes, once…");
    let compiled =
        beside.strip_prefix(tree.join(format!("arch/{}/boot/dts", board.kernel.arch))).unwrap_or(Path::new(""));
    let compiled = compiled.join("kizami-board.dtb");
    make.run(&["zImage", &compiled.display().to_string()])?;
    let boot = tree.join(format!("arch/{}/boot", board.kernel.arch));
    let made = Built::in_folder(&whole);
    for (from, to) in [
        (boot.join("zImage"), &made.kernel),
        (boot.join("dts").join(&compiled), &made.tree),
        (tree.join("vmlinux"), &made.symbols),
        (tree.join(".config"), &made.config),
    ] {
        fs::copy(&from, to).map_err(Error::io("keep", &from))?;
    }
    fs::rename(&whole, &place).map_err(Error::io("keep what was built in", &place))?;
    drop(lock);
    Ok(built)
}

/// A folder that is removed with what is in it.
struct Scratch(PathBuf);

impl Scratch {
    fn new(folder: PathBuf) -> Result<Self, Error> {
        match fs::remove_dir_all(&folder) {
            Err(e) if e.kind() != io::ErrorKind::NotFound => return Err(Error::io("remove", &folder)(e)),
            _ => fs::create_dir(&folder).map_err(Error::io("make the folder", &folder))?,
        }
        Ok(Self(folder))
    }
}

impl Drop for Scratch {
    fn drop(&mut self) {
        // What stays is removed by the next.
        let _ = fs::remove_dir_all(&self.0);
    }
}

/// The hash of all that decides what is built: sources, patches, configuration, device tree, compiler.
fn key(board: &Board, source: &Source, parts: &[PathBuf]) -> Result<String, Error> {
    let mut hash = Sha256::new();
    let tree = board.folder.join(&board.kernel.tree);
    for path in source.inputs(board)?.iter().chain(parts).chain([&tree]) {
        let mut file = File::open(path).map_err(Error::io("read", path))?;
        let mut length = 0u64;
        let mut piece = vec![0; 1 << 20];
        loop {
            match file.read(&mut piece).map_err(Error::io("read", path))? {
                0 => break,
                read => {
                    hash.update(&piece[..read]);
                    length += read as u64;
                }
            }
        }
        hash.update(length.to_le_bytes());
    }
    for word in [&board.kernel.arch, &board.kernel.defconfig, &board.kernel.tree_beside, &version(board)?] {
        hash.update(word.as_bytes());
        hash.update([0]);
    }
    Ok(hash.finalize().iter().take(8).map(|byte| format!("{byte:02x}")).collect())
}

/// What the compiler says of itself.
fn version(board: &Board) -> Result<String, Error> {
    let name = format!("{}gcc", board.kernel.compiler);
    let output = Command::new(&name).arg("--version").stdin(Stdio::null()).output();
    let output = output.map_err(|_| Error::Tool {
        name,
        package: board.kernel.package.clone(),
        why: format!("is not there: apt-get install {}", board.kernel.package),
    })?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}

/// The folder in which the kernel has the tree of such a board. Since 6.5 each maker has one.
fn beside(tree: &Path, board: &Board) -> Result<PathBuf, Error> {
    let folder = tree.join(format!("arch/{}/boot/dts", board.kernel.arch));
    let makers =
        fs::read_dir(&folder).map_err(Error::io("read", &folder))?.filter_map(|entry| Some(entry.ok()?.path()));
    let places = makers.filter(|path| path.is_dir()).chain([folder.clone()]);
    let found = places.into_iter().find(|place| place.join(&board.kernel.tree_beside).exists());
    found.ok_or_else(|| Error::Form {
        path: board.folder.clone(),
        why: format!("this Linux has no {} (tree_beside): another version may", board.kernel.tree_beside),
    })
}

/// The kernel's own build.
struct Make<'a> {
    board: &'a Board,
    tree: &'a Path,
    log: PathBuf,
    tell: fn(&str),
}

impl Make<'_> {
    fn run(&self, targets: &[&str]) -> Result<(), Error> {
        let mut command = Command::new("make");
        let processors = thread::available_parallelism().map_or(1, usize::from);
        command.arg(format!("-j{processors}")).args(targets).current_dir(self.tree);
        command.arg(format!("ARCH={}", self.board.kernel.arch));
        command.arg(format!("CROSS_COMPILE={}", self.board.kernel.compiler));
        // The same sources make the same bytes.
        command.args(["KBUILD_BUILD_TIMESTAMP=Thu Jan 1 00:00:00 UTC 1970", "KBUILD_BUILD_VERSION=1"]);
        command.args(["KBUILD_BUILD_USER=kizami", "KBUILD_BUILD_HOST=kizami"]);
        let failed = |why: String| Error::Tool { name: "make".into(), package: "make".into(), why };
        let log = File::create(&self.log).map_err(Error::io("write", &self.log))?;
        let copy = log.try_clone().map_err(Error::io("write", &self.log))?;
        let child = command.stdin(Stdio::null()).stdout(log).stderr(copy).env_remove("MAKEFLAGS").status();
        let status = child.map_err(|e| failed(format!("cannot be started: {e}")))?;
        if status.success() {
            return Ok(());
        }
        (self.tell)(&format!("make {} failed", targets.join(" ")));
        let last = last_lines(&self.log).unwrap_or_default();
        Err(failed(format!("{} failed ({status}); the last of {}:\n{last}", targets.join(" "), self.log.display())))
    }
}

fn last_lines(path: &Path) -> io::Result<String> {
    let lines: Vec<String> = BufReader::new(File::open(path)?).lines().collect::<Result<_, _>>()?;
    Ok(lines[lines.len().saturating_sub(LAST)..].join("\n"))
}

/// Puts the parts of the configuration on top of the board's, and looks whether each line of them took effect.
fn configure(make: &Make<'_>, parts: &[PathBuf]) -> Result<(), Error> {
    make.run(&[&make.board.kernel.defconfig])?;
    let config = make.tree.join(".config");
    let mut text = fs::read_to_string(&config).map_err(Error::io("read", &config))?;
    let mut asked = Vec::new();
    for part in parts {
        let part_text = fs::read_to_string(part).map_err(Error::io("read", part))?;
        asked.extend(
            part_text.lines().filter_map(option).map(|(name, value)| (name.to_owned(), value.to_owned(), part)),
        );
        text.push('\n');
        text.push_str(&part_text);
    }
    fs::write(&config, text).map_err(Error::io("write", &config))?;
    make.run(&["olddefconfig"])?;
    let text = fs::read_to_string(&config).map_err(Error::io("read", &config))?;
    let mut without_effect = Vec::new();
    for (index, (name, value, part)) in asked.iter().enumerate() {
        // What a later part says otherwise is meant.
        if asked[index + 1..].iter().any(|(later, ..)| later == name) {
            continue;
        }
        let there = text.lines().filter_map(option).find(|(other, _)| other == name).map_or("n", |(_, value)| value);
        if there != value {
            without_effect.push(format!("  {name}={value} of {}: the kernel has it {there}", part.display()));
        }
    }
    if without_effect.is_empty() {
        return Ok(());
    }
    let why = format!(
        "these options did not take effect, since what they depend on is missing, something else selects them, or this version \
         does not know them:\n{}",
        without_effect.join("\n")
    );
    Err(Error::Form { path: make.board.folder.clone(), why })
}

/// A line of a configuration: the option, and its value; `n` for one that is not set.
fn option(line: &str) -> Option<(&str, &str)> {
    match line.strip_prefix("# ").and_then(|rest| rest.strip_suffix(" is not set")) {
        Some(name) => Some((name, "n")),
        None => line.strip_prefix("CONFIG_").and(line.split_once('=')),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lines_of_a_configuration_are_read() {
        assert_eq!(option("CONFIG_HZ=100"), Some(("CONFIG_HZ", "100")));
        assert_eq!(option("# CONFIG_SMP is not set"), Some(("CONFIG_SMP", "n")));
        for line in ["", "# a comment", "# CONFIG_X is", "X=1", "CONFIG_X"] {
            assert_eq!(option(line), None, "{line}");
        }
    }
}
