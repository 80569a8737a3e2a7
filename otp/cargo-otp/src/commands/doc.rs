//! `cargo otp doc`: the documentation that `cargo doc` makes of the Rust side, and a page of the functions that Erlang and Elixir
//! call.

use std::fmt::Write;
use std::fs;
use std::path::Path;

use anyhow::{Context, Result, bail};

use crate::build::build;
use crate::project::What;
use crate::say;

pub(crate) fn doc(what: &What, open: bool) -> Result<()> {
    let built = build(what)?;
    let mut modules = Vec::new();
    let sources = built.folder.join("src");
    let entries = fs::read_dir(&sources).with_context(|| format!("cannot read {}", sources.display()))?;
    // What belongs to the build itself is for nobody to call.
    let inner = |path: &Path| path.file_stem().is_some_and(|stem| stem.to_string_lossy().starts_with(&built.native));
    for path in entries.flatten().map(|entry| entry.path()).filter(|path| !inner(path)) {
        modules.push(fs::read_to_string(&path).with_context(|| format!("cannot read {}", path.display()))?);
    }
    modules.sort();
    let mut page = format!("# {} {}: its Erlang modules\n", built.name, built.project.version);
    modules.iter().filter_map(|module| section(module)).for_each(|section| page.push_str(&section));
    let folder = built.project.output().join("doc");
    fs::create_dir_all(&folder).with_context(|| format!("cannot make {}", folder.display()))?;
    let file = folder.join(format!("{}.md", built.name));
    fs::write(&file, page).with_context(|| format!("cannot write {}", file.display()))?;
    say::step("Generated", file.display());
    let mut cargo = what.compile("doc", &built.project);
    cargo.args(["--no-deps", "--lib"]).args(open.then_some("--open"));
    if !cargo.status().context("cannot start cargo")?.success() {
        bail!("could not document `{}`", built.project.name);
    }
    Ok(())
}

/// What a module that somebody may call says of itself and of its functions; nothing of the one that holds the native functions,
/// nor of what only OTP calls.
fn section(module: &str) -> Option<String> {
    let name = module.lines().find_map(|line| line.strip_prefix("-module(")?.strip_suffix(")."))?;
    if !module.contains("\n-spec ") || module.contains("\n-on_load(") || module.contains("\n-behaviour(application)") {
        return None;
    }
    let comment = |line: &str| line.strip_prefix("%%").map(|text| text.trim().to_owned());
    let mut section = format!("\n## {name}\n");
    let mut about: Vec<String> = Vec::new();
    let mut lines = module.lines().take_while(|line| !line.starts_with("%% -----"));
    while let Some(line) = lines.next() {
        if let Some(text) = comment(line) {
            about.push(text);
            continue;
        }
        if line.starts_with("-module(") {
            let _ = write!(section, "\n{}\n", about.join("  \n"));
        } else if line.starts_with("-spec ") || line.starts_with("-type ") {
            let mut form = line.strip_prefix("-spec ").unwrap_or(line).to_owned();
            while !form.ends_with('.')
                && let Some(line) = lines.next()
            {
                form += "\n";
                // What stands below the beginning of what a spec says stays there.
                form += if form.starts_with("-type ") { line } else { line.strip_prefix("      ").unwrap_or(line) };
            }
            let _ = write!(section, "\n```erlang\n{form}\n```\n");
            if !about.is_empty() {
                let _ = writeln!(section, "{}", about.join(" "));
            }
        }
        about.clear();
    }
    Some(section)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_function_stands_there_with_its_type_and_what_it_does() {
        let module = "%% Counter: a gen_server in Rust.\n%% It counts.\n-module(counter).\n-export([add/2]).\n\n\
                      %% What is added.\n-type sum() :: #{\n    n := integer()\n}.\n\n\
                      %% Adds.\n-spec add(server(),\n          N :: integer()) -> integer().\nadd(Server, N) ->\n    ok.\n\n\
                      %% Not for others.\nhelp() -> ok.\n\n\
                      %% ------- what OTP calls\n\n-spec init(term()) -> ok.\ninit(_) -> ok.\n";
        assert_eq!(
            section(module).expect("it is for others"),
            "\n## counter\n\nCounter: a gen_server in Rust.  \nIt counts.\n\n```erlang\n-type sum() :: #{\n    n := integer()\n}.\n```\n\
             What is added.\n\n```erlang\nadd(server(),\n    N :: integer()) -> integer().\n```\nAdds.\n"
        );
        assert_eq!(section("-module(x).\n-on_load(load/0).\n-spec f() -> ok.\n"), None);
    }
}
