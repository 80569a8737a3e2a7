//! Compiling a library with its tests in it, as a library that a VM loads.
//!
//! Cargo compiles the tests of a library to a program, which no VM can load, and has no flag for another kind of crate. It has
//! one for another compiler, though: named in `RUSTC_WORKSPACE_WRAPPER`, this program gets each call of rustc for the workspace.
//! A call that would compile the library's tests to a program is changed to make a library with `cfg(test)` instead. Everything
//! else stays cargo's: features, profiles, dev-dependencies, and that nothing is compiled twice. Cargo keeps the output of a
//! wrapper apart from the output of rustc alone, so an ordinary build finds its own.

use std::ffi::OsString;
use std::path::Path;
use std::process::{Command, ExitCode};

use crate::exit::{FAILED, code};

/// The name of the library whose tests are meant; set for this program as the wrapper.
pub(crate) const VARIABLE: &str = "CARGO_OTP_TESTS_OF";

/// Does what rustc would, if cargo asks for it.
pub(crate) fn instead_of_rustc() -> Option<ExitCode> {
    let library = std::env::var(VARIABLE).ok()?;
    let mut arguments = std::env::args_os().skip(1);
    let rustc = arguments.next()?;
    let status = Command::new(rustc).args(changed(arguments.collect(), &library)).status();
    Some(match status {
        Ok(status) => code(status),
        Err(error) => {
            eprintln!("error: cannot start rustc: {error}");
            ExitCode::from(FAILED)
        }
    })
}

/// The arguments for a library with tests, where they were for a program with those of `library`.
fn changed(arguments: Vec<OsString>, library: &str) -> Vec<OsString> {
    let after = |flag: &str| {
        let at = arguments.iter().position(|argument| argument == flag)?;
        arguments.get(at + 1).and_then(|value| value.to_str()).map(str::to_owned)
    };
    let meant = after("--crate-name").as_deref() == Some(library) && arguments.iter().any(|one| one == "--test");
    let folder = after("--out-dir");
    let suffix = arguments.iter().find_map(|one| one.to_str()?.strip_prefix("extra-filename=").map(str::to_owned));
    let (true, Some(folder), Some(suffix)) = (meant, folder, suffix) else { return arguments };
    // Cargo looks for a program of this name.
    let link = format!("link={}", Path::new(&folder).join(format!("{library}{suffix}")).display());
    let mut all: Vec<OsString> = Vec::new();
    for argument in arguments {
        match argument.to_str() {
            Some("--test") => all.extend(["--crate-type", "cdylib", "--cfg", "test"].map(Into::into)),
            Some(text) if text.starts_with("--emit=") => all.push(text.replace("link", &link).into()),
            _ => all.push(argument),
        }
    }
    // Of what only #[test] uses nothing is used here; and cfg(test) is said as cargo never says it.
    all.extend(["-A", "unknown_lints", "-A", "explicit_builtin_cfgs_in_flags", "-A", "unused"].map(Into::into));
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    fn said(arguments: &str) -> String {
        let arguments = arguments.split(' ').map(Into::into).collect();
        let all = changed(arguments, "shop");
        all.iter().map(|argument| argument.to_string_lossy()).collect::<Vec<_>>().join(" ")
    }

    #[test]
    fn a_program_of_tests_becomes_a_library_where_cargo_looks_for_the_program() {
        assert_eq!(
            said("--crate-name shop src/lib.rs --emit=dep-info,link --test -C extra-filename=-1a --out-dir /t/deps"),
            "--crate-name shop src/lib.rs --emit=dep-info,link=/t/deps/shop-1a --crate-type cdylib --cfg test \
             -C extra-filename=-1a --out-dir /t/deps -A unknown_lints -A explicit_builtin_cfgs_in_flags -A unused"
        );
    }

    #[test]
    fn all_else_is_compiled_as_ever() {
        for other in [
            "--crate-name shop src/lib.rs --crate-type cdylib --emit=dep-info,link -C extra-filename=-1a --out-dir /t/deps",
            "--crate-name other src/lib.rs --emit=dep-info,link --test -C extra-filename=-1a --out-dir /t/deps",
            "-vV",
        ] {
            assert_eq!(said(other), other);
        }
    }
}
