//! The library in a real Erlang VM, as Erlang code sees it.

use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use in_a_vm::{compiled, run};
// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use machines as _;
use tempfile::TempDir;

/// A folder with the library and its Erlang half, compiled once for all tests.
fn library_folder() -> &'static Path {
    static FOLDER: OnceLock<TempDir> = OnceLock::new();
    FOLDER.get_or_init(|| compiled("machines", &[])).path()
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
