//! The first steps of README.md, run as they stand there: each command, and the output that README.md gives for it.

mod common;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Instant;

use common::{InTime, Running, Signal, User, said};

/// The commands, and what each prints.
fn steps() -> Vec<(String, Option<String>)> {
    let readme = fs::read_to_string(repository().join("README.md")).expect("README.md");
    let (_, section) = readme.split_once("## OTP applications in Rust\n").expect("the section");
    let section = section.split("\n## ").next().unwrap_or_default();
    let blocks = section.split("```sh\n").skip(1).filter_map(|rest| rest.split_once("```"));
    let lines = blocks.flat_map(|(block, _)| block.lines().map(str::to_owned).collect::<Vec<_>>());
    lines
        .map(|line| match line.split_once("#=>") {
            Some((command, printed)) => (command.trim().to_owned(), Some(printed.trim().to_owned())),
            None => (line.trim().to_owned(), None),
        })
        .collect()
}

fn repository() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the repository")
}

/// Does the steps, in a copy of the names that the repository has at its top; with `install`, the command is compiled as they say.
fn follow(install: bool) {
    let user = User::new();
    // `..` of the folder where the user begins is the user's own.
    let mut folder = user.folder.path().join("kizami");
    fs::create_dir(&folder).expect("a folder");
    for entry in fs::read_dir(repository()).expect("the repository").flatten() {
        std::os::unix::fs::symlink(entry.path(), folder.join(entry.file_name())).expect("the repository in it");
    }
    let programs = user.folder.path().join("cargo");
    let built = Path::new(env!("CARGO_BIN_EXE_cargo-otp")).parent().expect("its folder").to_owned();
    let first = if install { programs.join("bin") } else { built };
    let path = std::env::join_paths(
        [first].into_iter().chain(std::env::split_paths(&std::env::var_os("PATH").unwrap_or_default())),
    );
    let path = path.expect("a path");
    let shell = |folder: &Path, command: &str| {
        let mut shell = user.in_its_place(Command::new("sh"), folder);
        shell.args(["-c", &format!("exec {command}")]).env("PATH", &path).env("CARGO_INSTALL_ROOT", &programs);
        if install {
            // All is compiled, as it is for who begins.
            shell.env("CARGO_TARGET_DIR", user.folder.path().join("target"));
        }
        shell
    };
    let steps = steps();
    assert!(steps.len() > 8 && steps[0].0.starts_with("cargo install "), "{steps:?}");
    let mut running = None;
    for (command, printed) in steps {
        let began = Instant::now();
        if command.starts_with("cargo install ") && !install {
            continue;
        }
        if let Some(to) = command.strip_prefix("cd ") {
            folder = folder.join(to).canonicalize().expect("the folder");
            continue;
        }
        if command == "cargo otp run" {
            let mut application = Running::start(&mut shell(&folder, &command));
            application.says(&printed.expect("what it prints"));
            running = Some(application);
        } else {
            let output = shell(&folder, &command).output_in_time();
            let said = said(&output);
            match printed {
                Some(printed) => assert!(said.contains(&printed), "{command}: {said}"),
                None => assert!(output.status.success(), "{command}: {said}"),
            }
        }
        println!("{:>6.1} s  {command}", began.elapsed().as_secs_f64());
    }
    let mut running = running.expect("it ran");
    running.says("the greeter is there");
    running.signal(Signal::TERM);
    assert_eq!(running.ends(), Some(0));
}

#[test]
fn the_first_steps_are_as_the_readme_has_them() {
    follow(false);
}

/// Says how long each step takes when nothing has been compiled: `cargo test -p cargo-otp --test readme -- --ignored --nocapture`.
#[test]
#[ignore = "compiles the command anew, which takes minutes"]
fn the_first_steps_take_less_than_five_minutes() {
    let began = Instant::now();
    follow(true);
    println!("{:>6.1} s  in all", began.elapsed().as_secs_f64());
    assert!(began.elapsed().as_secs() < 300);
}
