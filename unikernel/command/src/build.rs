//! Builds a unikernel of a crate, with cargo.
//!
//! The target is that of Linux, since its core library is on every machine that has Rust, and floating point is as fast as it can be; what
//! the C library does elsewhere the library `unikernel` does, and the linker script puts the program where a monitor expects it.

use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context as _, bail};
use serde_json::Value;

use crate::cli::BuildOptions;

const TARGET: &str = "x86_64-unknown-linux-gnu";
const SCRIPT: &str = include_str!("link.ld");

/// Builds it, and says where it is.
pub fn build(options: &BuildOptions) -> anyhow::Result<PathBuf> {
    let manifest = options.path.join("Cargo.toml");
    if !manifest.exists() {
        bail!("{} has no Cargo.toml: `unikernel new NAME` makes a crate", options.path.display());
    }
    let folder = target_folder(&manifest)?.join("unikernel");
    std::fs::create_dir_all(&folder).with_context(|| format!("{} cannot be made", folder.display()))?;
    let script = folder.join("link.ld");
    if std::fs::read_to_string(&script).is_ok_and(|there| there == SCRIPT) {
        // Cargo would build anew what was linked with an older one.
    } else {
        std::fs::write(&script, SCRIPT).with_context(|| format!("{} cannot be written", script.display()))?;
    }
    let mut flags = vec!["--cfg=unikernel".to_owned(), "-Cpanic=abort".into(), "-Crelocation-model=static".into()];
    let linker = [
        "-nostartfiles",
        "-nostdlib",
        "-static",
        "-no-pie",
        "-Wl,--build-id=none",
        "-Wl,-u,unikernel_start",
        "-Wl,-u,unikernel_start_pvh",
    ];
    flags.extend(linker.iter().map(|flag| format!("-Clink-arg={flag}")));
    flags.push(format!("-Clink-arg=-T{}", script.display()));
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["build", "--target", TARGET, "--message-format", "json-render-diagnostics", "--manifest-path"]);
    cargo.arg(&manifest).arg("--target-dir").arg(&folder);
    cargo.env("CARGO_ENCODED_RUSTFLAGS", flags.join("\x1f")).env_remove("RUSTFLAGS");
    if !options.debug {
        cargo.arg("--release");
    }
    if let Some(bin) = &options.bin {
        cargo.args(["--bin", bin]);
    }
    let output = cargo.stderr(Stdio::inherit()).output().context("cargo could not be started")?;
    if !output.status.success() {
        bail!("cargo could not build it (a crate that needs the standard library cannot be part of a unikernel)");
    }
    let built: Vec<PathBuf> = String::from_utf8_lossy(&output.stdout).lines().filter_map(executable).collect();
    match &built[..] {
        [one] => Ok(one.clone()),
        [] => bail!("{} has no program: a unikernel has a src/main.rs", options.path.display()),
        _ => bail!("{} has several programs: --bin says which", options.path.display()),
    }
}

fn executable(line: &str) -> Option<PathBuf> {
    let message: Value = serde_json::from_str(line).ok()?;
    message["executable"].as_str().map(PathBuf::from)
}

/// Where cargo puts what it builds.
fn target_folder(manifest: &Path) -> anyhow::Result<PathBuf> {
    let mut cargo = Command::new(std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.args(["metadata", "--no-deps", "--format-version", "1", "--manifest-path"]).arg(manifest);
    let output = cargo.stderr(Stdio::inherit()).output().context("cargo could not be started")?;
    let metadata: Value = serde_json::from_slice(&output.stdout).context("cargo does not know the crate")?;
    let folder = metadata["target_directory"].as_str().context("cargo does not say where it builds")?;
    Ok(PathBuf::from(folder))
}
