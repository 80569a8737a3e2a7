//! Names that an application cannot have: those of OTP's own modules and applications.
//!
//! A module of ours called `lists` would stand before OTP's in the VM's path, or not be loaded at all; both fail far from
//! the cause. So a build refuses them, all at once.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use otp::generate::Source;

use crate::erlang::Erlang;

/// The name of the application that these are the files of.
///
/// # Errors
/// When there is none, or a name is taken.
pub(crate) fn check(sources: &[Source], erlang: &Erlang) -> Result<String> {
    let name = sources.iter().find_map(|source| source.file.strip_suffix(".app"));
    let name = name.context("the library has no application: write `otp::application!(root);` into its lib.rs")?;
    let applications: BTreeSet<_> = erlang.modules.values().map(|folder| without_version(folder)).collect();
    let mut seen = BTreeSet::new();
    let mut wrong = Vec::new();
    if applications.contains(name) {
        wrong.push(format!(
            "`{name}` is an application of Erlang/OTP {}: give the package another name",
            erlang.release
        ));
    }
    for module in sources.iter().filter_map(|source| source.file.strip_suffix(".erl")) {
        if let Some(folder) = erlang.modules.get(module) {
            wrong.push(format!(
                "`{module}` is a module of Erlang/OTP {} (of {folder}): give the behaviour of this name another one",
                erlang.release
            ));
        }
        if !seen.insert(module) {
            wrong.push(format!(
                "two behaviours are called `{module}`: each is a module in Erlang, and needs a name of its own"
            ));
        }
    }
    if !wrong.is_empty() {
        bail!("{}", wrong.join("\n"));
    }
    Ok(name.to_owned())
}

/// `stdlib-4.2` is of `stdlib`.
fn without_version(folder: &str) -> &str {
    folder.rsplit_once('-').map_or(folder, |(name, _)| name)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn erlang() -> Erlang {
        let modules = [("lists", "stdlib-4.2"), ("erlang", "erts")].map(|(one, of)| (one.to_owned(), of.to_owned()));
        let modules = modules.into_iter().collect();
        Erlang { key: String::new(), release: 25, erts: "13".into(), root: "/".into(), modules }
    }

    fn sources(files: &[&str]) -> Vec<Source> {
        files.iter().map(|file| Source { file: (*file).to_owned(), text: String::new() }).collect()
    }

    #[test]
    fn names_of_otp_are_refused_all_at_once() {
        let wrong = check(&sources(&["lists.erl", "erlang.erl", "fine.erl", "stdlib.app"]), &erlang());
        let wrong = wrong.expect_err("three names are taken").to_string();
        assert!(wrong.contains("`lists` is a module of Erlang/OTP 25 (of stdlib-4.2)"), "{wrong}");
        assert!(wrong.contains("`erlang` is a module of Erlang/OTP 25 (of erts)"), "{wrong}");
        assert!(wrong.contains("`stdlib` is an application") && !wrong.contains("fine"), "{wrong}");
    }

    #[test]
    fn a_module_has_one_source() {
        let wrong = check(&sources(&["one.erl", "one.erl", "app.app"]), &erlang()).expect_err("it is there twice");
        assert!(wrong.to_string().contains("two behaviours are called `one`"), "{wrong}");
        assert_eq!(check(&sources(&["one.erl", "app.app"]), &erlang()).expect("all is fine"), "app");
    }
}
