//! The flash of a small board.

use std::fs;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use clap::Args;
use image::board::{self, Board, Built, Flash, Kernels, Source};
use image::cpio::{Archive, Entry};
use image::{Error, Pack};

use crate::sizes::kilobytes;

#[derive(Args)]
pub struct Options {
    /// The folder of the board, such as image/boards/mps2-an385
    board: PathBuf,
    /// The kind of kernel: none (of preemption), preempt, or a file with options of its configuration
    #[arg(long, default_value = "preempt")]
    kernel: String,
    /// The sources of Linux; without it, the newest of Debian's that are installed (linux-source)
    #[arg(long, value_name = "ARCHIVE")]
    source: Option<PathBuf>,
    /// The program that is the first process, and all others, such as target/release/board/node
    #[arg(long)]
    node: PathBuf,
    /// What it does at the start: commands of its shell
    #[arg(long, value_name = "FILE")]
    init: Option<PathBuf>,
    /// More files: where they stand in the image, =, and where they are taken from
    #[arg(long = "file", value_name = "PATH=FILE")]
    files: Vec<String>,
    /// Where kernels are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = kept())]
    kept: PathBuf,
    /// The folder into which `flash.bin` is written
    #[arg(long, default_value = ".")]
    out: PathBuf,
}

/// `kizami/kernels` in the folder for what can be made again.
fn kept() -> PathBuf {
    let set = |name| std::env::var_os(name).filter(|value| !value.is_empty()).map(PathBuf::from);
    let caches = set("XDG_CACHE_HOME").or_else(|| Some(set("HOME")?.join(".cache")));
    caches.unwrap_or_else(std::env::temp_dir).join("kizami/kernels")
}

/// Makes it.
pub fn make(options: &Options) -> Result<(), Error> {
    let board = Board::read(&options.board)?;
    let source = match &options.source {
        None => Source::installed()?,
        Some(path) => Source::of(path).ok_or_else(|| Error::Form {
            path: path.clone(),
            why: "sources of Linux are an archive named linux-source-VERSION.tar.xz".into(),
        })?,
    };
    let common = options.board.join("../common");
    let kind = match options.kernel.as_str() {
        name @ ("none" | "preempt") => common.join(format!("{name}.config")),
        file => file.into(),
    };
    let kernels = Kernels { folder: &options.kept, tell: |sentence| eprintln!("{sentence}") };
    let built = board::build(&board, &source, &kind, &kernels)?;
    let init = options.init.clone().unwrap_or_else(|| common.join("init"));
    let files = packed(&first_files(&options.node, &init, &options.files)?)?;
    let flash = Flash::new(&board, &built, &files)?;
    fs::create_dir_all(&options.out).map_err(io("make the folder", &options.out))?;
    let place = options.out.join("flash.bin");
    fs::write(&place, &flash.bytes).map_err(io("write", &place))?;
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(told(&board, &built, &flash, &place).as_bytes());
    Ok(())
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

/// One program under every name, what it does first, and what else is asked for.
fn first_files(node: &Path, init: &Path, more: &[String]) -> Result<Archive, Error> {
    let file =
        |path: &Path, mode| fs::read(path).map_err(io("read", path)).map(|content| Entry::File { mode, content });
    let mut archive = Archive::default();
    archive.add("dev/console", Entry::Device { mode: 0o600, major: 5, minor: 1 })?;
    archive.add("bin/node", file(node, 0o755)?)?;
    archive.add("init", Entry::Link { target: "bin/node".into() })?;
    archive.add("etc/init", file(init, 0o644)?)?;
    for folder in ["proc", "sys", "tmp"] {
        archive.add(folder, Entry::Folder { mode: 0o755 })?;
    }
    for pair in more {
        let (there, here) = pair.split_once('=').ok_or_else(|| Error::Form {
            path: pair.into(),
            why: "a file is written PATH=FILE: where it stands in the image, and where it is taken from".into(),
        })?;
        archive.add(there, file(Path::new(here), 0o755)?)?;
    }
    Ok(archive)
}

fn packed(archive: &Archive) -> Result<Vec<u8>, Error> {
    let mut bytes = Vec::new();
    archive.write(&mut bytes).map_err(io("write", Path::new("the archive")))?;
    Pack::Gzip.pack(bytes).map_err(io("pack", Path::new("the archive")))
}

fn told(board: &Board, built: &Built, flash: &Flash, place: &Path) -> String {
    let mut out = format!("{}\n\n", board.title);
    for (name, bytes) in flash.parts {
        out.push_str(&format!("{:>10}  {name}\n", kilobytes(bytes as u64)));
    }
    let used = kilobytes(flash.used() as u64);
    out.push_str(&format!("{used:>10}  of the {} of the flash\n", kilobytes(flash.bytes.len() as u64)));
    out.push_str(&format!("\nthe kernel's symbols: {}\n", built.symbols.display()));
    out.push_str(&format!(
        "{} {} -nographic -no-reboot -device loader,file={},addr={:#x},force-raw=on\n",
        board.qemu.program,
        board.qemu.arguments.join(" "),
        place.display(),
        board.flash.address
    ));
    out
}
