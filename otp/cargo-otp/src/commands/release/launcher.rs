//! The launcher of a release: the program that starts it, compiled for that release.
//!
//! The launcher's sources are part of this program. So there is one file to install, a release needs nothing of the machine that
//! this program was built on, and the launcher runs on the target that the application was compiled for.

use std::fs;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, bail};

use crate::say;

const SOURCES: [(&str, &str); 4] = [
    ("epmd.rs", include_str!("../../../launcher/epmd.rs")),
    ("main.rs", include_str!("../../../launcher/main.rs")),
    ("release.rs", include_str!("../../../launcher/release.rs")),
    ("remote.rs", include_str!("../../../launcher/remote.rs")),
];

/// Compiles it, by way of the folder `work`.
pub(super) fn compile(work: &Path, program: &Path) -> Result<()> {
    for folder in [work, program.parent().unwrap_or(work)] {
        fs::create_dir_all(folder).with_context(|| format!("cannot make {}", folder.display()))?;
    }
    for (name, text) in SOURCES {
        fs::write(work.join(name), text).with_context(|| format!("cannot write {name} into {}", work.display()))?;
    }
    let mut rustc = rustc();
    rustc.args(["--edition", "2024", "--crate-name", "launcher", "-C", "opt-level=s", "-C", "panic=abort"]);
    // It may need a library that is in the release, and is the program that says where these are.
    rustc.args(["-C", "strip=symbols", "-C", "link-arg=-Wl,-rpath,$ORIGIN/../native", "-o"]);
    rustc.arg(program).arg(work.join("main.rs"));
    say::command(&rustc);
    let output = rustc.output().context("cannot start rustc")?;
    if !output.status.success() {
        bail!("rustc does not compile the launcher of the release: {}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(())
}

/// The compiler of the cargo that started this.
fn rustc() -> Command {
    if let Some(rustc) = std::env::var_os("RUSTC") {
        return Command::new(rustc);
    }
    let beside = std::env::var_os("CARGO").map(|cargo| Path::new(&cargo).with_file_name("rustc"));
    match beside.filter(|rustc| rustc.is_file()) {
        Some(rustc) => Command::new(rustc),
        None => Command::new("rustc"),
    }
}
