//! The library in a real Erlang VM, as Erlang code sees it.

use std::path::{Path, PathBuf};
use std::process::Command;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use machines as _;

/// A folder with the library, its native module and `checks.erl`, compiled.
fn compiled(checks: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("write a source");
    let mut modules = vec!["checks.erl".to_owned()];
    write("checks.erl", checks);
    for source in otp::generate::sources("machines_native") {
        write(&source.file, &source.text);
        modules.extend(source.file.ends_with(".erl").then_some(source.file));
    }
    std::fs::copy(library(), folder.path().join("machines_native.so")).expect("copy the library");
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
    let folder = compiled(&checks);
    // A panic says what it says without its backtrace.
    let mut vm = Command::new("erl");
    run(folder.path(), vm.args(["-noshell", "-pa", ".", "-s", "checks", "main"]).env_remove("RUST_BACKTRACE"))
}
