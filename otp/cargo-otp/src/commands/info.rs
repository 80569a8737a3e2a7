//! `cargo otp info`: what is installed here and what is missing, for a user who asks why something does not work.

use std::process::{Command, ExitCode};

use anstream::println;
use anyhow::{Result, anyhow};

use crate::exit::FAILED;
use crate::{epmd, erlang};

/// Writes it down; fails when something that every application needs is missing.
pub(crate) fn info() -> ExitCode {
    let mut missing = false;
    let mut line = |what: &str, found: Result<String>, needed: bool| match found {
        Ok(found) => println!("{what:<14} {found}"),
        Err(why) => {
            println!("{what:<14} {why:#}");
            missing |= needed;
        }
    };
    line("cargo-otp", Ok(env!("CARGO_PKG_VERSION").to_owned()), true);
    line("rustc", first_line("rustc", "--version"), true);
    line("cargo", first_line("cargo", "--version"), true);
    match erlang::Erlang::asked() {
        Ok(found) => {
            let all = format!("OTP {}, runtime system {}, in {}", found.release, found.erts, found.root.display());
            line("Erlang", Ok(all), true);
            let has = |module: &str| found.modules.get(module).cloned();
            let boots =
                has("systools").ok_or_else(|| anyhow!("missing: `cargo otp release` needs the application sasl"));
            line("boot files", boots, false);
            let path = |name: &str| erlang::path(name).map(|path| path.display().to_string());
            line("erlc", path("erlc"), true);
            line("escript", path("escript"), false);
            line("epmd", path("epmd"), false);
        }
        Err(error) => line("Erlang", Err(error), true),
    }
    let nodes = match epmd::names() {
        None => "none: epmd does not run, and is started when it is needed".to_owned(),
        Some(names) if names.is_empty() => "none".to_owned(),
        Some(names) => names.join(", "),
    };
    line("nodes", Ok(nodes), false);
    line("cookie", cookie(), false);
    if missing { ExitCode::from(FAILED) } else { ExitCode::SUCCESS }
}

/// Where nodes that are given no cookie have theirs from.
fn cookie() -> Result<String> {
    let home = std::env::var_os("HOME").ok_or_else(|| anyhow!("HOME is not set, and Erlang keeps its cookie there"))?;
    let file = std::path::Path::new(&home).join(".erlang.cookie");
    let there = if file.exists() { "" } else { " (made by the first node that has a name)" };
    Ok(format!("{}{there}", file.display()))
}

fn first_line(program: &str, flag: &str) -> Result<String> {
    let output = Command::new(program).arg(flag).output();
    let output = output.map_err(|error| anyhow!("missing: {error}; see https://rustup.rs"))?;
    Ok(String::from_utf8_lossy(&output.stdout).lines().next().unwrap_or_default().to_owned())
}
