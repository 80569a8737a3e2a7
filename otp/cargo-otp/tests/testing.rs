//! Tests in a VM: `cargo otp test`, run as users run it.

mod common;

use std::fs;
use std::os::unix::process::CommandExt;
use std::path::Path;
use std::process::Command;

use common::{InTime, Running, Signal, User, edit, said, soon};

const TESTS: &str = "
#[cfg(test)]
mod more {
    use super::*;

    #[otp::test]
    async fn the_root_has_started_it() {
        let greeter = otp::Server::<Greeter>::named(concat!(env!(\"CARGO_PKG_NAME\"), \"_greeter\"));
        assert!(greeter.greet(\"Ada\".into()).await.is_ok(), \"no greeter\");
    }

    #[otp::test]
    #[ignore]
    async fn it_is_left_out() {
        panic!(\"as it should be\");
    }

    #[otp::test]
    #[should_panic(expected = \"of a panic\")]
    fn it_passes_because() {
        panic!(\"of a panic\");
    }

    #[otp::test]
    fn what_only_tests_need_is_there() {
        assert_eq!(helping::help(), cfg!(feature = \"loud\"));
    }

    #[test]
    fn plain() {
        assert_eq!(helping::help(), cfg!(feature = \"loud\"));
    }
}
";

/// Says in which process it is, and waits for its end.
const SLOW: &str = "#[otp::test]
#[ignore]
async fn it_takes_long() {
    println!(\"pid {}\", std::process::id());
    otp::time::sleep(std::time::Duration::from_secs(600)).await;
}
";

/// An application in a workspace, with a dependency that only its tests have.
#[test]
fn tests_run_in_a_vm_and_are_told_of_as_cargo_tells_them() {
    let user = User::new();
    let top = user.folder.path().join("whole");
    fs::create_dir(&top).expect("a folder");
    fs::write(top.join("Cargo.toml"), "[workspace]\nmembers = [\"tried\", \"helping\"]\nresolver = \"3\"\n")
        .expect("a workspace");
    common::lock(&top);
    user.done(&top, &["new", "tried"]);
    fs::create_dir_all(top.join("helping/src")).expect("a folder");
    fs::write(
        top.join("helping/Cargo.toml"),
        "[package]\nname = \"helping\"\nversion = \"0.1.0\"\nedition = \"2024\"\n\
                                                [features]\nloud = []\n",
    )
    .expect("a manifest");
    fs::write(top.join("helping/src/lib.rs"), "pub fn help() -> bool { cfg!(feature = \"loud\") }\n")
        .expect("a source");
    let path = top.join("tried");
    edit(&path.join("Cargo.toml"), |text| {
        text.replace(
            "[workspace]\n",
            "[dev-dependencies]\nhelping = { path = \"../helping\" }\n\n\
                                       [features]\nloud = [\"helping/loud\"]\n",
        )
    });
    edit(&path.join("src/lib.rs"), |text| text + TESTS);
    let failed = user.cargo_otp(&path, &["test"]).output_in_time();
    let text = said(&failed);
    assert_eq!(failed.status.code(), Some(101), "{text}");
    for line in [
        "running 5 tests",
        "test more::it_is_left_out ... ignored",
        "test more::it_passes_because ... ok",
        "test more::the_root_has_started_it ... FAILED",
        "test tests::a_greeter_counts ... ok",
        "no greeter",
        "test result: FAILED. 3 passed; 1 failed; 1 ignored;",
    ] {
        assert!(text.contains(line), "{line} is not in {text}");
    }
    assert!(!text.contains("warning"), "{text}");
    // With the application started, and the features, from the top of the workspace.
    fs::write(path.join("otp.toml"), "[test]\nstart = true\n").expect("settings");
    let text = user.done(&top, &["test", "-p", "tried", "--features", "loud", "more", "--", "--test-threads", "1"]);
    assert!(text.contains("test result: ok. 3 passed; 0 failed; 1 ignored;"), "{text}");
    let text = user.done(&path, &["test", "--", "--list"]);
    assert!(text.contains("more::it_is_left_out: test\n") && !text.contains("running"), "{text}");
    let failed = user.cargo_otp(&path, &["test", "left_out", "--", "--ignored"]).output_in_time();
    assert!(failed.status.code() == Some(101) && said(&failed).contains("as it should be"), "{}", said(&failed));
    // Ctrl-C ends them, with their VM.
    // Who starts this in the background may have it pass over Ctrl-C, and with it what is started here.
    let mut long = user.in_its_place(Command::new("env"), &path);
    long.args(["--default-signal=INT", env!("CARGO_BIN_EXE_cargo-otp"), "otp", "test", "slow", "--", "--ignored"]);
    fs::write(path.join("src/slow.rs"), SLOW).expect("a source");
    edit(&path.join("src/lib.rs"), |text| text + "\n#[cfg(test)]\nmod slow;\n");
    let mut long = Running::start(long.process_group(0));
    let pid = long.says("pid ").trim().trim_start_matches("pid ").to_owned();
    long.signal_all(Signal::INT);
    let rest = long.rest();
    assert!(long.ends().is_none() && !rest.contains("BREAK"), "{rest}");
    soon("the VM ends too", || !Path::new("/proc").join(&pid).exists());
    // The tests do not take the place of the application, nor it theirs; and cargo says which tests are not its own.
    user.done(&path, &["build"]);
    let text = user.done(&path, &["test", "--no-run", "-v"]);
    assert!(text.contains("Fresh tried") && !text.contains("the Erlang half"), "{text}");
    let mut cargo = user.in_its_place(Command::new(env!("CARGO")), &path);
    let output = cargo.args(["test", "--offline"]).output_in_time();
    assert!(output.status.success(), "{}", said(&output));
    assert!(said(&output).contains("test more::the_root_has_started_it ... ignored, in an Erlang VM: cargo otp test"));
    assert!(said(&output).contains("1 passed; 0 failed; 6 ignored"), "{}", said(&output));
}
