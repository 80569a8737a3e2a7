//! Images: programs for boards, built by cargo.

use std::env;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};
use cargo_metadata::Message;

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

/// Finds or builds a program: one of the packages in `rtos/ports/images` (`scenarios`, `overflow`, `overflow-handler` or
/// `counted`), the package in a folder, or a file that is built already.
pub fn build(program: &str, platform: Platform, model: Model) -> Result<Image> {
    let path = Path::new(program);
    let path = match program {
        "scenarios" | "overflow" | "overflow-handler" => {
            own("kizami-rtos-scenario-images", &format!("{program}-{model}-{platform}"), platform)?
        }
        "counted" => own("kizami-rtos-counted", &format!("{model}-{platform}"), platform)?,
        _ if path.join("Cargo.toml").is_file() => cargo(path, &[], platform)?,
        _ if path.is_file() => path.to_path_buf(),
        _ => bail!(
            "there is no program '{program}' for boards; there are 'scenarios', 'overflow', 'overflow-handler' and \
             'counted', and it may be the folder of a package or a built file"
        ),
    };
    Ok(Image { path, platform, model })
}

/// Builds one of the programs in `rtos/ports/images`.
fn own(package: &str, program: &str, platform: Platform) -> Result<PathBuf> {
    let ports = Path::new(env!("CARGO_MANIFEST_DIR")).join("../ports");
    cargo(&ports, &["--package", package, "--bin", program, "--features", platform.name()], platform)
}

/// Builds the program of a package for a board.
fn cargo(folder: &Path, arguments: &[&str], platform: Platform) -> Result<PathBuf> {
    let target = platform.target();
    let mut cargo = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()));
    cargo.current_dir(folder).args(["build", "--quiet", "--release", "--target", target]).args(arguments);
    cargo.arg("--message-format=json-render-diagnostics");
    cargo.env("CARGO_TARGET_DIR", made()).env_remove("RUSTFLAGS").stdin(Stdio::null());
    prepare(&mut cargo, target)?;
    let output = cargo.output().context("cannot start cargo")?;
    if !output.status.success() {
        bail!("cannot build {} for {target}:\n{}", folder.display(), String::from_utf8_lossy(&output.stderr));
    }
    let executables = Message::parse_stream(&output.stdout[..]).filter_map(|message| match message {
        Ok(Message::CompilerArtifact(artifact)) => artifact.executable,
        _ => None,
    });
    let [program] = &executables.collect::<Vec<_>>()[..] else {
        bail!("{} must have one program, not several or none", folder.display())
    };
    Ok(program.clone().into())
}

/// A folder of their own for what is built for boards, so that cargo does not wait for the cargo that runs this.
fn made() -> PathBuf {
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
            "there is no core library for {target}: `rustup target add {target}` fetches it; on Debian, `./x setup rtos` \
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
