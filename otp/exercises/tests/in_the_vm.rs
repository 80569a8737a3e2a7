//! The tests of this package, started in an Erlang VM: all of them, those of clusters once more with TLS between the nodes, and
//! those that need a VM of their own.

use std::path::Path;
use std::process::Command;
use std::time::Duration;

// Its behaviours are linked into this program, so that what they say of themselves can be asked for.
use exercises as _;
use in_a_vm::{Epmd, certificates, run, run_within, skipped};
use tempfile::TempDir;

fn compiled() -> TempDir {
    in_a_vm::compiled("exercises", &[])
}

#[test]
fn what_otp_promises_holds() {
    let chosen = std::env::var("OTP_TEST").unwrap_or_default();
    tests_of(compiled().path(), &[], chosen.split_whitespace());
}

/// In a VM where nobody else uses memory.
#[test]
fn panics_take_nothing_else_with_them() {
    tests_of(compiled().path(), &[], ["panics::", "--ignored"]);
}

/// Starts the application and somebody in it who tells something.
const SAY: &str = "{ok, _} = application:ensure_all_started(exercises), exercises_log_sayer:start_link(), timer:sleep(100), init:stop().";

/// In VMs where nobody else tells anything.
#[test]
fn levels_and_floods_of_events_are_what_they_are_said_to_be() {
    let folder = compiled();
    let said_by = |variables: &[(&str, &str)]| {
        let mut erl = Command::new("erl");
        erl.args(["-noshell", "-pa", ".", "-eval", SAY]).envs(variables.iter().copied());
        run(folder.path(), &mut erl)
    };
    tests_of(folder.path(), &[], ["levels_follow_logger", "--ignored"]);
    tests_of(folder.path(), &[], ["of_what_threads_tell_too_much", "--ignored"]);
    let said = said_by(&[("OTP_LOG", "info,exercises::logging::quiet=off")]);
    assert!(said.contains("the tree is made"), "{said}");
    assert!(said.contains("it begins by=log_sayer") && !said.contains("nobody hears"), "{said}");
    // A node has the level notice if nothing else is said.
    let said = said_by(&[]);
    assert!(!said.contains("it begins") && said.contains("look out"), "{said}");
    let said = said_by(&[("OTP_LOG", "loud")]);
    assert!(said.contains("OTP_LOG is passed over: \"loud\" is neither a level"), "{said}");
}

/// Has a process panic, and prints the reason of its end.
const PANIC: &str = "process_flag(trap_exit, true), {ok, P} = exercises_mortal:start_link(), exercises_mortal:'end'(P, <<\"panic\">>), \
                     receive {'EXIT', P, Why} -> io:format(\"because ~0p~n\", [Why]) end, timer:sleep(100), init:stop().";

#[test]
fn a_backtrace_is_told_once_and_is_no_part_of_the_reason() {
    let folder = compiled();
    let said = |asked: &str| {
        let mut erl = Command::new("erl");
        erl.args(["-noshell", "-pa", ".", "-eval", PANIC]).env("RUST_BACKTRACE", asked);
        run(folder.path(), &mut erl)
    };
    let because = |said: &str| said.lines().find(|line| line.starts_with("because")).map(str::to_owned);
    let (without, with, full) = (said("0"), said("1"), said("full"));
    assert!(because(&without).is_some_and(|why| why.contains("{panic,<<\"in the midst of life\">>")), "{without}");
    assert!(because(&with) == because(&without) && because(&full) == because(&without), "{with} {without}");
    let told = |said: &str| said.matches("came about in").count();
    assert_eq!((told(&without), told(&with), told(&full)), (0, 1, 1), "{with}");
    // With optimisation the path of a function is not always known.
    assert!(with.contains("exercises::links::Mortal::end") || with.contains("exercises/src/links.rs:"), "{with}");
    assert!(!with.contains("rust_begin_unwind") && !with.contains("otp/otp/src/"), "{with}");
    assert!(full.contains("rust_begin_unwind"), "{full}");
}

#[test]
fn a_drop_holds_up_no_scheduler() {
    let one = ["+S", "1:1"].map(str::to_owned);
    tests_of(compiled().path(), &one, ["ends::a_state_that_takes_long_to_drop_holds_up_nobody"]);
}

