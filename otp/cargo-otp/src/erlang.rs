//! The Erlang that is installed on this machine.
//!
//! Starting a VM only to ask it takes a third of a second. So the answers are kept, under the identity of the program that was
//! asked, and Erlang is asked only when something must be compiled.

use std::collections::BTreeMap;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

use anyhow::{Context, Result, bail};
use serde::{Deserialize, Serialize};

use crate::say;

/// The oldest release that has all that is used.
const OLDEST: u32 = 25;

/// The questions, as an expression. The answer is lines of a word and its value.
const QUESTION: &str = "
    io:setopts([{encoding, unicode}]),
    Say = fun(What, Value) -> io:format(\"~s ~ts~n\", [What, Value]) end,
    Say(release, erlang:system_info(otp_release)), Say(erts, erlang:system_info(version)), Say(root, code:root_dir()),
    Application = fun(File) -> filename:basename(filename:dirname(filename:dirname(File))) end,
    [Say(module, [Name, \" \", case Where of preloaded -> \"erts\"; _ -> Application(Where) end])
        || {Name, Where, _} <- code:all_available()],
    halt().";

/// One Erlang/OTP.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub(crate) struct Erlang {
    /// The identity of the program `erl` that said this.
    pub(crate) key: String,
    pub(crate) release: u32,
    /// The version of the runtime system, which names its folder.
    pub(crate) erts: String,
    pub(crate) root: PathBuf,
    /// Every module, and the application that has it.
    pub(crate) modules: BTreeMap<String, String>,
}

impl Erlang {
    /// The answers kept in the file `known`, or new answers of `erl`.
    ///
    /// # Errors
    /// When there is none, or it is too old.
    pub(crate) fn known(known: &Path) -> Result<Self> {
        let key = key()?;
        let before = fs::read(known).ok().and_then(|text| serde_json::from_slice::<Self>(&text).ok());
        if let Some(before) = before.filter(|before| before.key == key && before.root.is_dir()) {
            return Ok(before);
        }
        let now = Self::asked()?;
        // It is written beside and moved there, since another may read it now. Without it, it is asked for again.
        let beside = known.with_extension(std::process::id().to_string());
        let kept =
            serde_json::to_vec(&now).map(|text| fs::write(&beside, text).and_then(|()| fs::rename(&beside, known)));
        if !matches!(kept, Ok(Ok(()))) {
            let _ = fs::remove_file(&beside);
        }
        Ok(now)
    }

    /// New answers of `erl`.
    pub(crate) fn asked() -> Result<Self> {
        let key = key()?;
        let output = run(helper("erl")?.args(["-noinput", "-boot", "no_dot_erlang", "-eval", QUESTION]))?;
        let said = String::from_utf8_lossy(&output.stdout);
        let value = |name: &str| {
            let mut found = said.lines().filter_map(|line| line.split_once(' '));
            found.find(|(what, _)| *what == name).map(|(_, value)| value)
        };
        let [Some(release), Some(erts), Some(root)] = [value("release"), value("erts"), value("root")] else {
            bail!("erl does not tell its release: {said}{}", String::from_utf8_lossy(&output.stderr));
        };
        let Some(release) = release.parse().ok().filter(|release| *release >= OLDEST) else {
            bail!("this is Erlang/OTP {release}, and {OLDEST} or newer is needed: {}", help());
        };
        let modules = said.lines().filter_map(|line| line.strip_prefix("module ")?.rsplit_once(' '));
        let modules = modules.map(|(module, application)| (module.to_owned(), application.to_owned())).collect();
        Ok(Self { key, release, erts: erts.to_owned(), root: root.into(), modules })
    }
}

/// Where a program of Erlang's is.
///
/// # Errors
/// When it is not here.
pub(crate) fn path(name: &str) -> Result<PathBuf> {
    let folders = std::env::var_os("PATH").unwrap_or_default();
    let found = std::env::split_paths(&folders).map(|folder| folder.join(name)).find(|path| path.is_file());
    found.with_context(|| format!("Erlang/OTP is needed and {name} is not in PATH: {}", help()))
}

/// A program of Erlang's.
pub(crate) fn program(name: &str) -> Result<Command> {
    Ok(Command::new(path(name)?))
}

/// One of Erlang's programs that does something for this one, and ends with it at Ctrl-C instead of asking what is meant.
pub(crate) fn helper(name: &str) -> Result<Command> {
    let mut command = program(name)?;
    let flags = std::env::var("ERL_AFLAGS").unwrap_or_default();
    command.env("ERL_AFLAGS", format!("{flags} +Bd").trim_start());
    Ok(command)
}

/// What tells one installed `erl` from another, and from the next version in its place.
pub(crate) fn key() -> Result<String> {
    let path = path("erl")?;
    let path = path.canonicalize().with_context(|| format!("cannot find {}", path.display()))?;
    let about = fs::metadata(&path).with_context(|| format!("cannot look at {}", path.display()))?;
    Ok(format!("{} {} {}", path.display(), about.len(), about.mtime()))
}

fn help() -> String {
    format!(
        "install OTP {OLDEST} or newer (on Debian or Ubuntu: apt-get install erlang-base; otherwise see \
         https://www.erlang.org/downloads)"
    )
}

/// Runs one of Erlang's programs to its end.
pub(crate) fn run(command: &mut Command) -> Result<Output> {
    say::command(command);
    let output = command.output().with_context(|| format!("cannot start {}", command.get_program().display()))?;
    if say::output().verbose > 0 {
        anstream::eprint!("{}", String::from_utf8_lossy(&output.stderr));
    }
    Ok(output)
}

/// Compiles modules into `out`.
pub(crate) fn compile(sources: &[PathBuf], out: &Path) -> Result<()> {
    // Deterministic, so that no path of this machine stands in what a release says.
    let output = run(helper("erlc")?.args(["+debug_info", "+deterministic", "-o"]).arg(out).args(sources))?;
    if !output.status.success() {
        let said = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        // What is wrong in a module stands with its line; a full disk does not.
        let line = |line: &str| line.split(':').nth(1).is_some_and(|number| number.parse::<u32>().is_ok());
        if said.lines().any(line) {
            bail!("erlc does not take what was generated, which is a defect of cargo-otp: {}", said.trim());
        }
        bail!("erlc cannot compile into {}: {} ({})", out.display(), said.trim(), output.status);
    }
    Ok(())
}
