//! The store on three nodes, each an Erlang VM of its own.

use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use kv as _;

/// Runs a function of `checks.erl`.
fn check(function: &str) {
    let folder = tempfile::tempdir().expect("a folder");
    let write = |name: &str, text: &str| std::fs::write(folder.path().join(name), text).expect("write a source");
    let mut modules = vec!["checks.erl".to_owned()];
    write("checks.erl", include_str!("checks.erl"));
    for source in otp::generate::sources("kv_native") {
        write(&source.file, &source.text);
        modules.extend(source.file.ends_with(".erl").then_some(source.file));
    }
    let library = std::env::current_exe().expect("this program's path").with_file_name("libkv.so");
    std::fs::copy(library, folder.path().join("kv_native.so")).expect("copy the library");
    run(folder.path(), Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
    let epmd = Epmd::start();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", ".", "-s", "checks", function, "-s", "init", "stop"]);
    run(folder.path(), erl.env("ERL_EPMD_PORT", &epmd.port));
}

fn run(folder: &Path, command: &mut Command) {
    let output = command.current_dir(folder).output().expect("erlc and erl, of Debian's package erlang-base");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
}

/// Nodes of a test know each other by a daemon of their own, and no others.
struct Epmd {
    daemon: Child,
    port: String,
}

impl Epmd {
    fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number");
        let port = free.port().to_string();
        let mut daemon = Command::new("epmd");
        daemon.args(["-address", "127.0.0.1", "-port", &port]).stderr(Stdio::null());
        let epmd = Self { daemon: daemon.spawn().expect("start epmd, of Debian's package erlang-base"), port };
        let began = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "epmd does not listen");
            std::thread::sleep(Duration::from_millis(20));
        }
        epmd
    }
}

impl Drop for Epmd {
    fn drop(&mut self) {
        let _ = self.daemon.kill();
        let _ = self.daemon.wait();
    }
}

#[test]
fn all_have_what_one_is_told() {
    check("all_have_what_one_is_told");
}

#[test]
fn a_node_that_was_killed_catches_up() {
    check("a_node_that_was_killed_catches_up");
}

#[test]
fn both_sides_of_a_cut_agree_when_it_heals() {
    check("both_sides_of_a_cut_agree_when_it_heals");
}

#[test]
fn a_node_named_wrong_is_refused() {
    check("a_node_named_wrong_is_refused");
}
