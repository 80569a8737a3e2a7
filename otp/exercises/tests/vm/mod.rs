//! A folder with this package as an application that a VM can load.

use std::path::Path;
use std::process::Command;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use exercises as _;

/// The application, compiled.
pub struct Vm(tempfile::TempDir);

impl Vm {
    pub fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut modules = Vec::new();
        for source in otp::generate::sources("exercises_native") {
            std::fs::write(folder.path().join(&source.file), &source.text).expect("write a source");
            modules.extend(source.file.ends_with(".erl").then_some(source.file));
        }
        let library = std::env::current_exe().expect("this program's path").with_file_name("libexercises.so");
        std::fs::copy(library, folder.path().join("exercises_native.so")).expect("copy the library");
        done(folder.path(), Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
        Self(folder)
    }

    /// What a VM prints that evaluates this and ends in order.
    pub fn run(&self, expression: &str, variables: &[(&str, &str)]) -> String {
        let mut erl = Command::new("erl");
        erl.args(["-noshell", "-pa", ".", "-eval", expression]).envs(variables.iter().copied());
        done(self.0.path(), &mut erl)
    }

    pub fn folder(&self) -> &Path {
        self.0.path()
    }
}

/// What it prints, if it ends in order.
pub fn done(folder: &Path, command: &mut Command) -> String {
    let output = command.current_dir(folder).output().expect("erlc and erl, of Debian's package erlang-base");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
}
