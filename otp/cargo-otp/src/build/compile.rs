//! Compiling the application's library with cargo.

use std::fs;
use std::io::BufReader;
use std::path::{Path, PathBuf};
use std::process::Stdio;

use anyhow::{Context, Result};
use cargo_metadata::Message;

use super::harness;
use crate::project::{Project, What};
use crate::say;

/// The purpose of a build: running the application, or its tests.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Purpose {
    Run,
    /// With what stands under `cfg(test)`.
    Test,
}

/// The library, where cargo put it.
pub(crate) fn compile(what: &What, project: &Project, purpose: Purpose) -> Result<PathBuf> {
    let mut cargo = match purpose {
        Purpose::Run => what.compile("build", project),
        Purpose::Test => {
            let mut cargo = what.compile("test", project);
            let own = std::env::current_exe().context("cannot find this program's own file")?;
            cargo.arg("--no-run").env("RUSTC_WORKSPACE_WRAPPER", own).env(harness::VARIABLE, &project.library);
            cargo
        }
    };
    cargo.args(["--lib", "--message-format=json-render-diagnostics"]);
    let mut running = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let output = running.stdout.take().context("cargo has no output")?;
    let mut library = None;
    for message in Message::parse_stream(BufReader::new(output)) {
        if let Message::CompilerArtifact(artifact) = message.context("cannot read what cargo says")?
            && artifact.package_id == project.id
        {
            let made = match purpose {
                Purpose::Run => artifact.filenames.into_iter().find(|name| name.extension() == Some("so")),
                Purpose::Test => artifact.executable.filter(|_| artifact.profile.test),
            };
            library = made.or(library);
        }
    }
    if !running.wait().context("cannot wait for cargo")?.success() {
        // Cargo has said why.
        return Err(say::Told.into());
    }
    warn_of_absent(project);
    let library = library.with_context(|| format!("cargo made no library of `{}`", project.name))?;
    Ok(library.into())
}

/// Rust links a crate that is named somewhere, and no other: the behaviours of one that is a dependency and is not named are
/// not there, without a word of the compiler.
fn warn_of_absent(project: &Project) {
    if project.behind.is_empty() {
        return;
    }
    let mut sources = String::new();
    read(&project.folder().join("src"), &mut sources);
    for name in project.behind.iter().filter(|name| !names(&sources, name)) {
        say::warning(format_args!(
            "`{name}` is a dependency that is not linked, so its behaviours are not in the application: \
             write `use {name} as _;` into lib.rs"
        ));
    }
}

fn read(folder: &Path, text: &mut String) {
    for entry in fs::read_dir(folder).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            read(&path, text);
        } else if path.extension().is_some_and(|extension| extension == "rs") {
            text.push_str(&fs::read_to_string(&path).unwrap_or_default());
        }
    }
}

/// Whether a word of the text is this.
fn names(text: &str, name: &str) -> bool {
    text.split(|letter: char| !letter.is_alphanumeric() && letter != '_').any(|word| word == name)
}
