//! Starts the tests of this package inside of an Erlang VM, and those of clusters once more with TLS between the nodes.

use std::fs::File;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use exercises as _;

#[test]
fn what_otp_promises_holds() {
    let built = Built::new();
    let chosen = std::env::var("OTP_TEST").unwrap_or_default();
    built.tests(&[], chosen.split_whitespace());
}

#[test]
fn nodes_talk_by_tls_as_without_it() {
    let built = Built::new();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-eval", CERTIFICATES]).current_dir(built.folder.path());
    let made = erl.output().expect("erl, of Debian's package erlang-base");
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    if said.contains("no ssl") {
        return skipped("nodes that talk by TLS: Erlang's application ssl is not installed (Debian's erlang-ssl)");
    }
    assert!(made.status.success(), "{said}");
    let tls = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", "tls.conf"].map(|word| {
        if word == "tls.conf" { built.folder.path().join(word).display().to_string() } else { word.to_owned() }
    });
    let tests = [
        "--exact",
        "cluster::calls_and_casts_go_to_other_nodes_as_to_this_one",
        "cluster::a_node_that_is_killed_is_told_to_who_watches_and_who_waits",
        "cluster::each_side_of_a_cut_goes_on_alone_and_they_find_each_other_again",
        "cluster::what_does_not_talk_by_tls_is_not_let_in_where_all_others_do",
    ];
    built.tests(&tls, tests);
}

/// Makes two authorities, a certificate of each, and the file of settings of TLS: a node shows one of them when it is connected
/// to, and the other when it connects; it lets in who has one of that authority, and nobody else.
const CERTIFICATES: &str = r#"
    code:which(inet_tls_dist) =:= non_existing andalso begin io:format("no ssl~n"), halt() end,
    Here = {'Extension', {2, 5, 29, 17}, false, [{iPAddress, <<127, 0, 0, 1>>}, {dNSName, "127.0.0.1"}]},
    Chain = fun(Extensions) -> #{root => [], intermediates => [], peer => Extensions} end,
    #{server_config := Server, client_config := Client} = public_key:pkix_test_data(
        #{server_chain => Chain([{extensions, [Here]}]), client_chain => Chain([])}),
    Settings = [{server, [{verify, verify_peer}, {fail_if_no_peer_cert, true} | Server]},
                {client, [{verify, verify_peer} | Client]}],
    ok = file:write_file("tls.conf", io_lib:format("~w.~n", [Settings])),
    halt()."#;

/// The library and its Erlang half, compiled.
struct Built {
    folder: tempfile::TempDir,
}

impl Built {
    fn new() -> Self {
        let folder = tempfile::tempdir().expect("a folder");
        let mut modules = Vec::new();
        for source in otp::generate::sources("exercises_native") {
            std::fs::write(folder.path().join(&source.file), &source.text).expect("write a source");
            modules.extend(source.file.ends_with(".erl").then_some(source.file));
        }
        let library = std::env::current_exe().expect("this program's path").with_file_name("libexercises.so");
        std::fs::copy(library, folder.path().join("exercises_native.so")).expect("copy the library");
        run(Command::new("erlc").args(["-Werror", "+debug_info"]).args(modules).current_dir(folder.path()));
        Self { folder }
    }

    /// Runs the tests that are chosen, all if none is.
    fn tests<'a>(&self, flags: &[String], chosen: impl IntoIterator<Item = &'a str>) {
        let epmd = Epmd::start();
        let start = "exercises_native_test:main(init:get_plain_arguments()).";
        let mut erl = erl(self.folder.path(), &epmd);
        erl.args(["-name", "exercises@127.0.0.1", "-setcookie", "exercises", "-kernel", "logger_level", "critical"]);
        erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}"]).args(flags);
        let text = run(erl.args(["-eval", start, "-extra"]).args(chosen));
        println!("{text}");
        assert!(text.contains("test result: ok. "), "{text}");
    }
}

fn erl(folder: &Path, epmd: &Epmd) -> Command {
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", "."]).current_dir(folder).env("ERL_EPMD_PORT", &epmd.port);
    erl
}

fn run(command: &mut Command) -> String {
    let output = command.output().expect("erlc and erl, of Debian's package erlang-base");
    let text = String::from_utf8_lossy(&output.stdout).into_owned() + &String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{text}");
    text
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
        let daemon = daemon.spawn().expect("start epmd, of Debian's package erlang-base");
        let epmd = Self { daemon, port };
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

/// Names what could not be tested, for whoever runs the tests.
fn skipped(what: &str) {
    eprintln!("skipped: {what}");
    if let Some(list) = std::env::var_os("KIZAMI_SKIPPED") {
        let list = File::options().append(true).create(true).open(list);
        list.and_then(|mut file| writeln!(file, "{what}")).expect("the list of what was skipped");
    }
}
