//! What a new user does: makes an application, builds it, runs it, sees a panic and the restart.

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Command, Output, Stdio};

/// `cargo otp …` in `folder`, without a network: what is needed was fetched for the workspace.
fn cargo_otp(folder: &Path, arguments: &[&str]) -> Command {
    let target = Path::new(env!("CARGO_TARGET_TMPDIR")).join("as-a-user");
    let mut command = Command::new(env!("CARGO_BIN_EXE_cargo-otp"));
    command.arg("otp").args(arguments).current_dir(folder);
    command.env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", target).env_remove("RUST_BACKTRACE");
    command
}

fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn done(folder: &Path, arguments: &[&str]) -> String {
    let output = cargo_otp(folder, arguments).output().expect("start cargo otp");
    assert!(output.status.success(), "{}", said(&output));
    said(&output)
}

/// A new application; the versions of its dependencies are those of this workspace.
fn new(name: &str) -> (tempfile::TempDir, PathBuf) {
    let folder = tempfile::tempdir().expect("a folder");
    done(folder.path(), &["new", name]);
    let path = folder.path().join(name);
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, path.join("Cargo.lock")).expect("copy the lock file");
    (folder, path)
}

#[test]
fn an_application_is_made_built_and_run() {
    let (_folder, path) = new("first_one");
    assert!(done(&path, &["build"]).contains("Compiling the Erlang half of first_one"));
    assert!(!done(&path, &["build"]).contains("the Erlang half"), "nothing changed");
    // One that calls its own greeter once, panics for a name, and ends.
    let lib = path.join("src/lib.rs");
    let text = fs::read_to_string(&lib).expect("the template").replace(
        "self.greeted += 1;",
        "assert!(name != \"nobody\", \"nobody is not greeted\");\n        self.greeted += 1;",
    );
    fs::write(&lib, text).expect("change the source");
    assert!(done(&path, &["build"]).contains("the Erlang half"), "the source changed");
    let talk = "timer:sleep(500), io:format(\"~ts~n\", [greeter:greet(greeter, <<\"A\">>)]), \
                catch greeter:greet(greeter, <<\"nobody\">>), timer:sleep(200), \
                io:format(\"~ts~n\", [greeter:greet(greeter, <<\"B\">>)]), init:stop().";
    let talk = format!("spawn(fun() -> {} end).", talk.trim_end_matches('.'));
    let said = done(&path, &["run", "--vm=-eval", &format!("--vm={talk}")]);
    assert_eq!(said.matches("the greeter is there").count(), 2, "{said}");
    assert!(said.contains("Hello, A! You are number 1.") && said.contains("Hello, B! You are number 1."), "{said}");
    assert!(said.contains("nobody is not greeted") && said.contains("src/lib.rs"), "{said}");
}

#[test]
fn an_application_whose_root_panics_says_so_and_fails() {
    let (_folder, path) = new("broken_one");
    let lib = path.join("src/lib.rs");
    let text = fs::read_to_string(&lib)
        .expect("the template")
        .replace("    one_for_one()", "    assert!(false, \"no tree today\");\n    one_for_one()");
    fs::write(&lib, text).expect("change the source");
    let output = cargo_otp(&path, &["run"]).output().expect("start cargo otp");
    let said = said(&output);
    assert_eq!(output.status.code(), Some(1), "{said}");
    assert!(said.contains("broken_one does not start") && said.contains("no tree today"), "{said}");
}

#[test]
fn it_runs_until_it_is_told_to_end() {
    let (_folder, path) = new("long_one");
    let mut running = cargo_otp(&path, &["run"]).stdout(Stdio::piped()).spawn().expect("start cargo otp");
    let mut lines = BufReader::new(running.stdout.take().expect("its output")).lines();
    let first = lines.next().expect("a line").expect("a text");
    assert_eq!(first, "the greeter is there");
    let killed = Command::new("kill").arg(running.id().to_string()).status().expect("start kill");
    assert!(killed.success() && running.wait().expect("wait for it").success());
}

#[test]
fn what_cannot_be_is_refused_with_what_to_do() {
    let folder = tempfile::tempdir().expect("a folder");
    let refused = |arguments: &[&str]| {
        let output = cargo_otp(folder.path(), arguments).output().expect("start cargo otp");
        assert_eq!(output.status.code(), Some(101), "{}", said(&output));
        said(&output)
    };
    assert!(refused(&["new", "My-App"]).contains("it is an atom in Erlang"));
    fs::create_dir(folder.path().join("there")).expect("a folder");
    assert!(refused(&["new", "there"]).contains("is there already"));
    assert!(refused(&["build"]).contains("could not find `Cargo.toml`"));
}
