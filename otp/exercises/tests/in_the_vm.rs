//! Starts the tests of this package inside of an Erlang VM.

use std::process::Command;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use exercises as _;

#[test]
fn what_otp_promises_holds() {
    let chosen = std::env::var("OTP_TEST").unwrap_or_default();
    in_a_vm("promises", &chosen.split_whitespace().collect::<Vec<_>>());
}

/// In a VM where nobody else uses memory.
#[test]
fn panics_take_nothing_else_with_them() {
    in_a_vm("panics", &["panics::", "--ignored"]);
}

fn in_a_vm(name: &str, chosen: &[&str]) {
    let folder = tempfile::tempdir().expect("a folder");
    let mut modules = Vec::new();
    for source in otp::generate::sources("exercises_native") {
        std::fs::write(folder.path().join(&source.file), &source.text).expect("write a source");
        modules.extend(source.file.ends_with(".erl").then_some(source.file));
    }
    let library = std::env::current_exe().expect("this program's path").with_file_name("libexercises.so");
    std::fs::copy(library, folder.path().join("exercises_native.so")).expect("copy the library");
    let run = |command: &mut Command| {
        let output =
            command.current_dir(folder.path()).output().expect("erlc and erl, of Debian's package erlang-base");
        let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
        assert!(output.status.success(), "{text}");
        text
    };
    run(Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
    let start = "exercises_native_test:main(init:get_plain_arguments()).";
    // Its own, so that another such run on this machine takes nothing away from it.
    let node = format!("exercises_{name}_{}", std::process::id());
    let text = run(Command::new("erl")
        .args([
            "-noshell",
            "-sname",
            &node,
            "-kernel",
            "logger_level",
            "critical",
            "-pa",
            ".",
            "-eval",
            start,
            "-extra",
        ])
        .args(chosen));
    println!("{text}");
    assert!(text.contains("test result: ok. "), "{text}");
}
