//! Makes a new application.

use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::say;

const LIB: &str = include_str!("../templates/minimal/lib.rs");

pub(crate) fn new(path: &Path) -> Result<()> {
    let name = path.file_name().and_then(|name| name.to_str()).context("the folder needs a name")?;
    check(name)?;
    if path.exists() {
        bail!("{} is there already: choose another name, or remove it", path.display());
    }
    let source = path.join("src");
    fs::create_dir_all(&source).with_context(|| format!("cannot make {}", source.display()))?;
    let write = |file: &str, text: &str| {
        let file = path.join(file);
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))
    };
    write("Cargo.toml", &manifest(name))?;
    write("src/lib.rs", LIB)?;
    write(".gitignore", "/target\n")?;
    say::step("Created", format_args!("application `{name}`; try: cd {} && cargo otp run", path.display()));
    Ok(())
}

/// What both cargo and Erlang take for a name.
fn check(name: &str) -> Result<()> {
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !plain {
        bail!(
            "`{name}` is no name for an application: it is an atom in Erlang, so use a to z, 0 to 9 and _, and begin with a letter"
        );
    }
    Ok(())
}

fn manifest(name: &str) -> String {
    // Where this program was built from its repository, the library lies beside it.
    let beside = Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../otp"));
    let version = env!("CARGO_PKG_VERSION");
    let dependency = match beside.canonicalize() {
        Ok(path) => format!("{{ version = \"{version}\", path = {:?} }}", path.display().to_string()),
        Err(_) => format!("\"{version}\""),
    };
    format!(
        "[package]\nname = \"{name}\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\n[lib]\ncrate-type = [\"cdylib\"]\n\n\
         [dependencies]\nkizami-otp = {dependency}\n\n[workspace]\n"
    )
}
