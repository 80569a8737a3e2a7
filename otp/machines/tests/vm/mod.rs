//! The library in a real Erlang VM, as Erlang code sees it.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use machines as _;

/// A folder with the library and its Erlang half, compiled once for all tests.
fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<tempfile::TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| build("machines_native")).path()
}

/// A folder with the library under this name, and its Erlang half.
pub fn build(native: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut modules = Vec::new();
    for source in otp::generate::sources(native) {
        std::fs::write(folder.path().join(&source.file), &source.text).expect("write a source");
        modules.extend(source.file.ends_with(".erl").then_some(source.file));
    }
    std::fs::copy(library(), folder.path().join(format!("{native}.so"))).expect("copy the library");
    run(folder.path(), Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
    folder
}

/// The library, which cargo puts beside the tests.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("this program's path");
    own.with_file_name("libmachines.so")
}

fn run(folder: &Path, command: &mut Command) -> String {
    let output = command.current_dir(folder).output().expect("erlc and erl, of Debian's package erlang-base");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}

/// Has a VM run these expressions, of which none may raise anything, with these functions beside them. What it wrote is given
/// back.
pub fn check_with(expressions: &str, functions: &str) -> String {
    let checks = format!(
        "-module(checks).\n-compile([export_all, nowarn_export_all]).\nmain() ->\n    process_flag(trap_exit, true),\n    \
         {expressions},\n    logger_std_h:filesync(default),\n    init:stop().\n{functions}\n"
    );
    let folder = tempfile::tempdir().expect("a folder");
    std::fs::write(folder.path().join("checks.erl"), checks).expect("write a source");
    run(folder.path(), Command::new("erlc").args(["-Werror", "checks.erl"]));
    // A panic says what it says without its backtrace.
    let mut vm = Command::new("erl");
    let vm = vm.args(["-noshell", "-pa", ".", "-s", "checks", "main", "-pa"]).arg(library_folder());
    run(folder.path(), vm.env_remove("RUST_BACKTRACE"))
}
