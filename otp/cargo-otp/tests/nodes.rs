//! Running nodes: how they end, and how they are reached.

mod common;

use std::fs;
use std::io::BufRead;
use std::path::Path;

use common::{InTime, Running, Signal, User, said, soon};

/// Prints the process of the VM, before the application starts.
const PID: [&str; 2] = ["--vm=-eval", "--vm=io:format(\"pid ~s~n\", [os:getpid()])."];

#[test]
fn it_runs_until_it_is_told_to_end() {
    let user = User::new();
    let path = user.application("long_one", "minimal");
    let mut running = user.run(&path, &[]);
    running.signal(Signal::TERM);
    assert_eq!(running.ends(), Some(0), "it ended in order");
}

#[test]
fn it_ends_too_when_it_is_told_while_it_starts() {
    let user = User::new();
    let path = user.application("early_one", "minimal");
    let mut running = Running::start(&mut user.cargo_otp(&path, &["run"]));
    let mut lines = running.errors().lines().map_while(Result::ok);
    assert!(lines.any(|line| line.contains("Running early_one")));
    running.signal(Signal::TERM);
    // In order, or by the signal itself where the VM did not know yet what to do with it.
    let status = running.ends();
    assert!(matches!(status, Some(0 | 143)), "{status:?}: {:?}", lines.collect::<Vec<_>>());
}

#[test]
fn a_second_interrupt_kills_what_does_not_end() {
    let user = User::new();
    let path = user.application("deaf_one", "minimal");
    // What is evaluated comes after the application has started.
    let deafen = "--vm=sys:suspend(erl_signal_server), io:put_chars(\"it is deaf\\n\").";
    let mut running = user.run(&path, &["--vm=-eval", deafen]);
    running.says("it is deaf");
    let mut lines = running.errors().lines().map_while(Result::ok);
    running.signal(Signal::INT);
    assert!(lines.any(|line| line.contains("Stopping deaf_one")));
    running.signal(Signal::INT);
    assert_eq!(running.ends(), Some(128 + 9));
}

#[test]
fn what_the_vm_ends_with_is_passed_on() {
    let user = User::new();
    let path = user.application("sad_one", "minimal");
    let output = user.cargo_otp(&path, &["run", "--vm=-eval", "--vm=halt(7)."]).output_in_time();
    assert_eq!(output.status.code(), Some(7), "{}", said(&output));
}

#[test]
fn no_vm_is_left_behind() {
    let user = User::new();
    let path = user.application("left_one", "minimal");
    let mut running = Running::start(&mut user.cargo_otp(&path, &["run", PID[0], PID[1]]));
    let pid = running.says("pid ").trim().trim_start_matches("pid ").to_owned();
    assert!(Path::new("/proc").join(&pid).exists());
    running.signal(Signal::KILL);
    assert_eq!(running.ends(), None);
    soon("the VM ends too", || !Path::new("/proc").join(&pid).exists());
}

#[test]
fn a_console_reaches_what_runs_without_being_told_where() {
    let user = User::new();
    let path = user.application("near_one", "minimal");
    fs::write(path.join("otp.toml"), "[vm]\ncookie = \"sesame\"\nschedulers = 1\n").expect("settings");
    assert!(user.refused(&path, &["console", "-e", "node()"]).contains("no node near_one@127.0.0.1 runs here"));
    let running = user.run(&path, &[]);
    let ask = |expression: &str| user.done(&path, &["console", "--eval", expression]);
    assert_eq!(
        ask("near_one_greeter:greet(near_one_greeter, <<\"you\">>)."),
        "<<\"Hello, you! You are number 1.\">>\n"
    );
    assert_eq!(
        ask("X = erlang:system_info(schedulers), io:format(\"~p~n\", [X]), node()"),
        "1\n'near_one@127.0.0.1'\n"
    );
    let fails = |arguments: &[&str]| {
        let output = user.cargo_otp(&path, &[&["console"], arguments].concat()).output_in_time();
        (output.status.code(), said(&output))
    };
    let (code, wrong) = fails(&["-e", "foo bar"]);
    assert!(code == Some(1) && wrong.contains("syntax error before: bar"), "{wrong}");
    let (code, wrong) = fails(&["-e", "lists:nth(0, [])"]);
    assert!(code == Some(1) && wrong.contains("error: no function clause matching lists:nth(0,[])"), "{wrong}");
    for (expression, why) in [
        ("foo:bar()", "error: undefined function foo:bar/0\n"),
        ("throw(it)", "error: exception throw: it\n"),
        ("near_one_greeter:greet(nobody, <<>>)", "error: exception exit: {noproc,{gen_server,call,[nobody,"),
        (
            "near_one_greeter:greet(near_one_greeter, 5)",
            "error: {refused,<<\"expected a binary in UTF-8 at greet, element 2\">>}\n  in function  near_one_greeter:call/3 (near_one_greeter.erl",
        ),
        (" ", "error: there is nothing to evaluate\n"),
    ] {
        let (code, wrong) = fails(&["-e", expression]);
        assert!(code == Some(1) && wrong.contains(why) && !wrong.contains("erl_eval"), "{wrong}");
    }
    let (code, wrong) = fails(&["-e", "node()", "--cookie", "other"]);
    assert!(code == Some(3) && wrong.contains("has another cookie"), "{wrong}");
    // A second one makes way, and both are there.
    let mut second = user.run(&path, &[]);
    let other = second.errors().lines().map_while(Result::ok).find(|line| line.contains("this one is"));
    assert!(other.expect("it says so").contains("near_one_2@127.0.0.1"));
    assert_eq!(
        user.done(user.folder.path(), &["console", "--name", "near_one_2", "--cookie", "sesame", "-e", "node()"]),
        "'near_one_2@127.0.0.1'\n"
    );
    assert!(user.refused(&path, &["run", "--name", "near_one"]).contains("runs here already"));
    drop((running, second));
}

#[test]
fn settings_of_real_time_are_passed_on_where_they_are_asked_for() {
    let user = User::new();
    let path = user.application("timed_one", "minimal");
    assert!(user.refused(&path, &["run", "--realtime"]).contains("there is no such table"));
    fs::write(path.join("otp.toml"), "[realtime]\npolicy = \"fifo\"\npriority = 80\ncpus = \"0-1\"\n")
        .expect("settings");
    let show = ["--vm=-eval", "--vm=io:format(\"asked ~p~n\", [os:getenv(\"OTP_REALTIME\")]), halt()."];
    let said = user.done(&path, &[&["run", "--realtime"], &show[..]].concat());
    assert!(said.contains("asked \"policy=fifo priority=80 lock_memory=false cpus=0,1\""), "{said}");
    assert!(user.done(&path, &[&["run"], &show[..]].concat()).contains("asked false"));
}
