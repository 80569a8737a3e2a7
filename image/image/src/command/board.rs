//! The flash of a small board.

use std::fs::{self, Permissions};
use std::io::{self, Write};
use std::os::unix::fs::PermissionsExt;
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process;

use clap::Args;
use image::Error;
use image::board::{self, Board, Built, FirstFiles, Flash, Kernels, Source};

use crate::sizes::kilobytes;

#[derive(Args)]
pub struct Options {
    /// The folder of the board, such as image/boards/mps2-an385
    board: PathBuf,
    /// The kind of kernel: none (of preemption), preempt, fast (preempt, compiled for speed), or a file with options of its configuration
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
    #[arg(long = "file", value_name = "PATH=FILE", value_parser = pair)]
    files: Vec<(String, PathBuf)>,
    /// More words for the kernel's command line, such as ignore_loglevel
    #[arg(long, value_name = "WORDS")]
    append: Option<String>,
    /// Where kernels are kept
    #[arg(long, value_name = "FOLDER", default_value_os_t = board::kept())]
    kept: PathBuf,
    /// The folder into which `flash.bin` is written
    #[arg(long, default_value = ".")]
    out: PathBuf,
    /// Starts it in QEMU, with its console here (Ctrl-A X ends it), and a network of QEMU's own; words behind -- are QEMU's
    #[arg(long)]
    run: bool,
    #[arg(last = true, requires = "run")]
    more: Vec<String>,
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
        name @ ("none" | "preempt" | "fast") => common.join(format!("{name}.config")),
        file if Path::new(file).is_file() => file.into(),
        other => {
            let why = "a kind of kernel is none, preempt, fast, or a file with options of its configuration";
            return Err(Error::Form { path: other.into(), why: why.into() });
        }
    };
    let kernels = Kernels { folder: &options.kept, tell: |sentence| eprintln!("{sentence}") };
    let built = board::build(&board, &source, &kind, &kernels)?;
    let init = options.init.clone().unwrap_or_else(|| common.join("init"));
    let init = fs::read(&init).map_err(io("read", &init))?;
    let files = FirstFiles { node: &options.node, init: &init, more: &options.files }.packed()?;
    let mut flash = Flash::new(&board, &built, &files)?;
    if let Some(words) = &options.append {
        flash = flash.telling(&board, words)?;
    }
    fs::create_dir_all(&options.out).map_err(io("make the folder", &options.out))?;
    let place = options.out.join("flash.bin");
    // Whole or not at all.
    let scratch = tempfile::Builder::new()
        .permissions(Permissions::from_mode(0o644))
        .tempfile_in(&options.out)
        .map_err(io("write to", &options.out))?;
    fs::write(scratch.path(), &flash.bytes).map_err(io("write", scratch.path()))?;
    scratch.persist(&place).map_err(|e| io("write", &place)(e.error))?;
    // A reader that has seen enough is no failure.
    let _ = io::stdout().write_all(told(&board, &built, &flash).as_bytes());
    let words = emulator(&board, &place);
    if options.run {
        return Err(run(&words, &options.more));
    }
    println!("{}", words.join(" "));
    Ok(())
}

/// The command line that emulates it.
fn emulator(board: &Board, flash: &Path) -> Vec<String> {
    let place = format!("loader,file={},addr={:#x},force-raw=on", flash.display(), board.flash.address);
    let own = [board.qemu.program.clone()].into_iter().chain(board.qemu.arguments.iter().cloned());
    own.chain(["-nographic", "-no-reboot", "-device"].map(str::to_owned)).chain([place]).collect()
}

/// Takes the place of this process; comes back only where it cannot be started.
fn run(words: &[String], more: &[String]) -> Error {
    let user = if more.iter().any(|word| word == "-nic" || word == "-netdev") { &[][..] } else { &["-nic", "user"] };
    let source = process::Command::new(&words[0]).args(&words[1..]).args(user).args(more).exec();
    // Debian's package has the name of the program.
    Error::Tool { name: words[0].clone(), package: words[0].clone(), why: format!("cannot be started: {source}") }
}

fn io(doing: &'static str, path: &Path) -> impl FnOnce(io::Error) -> Error {
    let path = path.to_owned();
    move |source| Error::Io { doing, path, source }
}

/// A file that is written PATH=FILE.
fn pair(text: &str) -> Result<(String, PathBuf), String> {
    let (there, here) = text
        .split_once('=')
        .ok_or("it is written PATH=FILE: where it stands in the image, and where it is taken from")?;
    Ok((there.to_owned(), here.into()))
}

fn told(board: &Board, built: &Built, flash: &Flash) -> String {
    let mut out = format!("{}\n\n", board.title);
    for (name, bytes) in flash.parts {
        out.push_str(&format!("{:>10}  {name}\n", kilobytes(bytes as u64)));
    }
    let used = kilobytes(flash.used() as u64);
    out.push_str(&format!("{used:>10}  of the {} of the flash\n", kilobytes(flash.bytes.len() as u64)));
    out.push_str(&format!("\nthe kernel's symbols: {}\n", built.symbols.display()));
    out
}
