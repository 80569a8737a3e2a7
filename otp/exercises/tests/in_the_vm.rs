//! Starts the tests of this package inside of an Erlang VM, those of clusters once more with TLS between the nodes, and what
//! needs a VM of its own.

mod vm;

use std::fs::File;
use std::io::Write;
use std::net::{TcpListener, TcpStream};
use std::process::{Child, Command, Stdio};
use std::time::{Duration, Instant};

#[test]
fn what_otp_promises_holds() {
    let chosen = std::env::var("OTP_TEST").unwrap_or_default();
    tests_of(&vm::Vm::new(), &[], chosen.split_whitespace());
}

/// In a VM where nobody else uses memory.
#[test]
fn panics_take_nothing_else_with_them() {
    tests_of(&vm::Vm::new(), &[], ["panics::", "--ignored"]);
}

/// In VMs where nobody else tells anything.
#[test]
fn levels_and_floods_of_events_are_what_they_are_said_to_be() {
    let vm = vm::Vm::new();
    tests_of(&vm, &[], ["levels_follow_logger", "--ignored"]);
    tests_of(&vm, &[], ["of_what_threads_tell_too_much", "--ignored"]);
    let say =
        "{ok, _} = application:ensure_all_started(exercises), log_sayer:start_link(), timer:sleep(100), init:stop().";
    let said = vm.run(say, &[("OTP_LOG", "info,exercises::logging::quiet=off")]);
    assert!(said.contains("the tree is made"), "{said}");
    assert!(said.contains("it begins by=log_sayer") && !said.contains("nobody hears"), "{said}");
    // A node has the level notice if nothing else is said.
    let said = vm.run(say, &[]);
    assert!(!said.contains("it begins") && said.contains("look out"), "{said}");
    let said = vm.run(say, &[("OTP_LOG", "loud")]);
    assert!(said.contains("OTP_LOG is passed over: \"loud\" is neither a level"), "{said}");
}

#[test]
fn nodes_talk_by_tls_as_without_it() {
    let vm = vm::Vm::new();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-eval", CERTIFICATES]).current_dir(vm.folder());
    let made = erl.output().expect("erl, of Debian's package erlang-base");
    let said = String::from_utf8_lossy(&made.stdout).into_owned();
    if said.contains("no ssl") {
        return skipped("nodes that talk by TLS: Erlang's application ssl is not installed (Debian's erlang-ssl)");
    }
    assert!(made.status.success(), "{said}");
    let tls = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", "tls.conf"]
        .map(|word| if word == "tls.conf" { vm.folder().join(word).display().to_string() } else { word.to_owned() });
    let tests = [
        "--exact",
        "cluster::calls_and_casts_go_to_other_nodes_as_to_this_one",
        "cluster::a_node_that_is_killed_is_told_to_who_watches_and_who_waits",
        "cluster::each_side_of_a_cut_goes_on_alone_and_they_find_each_other_again",
        "cluster::what_does_not_talk_by_tls_is_not_let_in_where_all_others_do",
    ];
    tests_of(&vm, &tls, tests);
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

#[test]
fn real_time_mode_tells_what_took_effect() {
    let vm = vm::Vm::new();
    let start = "{ok, _} = application:ensure_all_started(exercises), init:stop().";
    let said = vm.run(start, &[("OTP_REALTIME", "policy=fifo priority=7 lock_memory=true cpus=0")]);
    // Root may all of this; others are told what it takes.
    let in_force = said.contains("real-time: policy fifo:7 on ") && said.contains("real-time: memory locked");
    assert!(in_force || said.contains("it takes root"), "{said}");
    assert!(said.contains("processors [0] on "), "{said}");
    let said = vm.run(start, &[("OTP_REALTIME", "policy=best")]);
    assert!(said.contains("there is no policy \"best\""), "{said}");
    let said = vm.run(start, &[]);
    assert!(!said.contains("real-time"), "{said}");
}

/// Runs the tests that are chosen, all if none is, in a VM with these flags.
fn tests_of<'a>(vm: &vm::Vm, flags: &[String], chosen: impl IntoIterator<Item = &'a str>) {
    let epmd = Epmd::start();
    let start = "exercises_native_test:main(init:get_plain_arguments()).";
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", ".", "-name", "exercises@127.0.0.1", "-setcookie", "exercises"]);
    erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-kernel", "logger_level", "critical"]);
    erl.args(flags).args(["-eval", start, "-extra"]).args(chosen).env("ERL_EPMD_PORT", &epmd.port);
    let text = vm::done(vm.folder(), &mut erl);
    println!("{text}");
    assert!(text.contains("test result: ok. "), "{text}");
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
