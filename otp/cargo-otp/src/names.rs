//! Reserved names: the modules and applications of OTP, whose names an application cannot have.
//!
//! An application's module called `lists` would come before OTP's in the VM's path, or not be loaded at all; both fail far from
//! the cause. So a build refuses such names, all at once.

use std::collections::BTreeSet;

use anyhow::{Context, Result, bail};
use otp::generate::Source;

use crate::erlang::Erlang;

/// Keywords, and crates that are there without being asked for.
const OF_RUST: [&str; 57] = [
    "abstract",
    "alloc",
    "as",
    "async",
    "await",
    "become",
    "box",
    "break",
    "const",
    "continue",
    "core",
    "crate",
    "do",
    "dyn",
    "else",
    "enum",
    "extern",
    "false",
    "final",
    "fn",
    "for",
    "gen",
    "if",
    "impl",
    "in",
    "let",
    "loop",
    "macro",
    "match",
    "mod",
    "move",
    "mut",
    "otp",
    "override",
    "priv",
    "proc_macro",
    "pub",
    "ref",
    "return",
    "self",
    "static",
    "std",
    "struct",
    "super",
    "test",
    "trait",
    "true",
    "try",
    "type",
    "typeof",
    "unsafe",
    "unsized",
    "use",
    "virtual",
    "where",
    "while",
    "yield",
];

/// Checks that cargo and Erlang both accept `name` as the name of `what`.
///
/// # Errors
/// When one of them does not.
pub(crate) fn may_be_called(name: &str, what: &str, erlang: Option<&Erlang>) -> Result<()> {
    let plain = name.starts_with(|first: char| first.is_ascii_lowercase())
        && name.chars().all(|letter| letter.is_ascii_lowercase() || letter.is_ascii_digit() || letter == '_');
    if !plain {
        bail!(
            "`{name}` is no name for {what}: it is an atom in Erlang, so use a to z, 0 to 9 and _, and begin with a letter"
        );
    }
    if OF_RUST.contains(&name) {
        bail!("`{name}` is no name for {what}: it has a meaning in Rust");
    }
    // Without Erlang it cannot be said yet; the build will.
    let taken = erlang.and_then(|erlang| {
        erlang.modules.get(name).or_else(|| erlang.modules.values().find(|folder| without_version(folder) == name))
    });
    if let Some(folder) = taken {
        bail!("`{name}` is no name for {what}: Erlang/OTP has it already, in {folder}");
    }
    Ok(())
}

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
                "two modules of the application are called `{module}`: give the behaviour of this name another one"
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
        assert!(wrong.to_string().contains("two modules of the application are called `one`"), "{wrong}");
        assert_eq!(check(&sources(&["one.erl", "app.app"]), &erlang()).expect("all is fine"), "app");
    }
}
