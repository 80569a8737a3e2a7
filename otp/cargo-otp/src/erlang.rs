//! The Erlang that is installed here.

use std::path::PathBuf;
use std::process::Command;

use anyhow::{Result, bail};

/// The oldest release that has all that is used.
const OLDEST: u32 = 25;

/// A program of Erlang's, if it is here and new enough.
pub(crate) fn program(name: &str) -> Result<Command> {
    let found =
        std::env::var_os("PATH").is_some_and(|path| std::env::split_paths(&path).any(|p| p.join(name).is_file()));
    if !found {
        bail!(
            "Erlang/OTP is needed and {name} is not in PATH: install OTP {OLDEST} or newer (on Debian or Ubuntu: \
             apt-get install erlang-base; otherwise see https://www.erlang.org/downloads)"
        );
    }
    Ok(Command::new(name))
}

/// # Errors
/// When the release is too old.
pub(crate) fn is_new_enough() -> Result<()> {
    let root = program("erl")?
        .args(["-noshell", "-boot", "start_clean", "-eval"])
        .arg("io:format(\"~s ~s\", [erlang:system_info(otp_release), code:root_dir()]), halt().")
        .output()?;
    let said = String::from_utf8_lossy(&root.stdout).into_owned();
    let release = said.split(' ').next().and_then(|release| release.parse::<u32>().ok());
    match release {
        Some(release) if release >= OLDEST => Ok(()),
        Some(release) => bail!("this is Erlang/OTP {release}, and {OLDEST} or newer is needed"),
        None => bail!("erl does not tell its release: {said}{}", String::from_utf8_lossy(&root.stderr)),
    }
}

/// Compiles modules into `out`.
pub(crate) fn compile(sources: &[PathBuf], out: &std::path::Path) -> Result<()> {
    is_new_enough()?;
    let output = program("erlc")?.args(["+debug_info", "-o"]).arg(out).args(sources).output()?;
    if !output.status.success() {
        bail!(
            "erlc does not take what was generated, which is a defect of cargo-otp: {}{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr)
        );
    }
    Ok(())
}
