//! Starts the tests of this package inside of an Erlang VM, and what needs a VM of its own.

mod vm;

use std::process::Command;

#[test]
fn what_otp_promises_holds() {
    let vm = vm::Vm::new();
    let start = "exercises_native_test:main(init:get_plain_arguments()).";
    let chosen = std::env::var("OTP_TEST").unwrap_or_default();
    let mut erl = Command::new("erl");
    erl.args(["-noshell", "-sname", "exercises", "-kernel", "logger_level", "critical", "-pa", ".", "-eval", start]);
    let text = vm::done(vm.folder(), erl.arg("-extra").args(chosen.split_whitespace()));
    println!("{text}");
    assert!(text.contains("test result: ok. "), "{text}");
}

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
