//! From sources to a folder that an Erlang VM runs.
//!
//! `target/otp/PROFILE/APP/` holds `src`, the generated Erlang, and `ebin`, what the VM loads: the modules, the resource file
//! and the library, which bears a name made of its content. So an unchanged library is known by its name, and a changed one
//! can be loaded beside the running one. The folder is made anew beside the old one and then takes its place.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use serde_json::Value;

use crate::{What, ask, erlang, say};

/// An application that can be run.
pub(crate) struct Built {
    pub(crate) name: String,
    pub(crate) ebin: PathBuf,
}

/// A library as cargo made it.
struct Library {
    /// The application: the package's name, as Erlang can have it.
    name: String,
    file: PathBuf,
}

pub(crate) fn build(what: &What) -> Result<Built> {
    let library = compile(what)?;
    let content = fs::read(&library.file).with_context(|| format!("cannot read {}", library.file.display()))?;
    let native = format!("{}_{:08x}", library.name, crc32fast::hash(&content));
    let beside = library.file.parent().context("the library lies in no folder")?;
    let profile = if what.release { "release" } else { "debug" };
    let folder = beside.with_file_name("otp").join(profile).join(&library.name);
    let built = Built { name: library.name.clone(), ebin: folder.join("ebin") };
    // The resource file is the last to be written.
    if built.ebin.join(format!("{native}.so")).exists() {
        return Ok(built);
    }
    say(anstyle::AnsiColor::Green, "Compiling", &format!("the Erlang half of {}", library.name));
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    half(&library, &native, &fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    let _ = fs::remove_dir_all(&folder);
    fs::rename(&fresh, &folder).with_context(|| format!("cannot move {} to {}", fresh.display(), folder.display()))?;
    Ok(built)
}

/// Writes and compiles the Erlang half into `folder`.
fn half(library: &Library, native: &str, folder: &Path) -> Result<()> {
    let (src, ebin) = (folder.join("src"), folder.join("ebin"));
    fs::create_dir_all(&src)?;
    fs::create_dir_all(&ebin)?;
    let mut modules = Vec::new();
    for source in ask::sources(&library.file, native)? {
        let erlang = source.file.ends_with(".erl");
        let path = if erlang { &src } else { &ebin }.join(&source.file);
        fs::write(&path, source.text)?;
        modules.extend(erlang.then_some(path));
    }
    erlang::compile(&modules, &ebin)?;
    fs::copy(&library.file, ebin.join(format!("{native}.so")))?;
    Ok(())
}

/// Has cargo compile the package, and finds the library that came out.
fn compile(what: &What) -> Result<Library> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--lib", "--message-format=json-render-diagnostics"]);
    if let Some(path) = &what.manifest_path {
        cargo.arg("--manifest-path").arg(path);
    }
    if let Some(package) = &what.package {
        cargo.args(["--package", package]);
    }
    if what.release {
        cargo.arg("--release");
    }
    let mut running = cargo.stdout(Stdio::piped()).spawn().context("cannot start cargo")?;
    let output = running.stdout.take().context("cargo has no output")?;
    let mut last = None;
    for line in BufReader::new(output).lines() {
        let line = line.context("cannot read what cargo says")?;
        let Ok(message) = serde_json::from_str::<Value>(&line) else { continue };
        if message["reason"] == "compiler-artifact"
            && strings(&message["target"]["crate_types"]).any(|kind| kind == "cdylib")
        {
            last = library(&message);
        }
    }
    if !running.wait().context("cannot wait for cargo")?.success() {
        bail!("the application was not compiled");
    }
    last.context("the package makes no library for a VM: its Cargo.toml needs [lib] crate-type = [\"cdylib\"]")
}

fn library(message: &Value) -> Option<Library> {
    let file = strings(&message["filenames"]).find(|name| name.ends_with(".so"))?;
    let manifest = Path::new(message["manifest_path"].as_str()?);
    // Erlang names the application as the package is called; the target's name has underscores only.
    let text = fs::read_to_string(manifest).ok()?;
    let name =
        text.lines().find_map(|line| line.strip_prefix("name = ")).map(|name| name.trim().trim_matches('"').to_owned());
    Some(Library { name: name?, file: file.into() })
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
