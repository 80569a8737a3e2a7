//! The surroundings of a user: a shell, folders, cargo, and Erlang.
#![allow(dead_code, unused_imports, reason = "no test uses all of it")]

use std::fs;
use std::io::{BufRead, BufReader};
use std::path::{Path, PathBuf};
use std::process::{Child, ChildStderr, ChildStdout, Command, Stdio};
use std::time::{Duration, Instant};

use in_a_vm::{Epmd, LONG, Limit};
pub use in_a_vm::{InTime, certificates, said, skipped};
pub use rustix::process::Signal;
use rustix::process::{Pid, kill_process, kill_process_group};
use tempfile::TempDir;

/// Where all that the tests build lies, so that the library is compiled once.
pub fn target() -> PathBuf {
    Path::new(env!("CARGO_TARGET_TMPDIR")).join("as-a-user")
}

/// A user in a folder of their own.
pub struct User {
    pub folder: TempDir,
    pub epmd: Epmd,
}

impl User {
    pub fn new() -> Self {
        Self { folder: tempfile::tempdir().expect("a folder"), epmd: Epmd::start() }
    }

    /// `cargo otp …` in `folder`, without a network: what is needed was fetched for the workspace.
    pub fn cargo_otp(&self, folder: &Path, arguments: &[&str]) -> Command {
        let mut command = self.in_its_place(Command::new(env!("CARGO_BIN_EXE_cargo-otp")), folder);
        command.arg("otp").args(arguments);
        command
    }

    /// A command as the user starts it.
    pub fn in_its_place(&self, mut command: Command, folder: &Path) -> Command {
        command.current_dir(folder);
        command.env("CARGO_NET_OFFLINE", "true").env("CARGO_TARGET_DIR", target()).env_remove("RUST_BACKTRACE");
        // Nobody debugs what is built here, and it is linked faster without.
        command.env("CARGO_PROFILE_DEV_DEBUG", "0");
        command.env("ERL_EPMD_PORT", &self.epmd.port).stdin(Stdio::null());
        // A home of its own, where Erlang keeps its cookie; but cargo's and rustup's things are where they are.
        if let Some(home) = std::env::home_dir() {
            for (name, folder) in [("CARGO_HOME", ".cargo"), ("RUSTUP_HOME", ".rustup")] {
                command.env(name, std::env::var_os(name).unwrap_or_else(|| home.join(folder).into()));
            }
        }
        command.env("HOME", self.folder.path());
        command
    }

    /// What it says when it succeeds.
    pub fn done(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.cargo_otp(folder, arguments).output_in_time();
        assert!(output.status.success(), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    /// What it says when it fails for a reason of its own.
    pub fn refused(&self, folder: &Path, arguments: &[&str]) -> String {
        let output = self.cargo_otp(folder, arguments).output_in_time();
        assert_eq!(output.status.code(), Some(101), "{arguments:?}: {}", said(&output));
        said(&output)
    }

    /// A new application; the versions of its dependencies are those of this workspace.
    pub fn application(&self, name: &str, template: &str) -> PathBuf {
        self.done(self.folder.path(), &["new", name, "--template", template]);
        let path = self.folder.path().join(name);
        lock(&path);
        path
    }

    /// Holds that rustfmt, as everybody has it, has nothing to change.
    pub fn finds_formatted(&self, folder: &Path) {
        let mut cargo = self.in_its_place(Command::new(env!("CARGO")), folder);
        let output = cargo.args(["fmt", "--check"]).output_in_time();
        let text = said(&output);
        if text.contains("no such command") || text.contains("not installed") {
            return skipped("cargo-otp: the form of the templates: no rustfmt");
        }
        assert!(output.status.success(), "{text}");
    }

    /// `cargo otp run`, once the greeter of the minimal template is there.
    pub fn run(&self, folder: &Path, arguments: &[&str]) -> Running {
        let mut command = self.cargo_otp(folder, &[&["run"], arguments].concat());
        let mut running = Running::start(&mut command);
        running.says("the greeter is there");
        running
    }
}

/// Gives a package the versions of this workspace.
pub fn lock(package: &Path) {
    let lock = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../Cargo.lock");
    fs::copy(lock, package.join("Cargo.lock")).expect("copy the lock file");
}

pub fn edit(file: &Path, change: impl Fn(String) -> String) {
    let before = fs::read_to_string(file).expect("a source");
    let after = change(before.clone());
    assert_ne!(before, after, "nothing changed in {}", file.display());
    fs::write(file, after).expect("change the source");
}

/// Waits until it is so.
pub fn soon(what: &str, is: impl Fn() -> bool) {
    let began = Instant::now();
    while !is() {
        assert!(began.elapsed() < Duration::from_secs(60), "it never came to this: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// A program that runs, and ends with the test.
pub struct Running {
    pub child: Child,
    output: BufReader<ChildStdout>,
    errors: Option<ChildStderr>,
    limit: Option<Limit>,
}

impl Running {
    pub fn start(command: &mut Command) -> Self {
        let mut child = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().expect("start the program");
        let output = BufReader::new(child.stdout.take().expect("its output"));
        let errors = child.stderr.take();
        let limit = Some(Limit::of(&child, LONG));
        Self { child, output, errors, limit }
    }

    /// Reads its output until a line holds this; that line.
    pub fn says(&mut self, text: &str) -> String {
        loop {
            let mut line = String::new();
            let length = self.output.read_line(&mut line).expect("a line");
            if length == 0 {
                let errors = self.errors.take().map(std::io::read_to_string);
                panic!("it ended without saying {text}: {errors:?}");
            }
            if line.contains(text) {
                return line;
            }
        }
    }

    /// Its standard error, by lines.
    pub fn errors(&mut self) -> BufReader<ChildStderr> {
        BufReader::new(self.errors.take().expect("nobody took it"))
    }

    pub fn signal(&self, signal: Signal) {
        kill_process(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// To all of its group, as a terminal does.
    pub fn signal_all(&self, signal: Signal) {
        kill_process_group(Pid::from_child(&self.child), signal).expect("it runs");
    }

    /// What it says until its end.
    pub fn rest(&mut self) -> String {
        std::io::read_to_string(&mut self.output).expect("a text")
    }

    /// Its exit status.
    pub fn ends(&mut self) -> Option<i32> {
        self.child.wait().expect("wait for it").code()
    }
}

/// Its VM goes with it.
impl Drop for Running {
    fn drop(&mut self) {
        let _ = self.child.kill();
        // Before its number can be that of another program.
        self.limit.take().map(Limit::is_over);
        let _ = self.child.wait();
    }
}
