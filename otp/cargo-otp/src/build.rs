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
    /// What cargo calls it: the package's name, with underscores only.
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
    let ebin = folder.join("ebin");
    // The library is the last that is put there.
    if ebin.join(format!("{native}.so")).exists() {
        return Built::found(ebin);
    }
    say(anstyle::AnsiColor::Green, "Compiling", &format!("the Erlang half of {}", library.name));
    let fresh = folder.with_extension("new");
    let _ = fs::remove_dir_all(&fresh);
    half(&library, &native, &fresh).with_context(|| format!("cannot make {}", fresh.display()))?;
    let _ = fs::remove_dir_all(&folder);
    fs::rename(&fresh, &folder).with_context(|| format!("cannot move {} to {}", fresh.display(), folder.display()))?;
    Built::found(ebin)
}

impl Built {
    /// The application in this folder: its resource file bears its name.
    fn found(ebin: PathBuf) -> Result<Self> {
        let entries = fs::read_dir(&ebin).with_context(|| format!("cannot read {}", ebin.display()))?;
        let mut names = entries.filter_map(|entry| entry.ok()?.file_name().into_string().ok());
        let name = names.find_map(|name| name.strip_suffix(".app").map(str::to_owned));
        let name = name.with_context(|| format!("there is no application in {}", ebin.display()))?;
        Ok(Self { name, ebin })
    }
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
    Some(Library { name: message["target"]["name"].as_str()?.to_owned(), file: file.into() })
}

fn strings(value: &Value) -> impl Iterator<Item = &str> {
    value.as_array().into_iter().flatten().filter_map(Value::as_str)
}
