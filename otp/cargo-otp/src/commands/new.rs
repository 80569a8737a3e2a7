//! `cargo otp new` and `cargo otp init`: a new application, in a folder of its own or in an existing one.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail};
use clap::Args;
use clap::builder::PossibleValuesParser;

use super::templates::{Values, application, applications};
use crate::erlang::Erlang;
use crate::{names, say};

/// What is made.
#[derive(Args, Clone, Debug)]
pub(crate) struct Kind {
    /// What it begins with
    #[arg(long, value_name = "TEMPLATE", default_value = "minimal", value_parser = PossibleValuesParser::new(applications()))]
    template: String,
    /// The name of the application, instead of its folder's
    #[arg(long, value_name = "NAME")]
    name: Option<String>,
}

pub(crate) fn new(path: &Path, kind: &Kind) -> Result<()> {
    if path.exists() {
        bail!("{} is there already: choose another name, or use `cargo otp init` in it", path.display());
    }
    let name = make(path, kind).inspect_err(|_| {
        // What there is of it is ours, and the same again would find it there.
        if !path.is_symlink() {
            let _ = fs::remove_dir_all(path);
        }
    })?;
    say::step("Created", format_args!("application `{name}`; try: cd {} && cargo otp run", path.display()));
    Ok(())
}

pub(crate) fn init(path: &Path, kind: &Kind) -> Result<()> {
    if path.join("Cargo.toml").exists() {
        bail!(
            "{} is a package already. To make it an application, its Cargo.toml needs\n\n    [lib]\n    \
             crate-type = [\"cdylib\"]\n\n    [dependencies]\n    kizami-otp = {}\n\nand its lib.rs a supervisor and \
             `otp::application!(root);`",
            path.display(),
            dependency()
        );
    }
    let name = make(path, kind)?;
    say::step("Created", format_args!("application `{name}`; try: cargo otp run"));
    Ok(())
}

/// Writes the files; the name of the application.
fn make(path: &Path, kind: &Kind) -> Result<String> {
    let whole = std::path::absolute(path).with_context(|| format!("{} is no folder", path.display()))?;
    let own = || whole.file_name().and_then(|name| name.to_str()).map(str::to_owned);
    let name = kind.name.clone().or_else(own).context("the folder needs a name")?;
    names::may_be_called(&name, "an application", Erlang::asked().ok().as_ref())?;
    let files = application(&kind.template, &Values { name: &name, otp: &dependency() });
    let files: Vec<(PathBuf, String)> = files.into_iter().map(|(file, text)| (path.join(file), text)).collect();
    if let Some((there, _)) = files.iter().find(|(file, _)| file.exists()) {
        bail!("{} is there already, and would be written over", there.display());
    }
    for (file, text) in files {
        let folder = file.parent().unwrap_or(path);
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
        fs::write(&file, text).with_context(|| format!("cannot write {}", file.display()))?;
    }
    Ok(name)
}

/// Where `kizami-otp` comes from: where this program was built from its repository, the library lies beside it.
fn dependency() -> String {
    let version = env!("CARGO_PKG_VERSION");
    match Path::new(concat!(env!("CARGO_MANIFEST_DIR"), "/../otp")).canonicalize() {
        Ok(path) => format!("{{ version = \"{version}\", path = {:?} }}", path.display().to_string()),
        Err(_) => format!("\"{version}\""),
    }
}
