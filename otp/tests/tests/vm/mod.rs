//! This application in a real Erlang VM.

use std::fs::{self, File};
use std::io::Write;
use std::path::{Path, PathBuf};
use std::process::Command;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use otp_tests as _;

/// A folder with the library, its Erlang half and one module more, compiled.
pub(crate) fn compiled(module: &str, text: &str) -> tempfile::TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| fs::write(folder.path().join(name), text).expect("write a source");
    let mut modules = vec![format!("{module}.erl")];
    write(&modules[0], text);
    for source in otp::generate::sources("otp_tests_native") {
        write(&source.file, &source.text);
        modules.extend(source.file.ends_with(".erl").then_some(source.file));
    }
    fs::copy(library(), folder.path().join("otp_tests_native.so")).expect("copy the library");
    run(folder.path(), Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
    folder
}

/// The library, which cargo puts beside the tests.
fn library() -> PathBuf {
    let own = std::env::current_exe().expect("this program's path");
    own.with_file_name("libotp_tests.so")
}

pub(crate) fn run(folder: &Path, command: &mut Command) -> String {
    let output = command.current_dir(folder).output().expect("erlc and erl, of Debian's package erlang-base");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    let beginning: String = text.chars().take(20_000).collect();
    assert!(output.status.success(), "{}: {beginning}", output.status);
    text
}

/// Names what could not be tested, for whoever runs the tests.
#[allow(dead_code, reason = "not all of the tests need anything that may be absent")]
pub(crate) fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut file| writeln!(file, "{what}")).expect("the list of what was skipped");
    }
}
