//! Help for tests of applications in a real Erlang VM: the application compiled into a folder, programs that must succeed, and an
//! epmd of a test's own.
//!
//! Users have `cargo otp test`. This crate is for tests that look at the library from Erlang, or start VMs in ways of their own.
//! A test names its application (`use counter as _;`), so that the application's behaviours are linked in and can be asked for.

use std::fs::{self, File};
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Output, Stdio};
use std::sync::mpsc::{self, RecvTimeoutError};
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};

use tempfile::TempDir;

/// A folder with the library of this name and its Erlang half, and more modules, given as name and text; all of it compiled. The
/// native module is called `LIBRARY_native`.
pub fn compiled(library: &str, more: &[(&str, &str)]) -> TempDir {
    compiled_as(library, &format!("{library}_native"), more)
}

/// The same with another name for the native module.
pub fn compiled_as(library: &str, native: &str, more: &[(&str, &str)]) -> TempDir {
    let folder = tempfile::tempdir().expect("a folder");
    let mut modules = Vec::new();
    let sources =
        otp::generate::sources(native).expect("the Erlang half").into_iter().map(|source| (source.file, source.text));
    for (file, text) in sources.chain(more.iter().map(|(name, text)| (format!("{name}.erl"), (*text).to_owned()))) {
        fs::write(folder.path().join(&file), text).expect("write a source");
        modules.extend(file.ends_with(".erl").then_some(file));
    }
    // Cargo puts the library beside the tests.
    let own = std::env::current_exe().expect("this program's path");
    fs::copy(own.with_file_name(format!("lib{library}.so")), folder.path().join(format!("{native}.so")))
        .expect("copy the library");
    run(folder.path(), Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules));
    folder
}

/// More than any program of a test takes on a slow machine.
pub const LONG: Duration = Duration::from_secs(600);

/// The output of a program that runs in this folder and must succeed.
pub fn run(folder: &Path, command: &mut Command) -> String {
    run_within(folder, command, LONG)
}

/// The same for a program that may take so long.
pub fn run_within(folder: &Path, command: &mut Command, time: Duration) -> String {
    let output = ended_within(command.current_dir(folder), time);
    let text = said(&output);
    assert!(output.status.success(), "{}: {}", output.status, beginning(&text));
    text
}

/// What a program said, on either output.
pub fn said(output: &Output) -> String {
    String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr)
}

fn beginning(text: &str) -> String {
    text.chars().take(20_000).collect()
}

/// Programs that a test waits for: one that hangs fails the test and shows how far it came.
pub trait InTime {
    /// As [`Command::output`], for no longer than [`LONG`].
    fn output_in_time(&mut self) -> Output;
}

impl InTime for Command {
    fn output_in_time(&mut self) -> Output {
        ended_within(self, LONG)
    }
}

fn ended_within(command: &mut Command, time: Duration) -> Output {
    // A dump of what a VM held when a check failed takes minutes where it held much, and nobody reads it.
    command.env("ERL_CRASH_DUMP_BYTES", "0");
    let started = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
    let child = started.unwrap_or_else(|why| panic!("start {}: {why}", command.get_program().display()));
    let limit = Limit::of(&child, time);
    let output = child.wait_with_output().expect("what it says");
    assert!(!limit.is_over(), "{command:?} was killed after {time:?}: {}", beginning(&said(&output)));
    output
}

/// Kills a program whose time is over, so that a program that hangs fails the test and shows how far it came.
#[derive(Debug)]
pub struct Limit {
    over: mpsc::Sender<()>,
    killer: JoinHandle<bool>,
}

impl Limit {
    pub fn of(child: &Child, time: Duration) -> Self {
        let (over, ended) = mpsc::channel::<()>();
        let pid = child.id().to_string();
        let killer = thread::spawn(move || {
            let late = ended.recv_timeout(time) == Err(RecvTimeoutError::Timeout);
            late && Command::new("kill").args(["-s", "KILL", &pid]).status().is_ok()
        });
        Self { over, killer }
    }

    /// Whether the time was over before this was asked, after which nobody is killed.
    pub fn is_over(self) -> bool {
        drop(self.over);
        self.killer.join().unwrap_or(false)
    }
}

/// An epmd of a test's own: the nodes of the test know each other by it, and no other nodes.
#[derive(Debug)]
pub struct Epmd {
    daemon: Child,
    /// For `ERL_EPMD_PORT`.
    pub port: String,
}

impl Epmd {
    pub fn start() -> Self {
        let free = TcpListener::bind("127.0.0.1:0").expect("a port").local_addr().expect("its number");
        let port = free.port().to_string();
        let mut daemon = Command::new("epmd");
        daemon.args(["-address", "127.0.0.1", "-port", &port]).stderr(Stdio::null());
        let epmd = Self { daemon: daemon.spawn().expect("start epmd, of Debian's package erlang-base"), port };
        let began = Instant::now();
        while TcpStream::connect(free).is_err() {
            assert!(began.elapsed() < Duration::from_secs(60), "epmd does not listen");
            thread::sleep(Duration::from_millis(20));
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

/// Writes `tls.conf` into the folder: settings of TLS with which a node lets in the nodes that have them too, and nobody else.
/// `false` where Erlang has no TLS.
pub fn certificates(folder: &Path) -> bool {
    let said = run(folder, Command::new("erl").args(["-noshell", "-eval", CERTIFICATES]));
    !said.contains("no ssl")
}

/// Makes two authorities and a certificate of each: a node shows one of them when it is connected to, and the other when it
/// connects. The digests and keys that OTP takes unless told are those of old tests, which TLS refuses since OTP 27.
const CERTIFICATES: &str = r#"
    code:which(inet_tls_dist) =:= non_existing andalso begin io:format("no ssl~n"), halt() end,
    {ok, _} = application:ensure_all_started(ssl),
    Here = {'Extension', {2, 5, 29, 17}, false, [{iPAddress, <<127, 0, 0, 1>>}, {dNSName, "127.0.0.1"}]},
    Strong = [{digest, sha256}, {key, {namedCurve, secp256r1}}],
    Chain = fun(Extensions) -> #{root => Strong, intermediates => [], peer => Extensions ++ Strong} end,
    #{server_config := Server, client_config := Client} = public_key:pkix_test_data(
        #{server_chain => Chain([{extensions, [Here]}]), client_chain => Chain([])}),
    Settings = [{server, [{verify, verify_peer}, {fail_if_no_peer_cert, true} | Server]},
                {client, [{verify, verify_peer} | Client]}],
    ok = file:write_file("tls.conf", io_lib:format("~w.~n", [Settings])),
    halt()."#;

/// Prints what could not be tested.
pub fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut file| writeln!(file, "{what}")).expect("the list of what was skipped");
    }
}