/// Nothing can keep the VM when a program in it calls exit, but it can be told whose call that was.
#[test]
fn who_ends_the_vm_by_exit_is_told_with_the_place() {
    let folder = compiled();
    let ends = |how: &str| {
        let mut erl = Command::new("erl");
        let start = format!(
            "{{ok, P}} = exercises_quitter:start_link(), io:format(\"it is ~p~n\", [P]), {how}, timer:sleep(60000)."
        );
        let output =
            erl.args(["-noshell", "-pa", ".", "-eval", &start]).current_dir(folder.path()).output().expect("erl");
        let said = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (output.status.code(), said(&output.stdout), said(&output.stderr))
    };
    let (status, printed, told) = ends("exercises_quitter:exit(P)");
    let process = printed.trim().strip_prefix("it is ").expect("the process").to_owned();
    assert_eq!(status, Some(3));
    assert!(told.contains(&format!("a callback of the process {process} has called exit")), "{told}");
    // Compilers from 1.97 on write `<exercises::ends::Quitter>::exit`.
    let function = told.replace(['<', '>'], "").contains("exercises::ends::Quitter::exit");
    assert!(function && told.contains("exercises/src/ends.rs:"), "{told}");
    let (status, _, told) = ends("exercises_quitter:exit_on_a_thread(P)");
    assert_eq!(status, Some(4));
    assert!(told.contains("the thread \"quits\" has called exit"), "{told}");
    for orderly in ["init:stop()", "halt()", "spawn(fun() -> halt(0) end)", "halt(0, [{flush, false}])"] {
        let (status, _, told) = ends(orderly);
        assert_eq!((status, told.as_str()), (Some(0), ""), "{orderly}");
    }
}

#[test]
fn nodes_talk_by_tls_as_without_it() {
    let folder = compiled();
    if !certificates(folder.path()) {
        return skipped("nodes that talk by TLS: Erlang's application ssl is not installed (Debian's erlang-ssl)");
    }
    let tls = ["-proto_dist", "inet_tls", "-ssl_dist_optfile", "tls.conf"]
        .map(|word| if word == "tls.conf" { folder.path().join(word).display().to_string() } else { word.to_owned() });
    let tests = [
        "--exact",
        "cluster::calls_and_casts_go_to_other_nodes_as_to_this_one",
        "cluster::a_node_that_is_killed_is_told_to_who_watches_and_who_waits",
        "cluster::each_side_of_a_cut_goes_on_alone_and_they_find_each_other_again",
        "cluster::what_does_not_talk_by_tls_is_not_let_in_where_all_others_do",
    ];
    tests_of(folder.path(), &tls, tests);
}

#[test]
fn real_time_mode_tells_what_took_effect() {
    let folder = compiled();
    let said = |asked: Option<&str>| {
        let start = "{ok, _} = application:ensure_all_started(exercises), init:stop().";
        let mut erl = Command::new("erl");
        erl.args(["-noshell", "-pa", ".", "-eval", start]).envs(asked.map(|asked| ("OTP_REALTIME", asked)));
        run(folder.path(), &mut erl)
    };
    let all = said(Some("policy=fifo priority=7 lock_memory=true cpus=0"));
    // Root may all of this; others are told what it takes.
    let in_force = all.contains("real-time: policy fifo:7 on ") && all.contains("real-time: memory locked");
    assert!(in_force || all.contains("it takes root"), "{all}");
    assert!(all.contains("processors [0] on "), "{all}");
    let wrong = said(Some("policy=best"));
    assert!(wrong.contains("there is no policy \"best\""), "{wrong}");
    let nothing = said(None);
    assert!(!nothing.contains("real-time"), "{nothing}");
}

/// Under the policy fifo the kernel lets no thread take turns with one that computes: two schedulers on one processor would be one.
#[test]
fn who_computes_in_real_time_mode_keeps_nobody_waiting() {
    let folder = compiled();
    let start = "{ok, _} = application:ensure_all_started(exercises),
        Busy = fun Busy() -> Busy() end,
        [spawn(Busy) || _ <- lists:seq(1, 8)],
        Self = self(),
        [begin spawn(fun() -> Self ! N end), receive N -> ok end end || N <- lists:seq(1, 1000)],
        io:format(\"schedulers ~b of ~b~n\", [erlang:system_info(schedulers_online), erlang:system_info(schedulers)]),
        halt(0).";
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", ".", "+S", "2", "-eval", start]).env("OTP_REALTIME", "policy=fifo priority=7 cpus=0");
    let said = run_within(folder.path(), &mut erl, Duration::from_secs(60));
    assert!(said.contains("schedulers 1 of 2") && said.contains("real-time: 1 scheduler of 2"), "{said}");
}

/// Runs the tests that are chosen, all if none is, in a VM with these flags.
fn tests_of<'a>(folder: &Path, flags: &[String], chosen: impl IntoIterator<Item = &'a str>) {
    let epmd = Epmd::start();
    let start = "exercises_native_test:main(init:get_plain_arguments()).";
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-pa", ".", "-name", "exercises@127.0.0.1", "-setcookie", "exercises"]);
    erl.args(["-kernel", "inet_dist_use_interface", "{127,0,0,1}", "-kernel", "logger_level", "critical"]);
    erl.args(flags).args(["-eval", start, "-extra"]).args(chosen).env("ERL_EPMD_PORT", &epmd.port);
    let text = run(folder, &mut erl);
    println!("{text}");
    assert!(text.contains("test result: ok. "), "{text}");
}
