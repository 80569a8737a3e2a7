//! A program for a board, built by cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use crate::platform::{Model, Platform};

/// A built program.
#[derive(Clone, Debug)]
pub struct Image {
    /// The ELF file.
    pub path: PathBuf,
    /// Which port it is for.
    pub platform: Platform,
    /// For how many processors.
    pub model: Model,
}

/// Builds a program of one of the packages in `rtos/ports/images`: `scenarios` or `counted`.
pub fn build(package: &str, platform: Platform, model: Model) -> Result<Image> {
    let (cargo_package, program) = match package {
        "scenarios" => ("kizami-rtos-scenario-images", format!("scenarios-{model}-{platform}")),
        "overflow" | "overflow-handler" => ("kizami-rtos-scenario-images", format!("{package}-{model}-{platform}")),
        "counted" => ("kizami-rtos-counted", format!("{model}-{platform}")),
        other => bail!(
            "there is no program '{other}' for boards; there are 'scenarios', 'overflow', 'overflow-handler' and 'counted'"
        ),
    };
    let target = platform.target();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(ports()).args(["build", "--quiet", "--release", "--target", target]);
    cargo.args(["--package", cargo_package, "--bin", &program, "--features", platform.name()]);
    let folder = folder();
    cargo.env("CARGO_TARGET_DIR", &folder).env_remove("RUSTFLAGS").stdin(Stdio::null());
    prepare(&mut cargo, target)?;
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cannot build {program} for {target}:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(Image { path: folder.join(target).join("release").join(program), platform, model })
}

/// Where the crates for boards are.
fn ports() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../ports")
}

/// A folder of their own for what is built for boards, so that cargo does not wait for the cargo that runs this.
fn folder() -> PathBuf {
    let all = env::var_os("CARGO_TARGET_DIR").map(PathBuf::from);
    let all = all.unwrap_or_else(|| Path::new(env!("CARGO_MANIFEST_DIR")).join("../../target"));
    // Cargo is started in another folder than this.
    std::path::absolute(&all).unwrap_or(all).join("boards")
}

/// Sees to it that there is a core library for the target: fetched by rustup, or built from Debian's sources.
pub fn prepare(cargo: &mut Command, target: &str) -> Result<()> {
    if answer(Command::new("rustc").args(["--print", "target-libdir", "--target", target]))
        .is_ok_and(|folder| Path::new(&folder).is_dir())
    {
        return Ok(());
    }
    if let Ok(rustup) = Command::new("rustup").args(["target", "add", target]).output()
        && rustup.status.success()
    {
        return Ok(());
    }
    let sysroot = answer(Command::new("rustc").args(["--print", "sysroot"]))?;
    if !Path::new(&sysroot).join("lib/rustlib/src/rust/library/core").is_dir() {
        bail!(
            "there is no core library for {target}: `rustup target add {target}` fetches it; on Debian, `./x setup test` \
             installs its sources"
        );
    }
    // It builds as stable does: only cargo's own option needs the permission.
    cargo.env("RUSTC_BOOTSTRAP", "1").arg("-Zbuild-std=core");
    // Debian's rustc has no linker of its own for boards; its package lld has the same one.
    cargo.env(format!("CARGO_TARGET_{}_LINKER", target.replace(['-', '.'], "_").to_uppercase()), "ld.lld");
    Ok(())
}

fn answer(command: &mut Command) -> Result<String> {
    let output = command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if !output.status.success() {
        bail!("{command:?} failed:\n{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(String::from_utf8_lossy(&output.stdout).trim().to_string())
}
