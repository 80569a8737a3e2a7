//! A new crate.

use std::fs;
use std::path::Path;

use anyhow::{Context as _, bail};

const MAIN: &str = r#"#![no_std]
#![no_main]

use unikernel::{ExitCode, println};

#[unikernel::main]
fn main() -> ExitCode {
    println!("hello from a program that is its own kernel");
    for argument in unikernel::arguments() {
        println!("and {argument}");
    }
    ExitCode::SUCCESS
}
"#;

pub fn new(folder: &Path) -> anyhow::Result<u8> {
    let name = folder.file_name().and_then(|name| name.to_str()).unwrap_or_default();
    let is_letter = |c: char| c.is_ascii_alphanumeric() || c == '-' || c == '_';
    if !name.starts_with(|c: char| c.is_ascii_alphabetic()) || !name.chars().all(is_letter) {
        bail!("{:?} is no name of a crate: a letter, then letters, digits, - and _", folder.display());
    }
    if folder.exists() {
        bail!("{} exists already", folder.display());
    }
    let manifest = format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[[bin]]\nname = \"{name}\"\npath = \"src/main.rs\"\ntest = false\n\n[dependencies]\nunikernel = {}\n",
        dependency()
    );
    let write = |path: &str, text: &str| {
        let path = folder.join(path);
        fs::write(&path, text).with_context(|| format!("{} cannot be written", path.display()))
    };
    fs::create_dir_all(folder.join("src")).with_context(|| format!("{} cannot be made", folder.display()))?;
    write("Cargo.toml", &manifest)?;
    write("src/main.rs", MAIN)?;
    write(".gitignore", "/target\n*.img\n")?;
    println!("{}: `unikernel run` in it builds it and runs it", folder.display());
    Ok(0)
}

/// The library beside this command where it was built from its sources, and else the published one.
fn dependency() -> String {
    let sources = Path::new(env!("CARGO_MANIFEST_DIR")).join("../library");
    match sources.canonicalize() {
        Ok(path) => format!("{{ package = \"kizami-unikernel\", path = {path:?} }}"),
        Err(_) => {
            let version = env!("CARGO_PKG_VERSION");
            eprintln!(
                "unikernel: the library is not at {} any more, where this command was built: the crate asks for its version \
                 {version} of crates.io; to have that of a folder, build this command anew in it, or change Cargo.toml",
                sources.display()
            );
            format!("{{ package = \"kizami-unikernel\", version = \"{version}\" }}")
        }
    }
}
